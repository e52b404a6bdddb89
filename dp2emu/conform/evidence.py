"""What a failed conformance case found, beside what it expected."""

from __future__ import annotations

import msgspec

from dp2emu.conform.case import ANY_FAILURE, Expect
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult, hr_name
from dp2emu.rig.failure import Finding


class WrongResult(msgspec.Struct, frozen=True):
    """The result of call number ``call``, from 1: ``ddrval`` and ``dwErrorOffset``, where
    ``expect`` was expected.
    """

    call: int
    ddrval: int
    dwErrorOffset: int
    expect: Expect

    @property
    def found_text(self) -> str:
        """The result in words."""
        return _result_text(hr_name(self.ddrval), self.ddrval, self.dwErrorOffset)

    @property
    def expected_text(self) -> str:
        """The expected result in words."""
        wanted = self.expect.ddrval
        name = "a failure" if wanted == ANY_FAILURE else hr_name(wanted)
        return _result_text(name, wanted, self.expect.offset)


def _result_text(name: str, ddrval: int, offset: int) -> str:
    return name if ddrval == HResult.D3D_OK else f"{name}, dwErrorOffset {offset}"


class WrongPayload(msgspec.Struct, frozen=True):
    """The payload ``found`` of the answer to ``query``, of D3DQUERYTYPE ``type``; it should begin
    with ``expected``.  The answer came with call number ``call``.
    """

    call: int
    query: int
    type: int
    found: bytes
    expected: bytes

    @property
    def found_text(self) -> str:
        """The bytes found, as hexadecimal digits and, of an occlusion query, as a number."""
        return self._text(self.found)

    @property
    def expected_text(self) -> str:
        """The bytes expected, as those found."""
        return self._text(self.expected)

    def _text(self, data: bytes) -> str:
        counts = self.type == QueryType.OCCLUSION
        count = f" ({int.from_bytes(data[:4], 'little')} pixels)" if counts else ""
        return f"{data.hex(' ', 4)}{count}"


class Part(msgspec.Struct, frozen=True):
    """Bytes of surface ``handle`` from byte ``offset`` on: as ``found``, and as ``expected``."""

    handle: int
    offset: int
    found: bytes
    expected: bytes


class WrongMemory(msgspec.Struct, frozen=True):
    """All parts of memory that a case looks at; in at least one of them bytes differ."""

    parts: tuple[Part, ...]


class Died(msgspec.Struct, frozen=True):
    """The driver's process failed, such as by a crash; ``finding`` says how."""

    finding: Finding


Evidence = WrongResult | WrongPayload | WrongMemory | Died
