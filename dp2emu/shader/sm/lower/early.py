"""Texture operations of ps_1_1 to ps_1_3 (SM1-3 tokens, "Pixel shaders 1.x").

The register written, tN, also names the stage that is sampled and its set of coordinates.
"""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.shader.sm.lower.arithmetic import Evaluate, bumped
from dp2emu.shader.sm.lower.lowering import Lowering, Result
from dp2emu.shader.sm.lower.reading import Operand, operands
from dp2emu.shader.sm.lower.texture import At, Effect, sample, set_depth
from dp2emu.shader.sm.opcodes import Op
from dp2emu.shader.sm.program import Instruction
from dp2emu.shader.stages import LUMINANCE_OFFSET, LUMINANCE_SCALE
from dp2emu.shader.values import Value


def _stage(instruction: Instruction) -> int:
    return instruction.target.register.number


def _projected(low: Lowering, stage: int) -> At:
    """Coordinates of a stage, divided by the component its state asks for."""
    divisor = low.bound.projections.get(stage)
    if divisor is None:
        return lambda c: low.coordinate(stage, c)
    return lambda c: low.coordinate(stage, c) / low.coordinate(stage, divisor)


def _tex(low: Lowering, instruction: Instruction) -> Result:
    stage = _stage(instruction)
    return sample(low, stage, _projected(low, stage))


def _texcoord(low: Lowering, instruction: Instruction) -> Result:
    """Coordinates clamped to 0..1; w is 1."""
    xyz = {c: low.b.saturate(low.coordinate(_stage(instruction), c)) for c in range(3)}
    return {**xyz, 3: low.number(1.0)}


def _texbem(low: Lowering, instruction: Instruction) -> Result:
    """Coordinates, moved by red and green of the source; the third stays."""
    (by,) = operands(low, instruction)
    at = _projected(low, _stage(instruction))
    moved = bumped(low, instruction, at, by)
    return sample(low, _stage(instruction), lambda c: moved[c] if c < 2 else at(c))


def _texbeml(low: Lowering, instruction: Instruction) -> Result:
    """texbem, whose colour is multiplied by blue of the source times scale plus offset."""
    (by,) = operands(low, instruction)
    stage, texel = _stage(instruction), _texbem(low, instruction)
    scale, offset = low.stage(stage, LUMINANCE_SCALE), low.stage(stage, LUMINANCE_OFFSET)
    luminance = low.mul(by[2], scale) + offset
    return {c: low.mul(texel[c], luminance) if c < 3 else texel[c] for c in texel}


def _texreg(*components: int) -> Evaluate:
    """Sample at components of the source; a coordinate beyond them is 0."""

    def evaluate(low: Lowering, instruction: Instruction) -> Result:
        (by,) = operands(low, instruction)
        at = [by[c] for c in components]
        return sample(
            low, _stage(instruction), lambda c: at[c] if c < len(at) else low.number(0.0)
        )

    return evaluate


def _row(low: Lowering, instruction: Instruction) -> Value:
    """The product of the coordinates with the first source."""
    source = Operand(low, instruction.sources[0])
    total = low.mul(low.coordinate(_stage(instruction), 0), source[0])
    for c in (1, 2):
        total = total + low.mul(low.coordinate(_stage(instruction), c), source[c])
    return total


def _pad(low: Lowering, instruction: Instruction) -> None:
    low.rows.append(_row(low, instruction))


def _rows(low: Lowering, instruction: Instruction) -> list[Value]:
    """The products of the rows before and of this one, which is the last."""
    rows = [*low.rows, _row(low, instruction)]
    low.rows.clear()
    return rows


def _sampled_at(
    coordinates: Callable[[Lowering, Instruction, list[Value]], list[Value]],
) -> Evaluate:
    """Sample where the products lead; a coordinate beyond those given is 0."""

    def evaluate(low: Lowering, instruction: Instruction) -> Result:
        at = coordinates(low, instruction, _rows(low, instruction))
        return sample(
            low, _stage(instruction), lambda c: at[c] if c < len(at) else low.number(0.0)
        )

    return evaluate


def _as_they_are(low: Lowering, instruction: Instruction, rows: list[Value]) -> list[Value]:
    return rows


def _spec(low: Lowering, instruction: Instruction, rows: list[Value]) -> list[Value]:
    """The eye vector is the second source."""
    eye = Operand(low, instruction.sources[1])
    return _reflected(low, rows, [eye[c] for c in range(3)])


def _vspec(low: Lowering, instruction: Instruction, rows: list[Value]) -> list[Value]:
    """The eye vector is w of the three sets of coordinates."""
    last = _stage(instruction)
    return _reflected(low, rows, [low.coordinate(set, 3) for set in range(last - 2, last + 1)])


def _reflected(low: Lowering, normal: list[Value], eye: list[Value]) -> list[Value]:
    """2 (n.e / n.n) n - e."""
    factor = _dot(low, normal, eye) / _dot(low, normal, normal) * 2.0
    return [low.mul(factor, n) - e for n, e in zip(normal, eye, strict=True)]


def _dot(low: Lowering, x: list[Value], y: list[Value]) -> Value:
    return low.mul(x[0], y[0]) + low.mul(x[1], y[1]) + low.mul(x[2], y[2])


def _texm3x3(low: Lowering, instruction: Instruction) -> Result:
    return dict(enumerate([*_rows(low, instruction), low.number(1.0)]))


def _texdp3(low: Lowering, instruction: Instruction) -> Result:
    return dict.fromkeys(range(4), _row(low, instruction))


def _texm3x2depth(low: Lowering, instruction: Instruction) -> None:
    z, w = _rows(low, instruction)
    set_depth(low, w, z)


_MATRIX = _sampled_at(_as_they_are)

EVALUATE: dict[Op, Evaluate] = {
    Op.TEX: _tex,
    Op.TEXCOORD: _texcoord,
    Op.TEXBEM: _texbem,
    Op.TEXBEML: _texbeml,
    Op.TEXREG2AR: _texreg(3, 0),
    Op.TEXREG2GB: _texreg(1, 2),
    Op.TEXREG2RGB: _texreg(0, 1, 2),
    Op.TEXM3x2TEX: _MATRIX,
    Op.TEXM3x3TEX: _MATRIX,
    Op.TEXDP3TEX: _MATRIX,
    Op.TEXM3x3SPEC: _sampled_at(_spec),
    Op.TEXM3x3VSPEC: _sampled_at(_vspec),
    Op.TEXM3x3: _texm3x3,
    Op.TEXDP3: _texdp3,
}

EFFECTS: dict[Op, Effect] = {
    Op.TEXM3x2PAD: _pad,
    Op.TEXM3x3PAD: _pad,
    Op.TEXM3x2DEPTH: _texm3x2depth,
}
