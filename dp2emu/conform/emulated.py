"""Conformance cases on the emulator, as they are and with their vertices moved."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu.capture.records import Called, MemoryWritten, Record
from dp2emu.conform.case import Case, Shown
from dp2emu.conform.evidence import Evidence, WrongMemory, WrongPayload
from dp2emu.conform.running import run_case
from dp2emu.conform.target import HEIGHT, PIXEL_BYTES, TARGET, WIDTH
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.fvf import POSITION, XYZRHW
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.dp2.walk import scan

Words = NDArray[np.uint32]
"""Pixel words (height, width)."""
Mask = NDArray[np.bool_]
"""A flag for each pixel (height, width)."""
Move = tuple[float, float]
"""Displacement (x, y) in pixels."""

_REFERENCE = Options(engine="reference")
_AWAY = 4096.0
"""Displacement in pixels by which no vertex stays near the target."""
_HALVES = (0.0, 0.5, -0.5, 1.0, -1.0)
_ALL: list[Move] = [(x, y) for x, y in product(_HALVES, _HALVES) if x or y]
MOVES = tuple(sorted(_ALL, key=lambda move: (abs(move[0]) + abs(move[1]), move)))
"""Displacements of vertices by half pixels and pixels, the shortest first."""

_LEAST = 1 / 128
SLIGHT: tuple[Move, ...] = tuple((x, y) for x in (-_LEAST, _LEAST) for y in (-_LEAST, _LEAST))
"""Displacements that move edges off the pixel centres which they pass through."""


def target_of(case: Case) -> Words:
    """The words of the render target at the end of a case."""
    unlike = bytes((1,)) * (PIXEL_BYTES * WIDTH * HEIGHT)
    evidence = _run(replace(case, shown=(Shown(TARGET, 0, unlike),)))
    if not isinstance(evidence, WrongMemory):  # an answer is wrong too, when vertices are moved
        return target_of(replace(case, owed=()))
    return np.frombuffer(evidence.parts[0].found, "<u4").reshape(HEIGHT, WIDTH)


def explaining_move(failures: list[tuple[Case, Evidence | None]]) -> Move | None:
    """The shortest displacement of vertices with which the emulator finds the same in every case
    as the driver did; None if there is none.
    """
    for move in MOVES:
        if all(same(_run(moved(case, move)), evidence) for case, evidence in failures):
            return move
    return None


def draws_nothing(case: Case, evidence: Evidence | None) -> bool:
    """Whether a driver found what the emulator finds if all vertices are outside of the target."""
    return same(_run(moved(case, (_AWAY, _AWAY))), evidence)


def still(case: Case, moves: Iterable[Move] = MOVES) -> Mask:
    """The pixels of the target that do not change when the vertices move, by each of ``moves``."""
    drawn = target_of(case)
    kept: Mask = np.all([target_of(moved(case, move)) == drawn for move in moves], axis=0)
    return kept


def same(one: Evidence | None, other: Evidence | None) -> bool:
    """Whether two runs found the same pictures, or the same payload of a query."""
    if isinstance(one, WrongMemory) and isinstance(other, WrongMemory):
        return [part.found for part in one.parts] == [part.found for part in other.parts]
    if isinstance(one, WrongPayload) and isinstance(other, WrongPayload):
        return (one.query, one.found) == (other.query, other.found)
    return False


def moved(case: Case, move: Move) -> Case:
    """The case with the transformed vertices of its calls and of its vertex buffers moved."""
    strides = _strides(case)
    return replace(case, records=tuple(_moved(each, move, strides) for each in case.records))


def _strides(case: Case) -> dict[int, int]:
    """By handle of a vertex buffer, the size in bytes of its vertices."""
    found = {}
    for record in case.calls:
        data = record.call.commands or b""
        for _, row, n, start, end in scan(data, 0, len(data), record.call.dwVertexSize).commands:
            if row.op in _SOURCES and n:
                source = np.frombuffer(data[start:end], row.item_dtype)
                handles, strides = source["dwVBHandle"].tolist(), source["dwStride"].tolist()
                found |= dict(zip(handles, strides, strict=True))
    return found


_SOURCES = Op.SETSTREAMSOURCE, Op.SETSTREAMSOURCE2


def _moved(record: Record, move: Move, strides: dict[int, int]) -> Record:
    if isinstance(record, MemoryWritten):
        stride = strides.get(record.handle, 0)
        return replace(record, data=_shifted(record.data, stride, move)) if stride else record
    call = record.call if isinstance(record, Called) else None
    if call is None or not call.vertices or call.dwVertexType & POSITION != XYZRHW:
        return record
    return Called(replace(call, vertices=_shifted(call.vertices, call.dwVertexSize, move)))


def _shifted(data: bytes, stride: int, move: Move) -> bytes:
    whole = len(data) // stride * stride
    rows = np.frombuffer(data[:whole], np.uint8).reshape(-1, stride).copy()
    rows[:, :8].view("<f4")[...] += np.array(move, np.float32)
    return rows.tobytes() + data[whole:]


def _run(case: Case) -> Evidence | None:
    return run_case(case, Driver(options=_REFERENCE)).evidence
