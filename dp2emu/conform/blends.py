"""Blending in whole numbers: what cases of it expect.  With factors, channels are 0 or 1.

Source: Direct3D 9 documentation of D3DBLEND and D3DBLENDOP.
"""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.d3d.enums import Blend, BlendOp

Lanes = tuple[int, int, int, int]
"""Red, green, blue and alpha, 0 or 1."""

Factor = Callable[[Lanes, Lanes, Lanes], Lanes]


def _all(value: int) -> Lanes:
    return value, value, value, value


def _less(lanes: Lanes) -> Lanes:
    red, green, blue, alpha = lanes
    return 1 - red, 1 - green, 1 - blue, 1 - alpha


def _saturated(source: Lanes, target: Lanes, constant: Lanes) -> Lanes:
    least = min(source[3], 1 - target[3])
    return least, least, least, 1


FACTORS: dict[Blend, Factor] = {
    Blend.ZERO: lambda source, target, constant: _all(0),
    Blend.ONE: lambda source, target, constant: _all(1),
    Blend.SRCCOLOR: lambda source, target, constant: source,
    Blend.INVSRCCOLOR: lambda source, target, constant: _less(source),
    Blend.SRCALPHA: lambda source, target, constant: _all(source[3]),
    Blend.INVSRCALPHA: lambda source, target, constant: _all(1 - source[3]),
    Blend.DESTALPHA: lambda source, target, constant: _all(target[3]),
    Blend.INVDESTALPHA: lambda source, target, constant: _all(1 - target[3]),
    Blend.DESTCOLOR: lambda source, target, constant: target,
    Blend.INVDESTCOLOR: lambda source, target, constant: _less(target),
    Blend.SRCALPHASAT: _saturated,
    Blend.BLENDFACTOR: lambda source, target, constant: constant,
    Blend.INVBLENDFACTOR: lambda source, target, constant: _less(constant),
}
"""Factors of what is drawn, what is there, and the constant."""

OPERATIONS: dict[BlendOp, Callable[[int, int], int]] = {
    BlendOp.ADD: lambda source, target: source + target,
    BlendOp.SUBTRACT: lambda source, target: source - target,
    BlendOp.REVSUBTRACT: lambda source, target: target - source,
    BlendOp.MIN: min,
    BlendOp.MAX: max,
}
"""Of channels that have their factors already."""


def blended(source: Lanes, target: Lanes, constant: Lanes, one: Blend, other: Blend) -> Lanes:
    """What is in the target when both are added with these factors."""
    with_source = FACTORS[one](source, target, constant)
    with_target = FACTORS[other](source, target, constant)
    red, green, blue, alpha = (
        min(source[i] * with_source[i] + target[i] * with_target[i], 1) for i in range(4)
    )
    return red, green, blue, alpha


def combined(source: int, target: int, operation: BlendOp) -> int:
    """A channel, from 0 to 255, of two with factors of 1.

    >>> combined(0xC0, 0x80, BlendOp.ADD)
    255
    """
    return min(max(OPERATIONS[operation](source, target), 0), 0xFF)


def word(lanes: Lanes) -> int:
    """The A8R8G8B8 colour.

    >>> hex(word((1, 0, 0, 1)))
    '0xffff0000'
    """
    red, green, blue, alpha = (0xFF * lane for lane in lanes)
    return alpha << 24 | red << 16 | green << 8 | blue
