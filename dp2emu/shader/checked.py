"""The checking engine: runs the compiled and the reference engine and compares their results bit
for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from dp2emu.errors import Disagreement
from dp2emu.shader import reference
from dp2emu.shader.ir import Output, Port, Program, Slot, Statement, accesses
from dp2emu.shader.jit import engine as jit
from dp2emu.shader.reference import Fetcher, Memory, Result, Run, Sampler, Watch
from dp2emu.shader.text import dump
from dp2emu.shader.types import Lanes, Mask

ALIVE = "alive"


def run(
    program: Program,
    inputs: Mapping[str, Lanes],
    uniforms: Mapping[str, Lanes],
    lanes: int,
    mask: Mask | None = None,
    sampler: Sampler | None = None,
    watch: Watch | None = None,
    fetcher: Fetcher | None = None,
    memory: Memory | None = None,
) -> Result:
    """Run a program on both engines; arguments and result are those of
    ``dp2emu.shader.reference.run``.

    Raises Disagreement for the first lane of the first output that differs, or for a difference in
    what the engines leave in memory.
    """
    if watch is not None:
        return reference.run(
            program, inputs, uniforms, lanes, mask, sampler, watch, fetcher, memory
        )
    kept = memory if accesses(program) else None
    before = kept.saved() if kept is not None else ()

    def once(run: Run, program: Program) -> tuple[Result, tuple[Lanes, ...]]:
        if kept is not None:
            kept.restore(before)
        result = run(
            program, inputs, uniforms, lanes, mask, sampler, fetcher=fetcher, memory=memory
        )
        return result, kept.saved() if kept is not None else ()

    def both(program: Program) -> tuple[Result, _Difference | None]:
        found, wrote = once(jit.run, program)
        wanted, left = once(reference.run, program)
        return wanted, _difference(wanted, found) or _difference_left(left, wrote)

    wanted, difference = both(program)
    if difference is not None:
        at = _first_difference(program, lambda part: both(part)[1] is not None)
        raise Disagreement(f"{difference.told}, since {at}", dump(program), difference.lane)
    return wanted


class _Difference(NamedTuple):
    """The first lane in which the engines' results differ, and text that describes both values."""

    lane: int
    told: str


def _difference(wanted: Result, found: Result) -> _Difference | None:
    """Return the difference of the first output that differs, None if all outputs are equal."""
    for name, lanes in {**wanted.outputs, ALIVE: wanted.alive}.items():
        other = found.alive if name == ALIVE else found.outputs[name]
        differs = np.flatnonzero(_bits(lanes) != _bits(other))
        if len(differs):
            lane = int(differs[0])
            values = " and ".join(_describe(each[lane : lane + 1]) for each in (lanes, other))
            return _Difference(lane, f"output {name} of lane {lane} is {values}")
    return None


def _difference_left(wanted: tuple[Lanes, ...], found: tuple[Lanes, ...]) -> _Difference | None:
    """Return the first difference between what two engines left in memory, None if there is none.

    Memory belongs to no lane, so the lane of the result is 0.
    """
    for number, (old, new) in enumerate(zip(wanted, found, strict=True)):
        differs = np.flatnonzero(old != new)
        if len(differs):
            place = int(differs[0])
            told = f"{old[place]} and {new[place]}"
            return _Difference(0, f"item {place} of memory {number} is {told}")
    return None


def _bits(lanes: Lanes) -> Lanes:
    return lanes.view(np.uint8) if lanes.dtype == np.bool_ else lanes.view(np.uint32)


def _describe(lane: Lanes) -> str:
    return f"{lane[0]} ({int(_bits(lane)[0]):#x})"


def _first_difference(program: Program, differs: Callable[[Program], bool]) -> str:
    """Name the first top-level statement after which the engines differ, found by bisection."""
    same, different = 0, len(program.statements)
    while different - same > 1:
        middle = (same + different) // 2
        if differs(_prefix(program, middle)):
            different = middle
        else:
            same = middle
    lines = dump(replace(program, statements=program.statements[same:different])).splitlines()
    text = lines[len(dump(replace(program, statements=())).splitlines()) :]
    return f"statement {same}: {' '.join(text[:1]).strip()}"


def _prefix(program: Program, count: int) -> Program:
    """Return the program cut after ``count`` top-level statements; every slot is an output."""
    ports = tuple(Port(f"slot#{n}", type) for n, type in enumerate(program.slots))
    shown: tuple[Statement, ...] = tuple(
        Output(port.name, Slot(number)) for number, port in enumerate(ports)
    )
    return replace(
        program, outputs=program.outputs + ports, statements=program.statements[:count] + shown
    )
