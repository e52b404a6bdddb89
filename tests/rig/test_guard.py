"""Memory for drivers, and structures of this host."""

from __future__ import annotations

import ctypes

import pytest
from construct import Struct

from dp2emu.capture.rawlog import pack
from dp2emu.d3d import hal
from dp2emu.d3d.words import BYTE, DWORD
from dp2emu.errors import CaptureError
from dp2emu.rig.failure import Finding, FindingKind, finding_of
from dp2emu.rig.guarded import Guarded
from dp2emu.rig.structures import ABI, structure
from dp2emu.rig.wire import receive


@pytest.mark.parametrize("size", [0, 1, 4, 4095, 4096, 4097])
def test_memory_is_zero_aligned_and_knows_what_lies_beside_it(size: int) -> None:
    memory = Guarded(size, "it")
    assert memory.read(0, size) == bytes(size)
    assert memory.address % 4 == 0
    assert memory.intact()
    end = memory.address + size
    assert memory.where(end + 3 & ~3) == f"{-size % 4} bytes behind it"
    assert memory.where(memory.address) is None or size == 0


def test_what_is_stored_right_before_memory_is_noticed() -> None:
    memory = Guarded(10, "it")
    memory.write(0, bytes(10))
    assert memory.intact()
    ctypes.memset(memory.address - 1, 0, 1)
    assert not memory.intact()


def test_what_is_stored_right_behind_memory_is_noticed() -> None:
    memory = Guarded(10, "it")
    ctypes.memset(memory.address + 10, 0, 1)
    assert not memory.intact()


@pytest.mark.parametrize("name", hal.SURFACES_BY_ABI)
def test_structures_have_members_where_the_declaration_has_them(name: str) -> None:
    declaration = hal.SURFACES_BY_ABI[name](ABI)
    made, at = structure(name, declaration), 0
    for member in declaration.subcons:
        if member.name is not None:
            assert getattr(made, member.name).offset == at
        at += member.sizeof()


def test_the_call_is_the_structure_of_this_host() -> None:
    made = structure("D3DHAL_DRAWPRIMITIVES2DATA", hal.BY_ABI["D3DHAL_DRAWPRIMITIVES2DATA"](ABI))
    assert ctypes.sizeof(made) == {32: 56, 64: 72}[ABI]


def test_a_layout_this_host_has_not_is_refused() -> None:
    with pytest.raises(TypeError, match="odd has 8 bytes here"):
        structure("odd", Struct("a" / BYTE, "b" / DWORD))


REPORT = """\
==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60 at pc 0x7f
WRITE of size 1 at 0x60 thread T0
    #0 0x7f01 in put /src/driver.c:10
    #1 0x7f02 in D3dDrawPrimitives2 /src/driver.c:20
    #2 0x7f03 in ffi_call_unix64 (/lib/libffi.so.8+0x7)

0x60 is located 0 bytes after 4-byte region
    #0 0x7f09 in malloc
"""


def test_a_sanitizers_report_tells_kind_and_stack() -> None:
    finding = finding_of(REPORT, 86)
    assert finding.kind is FindingKind.SANITIZER
    assert finding.what == "AddressSanitizer: heap-buffer-overflow"
    assert finding.key == "sanitizer: put < D3dDrawPrimitives2"


@pytest.mark.parametrize(
    ("words", "status", "finding"),
    [
        ("", -11, Finding(FindingKind.CRASH, "signal 11")),
        ("a\nlast words\n", 3, Finding(FindingKind.CRASH, "it ended with 3: last words")),
        ("dp2emu-rig: overrun 1 bytes behind it\n", 1,
         Finding(FindingKind.OVERRUN, "1 bytes behind it")),
        ("dp2emu-rig: nonsense x\n", 0,
         Finding(FindingKind.CRASH, "it ended with 0: dp2emu-rig: nonsense x")),
    ],
)  # fmt: skip
def test_last_words_and_status_tell_what_happened(
    words: str, status: int, finding: Finding
) -> None:
    assert finding_of(words, status) == finding


def taken(data: bytes) -> object:
    rest = bytearray(data)

    def take(size: int) -> bytes:
        piece = bytes(rest[:size])
        del rest[:size]
        return piece

    return receive(take)


def test_a_record_comes_through_and_a_damaged_one_does_not() -> None:
    data = pack(5, 7, b"payload")
    assert taken(data) == (5, 7, b"payload")
    for place in (0, 8, len(data) - 1):
        damaged = bytearray(data)
        damaged[place] ^= 1
        with pytest.raises(CaptureError, match="checksum"):
            taken(bytes(damaged))
    with pytest.raises(CaptureError, match="record of"):
        taken(data[:4] + b"\xff\xff\xff\x7f" + data[8:])
