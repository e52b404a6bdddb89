"""Bit fields of tokens."""

from __future__ import annotations

from typing import NamedTuple


class Bits(NamedTuple):
    """``width`` bits of a token from bit ``shift``."""

    shift: int
    width: int

    def of(self, token: int) -> int:
        """The field's value in a token."""
        return token >> self.shift & (1 << self.width) - 1

    def put(self, value: int) -> int:
        """A token with this field and nothing else; what does not fit is cut off."""
        return (value & (1 << self.width) - 1) << self.shift
