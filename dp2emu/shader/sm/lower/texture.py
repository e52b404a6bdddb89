"""Texture operations of ps_1_4 and later, and those that all versions share (SM1-3 tokens, "Pixel
shaders 1.x" and "Texture operations")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_

from dp2emu.shader.ir import Lod, TextureKind
from dp2emu.shader.sm.lower.arithmetic import Evaluate, before
from dp2emu.shader.sm.lower.lowering import DEPTH, Lowering, Result
from dp2emu.shader.sm.lower.reading import Operand, operands
from dp2emu.shader.sm.modifiers import Sampling
from dp2emu.shader.sm.opcodes import Op
from dp2emu.shader.sm.program import Instruction, Source
from dp2emu.shader.sm.versions import V1_4, V2_0
from dp2emu.shader.values import Value

Effect = Callable[[Lowering, Instruction], None]
"""Lowers an instruction that does more, or other things, than to write its destination."""

At = Callable[[int], Value]
"""A texture coordinate by component."""


def sample(
    low: Lowering, sampler: int, at: At, lod: Lod = Lod.IMPLICIT, arguments: Sequence[Value] = ()
) -> Result:
    """Sample at as many coordinates as the sampler's texture has."""
    kind = kind_of(low, sampler)
    low.samplers[sampler] = kind
    coordinates = [at(c) for c in range(kind.coordinates)]
    return dict(enumerate(low.b.sample(kind, sampler, coordinates, lod, arguments)))


def kind_of(low: Lowering, sampler: int) -> TextureKind:
    """What dcl says, or else what is bound, or else two-dimensional."""
    return low.kinds.get(sampler, TextureKind.TEX2D)


def _texld_1_4(low: Lowering, instruction: Instruction) -> Result:
    """Sample the stage numbered as the destination at the source."""
    (at,) = operands(low, instruction)
    return sample(low, instruction.target.register.number, at.__getitem__)


def _texld(low: Lowering, instruction: Instruction) -> Result:
    """Sample at the first source, maybe divided by its w or with w as bias."""
    at = Operand(low, instruction.sources[0])
    if instruction.sampling is Sampling.PROJECT:
        return _sampled(low, instruction, lambda c: at[c] / at[3])
    if instruction.sampling is Sampling.BIAS:
        return _sampled(low, instruction, at.__getitem__, Lod.BIAS, [at[3]])
    return _sampled(low, instruction, at.__getitem__)


def _texldl(low: Lowering, instruction: Instruction) -> Result:
    at = Operand(low, instruction.sources[0])
    return _sampled(low, instruction, at.__getitem__, Lod.EXPLICIT, [at[3]])


def _texldd(low: Lowering, instruction: Instruction) -> Result:
    at, _, *gradients = (Operand(low, source) for source in instruction.sources)
    size = kind_of(low, instruction.sources[1].register.number).coordinates
    arguments = [gradient[c] for gradient in gradients for c in range(size)]
    return _sampled(low, instruction, at.__getitem__, Lod.GRADIENT, arguments)


def _sampled(
    low: Lowering,
    instruction: Instruction,
    at: At,
    lod: Lod = Lod.IMPLICIT,
    arguments: Sequence[Value] = (),
) -> Result:
    """Sample the second source, whose swizzle rearranges the result."""
    source = instruction.sources[1]
    texel = sample(low, source.register.number, at, lod, arguments)
    return {c: texel[place] for c, place in enumerate(source.swizzle)}


def _texcrd(low: Lowering, instruction: Instruction) -> Result:
    """Coordinates as they are, but for the division that a modifier asks for."""
    (at,) = operands(low, instruction)
    return {c: at[c] for c in instruction.target.components}


def _texkill(low: Lowering, instruction: Instruction) -> None:
    """Kill where a component is below 0: one of all four, but of the first three in 1.x.

    The mask does not matter (SM1-3 tokens, "Open points").  With a predicate only components for
    which it is true count.  Before ps_1_4 the coordinates are tested, whatever the register holds
    by then.
    """
    count = 4 if low.version.level >= V2_0 else 3
    tests = [_test(low, instruction, c) for c in range(count)]
    low.b.kill(reduce(or_, tests))
    low.kills = True


def _test(low: Lowering, instruction: Instruction, component: int) -> Value:
    register = instruction.target.register
    if low.version.level < V1_4:
        return low.coordinate(register.number, component) < 0.0
    below = Operand(low, Source(register))[component] < 0.0
    condition = low.condition(instruction, component)
    return below if condition is None else below & condition


def _texdepth(low: Lowering, instruction: Instruction) -> None:
    """Depth r5.r / min(r5.g, 1); 1 where r5.g is 0."""
    r5 = Operand(low, Source(instruction.target.register))
    divisor = low.b.min(r5[1], 1.0)
    set_depth(low, divisor, r5[0])


def set_depth(low: Lowering, w: Value, z: Value) -> None:
    """Depth z / w, but 1 where w is 0."""
    low.variable(DEPTH, 0).value = low.b.select(w.eq(0.0), 1.0, z / w)


EVALUATE: dict[Op, Evaluate] = {
    Op.TEX: before(V2_0, _texld_1_4, _texld),
    Op.TEXCOORD: _texcrd,
    Op.TEXLDD: _texldd,
    Op.TEXLDL: _texldl,
}

EFFECTS: dict[Op, Effect] = {Op.TEXKILL: _texkill, Op.TEXDEPTH: _texdepth}
