"""Records and captures for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO, RawIOBase
from typing import Any

from hypothesis import strategies as st

from dp2emu.capture import CaptureWriter, LogWriter
from dp2emu.capture.records import (
    Annotation,
    Answered,
    Blitted,
    Called,
    ColorKeyRemoved,
    ColorKeySet,
    ContextCreated,
    ContextDestroyed,
    EntryCalled,
    Flipped,
    FrameMarker,
    Locked,
    MemoryWritten,
    Observed,
    Pictured,
    PictureKind,
    Record,
    SurfaceCreated,
    SurfaceDestroyed,
)
from dp2emu.capture.values import NAME, Memory, Structure
from dp2emu.dp2.blt import Blt
from dp2emu.dp2.call import Answer, Call
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind

TWO_CALLS: list[Record] = [
    SurfaceCreated(SurfaceDesc(3, SurfaceKind.MEMORY, 64)),
    Called(Call(1, 3, dwCommandLength=4, commands=b"\x5b\0\0\0"), 32, 10),
    Answered(Answer(0, 0, 12)),
    MemoryWritten(3, 8, b"host wrote this", 13),
    Called(Call(1, 3, commands=b""), 64, 14),
    Answered(Answer(0x88760BB8, 4, 16, b"", 8)),
]
"""A small capture with one record of every kind that matters to a replay."""

EVERYTHING: list[Record] = [
    Annotation("title", "tout, même ça"),
    SurfaceCreated(SurfaceDesc(5, SurfaceKind.TEXTURE, 64, 32, 22, 256, 4, 1), 1),
    ContextCreated(1, 7, 5, 6, 2),
    *TWO_CALLS,
    Called(Call(2**64 - 1, *range(1, 13), commands=None, vertices=b"vertices"), 64, 20),
    Answered(Answer(0, 8, 2**64 - 1, b"response", 0x40)),
    FrameMarker(7, 5, 30),
    SurfaceDestroyed(5, 31),
    ContextDestroyed(1, 32),
]

TEXTURES: list[Record] = [
    SurfaceCreated(SurfaceDesc(8, SurfaceKind.CUBETEXTURE, 64, 64, 22, levels=7), 1),
    SurfaceCreated(SurfaceDesc(9, SurfaceKind.SURFACE, 32, 32, 22, parent=8, index=36), 1),
    SurfaceCreated(SurfaceDesc(10, SurfaceKind.VOLUMETEXTURE, 4, 4, 22, depth=3), 1),
    SurfaceCreated(SurfaceDesc(11, SurfaceKind.VOLUME, 4, 4, 22, depth=3, parent=10), 1),
]
"""Surfaces that are more than one rectangle of pixels."""

MANAGED: list[Record] = [
    SurfaceCreated(SurfaceDesc(8, SurfaceKind.CUBETEXTURE, 8, 8, 22, levels=4, managed=1), 1),
    SurfaceCreated(SurfaceDesc(9, SurfaceKind.SURFACE, 4, 4, 22, parent=8, index=1), 2),
    SurfaceCreated(SurfaceDesc(10, SurfaceKind.TEXTURE, 4, 4, 22, managed=1), 3),
]
"""Textures the driver manages, and a level of one."""

KEYS: list[Record] = [
    SurfaceCreated(SurfaceDesc(5, SurfaceKind.TEXTURE, 4, 4, 23), 1),
    ColorKeySet(5, 0x7C00, 0x7C1F, 2),
    ColorKeyRemoved(5, 3),
]
"""A texture that has a colour key for a while."""

CHAIN: list[Record] = [
    SurfaceCreated(SurfaceDesc(1, SurfaceKind.SURFACE, 4, 4, 22), 1),
    SurfaceCreated(SurfaceDesc(2, SurfaceKind.SURFACE, 4, 4, 22), 2),
    Locked(2, 3),
    MemoryWritten(2, 0, b"\1\2\3\4", 4),
    Flipped(1, 2, 5),
    Blitted(Blt(1, 0, 0, 2, 2, 2, 0, 0, 2, 2, flags=0x400), 5),
    FrameMarker(0, 1, 6),
]
"""A back buffer that the host fills and shows."""

SEEN: list[Record] = [
    Annotation("imported", "apitrace", 1),
    Pictured(12, PictureKind.PRESENT, 5, 2, time=2),
    Pictured(2**64 - 1, PictureKind.LOCK, 2**64 - 1, 2**32 - 1, b"pixels", 3),
    Observed(14, 1, 7, 1, time=4),
    Observed(15, 1, 7, 0, b"\1\0\0\0", 5),
]
"""What a program saw."""

SEEN10: list[Record] = [
    Annotation("imported", "apitrace", 1),
    Pictured(16, PictureKind.BACK_BUFFER, 3),
    Pictured(17, PictureKind.MAP, 4, 2, b"rows"),
    Observed(18, 0, 3, 0, b"\1\0\0\0"),
    Annotation("label.resource.3", "back buffer"),
    Annotation("marker.begin", "shadows"),
    Annotation("marker.end", ""),
]
"""What a program of Direct3D 10/11 saw, and the marks that it set."""

ENTRIES: list[Record] = [
    EntryCalled(0, 110, "Adapter.CreateDevice", (1,)),
    EntryCalled(
        1, 110, "CreateQuery", (Structure("CreateQuery", (8, 0)), Memory(3, 112), 7), codes=(1,)
    ),
    EntryCalled(1, 110, "SetBlendState", (None, (1.0, 0.5, -1.0), -1, "no", b"\0" * 40)),
    EntryCalled(1, 110, "QueryGetData", (Memory(3, 112),), 5, written=((4, b"\1\0\0\0"),), time=9),
    EntryCalled(1, 110, "Draw", (3, 0), time=9, call=0),
    EntryCalled(1, 110, "Flush", call=2**64 - 1),
]
"""Calls of the Direct3D 10/11 interface."""

_U32 = st.integers(0, 2**32 - 1)
_U64 = st.integers(0, 2**64 - 1)
_MEMORY = st.none() | st.binary(max_size=40)


def _calls(pointer: st.SearchStrategy[int]) -> st.SearchStrategy[Call]:
    names = {"dwhContext", "lpDDCommands", "lpDDVertex", "lpdwRStates"}
    fields: dict[str, Any] = {
        name: pointer if name in names else _U32
        for name in Call.__struct_fields__
        if name not in ("commands", "vertices")
    }
    return st.builds(Call, **fields, commands=_MEMORY, vertices=_MEMORY)


_SHAPES = (_U64, st.sampled_from(SurfaceKind), _U32, _U32, _U32, _U32, _U32, _U32)
_DESCS = st.builds(SurfaceDesc, *_SHAPES) | st.builds(
    SurfaceDesc, *_SHAPES, _U32, _U32, _U64, _U32
)
_ANSWERS = st.builds(Answer, _U32, _U32, _U64, st.binary(max_size=40), _U32)

_NAMES = st.from_regex(NAME, fullmatch=True)
_PLAIN = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False),
    st.text(max_size=9),
    st.binary(max_size=40),
    st.builds(Memory, _U64, _U64),
)
VALUES = st.recursive(
    _PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.builds(Structure, _NAMES, st.lists(inner, max_size=3).map(tuple))
    ),
    max_leaves=8,
)
"""Any value of the Direct3D 10/11 interface; NaN apart, which equals nothing."""
_WORDS = (_U32,) * 4
_BLTS = st.builds(Blt, _U64, *_WORDS, _U64, *_WORDS, *_WORDS, *_WORDS)

RECORDS: st.SearchStrategy[Record] = st.one_of(
    st.builds(ContextCreated, _U64, _U32, _U64, _U64, _U64),
    st.builds(ContextDestroyed, _U64, _U64),
    st.builds(SurfaceCreated, _DESCS, _U64),
    st.builds(SurfaceDestroyed, _U64, _U64),
    st.builds(ColorKeySet, _U64, _U32, _U32, _U64),
    st.builds(ColorKeyRemoved, _U64, _U64),
    st.builds(Flipped, _U64, _U64, _U64),
    st.builds(Blitted, _BLTS, _U64),
    st.builds(Locked, _U64, _U64),
    st.builds(MemoryWritten, _U64, _U64, st.binary(max_size=40), _U64),
    st.builds(Called, _calls(_U32), st.just(32), _U64),
    st.builds(Called, _calls(_U64), st.just(64), _U64),
    st.builds(Answered, _ANSWERS),
    st.builds(FrameMarker, _U64, _U64, _U64),
    st.builds(Annotation, st.text(max_size=10), st.text(max_size=20), _U64),
    st.builds(
        Pictured, _U64, st.sampled_from(PictureKind), _U64, _U32, st.binary(max_size=40), _U64
    ),
    st.builds(Observed, _U64, _U64, _U32, _U32, st.binary(max_size=40), _U64),
    st.builds(
        EntryCalled,
        _U64,
        _U32,
        st.sampled_from(["Draw", "DXGI.Present", "Adapter.Disturb", "Host.Write"]),
        st.lists(VALUES, max_size=4).map(tuple),
        VALUES,
        st.lists(_U32, max_size=2).map(tuple),
        st.lists(st.tuples(_U64, st.binary(max_size=70)), max_size=2).map(tuple),
        _U64,
        st.none() | _U64,
    ),
)
"""Any record that the forms can hold."""


def sealed(records: Iterable[Record], **options: Any) -> bytes:
    """A sealed capture of these records."""
    out = BytesIO()
    with CaptureWriter(out, **options) as writer:
        for record in records:
            writer.write(record)
    return out.getvalue()


def log(records: Iterable[Record]) -> bytes:
    """A raw log of these records."""
    out = BytesIO()
    with LogWriter(out) as writer:
        for record in records:
            writer.write(record)
    return out.getvalue()


class Pipe(RawIOBase):
    """Bytes that come in small pieces and cannot be sought."""

    def __init__(self, data: bytes, piece: int = 7) -> None:
        self._data = BytesIO(data)
        self._piece = piece

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._data.read(min(len(buffer), self._piece))
        buffer[: len(data)] = data
        return len(data)
