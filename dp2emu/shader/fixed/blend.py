"""Blending of a source colour with the render target.

Source: Direct3D 9 documentation of D3DBLEND, D3DBLENDOP and D3DRS_SEPARATEALPHABLENDENABLE.  Per
channel, every operation rounded to float32 and none fused:

    s = source * source factor
    d = destination * destination factor
    result = s + d, s - d, d - s, or the smaller or larger of source and destination

A factor ONE omits the multiplication and a factor ZERO the operand, so that an infinity or NaN on
the unused side has no effect and ONE, ZERO returns exactly the source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from dp2emu.d3d.enums import Blend, BlendOp
from dp2emu.d3d.enums10 import Blend10
from dp2emu.shader.builder import Builder
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

BLEND_FILE = "blend"
"""Name of the uniform file with red, green, blue and alpha of D3DRS_BLENDFACTOR."""
SECOND_SOURCE = (Blend.SRCCOLOR2, Blend.INVSRCCOLOR2, Blend10.SRC1_ALPHA, Blend10.INV_SRC1_ALPHA)
"""Blend factors that read the second colour output of the pixel program (dual source blending)."""
Factor = Blend | Blend10
"""A blend factor of Direct3D 9 or 10; factors that both have share numbers and compare equal."""
_ALPHA = 3

Colour = list[Value]
"""Red, green, blue and alpha of a colour, as values of a program."""


class BlendEquation(msgspec.Struct, frozen=True):
    """Blend factors and operation of the colour channels, or of alpha."""

    source: Factor = Blend.ONE
    destination: Factor = Blend.ZERO
    operation: BlendOp = BlendOp.ADD


class BlendState(msgspec.Struct, frozen=True):
    """How a source colour is blended: equations of its colour channels and its alpha."""

    color: BlendEquation
    alpha: BlendEquation

    @property
    def second(self) -> bool:
        """Whether a factor reads the second source colour."""
        factors = {e for each in (self.color, self.alpha) for e in (each.source, each.destination)}
        return not factors.isdisjoint(SECOND_SOURCE)


class _Operands(msgspec.Struct, frozen=True):
    """Channels of the blend's inputs; ``constant`` is the blend factor, ``second`` the second
    source, which may be empty if unused.
    """

    source: Sequence[Value]
    destination: Sequence[Value]
    constant: Sequence[Value]
    second: Sequence[Value]


_Term = Value | None
"""A colour channel times its blend factor, or None where factor ZERO leaves the term out."""


def _saturating(operands: _Operands, channel: int) -> Value | None:
    """Return min(source alpha, 1 - destination alpha), or None, which means 1, for alpha."""
    if channel == _ALPHA:
        return None
    alpha = operands.source[_ALPHA]
    return alpha.builder.min(alpha, 1.0 - operands.destination[_ALPHA])


_FACTORS: dict[Factor, Callable[[_Operands, int], Value | None]] = {
    Blend.ONE: lambda o, channel: None,
    Blend.SRCCOLOR: lambda o, channel: o.source[channel],
    Blend.INVSRCCOLOR: lambda o, channel: 1.0 - o.source[channel],
    Blend.SRCALPHA: lambda o, channel: o.source[_ALPHA],
    Blend.INVSRCALPHA: lambda o, channel: 1.0 - o.source[_ALPHA],
    Blend.DESTALPHA: lambda o, channel: o.destination[_ALPHA],
    Blend.INVDESTALPHA: lambda o, channel: 1.0 - o.destination[_ALPHA],
    Blend.DESTCOLOR: lambda o, channel: o.destination[channel],
    Blend.INVDESTCOLOR: lambda o, channel: 1.0 - o.destination[channel],
    Blend.SRCALPHASAT: _saturating,
    Blend.BLENDFACTOR: lambda o, channel: o.constant[channel],
    Blend.INVBLENDFACTOR: lambda o, channel: 1.0 - o.constant[channel],
    Blend.SRCCOLOR2: lambda o, channel: o.second[channel],
    Blend.INVSRCCOLOR2: lambda o, channel: 1.0 - o.second[channel],
    Blend10.SRC1_ALPHA: lambda o, channel: o.second[_ALPHA],
    Blend10.INV_SRC1_ALPHA: lambda o, channel: 1.0 - o.second[_ALPHA],
}
"""Blend factor other than ZERO -> function that returns its value, None for 1; parameters:
operands of the blend, channel number."""

FACTORS = frozenset((Blend.ZERO, *_FACTORS))
"""All blend factors that a ``BlendEquation`` may have."""


def _sum(source: _Term, destination: _Term) -> _Term:
    if source is None or destination is None:
        return destination if source is None else source
    return source + destination


def _difference(first: _Term, second: _Term) -> _Term:
    if second is None:
        return first
    return -second if first is None else first - second


_COMBINE: dict[BlendOp, Callable[[_Term, _Term], _Term]] = {
    BlendOp.ADD: _sum,
    BlendOp.SUBTRACT: _difference,
    BlendOp.REVSUBTRACT: lambda source, destination: _difference(destination, source),
}
_EXTREMES: dict[BlendOp, Callable[[Value, Value], Value]] = {
    BlendOp.MIN: lambda source, destination: source.builder.min(source, destination),
    BlendOp.MAX: lambda source, destination: source.builder.max(source, destination),
}
"""Blend operation MIN or MAX -> function that returns the result of blending a channel;
parameters: source and destination, not multiplied by their factors."""
_UNIT_FACTORS = frozenset((
    Blend.ZERO, Blend.ONE, Blend.SRCCOLOR, Blend.INVSRCCOLOR, Blend.SRCALPHA, Blend.INVSRCALPHA,
    Blend.DESTALPHA, Blend.INVDESTALPHA, Blend.DESTCOLOR, Blend.INVDESTCOLOR, Blend.SRCALPHASAT,
    *SECOND_SOURCE,
))  # fmt: skip
"""Blend factors within 0..1 if source and destination are.

