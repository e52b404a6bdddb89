"""Capabilities that a conformance case needs, and whether a driver announces them.

Most needs follow from the case itself: the tokens of its calls and the surfaces that it creates.
``Case.needs`` has those that do not.  Without an announcement nothing is unmet.
"""

from __future__ import annotations

import msgspec

from dp2emu.d3d.capabilities import TARGETS, Capabilities, format_name, same_pixels
from dp2emu.d3d.capflags import FormatOp
from dp2emu.d3d.enums import Format, QueryType
from dp2emu.d3d.sdk import SdkFlag, sdk_name


class FlagNeed(msgspec.Struct, frozen=True):
    """A need of any of the bits ``mask`` in the member ``word`` of D3DCAPS9."""

    name: str
    word: str
    mask: int

    def told(self, capabilities: Capabilities) -> bool:
        """Return whether the driver tells the word."""
        return capabilities.word(self.word) is not None

    def promised(self, capabilities: Capabilities) -> bool:
        """Return whether the driver sets one of the bits."""
        return bool(int(capabilities.word(self.word) or 0) & self.mask)


class LeastNeed(msgspec.Struct, frozen=True):
    """A need of a member of D3DCAPS9 of at least ``least``, in its bits ``mask``."""

    name: str
    word: str
    least: int
    mask: int = 0xFFFFFFFF

    def told(self, capabilities: Capabilities) -> bool:
        """Return whether the driver tells the number."""
        return capabilities.word(self.word) is not None

    def promised(self, capabilities: Capabilities) -> bool:
        """Return whether the number is large enough."""
        return int(capabilities.word(self.word) or 0) & self.mask >= self.least


_STAND_FOR: dict[int, tuple[int, ...]] = {Format.D16: (Format.D16_LOCKABLE,)}
"""Format -> formats that a driver may announce instead: it gets both described in the same way."""


class FormatNeed(msgspec.Struct, frozen=True):
    """A need of surfaces of D3DFORMAT ``format`` with any of the ``operations``."""

    name: str
    format: int
    operations: int

    def told(self, capabilities: Capabilities) -> bool:
        """Return whether the driver tells the formats with such operations.

        A driver may support a render target with alpha that it announces only as the format with
        the same colours and no alpha.
        """
        if not capabilities.tells(self.operations):
            return False
        return not (self.operations & TARGETS) or not any(
            same_pixels(each, self.format) and each != self.format and operations & TARGETS
            for each, operations in capabilities.formats
        )

    def promised(self, capabilities: Capabilities) -> bool:
        """Return whether the format has one of the operations, or one that stands for it."""
        formats = self.format, *_STAND_FOR.get(self.format, ())
        return any((capabilities.operations(each) or 0) & self.operations for each in formats)


class QueryNeed(msgspec.Struct, frozen=True):
    """A need of queries of D3DQUERYTYPE ``kind``."""

    name: str
    kind: int

    def told(self, capabilities: Capabilities) -> bool:
        """Return whether the driver tells its query types."""
        return capabilities.queries is not None

    def promised(self, capabilities: Capabilities) -> bool:
        """Return whether the type is announced."""
        return self.kind in (capabilities.queries or ())


Need = FlagNeed | LeastNeed | FormatNeed | QueryNeed
"""A capability by its ``name`` in the headers, with tests on capabilities: ``told``, whether the
driver tells about such capabilities at all, and ``promised``, whether it announces this one."""


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
