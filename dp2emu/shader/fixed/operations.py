"""Texture stage operations, a row for each D3DTOP (Direct3D 9 documentation of it).

A row computes one component, 0 to 3 for red to alpha; operations meant for colour alone do the
same for alpha.  Every operation rounds to float32, nothing is fused, and the stage clamps the
result to 0..1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import msgspec

from dp2emu.d3d.enums import TextureArgument, TextureOp
from dp2emu.shader.fixed.cascade import Combination
from dp2emu.shader.values import Value

ALPHA = 3


class Color:
    """Four components, computed lazily and once."""

    def __init__(self, compute: Callable[[int], Value]) -> None:
        self._compute = compute
        self._known: dict[int, Value] = {}

    def __getitem__(self, component: int) -> Value:
        if component not in self._known:
            self._known[component] = self._compute(component)
        return self._known[component]


class Operands(msgspec.Struct, frozen=True):
    """Inputs of an operation.

    ``arguments`` are ARG0, ARG1 and ARG2; ``sources`` are all registers that an argument can
    select; ``held`` is the previous result register; ``following`` is the next stage's texture.
    """

    arguments: tuple[Color, Color, Color]
    sources: Mapping[TextureArgument, Color]
    held: Color
    following: Color | None


Formula = Callable[[Operands, int], Value]


class Operation(NamedTuple):
    """A row: the formula, the numbers of the arguments that it reads, and another register it
    reads.

    ``replicated``: the result of one component goes to all four.
    """

    formula: Formula
    arguments: tuple[int, ...] = (1, 2)
    source: TextureArgument | None = None
    replicated: bool = False


def arguments_of(op: TextureOp) -> tuple[int, ...]:
    """Return the numbers of the arguments that an operation reads."""
    return OPERATIONS[op].arguments


def reads_texture(combination: Combination) -> bool:
    """Whether a combination reads the stage's own texture."""
    row = OPERATIONS[combination.op]
    selected = {combination.arguments[number].source for number in row.arguments}
    return TextureArgument.TEXTURE in {*selected, row.source}


def _of(formula: Callable[[Value, Value], Value]) -> Formula:
    """Make a formula of the same component of ARG1 and ARG2."""
    return lambda o, c: formula(o.arguments[1][c], o.arguments[2][c])


def _with_alpha(formula: Callable[[Value, Value, Value], Value]) -> Formula:
    """Make a formula that also reads the alpha of ARG1."""
    return lambda o, c: formula(o.arguments[1][c], o.arguments[2][c], o.arguments[1][ALPHA])


def _blend(source: TextureArgument, o: Operands, c: int) -> Value:
    """a f + b (1 - f) with f an alpha."""
    factor = o.sources[source][ALPHA]
    return o.arguments[1][c] * factor + o.arguments[2][c] * (1.0 - factor)


def _blended_by(source: TextureArgument) -> Operation:
    return Operation(partial(_blend, source), source=source)


def _premultiplied(o: Operands, c: int) -> Value:
    """a + b (1 - f) with f the texture's alpha."""
    factor = o.sources[TextureArgument.TEXTURE][ALPHA]
    return o.arguments[1][c] + o.arguments[2][c] * (1.0 - factor)


def _premodulated(o: Operands, c: int) -> Value:
    """a times the next stage's texture, if it has one."""
    first = o.arguments[1][c]
    return first if o.following is None else first * o.following[c]


def _dot(o: Operands, c: int) -> Value:
    """4 ((r r' + g g') + b b') of components minus 1/2."""
    red, green, blue = (
        (o.arguments[1][i] - 0.5) * (o.arguments[2][i] - 0.5) for i in range(ALPHA)
    )
    return (red + green + blue) * 4.0


def _multiply_add(o: Operands, c: int) -> Value:
    zero, one, two = o.arguments
    return zero[c] + one[c] * two[c]


def _lerp(o: Operands, c: int) -> Value:
    """Linear interpolation: ARG2 where ARG0 is 0, ARG1 where it is 1."""
    zero, one, two = o.arguments
    return zero[c] * one[c] + (1.0 - zero[c]) * two[c]


def held(o: Operands, c: int) -> Value:
    """Return the result register unchanged."""
    return o.held[c]


_BUMP = Operation(held, (), TextureArgument.TEXTURE)
"""Perturbs the next stage's coordinates and leaves the colour unchanged."""

OPERATIONS: dict[TextureOp, Operation] = {
    TextureOp.DISABLE: Operation(held, ()),
    TextureOp.SELECTARG1: Operation(lambda o, c: o.arguments[1][c], (1,)),
    TextureOp.SELECTARG2: Operation(lambda o, c: o.arguments[2][c], (2,)),
    TextureOp.MODULATE: Operation(_of(lambda a, b: a * b)),
    TextureOp.MODULATE2X: Operation(_of(lambda a, b: a * b * 2.0)),
    TextureOp.MODULATE4X: Operation(_of(lambda a, b: a * b * 4.0)),
    TextureOp.ADD: Operation(_of(lambda a, b: a + b)),
    TextureOp.ADDSIGNED: Operation(_of(lambda a, b: a + b - 0.5)),
    TextureOp.ADDSIGNED2X: Operation(_of(lambda a, b: (a + b - 0.5) * 2.0)),
    TextureOp.SUBTRACT: Operation(_of(lambda a, b: a - b)),
    TextureOp.ADDSMOOTH: Operation(_of(lambda a, b: a + b * (1.0 - a))),
    TextureOp.BLENDDIFFUSEALPHA: _blended_by(TextureArgument.DIFFUSE),
    TextureOp.BLENDTEXTUREALPHA: _blended_by(TextureArgument.TEXTURE),
    TextureOp.BLENDFACTORALPHA: _blended_by(TextureArgument.TFACTOR),
    TextureOp.BLENDTEXTUREALPHAPM: Operation(_premultiplied, source=TextureArgument.TEXTURE),
    TextureOp.BLENDCURRENTALPHA: _blended_by(TextureArgument.CURRENT),
    TextureOp.PREMODULATE: Operation(_premodulated, (1,)),
    TextureOp.MODULATEALPHA_ADDCOLOR: Operation(_with_alpha(lambda a, b, f: a + f * b)),
    TextureOp.MODULATECOLOR_ADDALPHA: Operation(_with_alpha(lambda a, b, f: a * b + f)),
    TextureOp.MODULATEINVALPHA_ADDCOLOR: Operation(_with_alpha(lambda a, b, f: (1.0 - f) * b + a)),
    TextureOp.MODULATEINVCOLOR_ADDALPHA: Operation(_with_alpha(lambda a, b, f: (1.0 - a) * b + f)),
    TextureOp.BUMPENVMAP: _BUMP,
    TextureOp.BUMPENVMAPLUMINANCE: _BUMP,
    TextureOp.DOTPRODUCT3: Operation(_dot, replicated=True),
    TextureOp.MULTIPLYADD: Operation(_multiply_add, (0, 1, 2)),
    TextureOp.LERP: Operation(_lerp, (0, 1, 2)),
}