D3DBLEND_BLENDFACTOR is not one, since in Direct3D 10 it may be any number."""
_COMPLEMENTS = frozenset((
    (Blend.SRCCOLOR, Blend.INVSRCCOLOR), (Blend.SRCALPHA, Blend.INVSRCALPHA),
    (Blend.DESTALPHA, Blend.INVDESTALPHA), (Blend.DESTCOLOR, Blend.INVDESTCOLOR),
    (Blend.SRCCOLOR2, Blend.INVSRCCOLOR2), (Blend10.SRC1_ALPHA, Blend10.INV_SRC1_ALPHA),
))  # fmt: skip
"""Pairs of blend factors whose sum is 1: f and 1 - f."""


def stays_within(equation: BlendEquation) -> bool:
    """Whether an equation maps source and destination within 0..1 to a result within 0..1, without
    -0.

    True for one operand alone, a product, and a sum with factors f and 1 - f.  Rounding does not
    take such a sum beyond 1: x f <= f, and y (1 - f) <= 1 - f as rounded, which exceeds the exact
    value by at most 2^-25, and 1 + 2^-25 rounds to 1.
    """
    factors = equation.source, equation.destination
    if equation.operation in _EXTREMES:
        return True
    if equation.operation is not BlendOp.ADD or not _UNIT_FACTORS.issuperset(factors):
        return False
    mean = factors in _COMPLEMENTS or factors[::-1] in _COMPLEMENTS
    return mean or Blend.ZERO in factors


def blended(
    b: Builder,
    state: BlendState,
    source: Sequence[Value],
    destination: Sequence[Value],
    second: Sequence[Value] = (),
) -> Colour:
    """Return red, green, blue and alpha of the blend; reads the blend factor from uniform file
    ``blend``.
    """
    constant = b.uniform(BLEND_FILE, Type.F32, 4)
    factor = [b.load(constant, n) for n in range(4)]
    operands = _Operands(source, destination, factor, second)
    equations = (state.color,) * _ALPHA + (state.alpha,)
    results = (_result(equation, operands, n) for n, equation in enumerate(equations))
    return [b.constant(Type.F32, 0.0) if result is None else result for result in results]


def _result(equation: BlendEquation, operands: _Operands, channel: int) -> _Term:
    source, destination = operands.source[channel], operands.destination[channel]
    if equation.operation in _EXTREMES:
        return _EXTREMES[equation.operation](source, destination)
    return _COMBINE[equation.operation](
        _product(source, equation.source, operands, channel),
        _product(destination, equation.destination, operands, channel),
    )


def _product(value: Value, name: Factor, operands: _Operands, channel: int) -> _Term:
    if name == Blend.ZERO:
        return None
    factor = _FACTORS[name](operands, channel)
    return value if factor is None else value * factor
