"""The types of arguments and options whose value is a number in a range."""

from __future__ import annotations

import math
from typing import Any

import click


class IntRange(click.IntRange):
    """A whole number in a range; of another text the error says that."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number.  Raises BadParameter."""
        try:
            int(value)
        except ValueError:
            self.fail(f"{value!r:.60} is not a whole number.", param, ctx)
        return super().convert(value, param, ctx)


class FloatRange(click.FloatRange):
    """A float in a range; unlike in click's class, NaN is outside."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number.  Raises BadParameter."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{number} is not a number.", param, ctx)
        return number
