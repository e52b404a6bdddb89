"""Sizes of bound resources, as fetches and accesses of a program read them.

They are constants of what is bound: the rows of ``shader.executed.Sizes`` are what an engine
would answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dp2emu.errors import Unsupported
from dp2emu.gpu.command.packets import UnorderedViews
from dp2emu.gpu.command.post_vertex_stages import StageProgram
from dp2emu.gpu.shader_resources.resource_reads import StageFetcher
from dp2emu.gpu.shader_resources.textures import Texturing
from dp2emu.gpu.shader_resources.unordered_access import Accesses
from dp2emu.shader.executed import UnitOf
from dp2emu.shader.ir import Access
from dp2emu.shader.reference import run
from dp2emu.shader.resources import MemoryOpcode, MemoryOperation, ReadOpcode, Unit
from dp2emu.shader.types import I32

ROWS = 17
"""Number of mip levels of the rows: more than a texture of 16384 texels has, so that the last row
is that of every level beyond.
"""
_READS = frozenset({ReadOpcode.SIZE, ReadOpcode.COUNT, ReadOpcode.SAMPLES})
_MEMORY = frozenset({MemoryOpcode.SIZE, MemoryOpcode.COUNT})


def is_size(unit: UnitOf, reads: Sequence[Unit], operations: Sequence[MemoryOperation]) -> bool:
    """Whether a unit answers with sizes of a bound resource."""
    kind, number = unit
    if kind is Access:
        operation = operations[number]
        return operation.opcode in _MEMORY and not operation.shared
    return reads[number].opcode in _READS


def size_rows(
    unit: UnitOf,
    stage: StageProgram,
    operations: Sequence[MemoryOperation],
    unordered: UnorderedViews,
    samples: int,
) -> I32 | None:
    """The answers of a unit for which ``is_size`` holds, int32 (``ROWS``, 4), by the level that
    its operand names; None for a resource that cannot be read, which execution finds out.
    """
    kind, number = unit
    levels = np.arange(ROWS, dtype=np.int32)
    if kind is Access:
        words = Accesses(operations, unordered, ROWS).access(number, (levels,), None)
    else:
        own = stage.program.stage
        asked = stage.units[number].opcode is ReadOpcode.SIZE
        try:
            texturing = Texturing.alone(stage, own, run)
            fetch = StageFetcher(texturing, own, stage.textures, samples)
            words = fetch(number, (levels,) if asked else (), None)
        except Unsupported:
            return None
    return np.stack([np.broadcast_to(word, ROWS) for word in words], axis=1)
