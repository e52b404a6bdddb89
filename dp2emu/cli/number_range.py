"""The type of options whose value is a number in a range."""

from __future__ import annotations

import math
from typing import Any

import click


class FloatRange(click.FloatRange):
    """A float in a range; unlike in click's class, NaN is outside."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number.  Raises BadParameter."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{number} is not a number.", param, ctx)
        return number
