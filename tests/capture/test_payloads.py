"""Records as bytes: exact both ways, and never more than their head says."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given

from dp2emu.capture.payloads import LAYOUTS, Kind, decode, describe, encode, entries
from dp2emu.capture.records import (
    Annotation,
    Answered,
    Blitted,
    Called,
    ColorKeyRemoved,
    ColorKeySet,
    Flipped,
    FrameMarker,
    Locked,
    MemoryWritten,
    Observed,
    Pictured,
    PictureKind,
    Record,
    SurfaceCreated,
)
from dp2emu.dp2.blt import Blt
from dp2emu.dp2.call import Answer, Call
from dp2emu.errors import CaptureError
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from tests.capture.samples import (
    CHAIN,
    ENTRIES,
    EVERYTHING,
    KEYS,
    MANAGED,
    RECORDS,
    SEEN,
    SEEN10,
    TEXTURES,
)


@given(RECORDS)
def test_a_record_comes_back_from_its_payload(record: Record) -> None:
    assert decode(*encode(record)) == record


@given(RECORDS)
def test_a_payload_cut_short_or_too_long_is_an_error(record: Record) -> None:
    kind, time, payload = encode(record)
    if kind not in (Kind.MEMORY, Kind.PICTURE, Kind.OBSERVATION):
        for wrong in (payload[:-1], payload + b"\0"):
            with pytest.raises(CaptureError):
                decode(kind, time, wrong)


@pytest.mark.parametrize("kind", Kind)
def test_an_empty_payload_is_an_error_for_every_kind(kind: Kind) -> None:
    with pytest.raises(CaptureError, match="needs"):
        decode(kind, 0, b"")


def test_no_memory_and_empty_memory_are_not_the_same() -> None:
    for commands in (None, b""):
        record = decode(*encode(Called(Call(1, commands=commands))))
        assert isinstance(record, Called)
        assert record.call.commands == commands


def test_a_call_carries_the_structure_of_its_abi() -> None:
    call = Call(0x11, dwVertexSize=0x22)
    sizes = {abi: len(encode(Called(call, abi))[2]) - 16 for abi in (32, 64)}
    assert sizes == {32: 56, 64: 72}
    payload = encode(Called(call, 32))[2]
    assert struct.unpack_from("<I", payload, 16) == (0x11,)
    assert struct.unpack_from("<II", payload, 16 + 48) == (0x22, 0)


def test_what_the_caller_left_in_the_error_offset_means_nothing() -> None:
    record = Called(Call(1))
    kind, time, payload = encode(record)
    garbage = payload[:-4] + b"\xff\xff\xff\xff"
    assert decode(kind, time, garbage) == record


@pytest.mark.parametrize(
    ("record", "field"),
    [
        (Called(Call(1, dwCommandOffset=-1)), "dwCommandOffset"),
        (Called(Call(1, dwFlags=1 << 32)), "dwFlags"),
        (Called(Call(1, lpDDCommands=1 << 32), 32), "lpDDCommands"),
        (Called(Call(1), 16), "abi 16"),
        (Answered(Answer(-1, 0, 0)), "ddrval"),
        (Answered(Answer(0, 0, -1)), "time"),
        (FrameMarker(1, time=1 << 64), "time"),
        (Annotation("key", "\udc80"), "not text"),
        (FrameMarker(0.5), "are not the integers"),  # type: ignore[arg-type]
    ],
)
def test_a_value_that_does_not_fit_is_named(record: Record, field: str) -> None:
    with pytest.raises(CaptureError, match=field):
        encode(record)


@pytest.mark.parametrize(
    ("kind", "payload", "what"),
    [
        (Kind.CONTEXT, struct.pack("<IIQQQ", 2, 9, 1, 0, 0), "event 2"),
        (Kind.SURFACE, struct.pack("<IIQIIIIII", 1, 8, 1, 1, 1, 0, 0, 1, 0), "kind 8"),
        (Kind.TEXTURE, struct.pack("<QIIIIIIIIIIQ", 1, 8, *[1] * 9, 0), "kind 8"),
        (Kind.MANAGED, struct.pack("<QIIIIIIIII", 1, 8, *[1] * 8), "kind 8"),
        (Kind.COLORKEY, struct.pack("<IIIQ", 2, 0, 0, 1), "event 2"),
        (Kind.COLORKEY, struct.pack("<IIIQ", 1, 0, 0, 1) + b"x", "21 bytes"),
        (Kind.CALL, struct.pack("<IIII", 48, 0, 0, 0), "abi 48"),
        (Kind.CALL, struct.pack("<IIII", 32, 0, 1, 0) + bytes(57), "not present"),
        (Kind.CALL, struct.pack("<IIII", 32, 3, 0xFFFFFFFF, 0xFFFFFFFF) + bytes(56), "speaks"),
        (Kind.CALL, struct.pack("<IIII", 32, 4, 0, 0) + bytes(56), "present"),
        (Kind.ANNOTATION, struct.pack("<II", 1, 0) + b"\xff", "UTF-8"),
        (Kind.ENTRY, struct.pack("<QIII", 1, 110, 4, 1) + b"draw\0", "'draw' names no function"),
        (Kind.ENTRY, struct.pack("<QIII", 1, 110, 129, 1) + b"D" * 129 + b"\0", "names no func"),
        (Kind.PICTURE, struct.pack("<QIIQ", 9, 7, 0, 1), "call 9 is of unknown kind 7"),
        (Kind.PICTURE, struct.pack("<QIIQ", 9, 0, 0, 1), "unknown kind 0"),
    ],
    ids=[
        "event",
        "kind",
        "texture",
        "managed",
        "key event",
        "key tail",
        "abi",
        "absent",
        "lengths",
        "present",
        "text",
        "name",
        "long name",
        "way",
        "no way",
    ],
)
def test_nonsense_in_a_head_is_an_error(kind: Kind, payload: bytes, what: str) -> None:
    with pytest.raises(CaptureError, match=what):
        decode(kind, 0, payload)


def test_a_huge_memory_write_is_stored_as_several_that_do_the_same() -> None:
    data = bytes(16 << 20) + b"rest"
    stored = [decode(*entry) for entry in entries(MemoryWritten(5, 100, data, 3))]
    assert [(w.offset, len(w.data), w.time) for w in stored if isinstance(w, MemoryWritten)] == [
        (100, 16 << 20, 3),
        (100 + (16 << 20), 4, 3),
    ]


def test_a_call_that_no_reader_would_take_is_refused() -> None:
    with pytest.raises(CaptureError, match="more than"):
        entries(Called(Call(1, commands=bytes(64 << 20))))


def test_every_kind_describes_its_fields() -> None:
    assert describe(Kind.FRAME) == b"frame u64\nsurface u64"
    records = EVERYTHING + TEXTURES + KEYS + CHAIN + MANAGED + SEEN + SEEN10 + ENTRIES
    assert {encode(record)[0] for record in records} == set(Kind)
    assert all(describe(kind).isascii() for kind in Kind)


@pytest.mark.parametrize("kind", Kind)
def test_every_field_of_a_head_has_a_name_of_its_own(kind: Kind) -> None:
    names = LAYOUTS[kind].head.names
    assert all(names)
    assert len(set(names)) == len(names)


def test_surfaces_keep_raw_formats() -> None:
    record = SurfaceCreated(SurfaceDesc(1, SurfaceKind.SURFACE, 1, 1, 0xDEADBEEF))
    assert decode(*encode(record)) == record


def test_a_surface_of_one_rectangle_has_the_payload_it_always_had() -> None:
    assert {encode(record)[0] for record in TEXTURES} == {Kind.TEXTURE}
    plain = SurfaceCreated(SurfaceDesc(1, SurfaceKind.TEXTURE, 4, 2, 21, 16, 1, 3))
    expected = struct.pack("<IIQIIIIII", 1, 3, 1, 4, 2, 21, 16, 1, 3)
    assert encode(plain) == (Kind.SURFACE, 0, expected)


def test_a_texture_is_laid_out_as_specified() -> None:
    desc = SurfaceDesc(1, SurfaceKind.VOLUME, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
    payload = encode(SurfaceCreated(desc))[2]
    assert payload == struct.pack("<QIIIIIIIIIIQ", 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 11, 10)


def test_a_managed_texture_is_laid_out_as_specified() -> None:
    desc = SurfaceDesc(1, SurfaceKind.VOLUMETEXTURE, 2, 3, 4, 5, 1, 7, 8, 9, managed=1)
    record = SurfaceCreated(desc, 6)
    assert encode(record) == (
        Kind.MANAGED, 6, struct.pack("<QIIIIIIIII", 1, 4, 2, 3, 4, 5, 1, 7, 8, 9)
    )  # fmt: skip
    assert [decode(*encode(each)) for each in MANAGED] == MANAGED


@pytest.mark.parametrize("more", [{"managed": 2}, {"managed": 1, "parent": 8}])
def test_what_no_managed_texture_is_is_refused(more: dict[str, int]) -> None:
    with pytest.raises(CaptureError, match="managed"):
        encode(SurfaceCreated(SurfaceDesc(1, SurfaceKind.TEXTURE, 4, 4, 22, **more)))


def test_a_colour_key_is_laid_out_as_specified() -> None:
    assert encode(ColorKeySet(7, 5, 6, 9)) == (Kind.COLORKEY, 9, struct.pack("<IIIQ", 1, 5, 6, 7))
    assert encode(ColorKeyRemoved(7, 9)) == (Kind.COLORKEY, 9, struct.pack("<IIIQ", 0, 0, 0, 7))


def test_flips_and_locks_are_laid_out_as_specified() -> None:
    assert encode(Flipped(7, 8, 9)) == (Kind.FLIP, 9, struct.pack("<QQ", 7, 8))
    assert encode(Locked(7, 9)) == (Kind.LOCK, 9, struct.pack("<Q", 7))


def test_what_a_program_saw_is_laid_out_as_specified() -> None:
    seen = Pictured(7, PictureKind.TARGET_DATA, 8, 9, b"rows", 10)
    assert encode(seen) == (Kind.PICTURE, 10, struct.pack("<QIIQ", 7, 2, 9, 8) + b"rows")
    back, mapped = Pictured(7, PictureKind.BACK_BUFFER, 8), Pictured(7, PictureKind.MAP, 8, 3)
    assert encode(back)[2] == struct.pack("<QIIQ", 7, 5, 0, 8)
    assert encode(mapped)[2] == struct.pack("<QIIQ", 7, 6, 3, 8)
    got = Observed(7, 8, 9, 1, b"answer", 10)
    assert encode(got) == (Kind.OBSERVATION, 10, struct.pack("<QQII", 7, 8, 9, 1) + b"answer")


def test_a_blit_is_laid_out_as_specified() -> None:
    blt = Blt(7, *range(1, 5), 8, *range(5, 17))
    words = struct.pack("<Q4IQ12I", 7, 1, 2, 3, 4, 8, *range(5, 17))
    assert encode(Blitted(blt, 9)) == (Kind.BLIT, 9, words)
    assert decode(Kind.BLIT, 9, words) == Blitted(blt, 9)
