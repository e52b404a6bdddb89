"""The transformed vertices of a conformance case: of calls, of token streams, of buffers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu.capture.records import Called, MemoryWritten, Record
from dp2emu.conform.case import Case
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.fvf import POSITION, XYZRHW
from dp2emu.dp2.call import Call
from dp2emu.dp2.walk import Command, scan

Places = NDArray[np.float32]
"""The (x, y) of vertices in pixels, (number, 2)."""
Change = Callable[[Places], Places]
"""Function from the places of vertices to other ones."""

_SOURCES = Op.SETSTREAMSOURCE, Op.SETSTREAMSOURCE2


def with_places(case: Case, change: Change) -> Case:
    """The case with its vertices at other places; ``change`` gets them call by call."""
    strides = _strides(case)
    return replace(case, records=tuple(_changed(each, change, strides) for each in case.records))


def places_of(case: Case) -> list[tuple[float, float]]:
    """The (x, y) of all vertices of a case, in pixels."""
    found: list[tuple[float, float]] = []

    def seen(places: Places) -> Places:
        found.extend((x, y) for x, y in places.tolist())
        return places

    with_places(case, seen)
    return found


def _commands(call: Call) -> list[Command]:
    data = call.commands or b""
    return [Command(*each) for each in scan(data, 0, len(data), call.dwVertexSize).commands]


def _strides(case: Case) -> dict[int, int]:
    """By handle of a vertex buffer, the size in bytes of its vertices."""
    found: dict[int, int] = {}
    for record in case.calls:
        if record.call.lpDDVertex:
            found[record.call.lpDDVertex] = record.call.dwVertexSize
        for command in _commands(record.call):
            if command.token.op in _SOURCES and command.n:
                data = (record.call.commands or b"")[command.start : command.end]
                sources = np.frombuffer(data, command.token.item_dtype)
                for source in sources[sources["dwStream"] == 0]:
                    found[int(source["dwVBHandle"])] = int(source["dwStride"])
    return found


def _changed(record: Record, change: Change, strides: Mapping[int, int]) -> Record:
    if isinstance(record, MemoryWritten):
        stride = strides.get(record.handle, 0)
        return replace(record, data=_placed(record.data, stride, change)) if stride else record
    call = record.call if isinstance(record, Called) else None
    if call is None or call.dwVertexType & POSITION != XYZRHW:
        return record
    vertices = call.vertices and _placed(call.vertices, call.dwVertexSize, change)
    return Called(replace(call, vertices=vertices, commands=_inline(call, change)))


def _inline(call: Call, change: Change) -> bytes | None:
    """The commands of a call with the vertices of its _IMM tokens, at their ends, changed."""
    data = call.commands
    for command in _commands(call):
        if command.token.vertices is not None and data is not None:
            first = command.end - command.token.vertices(command.n) * call.dwVertexSize
            own = _placed(data[first : command.end], call.dwVertexSize, change)
            data = data[:first] + own + data[command.end :]
    return data


def _placed(data: bytes, stride: int, change: Change) -> bytes:
    whole = len(data) // stride * stride if stride else 0
    if not whole:
        return data
    rows = np.frombuffer(data[:whole], np.uint8).reshape(-1, stride).copy()
    places = rows[:, :8].view("<f4")
    places[...] = change(places.copy())
    return rows.tobytes() + data[whole:]
