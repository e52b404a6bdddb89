"""Conformance cases on the emulator, as they are and with their vertices moved."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import product

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu.conform.case import Case, Shown
from dp2emu.conform.evidence import Evidence, WrongMemory, WrongPayload
from dp2emu.conform.running import run_case
from dp2emu.conform.target import HEIGHT, PIXEL_BYTES, TARGET, WIDTH
from dp2emu.conform.vertices import places_of, with_places
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options

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
    """The pixels of the target that do not change when the vertices move, by each of ``moves``,
    and at which no vertex is.
    """
    drawn = target_of(case)
    kept: Mask = np.all([target_of(moved(case, move)) == drawn for move in moves], axis=0)
    return kept & ~_at_vertices(case)


def _at_vertices(case: Case) -> Mask:
    """The pixels of the target less than a pixel from a vertex, where a triangle may be narrow."""
    near = np.zeros((HEIGHT, WIDTH), np.bool_)
    for x, y in places_of(case):
        if -1 < x < WIDTH and -1 < y < HEIGHT:
            top, left = max(math.floor(y), 0), max(math.floor(x), 0)
            near[top : math.ceil(y) + 1, left : math.ceil(x) + 1] = True
    return near


def same(one: Evidence | None, other: Evidence | None) -> bool:
    """Whether two runs found the same pictures, or the same payload of a query."""
    if isinstance(one, WrongMemory) and isinstance(other, WrongMemory):
        return [part.found for part in one.parts] == [part.found for part in other.parts]
    if isinstance(one, WrongPayload) and isinstance(other, WrongPayload):
        return (one.query, one.found) == (other.query, other.found)
    return False


def moved(case: Case, move: Move) -> Case:
    """The case with its transformed vertices moved."""
    return with_places(case, lambda places: places + np.array(move, np.float32))


def _run(case: Case) -> Evidence | None:
    return run_case(case, Driver(options=_REFERENCE)).evidence
