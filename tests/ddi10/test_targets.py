"""Targets of every format, in both engines at once; depth buffers and blending likewise."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from dp2emu.d3d.dxgi import DXGI, ROWS, Support
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import StencilOp
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.resources.resource import BindFlag
from dp2emu.ddi10.states.state_objects import (
    BlendDesc1,
    DepthStencilDesc,
    RenderTargetBlend,
    StencilOpDesc,
)
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.resource.pixel_format import pack_color
from dp2emu.gpu.resource.srgb import encoded
from dp2emu.shader.engines import CHECKED, engine
from tests.ddi10.drawing import SIZE, strip, tokens
from tests.ddi10.rendering import Handle, Rendering
from tests.ddi10.shaders.test_stage_resources import ps

F = DxgiFormat
TARGETS = [f for f, row in DXGI.items() if Support.TARGET in row.support]
BLENDED = [f for f, row in DXGI.items() if Support.BLEND in row.support]
COLOR = (0.3, -0.7, 2.5, 0.6)
SECOND = (0.875, 0.25, 0.5, 0.75)
ONE, ZERO, SRC_ALPHA, INV_SRC_ALPHA = 2, 1, 5, 6


def driven() -> Rendering:
    return Rendering(adapter=Adapter(Gpu(run=engine(CHECKED)), checking=True))


def bits(*values: float) -> str:
    words = (struct.unpack("<I", struct.pack("<f", value))[0] for value in values)
    return ", ".join(f"0x{word:08x}" for word in words)


def constant(*outputs: str) -> bytes:
    """A pixel shader that writes words to targets from 0 on."""
    head = "\n".join(f"dcl_output o{n}.xyzw" for n in range(1, len(outputs)))
    lines = [f"mov o{n}, l({words})" for n, words in enumerate(outputs)]
    return ps(lines, head)


def draw(
    rendering: Rendering,
    code: bytes,
    targets: list[Handle],
    blend: BlendDesc1 | None = None,
    factor: tuple[float, ...] = (1, 1, 1, 1),
    color: tuple[float, ...] = (1, 0.5, 0.25, 1),
) -> None:
    rendering.prepare(blend=blend)
    if blend is not None:
        rendering.call("SetBlendState", rendering.make("BlendState", blend), factor, 0xFFFFFFFF)
    rendering.call("VsSetShader", rendering.make("VertexShader", tokens("vs_pass")))
    rendering.call("PsSetShader", rendering.make("PixelShader", code))
    rendering.vertices(strip(color))
    rendering.call("SetRenderTargets", targets, 8 - len(targets), None)
    rendering.call("Draw", 4, 0)


NANS = (0x7F800001, 0xFFC12345, 0x7FABCDEF, 0xFFFFFFFF)
CANONICAL = 0x7FC00000
_WORDS = ", ".join(f"0x{word:08x}" for word in NANS)


def stored(
    lines: list[str], format: DxgiFormat, head: str = "", *, blended: bool = False
) -> list[int]:
    """The words of a pixel of a target that a shader wrote."""
    rendering = driven()
    resource = rendering.texture(format)
    blend = BlendDesc1(0, 0, (RenderTargetBlend(1, ONE, ZERO, 1, ONE, ZERO, 1, 15),) * 8)
    view = rendering.target(resource, format)
    draw(rendering, ps(lines, head), [view], blend if blended else None)
    data = rendering.read(resource)
    return np.frombuffer(data, np.uint32)[: ROWS[format].size // 4].tolist()


@pytest.mark.parametrize(
    "lines",
    [
        [f"mov o0, l({_WORDS})"],
        [f"mov r1, l({_WORDS})", "mov o0, r1"],
        [f"movc o0, l(1, 0, 1, 0), l({_WORDS}), l({_WORDS})"],
        ["iadd o0, l(0x7f800000, 0xffc12344, 0x7fabcdee, 0xfffffffe), l(1, 1, 1, 1)"],
    ],
)
@pytest.mark.parametrize("format", [F.R32G32B32A32_FLOAT, F.R32G32_FLOAT, F.R32_FLOAT])
def test_bits_moved_into_a_float_target_are_kept(lines: list[str], format: DxgiFormat) -> None:
    assert stored(lines, format) == [*NANS][: ROWS[format].size // 4]


def test_nans_of_arithmetic_and_of_blending_are_canonical() -> None:
    added = [f"add o0, l({_WORDS}), l(1.0, 1.0, 1.0, 1.0)"]
    assert stored(added, F.R32G32B32A32_FLOAT) == [CANONICAL] * 4
    moved = [f"mov o0, l({_WORDS})"]
    assert stored(moved, F.R32G32B32A32_FLOAT, blended=True) == [CANONICAL] * 4


def test_bits_that_are_not_interpolated_reach_a_float_target() -> None:
    rendering = driven()
    resource = rendering.texture(F.R32G32B32A32_FLOAT)
    view = rendering.target(resource, F.R32G32B32A32_FLOAT)
    quiet = np.array([0x7FC12345, 0xFFC54321], np.uint32).view(np.float32).tolist()
    for mode, wanted in (("constant", [0x7FC12345, 0xFFC54321]), ("linear", [CANONICAL] * 2)):
        code = ps(["mov o0, v1"], f"dcl_input_ps {mode} v1.xyzw")
        draw(rendering, code, [view], color=(*quiet, 1, 1))
        words = np.frombuffer(rendering.read(resource), np.uint32)
        assert words[:4].tolist() == [*wanted, 0x3F800000, 0x3F800000]


@pytest.mark.parametrize("format", TARGETS)
def test_every_target_stores_what_it_is_given(format: DxgiFormat) -> None:
    rendering, row = driven(), ROWS[format]
    resource = rendering.texture(format)
    whole = DXGI[format].integers
    words = (0x12345678, 0xFFFFFF81, 77, 0x80000001)
    text = ", ".join(f"0x{w:08x}" for w in words) if whole else bits(*COLOR)
    draw(rendering, constant(text), [rendering.target(resource, format)])
    lanes = [np.array([w], np.uint32).view(np.int32) for w in words]
    floats = [np.array([c], np.float32) for c in COLOR]
    wanted = pack_color(row, lanes if whole else encoded(row, floats)).tobytes()
    assert rendering.read(resource) == wanted * SIZE * SIZE


@pytest.mark.parametrize("format", BLENDED)
def test_every_target_that_blends_agrees_in_both_engines(format: DxgiFormat) -> None:
    rendering = driven()
    resource = rendering.texture(format)
    view = rendering.target(resource, format)
    rendering.call("ClearRenderTargetView", view, (0.5, 0.25, 0.75, 0.5))
    cleared = rendering.read(resource)
    equation = RenderTargetBlend(1, SRC_ALPHA, INV_SRC_ALPHA, 1, ONE, ZERO, 1, 15)
    draw(rendering, constant(bits(*COLOR)), [view], BlendDesc1(RenderTarget=(equation,) * 8))
    assert rendering.read(resource) != cleared


@pytest.mark.parametrize(
    ("factor", "wanted"),
    [(16, SECOND), (17, [1 - s for s in SECOND]), (18, [0.75] * 4), (19, [0.25] * 4)],
)
def test_the_second_colour_is_a_factor(factor: int, wanted: list[float]) -> None:
    rendering = driven()
    resource = rendering.texture(F.R32G32B32A32_FLOAT)
    alpha = {16: 18, 17: 19}.get(factor, factor)
    equation = RenderTargetBlend(1, factor, ZERO, 1, alpha, ZERO, 1, 15)
    view = rendering.target(resource, F.R32G32B32A32_FLOAT)
    code = constant(bits(1, 1, 1, 1), bits(*SECOND))
    draw(rendering, code, [view], BlendDesc1(RenderTarget=(equation,) * 8))
    found = np.frombuffer(rendering.read(resource), "<f4")[:4]
    assert found.tolist() == [float(np.float32(w)) for w in np.float32(wanted)]


def test_the_blend_factor_is_clamped_where_the_target_is() -> None:
    for format, wanted in ((F.R8G8B8A8_UNORM, 1.0), (F.R32G32B32A32_FLOAT, 2.0)):
        rendering = driven()
        resource = rendering.texture(format)
        equation = RenderTargetBlend(1, 14, ZERO, 1, 14, ZERO, 1, 15)
        view = rendering.target(resource, format)
        code = constant(bits(1, 0.5, 0.25, 1))
        draw(rendering, code, [view], BlendDesc1(RenderTarget=(equation,) * 8), (2, 2, -1, 2))
        words = np.frombuffer(rendering.read(resource), "<u1" if wanted == 1 else "<f4")
        found = words[:4] / (255 if wanted == 1 else 1)
        low = 0 if wanted == 1 else -0.25
        assert found.tolist() == [wanted, [128 / 255, 1.0][wanted == 2.0], low, wanted]


def test_eight_targets_get_a_colour_and_a_mask_each() -> None:
    rendering = driven()
    formats = [F.R8_UNORM, F.R32_UINT, F.R16_FLOAT, F.R8G8_SNORM] * 2
    resources = [rendering.texture(format) for format in formats]
    views = [rendering.target(r, f) for r, f in zip(resources, formats, strict=True)]
    one, number = bits(1, 1, 1, 1), "5, 6, 7, 8"
    code = constant(*(number if f is F.R32_UINT else one for f in formats))
    masks = [15] * 7 + [1]
    states = tuple(RenderTargetBlend(0, ONE, ZERO, 1, ONE, ZERO, 1, mask) for mask in masks)
    draw(rendering, code, views, BlendDesc1(IndependentBlendEnable=1, RenderTarget=states))
    found = [rendering.read(resource)[: ROWS[f].size].hex() for resource, f in
             zip(resources, formats, strict=True)]  # fmt: skip
    assert found == ["ff", "05000000", "003c", "7f7f", "ff", "05000000", "003c", "7f00"]


@pytest.mark.parametrize("color", [(1.9, -3.0, 3e9, 255.5), (float("nan"), 0.0, 7.0, 1e20)])
def test_integers_are_cleared_to_the_whole_parts(color: tuple[float, ...]) -> None:
    rendering = driven()
    resource = rendering.texture(F.R32G32B32A32_UINT)
    view = rendering.target(resource, F.R32G32B32A32_UINT)
    rendering.call("ClearRenderTargetView", view, color)
    found = np.frombuffer(rendering.read(resource), "<u4")[:4].tolist()
    wanted = [0 if c != c else min(max(int(np.float32(c)), 0), 0xFFFFFFFF) for c in color]
    assert found == wanted


DEPTHS = [f for f, row in DXGI.items() if Support.DEPTH in row.support]


@pytest.mark.parametrize("format", DEPTHS)
def test_every_depth_buffer_tests_and_stores(format: DxgiFormat) -> None:
    rendering, row = driven(), ROWS[format]
    color = rendering.texture()
    resource = rendering.texture(format, bind=BindFlag.DEPTH_STENCIL)
    view = rendering.depth(resource, format)
    rendering.call("ClearDepthStencilView", view, 3, 0.5, 0x21)
    face = StencilOpDesc(StencilFunc=8, StencilPassOp=StencilOp.INCRSAT)
    state = DepthStencilDesc(
        DepthEnable=1, DepthWriteMask=1, DepthFunc=2, StencilEnable=row.stencil is not None,
        FrontEnable=1, BackEnable=1, FrontFace=face, BackFace=face,
    )  # fmt: skip
    rendering.prepare(depth=state)
    rendering.shaders()
    rows = [[*corner[:2], z, *corner[3:]] for corner, z in
            zip(strip(), (0.25, 0.75, 0.25, 0.75), strict=True)]  # fmt: skip
    rendering.vertices(rows)
    rendering.call("SetRenderTargets", [rendering.target(color)], 7, view)
    rendering.call("Draw", 4, 0)
    left = rendering.pixels(color)[:, : SIZE // 2]
    assert (left == left[0, 0]).all()
    assert not rendering.pixels(color)[:, SIZE // 2 :].any()
    words = np.frombuffer(rendering.read(resource), "u1").reshape(SIZE, SIZE, row.size)
    assert (words[:, SIZE // 2 :] == words[0, -1]).all()
    if row.stencil is not None:
        place = row.stencil.shift // 8
        assert (words[:, : SIZE // 2, place] == 0x22).all()
        assert (words[:, SIZE // 2 :, place] == 0x21).all()


@pytest.mark.parametrize("run", ["reference", "jit"])
def test_zeros_of_either_sign_are_different_blend_factors(run: str) -> None:
    rendering = Rendering(adapter=Adapter(Gpu(run=engine(run))))
    resource = rendering.texture(F.R32G32B32A32_FLOAT)
    target = rendering.target(resource, F.R32G32B32A32_FLOAT)
    subtracting = RenderTargetBlend(1, 14, 1, 2, 14, 1, 2, 15)
    blend = BlendDesc1(0, 0, (subtracting,) * 8)
    draw(rendering, tokens("ps_color"), [target], blend, (0.0,) * 4)
    state, found = rendering.make("BlendState", blend), []
    for zero in (0.0, -0.0, 0.0):
        rendering.call("SetBlendState", state, (zero,) * 4, 0xFFFFFFFF)
        rendering.call("Draw", 4, 0)
        found.append(set(np.frombuffer(rendering.read(resource), "<u4").tolist()))
    assert found == [{0}, {0x80000000}, {0}]
