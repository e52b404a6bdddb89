"""A lowering that is done, as what comes out of it."""

from __future__ import annotations

from dp2emu.shader.sm4.enums import GlobalFlags
from dp2emu.shader.sm4.lower.lowered import Lowered4
from dp2emu.shader.sm4.lower.lowering import Lowering
from dp2emu.shader.sm4.lower.outputs import DEPTHS
from dp2emu.shader.sm4.registers import File


def lowered(low: Lowering) -> Lowered4:
    """The program of a lowering, and what it declares."""
    declared = low.declared
    return Lowered4(
        program=low.b.program(),
        inputs=tuple(declared.inputs),
        outputs=tuple(declared.outputs),
        constant_buffers=tuple(sorted(declared.constant_buffers)),
        immediates=declared.immediates,
        resources=tuple(each for _, each in sorted(declared.resources.items())),
        samplers=tuple(sorted(declared.samplers, key=lambda each: each.number)),
        units=tuple(low.units),
        writes_depth=not declared.scalars.isdisjoint(DEPTHS),
        writes_coverage=File.COVERAGE_MASK in declared.scalars,
        kills=low.kills,
        forces_early=GlobalFlags.FORCE_EARLY_DEPTH_STENCIL in declared.flags,
        per_sample=declared.per_sample,
        emission=None if low.emitter is None else low.emitter.emission,
        deeds=tuple(low.deeds),
        unordered=tuple(each for _, each in sorted(declared.unordered.items())),
        shared=tuple(each for _, each in sorted(declared.shared.items())),
        threads=declared.threads,
        points_in=declared.points_in,
        registers=low.registers,
    )
