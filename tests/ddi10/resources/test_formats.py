"""Formats through the entries, by both engines: each for the uses that its row promises."""

from __future__ import annotations

import numpy as np
import pytest

from dp2emu.d3d.dxgi import DXGI, ROWS, Support
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.resources.resource import BindFlag, ResourceType, SubresourceUP
from dp2emu.ddi10.resources.transfers import DdiBox
from dp2emu.ddi10.resources.views import CreateShaderResourceView, CreateTargetView
from dp2emu.ddi10.states.state_objects import SamplerDesc
from dp2emu.errors import ContractError
from dp2emu.shader.texture.texels import decode
from tests.ddi10.drawing import SIZE
from tests.ddi10.rendering import Handle, Rendering
from tests.ddi10.shaders.test_stage_resources import READ, T2, Reading, Words, ps
from tests.shader.texture.test_partitioned_decoder import coded, model

F = DxgiFormat
FLOATS = "(float,float,float,float)"
TEXTURE = f"dcl_resource_texture2d {FLOATS} t0"
LOAD = ps(["ld o0, r0, t0"], TEXTURE)
LINEAR = SamplerDesc(0x15, 1, 1, 1, MaxAnisotropy=1, MaxLOD=100.0)
RANDOM = np.random.default_rng(11)


def data_of(format: DxgiFormat, width: int, height: int, levels: int = 1) -> list[SubresourceUP]:
    """Random texels of each level, none of which is a NaN."""
    row, found = ROWS[format], []
    for level in range(levels):
        columns = -(-max(width >> level, 1) // row.block[0])
        rows = -(-max(height >> level, 1) // row.block[1])
        pitch = columns * row.size
        data = RANDOM.integers(0, 60, rows * pitch, np.uint8).tobytes()
        found.append(SubresourceUP(data, pitch, rows * pitch))
    return found


def loaded(format: DxgiFormat, data: list[SubresourceUP], level: int = 0) -> Words:
    """What a pixel shader loads from a texture of 16 x 16 texels, as words."""
    driven = Reading()
    levels = len(data)
    made = driven.texture(format, SIZE, SIZE, bind=READ, levels=levels, data=data)
    view = driven.view(made, format, T2, MostDetailedMip=level, MipLevels=1)
    return driven.run(LOAD, [view])


def test_bc7_is_loaded_as_it_is_decoded() -> None:
    data = data_of(F.BC7_UNORM, SIZE, SIZE)
    found = loaded(F.BC7_UNORM, data).view(np.float32)
    wanted = decode(F.BC7_UNORM, data[0].pSysMem, SIZE, SIZE)
    assert (found == wanted.astype(np.float32) / np.float32(255)).all()


def test_red_green_and_blue_of_bc7_srgb_are_linear_light() -> None:
    data = data_of(F.BC7_UNORM, SIZE, SIZE)
    found = loaded(F.BC7_UNORM_SRGB, data).view(np.float32).astype(float)
    code = decode(F.BC7_UNORM, data[0].pSysMem, SIZE, SIZE) / 255
    light = np.where(code <= 0.04045, code / 12.92, ((code + 0.055) / 1.055) ** 2.4)
    assert np.allclose(found[..., :3], light[..., :3], atol=1e-6)
    assert np.allclose(found[..., 3], code[..., 3], atol=1e-6)


@pytest.mark.parametrize(("format", "signed"), [(F.BC6H_UF16, False), (F.BC6H_SF16, True)])
def test_bc6h_is_loaded_as_halves(format: DxgiFormat, signed: bool) -> None:
    blocks = coded("00", 16)
    found = loaded(format, [SubresourceUP(b"".join(blocks), 64, 256)]).view(np.float32)
    squares = found[..., :3].reshape(4, 4, 4, 4, 3).swapaxes(1, 2).reshape(16, 16, 3)
    wanted = np.array([model(block, signed) for block in blocks], np.uint16).view(np.float16)
    assert (squares == wanted).all()
    assert (found[..., 3] == 1).all()


@pytest.mark.parametrize("level", [2, 3, 4])
def test_levels_of_bc7_below_a_block_are_part_of_one(level: int) -> None:
    data, side = data_of(F.BC7_UNORM, SIZE, SIZE, 5), SIZE >> level
    found = loaded(F.BC7_UNORM, data, level).view(np.float32)
    wanted = decode(F.BC7_UNORM, data[level].pSysMem, side, side).astype(np.float32)
    assert (found[:side, :side] == wanted / np.float32(255)).all()
    assert not found[side:].any()


@pytest.mark.parametrize("format", [F.BC6H_UF16, F.BC7_UNORM_SRGB])
def test_linear_filters_take_decoded_texels(format: DxgiFormat) -> None:
    data = data_of(format, SIZE, SIZE)
    texels = loaded(format, data).view(np.float32).astype(float)
    driven = Reading()
    made = driven.texture(format, SIZE, SIZE, bind=READ, data=data)
    head = f"dcl_sampler s0, mode_default\n{TEXTURE}"
    lines = ["utof r1.xy, r0.xyxx", "mul r1.xy, r1.xyxx, l(0.0625, 0.0625, 0, 0)"]
    code = ps([*lines, "sample_l o0, r1.xyxx, t0, s0, l(0)"], head)
    found = driven.run(code, [driven.view(made, format, T2)], LINEAR).view(np.float32)
    around = np.roll(texels, 1, 0), np.roll(texels, (1, 1), (0, 1)), np.roll(texels, 1, 1)
    mean = (texels + around[0] + around[1] + around[2]) / 4
    assert np.allclose(found, mean, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "format", [f for f, row in DXGI.items() if Support.TEXTURE in row.support]
)
def test_both_engines_load_every_format_that_shaders_read(format: DxgiFormat) -> None:
    assert loaded(format, data_of(format, SIZE, SIZE)).shape == (SIZE, SIZE, 4)


# Back buffers


def view_of(driven: Rendering, made: Handle, noun: str, format: DxgiFormat) -> Handle:
    target = CreateTargetView(made, format.value, ResourceType.TEXTURE2D)
    shader = CreateShaderResourceView(made, format.value, ResourceType.TEXTURE2D)
    return driven.make(noun, target if noun == "RenderTargetView" else shader)


@pytest.mark.parametrize(
    ("format", "view"),
    [
        (F.R8G8B8A8_UNORM, F.R8G8B8A8_UNORM_SRGB),
        (F.B8G8R8A8_UNORM_SRGB, F.B8G8R8A8_UNORM),
        (F.R10G10B10_XR_BIAS_A2_UNORM, F.R10G10B10A2_UNORM),
    ],
)
@pytest.mark.parametrize("noun", ["RenderTargetView", "ShaderResourceView"])
def test_back_buffers_have_views_of_their_family(
    format: DxgiFormat, view: DxgiFormat, noun: str
) -> None:
    driven = Rendering(checking=False)
    uses = READ | BindFlag.RENDER_TARGET
    view_of(driven, driven.texture(format, bind=uses | BindFlag.PRESENT), noun, view)
    with pytest.raises(ContractError, match="view"):
        view_of(driven, driven.texture(format, bind=uses), noun, view)


def test_xr_bias_is_shown_and_copied_and_has_no_view() -> None:
    driven = Rendering(checking=False)
    biased = F.R10G10B10_XR_BIAS_A2_UNORM
    data = data_of(biased, SIZE, SIZE)
    source = driven.texture(F.R10G10B10A2_UINT, bind=READ, data=data)
    made = driven.texture(biased, bind=READ | BindFlag.RENDER_TARGET | BindFlag.PRESENT)
    driven.call("ResourceCopy", made, source)
    assert driven.read(made) == data[0].pSysMem
    for noun in ("RenderTargetView", "ShaderResourceView"):
        with pytest.raises(ContractError, match="view"):
            view_of(driven, made, noun, biased)


# Copies and updates of blocks


def test_a_box_of_blocks_is_updated_and_copied_to_texels_of_their_size_and_back() -> None:
    driven = Rendering()
    data = data_of(F.BC7_UNORM, 16, 16)
    blocks = driven.texture(F.BC7_TYPELESS, 16, 16, bind=READ, data=data)
    texels = driven.texture(F.R32G32B32A32_UINT, 4, 4, bind=READ)
    driven.call("ResourceConvertRegion", texels, 0, 1, 2, 0, blocks, 0, DdiBox(4, 8, 0, 12, 16, 1))
    stored = np.frombuffer(driven.read(texels), np.uint8).reshape(4, 4, 16)
    given = np.frombuffer(data[0].pSysMem, np.uint8).reshape(4, 4, 16).copy()
    assert (stored[2:4, 1:3] == given[2:4, 1:3]).all()
    driven.call("ResourceConvertRegion", blocks, 0, 0, 0, 0, texels, 0, DdiBox(1, 2, 0, 3, 4, 1))
    there = np.frombuffer(driven.read(blocks), np.uint8).reshape(4, 4, 16)
    assert (there[:2, :2] == given[2:4, 1:3]).all()
    new = bytes(range(32))
    arguments = blocks, 0, DdiBox(8, 4, 0, 16, 8, 1), new, 32, 32
    driven.call("ResourceUpdateSubresourceUP", *arguments)
    there = np.frombuffer(driven.read(blocks), np.uint8).reshape(4, 4, 16)
    assert there[1, 2:].tobytes() == new
