"""A bit field of a shader token."""

from __future__ import annotations

from typing import NamedTuple


class Bits(NamedTuple):
    """A field of ``width`` bits that begins at bit ``shift`` of a token."""

    shift: int
    width: int

    def of(self, token: int) -> int:
        """Extract the field's value from a token."""
        return token >> self.shift & (1 << self.width) - 1

    def put(self, value: int) -> int:
        """Return a token with this field set to ``value``, truncated to its width, and all else
        0.
        """
        return (value & (1 << self.width) - 1) << self.shift
