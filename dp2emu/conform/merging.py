"""Cases of what becomes of pixels: depth, alpha test, blending, masks."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

from dp2emu.conform.blends import FACTORS, OPERATIONS, Lanes, blended, combined, word
from dp2emu.conform.case import Case
from dp2emu.conform.pictures import (
    BACK,
    FRONT,
    OTHER,
    background,
    box,
    cleared,
    drawn,
    filled,
    strips,
    strips_from,
)
from dp2emu.conform.script import HEIGHT, WIDTH, render_state, token
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Blend, BlendOp, CmpFunc, RenderState
from dp2emu.d3d.flags import Clear, ColorWrite
from dp2emu.d3d.legacy import TextureStageState8

_RS, _TSS = RenderState, TextureStageState8


def merging_cases() -> Iterator[Case]:
    """Every case of these families."""
    yield from _depths()
    yield from _alpha_tests()
    yield from _blends()
    yield from _masks()


# Depth and alpha test

_COMPARES: dict[CmpFunc, tuple[bool, bool, bool]] = {
    CmpFunc.NEVER: (False, False, False), CmpFunc.LESS: (True, False, False),
    CmpFunc.EQUAL: (False, True, False), CmpFunc.LESSEQUAL: (True, True, False),
    CmpFunc.GREATER: (False, False, True), CmpFunc.NOTEQUAL: (True, False, True),
    CmpFunc.GREATEREQUAL: (False, True, True), CmpFunc.ALWAYS: (True, True, True),
}  # fmt: skip
"""Whether what is less, equal and greater passes."""


def _depths() -> Iterator[Case]:
    for func, passes in _COMPARES.items():
        user = box(0, 0, 12, 4, FRONT)
        pixels = background()
        filled(pixels, 0, 0, 12, 4, FRONT)
        for number, (z, passed) in enumerate(zip((0.25, 0.5, 0.75), passes, strict=True)):
            place = 4 * number + 1, 1, 4 * number + 3, 3
            user += box(*place, OTHER, z)
            filled(pixels, *place, OTHER if passed else FRONT)
        yield _deep(
            f"depth.{func.name.lower()}", f"{func.sdk} lets pass what it says",
            "D3DCMPFUNC", pixels, user,
            render_state(_RS.ZFUNC, CmpFunc.ALWAYS), strips(1), render_state(_RS.ZFUNC, func),
            *strips_from(1, 3),
        )  # fmt: skip
    yield from _depth_switches()


def _deep(name: str, rule: str, source: str, *rest: Any) -> Case:
    pixels, user, *tokens = rest
    states = render_state(_RS.ZENABLE, 1), render_state(_RS.ZWRITEENABLE, 1)
    return drawn(name, rule, source, pixels, user, *states, *tokens, depth=True)


def _depth_switches() -> Iterator[Case]:
    """The same farther box behind a nearer one, which hides it if it wrote its depth."""
    user = box(0, 0, 8, 4, FRONT, 0.25) + box(4, 0, 12, 4, OTHER, 0.75)
    hidden, shown = background(), background()
    for pixels, left in ((hidden, 8), (shown, 4)):
        filled(pixels, 0, 0, 8, 4, FRONT)
        filled(pixels, left, 0, 12, 4, OTHER)
    far = (render_state(_RS.ZFUNC, CmpFunc.ALWAYS), *strips_from(0, 1))
    near = (render_state(_RS.ZFUNC, CmpFunc.LESS), *strips_from(1, 1))
    clear = token(Op.CLEAR, struct.pack("<IIfI4i", Clear.ZBUFFER, 0, 1.0, 0, 0, 0, WIDTH, HEIGHT))
    for name, rule, pixels, before in (
        ("written", "what is drawn hides what is behind it", hidden, b""),
        ("not_written", "without ZWRITEENABLE depth stays", shown,
         render_state(_RS.ZWRITEENABLE, 0)),
        ("off", "without ZENABLE nothing hides anything", shown, render_state(_RS.ZENABLE, 0)),
    ):  # fmt: skip
        yield _deep(f"depth.{name}", rule, "D3DRENDERSTATETYPE", pixels, user, clear, before,
                    *far, *near)  # fmt: skip


def _alpha_tests() -> Iterator[Case]:
    for func, passes in _COMPARES.items():
        pixels, user = background(), b""
        for number, (alpha, passed) in enumerate(zip((0x40, 0x80, 0xC0), passes, strict=True)):
            place = 4 * number, 0, 4 * number + 3, 3
            color = alpha << 24 | FRONT & 0xFFFFFF
            user += box(*place, color)
            if passed:
                filled(pixels, *place, color)
        yield drawn(
            f"alphatest.{func.name.lower()}", f"{func.sdk} lets pass what it says", "D3DCMPFUNC",
            pixels, user, render_state(_RS.ALPHATESTENABLE, 1),
            render_state(_RS.ALPHAREF, 0x80), render_state(_RS.ALPHAFUNC, func), strips(3),
        )  # fmt: skip


# Blending and masks

_SOURCES: tuple[Lanes, ...] = ((1, 0, 1, 0), (0, 1, 1, 1))
_TARGETS: tuple[Lanes, ...] = ((0, 0, 1, 1), (1, 1, 0, 0))
"""Red, green, blue, alpha: nothing, or all."""
_CONSTANT: Lanes = (0, 1, 1, 0)


def _blends() -> Iterator[Case]:
    for factor in FACTORS:
        name = factor.name.lower()
        yield _blend(f"source.{name}", (factor, Blend.ZERO, BlendOp.ADD))
        yield _blend(f"target.{name}", (Blend.ZERO, factor, BlendOp.ADD))
    for operation in OPERATIONS:
        results = [
            (_grey(one), _grey(other), _grey(combined(one, other, operation)))
            for one, other in ((0x40, 0x80), (0x80, 0x40), (0xC0, 0x80))
        ]
        how = Blend.ONE, Blend.ONE, operation
        yield _blended(f"operation.{operation.name.lower()}", how, results)


def _grey(level: int) -> int:
    return 0x01010101 * level


def _blend(name: str, how: tuple[Blend, Blend, BlendOp]) -> Case:
    pairs = [(source, target) for source in _SOURCES for target in _TARGETS]
    results = [
        (word(source), word(target), word(blended(source, target, _CONSTANT, *how[:2])))
        for source, target in pairs
    ]
    return _blended(name, how, results)


def _blended(
    name: str, how: tuple[Blend, Blend, BlendOp], results: Sequence[tuple[int, int, int]]
) -> Case:
    """Boxes of a colour over one each, and what comes of it."""
    pixels, user, clears = background(), b"", b""
    for number, (source, target, result) in enumerate(results):
        place = 4 * number, 2, 4 * number + 3, 5
        clears += cleared(target, place)
        user += box(*place, source)
        filled(pixels, *place, result)
    states = (
        (_RS.ALPHABLENDENABLE, 1), (_RS.SRCBLEND, how[0]), (_RS.DESTBLEND, how[1]),
        (_RS.BLENDOP, how[2]), (_RS.BLENDFACTOR, word(_CONSTANT)),
    )  # fmt: skip
    rule = f"{how[0].sdk}, {how[1].sdk} and {how[2].sdk} make what they say"
    return drawn(
        f"blend.{name}", rule, "D3DBLEND and D3DBLENDOP", pixels, user, clears,
        *(render_state(*state) for state in states), strips(len(results)),
    )  # fmt: skip


def _masks() -> Iterator[Case]:
    for bit, lane in zip(ColorWrite, (0xFF0000, 0xFF00, 0xFF, 0xFF000000), strict=True):
        pixels = background()
        filled(pixels, 1, 1, 5, 4, 0x12345678 & lane | BACK & ~lane)
        yield drawn(
            f"mask.{str(bit.name).lower()}", "only channels in COLORWRITEENABLE are written",
            "D3DRS_COLORWRITEENABLE", pixels, box(1, 1, 5, 4, 0x12345678),
            render_state(_RS.COLORWRITEENABLE, bit), strips(1),
        )  # fmt: skip
