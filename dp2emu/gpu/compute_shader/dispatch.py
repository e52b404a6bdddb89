"""Dispatches: groups of threads that run a program.

Groups run in the order of their numbers, x first and z last; the threads of a group are lanes in
the order of their flattened numbers, and do each statement together, whatever else they do to
memory (``shader.ir.Access``).  Where it comes to the same, many groups are lanes at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from dp2emu.errors import Unsupported
from dp2emu.gpu.arrays import I64
from dp2emu.gpu.command.packets import Dispatch
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.shader_resources.constant_buffers import constants_of
from dp2emu.gpu.shader_resources.resource_reads import StageFetcher
from dp2emu.gpu.shader_resources.textures import StageSampler, Texturing
from dp2emu.gpu.shader_resources.unordered_access import Accesses, Same, WordMemory, in_any_order
from dp2emu.shader.engines import locate_disagreement
from dp2emu.shader.ir import Stage
from dp2emu.shader.reference import Run
from dp2emu.shader.types import I32, Lanes

LANES = 1 << 14
"""Threads that run together if it does not matter in which order groups do."""
WORDS = 1 << 22
"""What groups that run together share or have in arrays, all of them."""
MOST_THREADS, MOST_GROUPS = 1 << 26, 1 << 16
"""Of a dispatch, and of one whose groups run one after the other."""
MOST_ACCESSES = 1 << 21
"""Of a dispatch, those of lanes that act together counted once: more take hours."""

_AXES = "xyz"


def execute_dispatch(dispatch: Dispatch, counters: Counters, run: Run) -> Work:
    """Run all groups by an engine, and raise the counters.

    Raises Unsupported for more than ``MOST_THREADS`` or ``MOST_GROUPS``, before anything is
    written, and for more than ``MOST_ACCESSES``; and Disagreement if engines are checked.
    """
    threads, groups = prod(dispatch.threads), prod(dispatch.groups)
    together = _together(dispatch, threads) if _side_by_side(dispatch) else 1
    if threads * groups > MOST_THREADS or groups > MOST_GROUPS * together:
        raise Unsupported(f"dispatches of {groups:,} groups of {threads:,} threads")
    moved = 0
    with np.errstate(all="ignore"):
        running = _Running(dispatch, run)
        for first in range(0, groups, together):
            moved += running.groups(np.arange(first, min(first + together, groups)))
    work = Work(threads=threads * groups, unordered_bytes=moved)
    counters.threads += work.threads
    counters.unordered_bytes += moved
    return work


def _together(dispatch: Dispatch, threads: int) -> int:
    """How many groups may be lanes at once."""
    own = sum(file.size for file in dispatch.stage.program.files if not file.uniform)
    words = sum(each.words for each in dispatch.shared) + threads * own
    return max(min(LANES // threads, WORDS // max(words, 1)), 1)


def _side_by_side(dispatch: Dispatch) -> bool:
    bound, program = dispatch.unordered, dispatch.stage.program
    numbers: dict[int, int] = {}
    same: Same = tuple(
        (number, numbers.setdefault(id(each.surface.words), number))
        for number, each in sorted(bound.items())
    )
    textures = dispatch.stage.textures.values()
    read = any(id(each.surface.words) in numbers for each in textures)
    return in_any_order(program, dispatch.memory_operations, same, read)


class _Running:
    """A dispatch being run.  It reads its constants once, at the start."""

    def __init__(self, dispatch: Dispatch, run: Run) -> None:
        stage = dispatch.stage
        self._dispatch = dispatch
        self._run = run
        self._uniforms = {**stage.uniforms, **constants_of(stage.program, stage.buffers)}
        texturing = Texturing.alone(stage, Stage.COMPUTE, run)
        self._sampler = StageSampler(texturing, Stage.COMPUTE)
        self._fetcher = StageFetcher(texturing, Stage.COMPUTE, stage.textures, 1)
        self._accesses = 0

    def groups(self, numbers: I64) -> int:
        """Run groups side by side; bytes that they moved."""
        dispatch, program = self._dispatch, self._dispatch.stage.program
        lanes = len(numbers) * prod(dispatch.threads)
        shared, left = self._shared(len(numbers)), MOST_ACCESSES - self._accesses
        memory = Accesses(dispatch.memory_operations, dispatch.unordered, lanes, shared, most=left)
        wanted = {port.name for port in program.inputs}
        inputs = {name: lane for name, lane in self._inputs(numbers) if name in wanted}
        with locate_disagreement(lambda lane: f"thread {lane} from group {numbers[0]} on"):
            self._run(
                program,
                inputs,
                self._uniforms,
                lanes,
                sampler=self._sampler,
                fetcher=self._fetcher,
                memory=memory,
            )
        self._accesses += memory.steps
        return memory.bytes

    def _shared(self, groups: int) -> dict[int, WordMemory]:
        """Memory of zeros for each group."""
        threads = prod(self._dispatch.threads)
        found = {}
        for shared in self._dispatch.shared:
            lane = np.repeat(np.arange(groups) * shared.words, threads)
            words = np.zeros(groups * shared.words, np.int32)
            stride = shared.stride if shared.stride > 1 else 0
            found[shared.number] = WordMemory(words, 0, shared.words, stride, lane)
        return found

    def _inputs(self, numbers: I64) -> Iterator[tuple[str, Lanes]]:
        sides, threads = self._dispatch.groups, self._dispatch.threads
        group = [np.repeat(each, prod(threads)) for each in _apart(numbers, sides)]
        flat = np.tile(np.arange(prod(threads)), len(numbers))
        thread = _apart(flat, threads)
        for axis, name in enumerate(_AXES):
            yield f"vThreadGroupID.{name}", _lanes(group[axis])
            yield f"vThreadIDInGroup.{name}", _lanes(thread[axis])
            yield f"vThreadID.{name}", _lanes(group[axis] * threads[axis] + thread[axis])
        yield "vThreadIDInGroupFlattened.x", _lanes(flat)


def _apart(numbers: I64, sides: tuple[int, int, int]) -> tuple[I64, I64, I64]:
    """x, y and z of numbers that count x first."""
    above, x = np.divmod(numbers, sides[0])
    z, y = np.divmod(above, sides[1])
    return x, y, z


def _lanes(numbers: I64) -> I32:
    return numbers.astype(np.int32)
