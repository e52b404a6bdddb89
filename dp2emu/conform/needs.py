"""Capabilities that a conformance case needs, and whether a driver announces them.

Most needs follow from the case itself: the tokens of its calls and the surfaces that it creates.
``Case.needs`` has those that do not.  Without an announcement nothing is unmet.
"""

from __future__ import annotations

import msgspec

from dp2emu.d3d.capabilities import TARGETS, Capabilities, format_name, same_pixels
from dp2emu.d3d.capflags import FormatOp
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.sdk import SdkFlag, sdk_name


class FlagNeed(msgspec.Struct, frozen=True):
    """A need of any of the bits ``mask`` in the member ``word`` of D3DCAPS9."""

    name: str
    word: str
    mask: int

    def announced(self, capabilities: Capabilities) -> bool:
        """Return whether one of the bits is set, or the driver does not tell the word."""
        value = capabilities.word(self.word)
        return value is None or bool(int(value) & self.mask)


class LeastNeed(msgspec.Struct, frozen=True):
    """A need of a member of D3DCAPS9 of at least ``least``, in its bits ``mask``."""

    name: str
    word: str
    least: int
    mask: int = 0xFFFFFFFF

    def announced(self, capabilities: Capabilities) -> bool:
        """Return whether the number is large enough, or the driver does not tell it."""
        value = capabilities.word(self.word)
        return value is None or int(value) & self.mask >= self.least


class FormatNeed(msgspec.Struct, frozen=True):
    """A need of surfaces of D3DFORMAT ``format`` with any of the ``operations``."""

    name: str
    format: int
    operations: int

    def announced(self, capabilities: Capabilities) -> bool:
        """Return whether the format has one of the operations, or no formats that have them are
        told.

        A render target may be announced as a format with the same colours and no alpha.
        """
        if not capabilities.tells(self.operations):
            return True
        formats = {self.format}
        if self.operations & TARGETS:
            formats |= {each for each, _ in capabilities.formats if same_pixels(each, self.format)}
        return any((capabilities.operations(each) or 0) & self.operations for each in formats)


class QueryNeed(msgspec.Struct, frozen=True):
    """A need of queries of D3DQUERYTYPE ``kind``."""

    name: str
    kind: int

    def announced(self, capabilities: Capabilities) -> bool:
        """Return whether the type is announced, or the driver does not tell its types."""
        return capabilities.queries is None or self.kind in capabilities.queries


Need = FlagNeed | LeastNeed | FormatNeed | QueryNeed
"""A capability by its ``name`` in the headers; ``announced`` tests it on capabilities."""


def flag(bit: SdkFlag, *words: str) -> tuple[Need, ...]:
    """Return the needs of a flag in each of the members ``words`` of D3DCAPS9.

    Of several flags any is enough; the need has the name of the one with the largest number.
    """
    name = max(each for each in type(bit) if each & bit).sdk
    return tuple(FlagNeed(name, word, int(bit)) for word in words)


def format_need(format: int, operations: int) -> Need:
    """Return the need of surfaces of ``format`` with any of the ``operations``, which has the name
    of the first.
    """
    first = next(each for each in FormatOp if each & operations)
    return FormatNeed(f"{format_name(format)} with {first.sdk}", format, operations)


def query_need(kind: int) -> Need:
    """Return the need of queries of a D3DQUERYTYPE."""
    return QueryNeed(sdk_name(QueryType, kind) or f"D3DQUERYTYPE {kind}", kind)
