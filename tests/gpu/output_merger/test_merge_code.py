"""Depth and stencil tests of every kind and format, as NumPy's stages have them."""

from __future__ import annotations

from random import Random

import pytest
from msgspec.structs import replace

from dp2emu.d3d.enums import CmpFunc, StencilOp
from dp2emu.d3d.formats import AnyFormat
from dp2emu.gpu.command.packets import MergeNumbers
from dp2emu.gpu.command.pipeline import DepthState, StencilFace, StencilState
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.shader.engines import CHECKED, engine
from tests.gpu.drawing import corner, draw
from tests.gpu.kernel_states import DEPTHS, SIDE, made_surface

_TWO_SIDED = StencilState(
    StencilFace(CmpFunc.ALWAYS, StencilOp.KEEP, StencilOp.INVERT, StencilOp.INCR),
    StencilFace(CmpFunc.LESS, StencilOp.DECRSAT, StencilOp.ZERO, StencilOp.REPLACE),
)


def _checked(
    format: AnyFormat, test: DepthState, stencil: StencilState | None, samples: int
) -> None:
    depth = made_surface(Random(3), format, samples)
    far = 2 * SIDE
    triangles = [
        corner(-1, -1, 0.0), corner(far, -1, 1.0), corner(-1, far, 0.3),
        corner(SIDE, SIDE, 0.9), corner(2, SIDE, 0.1), corner(SIDE, 1, 1e-5),
    ]  # fmt: skip
    packet = draw(triangles, depth=depth, test=test, merge=MergeNumbers(
        stencil_reference=0x9C, stencil_mask=0xF7, stencil_write_mask=0xEF
    ))  # fmt: skip
    pipeline = replace(packet.pipeline, stencil=stencil, samples=samples)
    packet = replace(packet, pipeline=pipeline)
    assert execute_draw(packet, Counters(), run=engine(CHECKED)).fragments > 100


@pytest.mark.parametrize("func", CmpFunc)
@pytest.mark.parametrize("format", DEPTHS)
def test_every_comparison_in_every_format(format: AnyFormat, func: CmpFunc) -> None:
    _checked(format, DepthState(True, True, func), None, 1)


@pytest.mark.parametrize("format", DEPTHS)
def test_stencil_values_of_either_face_in_every_format(format: AnyFormat) -> None:
    for samples in (1, 4):
        _checked(format, DepthState(True, True, CmpFunc.GREATER), _TWO_SIDED, samples)


@pytest.mark.parametrize("operation", StencilOp)
@pytest.mark.parametrize("func", [CmpFunc.EQUAL, CmpFunc.LESS, CmpFunc.GREATEREQUAL])
def test_every_stencil_operation(operation: StencilOp, func: CmpFunc) -> None:
    face = StencilFace(func, operation, operation, operation)
    _checked(DEPTHS[0], DepthState(True, False, CmpFunc.LESS), StencilState(face), 1)
    _checked(_with_stencil(), DepthState(True, True, CmpFunc.LESS), StencilState(face), 1)


def _with_stencil() -> AnyFormat:
    return next(format for format in DEPTHS if format.name == "D24S8")


def test_depth_that_is_biased_clamped_or_of_the_eye() -> None:
    for state in (
        DepthState(True, True, CmpFunc.LESS, bias=0.03, slope=0.7),
        DepthState(True, True, CmpFunc.LESS, bias=900.0, bias_of_float=True, bias_clamp=1e-3),
        DepthState(True, True, CmpFunc.LESS, bias=-0.2, slope=-2.0, bias_clamp=-0.25),
        DepthState(True, True, CmpFunc.GREATER, w_buffer=True),
    ):
        _checked(DEPTHS[0], state, None, 1)
