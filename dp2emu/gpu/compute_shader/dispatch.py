"""Compute dispatches: thread groups that run a program.

Groups run in the order of their flattened numbers.  The threads of a group are lanes, which
execute each statement together (``shader.ir.Access``).  If order makes no difference, several
groups run as lanes at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import prod

import numpy as np

from dp2emu.cancellation import polled
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
from dp2emu.shader.types import Lanes

LANES = 1 << 14
"""Most threads in a batch of thread groups that run at once; a larger group is a batch alone."""
WORDS = 1 << 22
"""Most 32-bit words of shared memory and register arrays in a batch of groups that run at once."""
MOST_THREADS, MOST_GROUPS = 1 << 26, 1 << 16
"""Most threads of a dispatch, and most batches of thread groups; a batch runs at once."""
MOST_ACCESSES = 1 << 21
"""Most memory operations of a dispatch; one that all lanes do together counts once."""


def execute_dispatch(dispatch: Dispatch, counters: Counters, run: Run) -> Work:
    """Run all groups of a dispatch on an engine and add to the counters.

    Raises Unsupported for more than ``MOST_THREADS`` threads or ``MOST_GROUPS`` batches, before
    any write, and for more than ``MOST_ACCESSES`` memory operations; Disagreement if the checked
    engine finds one.
    """
    threads, groups = prod(dispatch.threads), prod(dispatch.groups)
    together = _together(dispatch, threads) if _side_by_side(dispatch) else 1
    if threads * groups > MOST_THREADS or groups > MOST_GROUPS * together:
        raise Unsupported(f"dispatches of {groups:,} groups of {threads:,} threads")
    moved = 0
    with np.errstate(all="ignore"):
        running = _Running(dispatch, run)
        for first in polled(range(0, groups, together)):
            moved += running.groups(np.arange(first, min(first + together, groups)))
    work = Work(threads=threads * groups, unordered_bytes=moved)
    counters.threads += work.threads
    counters.unordered_bytes += moved
    return work


def _together(dispatch: Dispatch, threads: int) -> int:
    """Most groups of ``threads`` threads in a batch within ``LANES`` and ``WORDS``; at least 1."""
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
    """Runs the groups of a dispatch, whose constants are read once, at the start."""

    def __init__(self, dispatch: Dispatch, run: Run) -> None:
        stage = dispatch.stage
        self._dispatch = dispatch
        self._uniforms = {**stage.uniforms, **constants_of(stage.program, stage.buffers)}
        texturing = Texturing.alone(stage, Stage.COMPUTE, run)
        sampler = StageSampler(texturing, Stage.COMPUTE)
        fetcher = StageFetcher(texturing, Stage.COMPUTE, stage.textures, 1)
        self._run = partial(run, stage.program, sampler=sampler, fetcher=fetcher)
        self._accesses = 0

    def groups(self, numbers: I64) -> int:
        """Run the groups ``numbers`` as lanes and return the number of bytes accessed."""
        dispatch = self._dispatch
        lanes = len(numbers) * prod(dispatch.threads)
        shared, left = self._shared(len(numbers)), MOST_ACCESSES - self._accesses
        memory = Accesses(dispatch.memory_operations, dispatch.unordered, lanes, shared, most=left)
        wanted = {port.name for port in dispatch.stage.program.inputs}
        inputs = {name: lane for name, lane in self._inputs(numbers) if name in wanted}
        with locate_disagreement(lambda lane: f"thread {lane} from group {numbers[0]} on"):
            self._run(inputs, self._uniforms, lanes, memory=memory)
        self._accesses += memory.steps
        return memory.bytes

    def _shared(self, groups: int) -> dict[int, WordMemory]:
        """Zeroed shared memory of ``groups`` groups, by register number."""
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
        for axis, name in enumerate("xyz"):
            number = group[axis] * threads[axis] + thread[axis]
            yield f"vThreadGroupID.{name}", group[axis].astype(np.int32)
            yield f"vThreadIDInGroup.{name}", thread[axis].astype(np.int32)
            yield f"vThreadID.{name}", number.astype(np.int32)
        yield "vThreadIDInGroupFlattened.x", flat.astype(np.int32)


def _apart(numbers: I64, sides: tuple[int, int, int]) -> tuple[I64, I64, I64]:
    """Coordinates x, y and z of flattened ``numbers`` in a box with these ``sides``."""
    above, x = np.divmod(numbers, sides[0])
    z, y = np.divmod(above, sides[1])
    return x, y, z
