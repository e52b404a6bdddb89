"""Numbers of options."""

from __future__ import annotations

import math
from typing import Any

import click


class FloatRange(click.FloatRange):
    """A float of a range.  What is not a number is of none, though it compares as if it were."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number.  Raises BadParameter."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{number} is no number.", param, ctx)
        return number
