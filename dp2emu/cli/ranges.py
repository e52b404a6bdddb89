"""Numbers of options."""

from __future__ import annotations

import math

import click


class FloatRange(click.FloatRange):
    """A float of a range.  What is not a number is of none, though it compares as if it were."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> object:
        """The number.  Raises BadParameter."""
        number: object = super().convert(value, param, ctx)
        if isinstance(number, float) and math.isnan(number):
            self.fail(f"{number} is no number.", param, ctx)
        return number
