"""State objects: what becomes of pixels and samples under them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import CmpFunc, StencilOp
from dp2emu.ddi10.codes import Interface
from dp2emu.ddi10.queries.query_types import Query
from dp2emu.ddi10.resources.resource import BindFlag
from dp2emu.ddi10.states.bindings import Viewport
from dp2emu.ddi10.states.state_objects import (
    BlendDesc,
    BlendDesc1,
    Blending,
    DepthStencilDesc,
    RasterizerDesc,
    RenderTargetBlend,
    SamplerDesc,
    StencilOpDesc,
    blending,
)
from dp2emu.errors import ContractError
from tests.ddi10.drawing import SIZE, strip
from tests.ddi10.rendering import D24S8, GREEN, RED, RGBA8, WHITE, WORDS, Drawing


@pytest.mark.parametrize("func", list(CmpFunc))
@pytest.mark.parametrize("z", [0.25, 0.5, 0.75])
def test_depth_is_compared_and_written(func: CmpFunc, z: float) -> None:
    driven = Drawing(depth=DepthStencilDesc(DepthFunc=func))
    driven.call("ClearDepthStencilView", driven.deep_view, 1, 0.5, 0)
    driven.vertices(strip(RED, z=z))
    driven.call("Draw", 4, 0)
    compare: dict[CmpFunc, Callable[[float, float], bool]] = {
        CmpFunc.NEVER: lambda a, b: False,
        CmpFunc.LESS: lambda a, b: a < b,
        CmpFunc.EQUAL: lambda a, b: a == b,
        CmpFunc.LESSEQUAL: lambda a, b: a <= b,
        CmpFunc.GREATER: lambda a, b: a > b,
        CmpFunc.NOTEQUAL: lambda a, b: a != b,
        CmpFunc.GREATEREQUAL: lambda a, b: a >= b,
        CmpFunc.ALWAYS: lambda a, b: True,
    }
    passes = compare[func](z, 0.5)
    assert driven.filled == SIZE * SIZE * passes
    stored = driven.pixels(driven.deep)[0, 0] & 0xFFFFFF
    assert stored == round((z if passes else 0.5) * 0xFFFFFF)


def test_depth_that_is_not_written_stays() -> None:
    driven = Drawing(depth=DepthStencilDesc(DepthWriteMask=0))
    driven.call("Draw", 4, 0)
    assert driven.filled == SIZE * SIZE
    assert driven.pixels(driven.deep)[0, 0] & 0xFFFFFF == 0xFFFFFF


def test_a_view_may_only_be_read() -> None:
    driven = Drawing(depth=DepthStencilDesc())
    view = driven.depth(driven.deep, D24S8, 0, 0, 1, 1)
    driven.call("SetRenderTargets", [driven.view], 7, view)
    driven.call("Draw", 4, 0)
    assert driven.filled == SIZE * SIZE
    assert driven.pixels(driven.deep)[0, 0] & 0xFFFFFF == 0xFFFFFF


def test_a_view_may_only_be_read_for_stencil() -> None:
    face = StencilOpDesc(StencilPassOp=StencilOp.INVERT)
    driven = Drawing(depth=DepthStencilDesc(StencilEnable=1, FrontFace=face, BackFace=face))
    view = driven.depth(driven.deep, D24S8, 0, 0, 1, 2)
    driven.call("SetRenderTargets", [driven.view], 7, view)
    driven.call("Draw", 4, 0)
    assert (driven.pixels(driven.deep) == 0x800000).all()


def test_alpha_covers_samples_and_leaves_targets_of_one_alone() -> None:
    def seen(samples: int) -> int:
        driven = Drawing(samples=samples, blend=BlendDesc1(1))
        driven.vertices(strip((1, 0, 0, 0.5)))
        query = driven.create(Query.OCCLUSION)
        driven.call("QueryBegin", query)
        driven.call("Draw", 4, 0)
        driven.call("QueryEnd", query)
        return int.from_bytes(driven.data(query, Query.OCCLUSION) or b"", "little")

    assert (seen(4), seen(1)) == (2 * SIZE * SIZE, SIZE * SIZE)


OPERATIONS: dict[StencilOp, Callable[[int], int]] = {
    StencilOp.KEEP: lambda old: old,
    StencilOp.ZERO: lambda old: 0,
    StencilOp.REPLACE: lambda old: 0x5A,
    StencilOp.INCRSAT: lambda old: min(old + 1, 255),
    StencilOp.DECRSAT: lambda old: max(old - 1, 0),
    StencilOp.INVERT: lambda old: old ^ 255,
    StencilOp.INCR: lambda old: (old + 1) % 256,
    StencilOp.DECR: lambda old: (old - 1) % 256,
}


@pytest.mark.parametrize("old", [0, 7, 255])
@pytest.mark.parametrize("operation", list(StencilOp))
@pytest.mark.parametrize("outcome", ["fail", "depth", "pass"])
def test_stencil_changes_by_the_operation_of_its_outcome(
    outcome: str, operation: StencilOp, old: int
) -> None:
    other = StencilOp.KEEP
    face = StencilOpDesc(
        operation if outcome == "fail" else other,
        operation if outcome == "depth" else other,
        operation if outcome == "pass" else other,
        CmpFunc.NEVER if outcome == "fail" else CmpFunc.ALWAYS,
    )
    func = CmpFunc.NEVER if outcome == "depth" else CmpFunc.ALWAYS
    desc = DepthStencilDesc(DepthFunc=func, StencilEnable=1, FrontFace=face, BackFace=face)
    driven = Drawing(depth=desc)
    driven.call("ClearDepthStencilView", driven.deep_view, 2, 0, old)
    state = driven.make("DepthStencilState", desc)
    driven.call("SetDepthStencilState", state, 0x15A)
    driven.call("Draw", 3, 0)
    assert driven.pixels(driven.deep)[0, 0] >> 24 == OPERATIONS[operation](old)


@pytest.mark.parametrize("counterclockwise", [0, 1])
def test_each_face_has_its_stencil_operations_if_they_are_performed(counterclockwise: int) -> None:
    def stored(front: int, back: int) -> int:
        desc = DepthStencilDesc(
            DepthEnable=0,
            StencilEnable=1,
            FrontEnable=front,
            BackEnable=back,
            FrontFace=StencilOpDesc(StencilPassOp=StencilOp.INCR),
            BackFace=StencilOpDesc(StencilPassOp=StencilOp.DECR),
        )
        raster = RasterizerDesc(CullMode=1, FrontCounterClockwise=counterclockwise)
        driven = Drawing(depth=desc, raster=raster)
        driven.call("Draw", 3, 0)
        return int(driven.pixels(driven.deep)[0, 0] >> 24)

    assert stored(1, 1) == (255 if counterclockwise else 1)
    assert stored(0, 1) == (255 if counterclockwise else 0)
    assert stored(1, 0) == (0 if counterclockwise else 1)


def test_masks_cut_what_stencil_compares_and_writes() -> None:
    face = StencilOpDesc(StencilPassOp=StencilOp.REPLACE, StencilFunc=CmpFunc.EQUAL)
    desc = DepthStencilDesc(0, 1, 2, 1, 1, 1, 0x0F, 0x3C, face, face)
    driven = Drawing(depth=desc)
    driven.call("ClearDepthStencilView", driven.deep_view, 2, 0, 0xC6)
    driven.call("SetDepthStencilState", driven.make("DepthStencilState", desc), 0x36)
    driven.call("Draw", 4, 0)
    assert (driven.pixels(driven.deep) >> 24 == 0xC6 & ~0x3C | 0x36 & 0x3C).all()


def blended(target: RenderTargetBlend, factor: Sequence[float] = WHITE) -> int:
    """A half transparent red strip over green."""
    driven = Drawing()
    driven.call("ClearRenderTargetView", driven.view, GREEN)
    state = driven.make("BlendState", BlendDesc1(RenderTarget=(target,) * 8))
    driven.call("SetBlendState", state, factor, 0xFFFFFFFF)
    driven.vertices(strip((1, 0, 0, 0.5)))
    driven.call("Draw", 4, 0)
    return int(driven.pixels(driven.color)[0, 0])


def test_blending_follows_its_equations() -> None:
    over = RenderTargetBlend(1, 5, 6, 1, 2, 1, 1)
    assert blended(over) == 0x80008080
    assert blended(over._replace(BlendEnable=0)) == 0x800000FF
    constant = RenderTargetBlend(1, 14, 15, 1, 1, 2, 1)
    assert blended(constant, (0.2, 0.4, 0.6, 0.8)) == 0xFF000000 | 153 << 8 | 51


@pytest.mark.parametrize("mask", range(16))
def test_only_channels_of_the_write_mask_are_written(mask: int) -> None:
    bits = sum(0xFF << 8 * channel for channel in range(4) if mask >> channel & 1)
    found = blended(RenderTargetBlend(RenderTargetWriteMask=mask))
    assert found == 0x800000FF & bits | 0xFF00FF00 & ~bits


def test_targets_have_blend_states_of_their_own() -> None:
    driven = Drawing(ps="ps_mrt")
    second = driven.texture()
    driven.call("SetRenderTargets", [driven.view, driven.target(second)], 6, None)
    off = RenderTargetBlend(RenderTargetWriteMask=0)
    desc = BlendDesc1(0, 1, (off, RenderTargetBlend(), *[off] * 6))
    driven.call("SetBlendState", driven.make("BlendState", desc), WHITE, 0xFFFFFFFF)
    driven.call("Draw", 4, 0)
    assert (driven.pixels(driven.color) == 0).all()
    assert (driven.pixels(second) == 0x00FFFF00).all()


@pytest.mark.parametrize(("mask", "drawn"), [(0, 0), (1, 256), (2, 0), (0xFFFFFFFF, 256)])
def test_a_single_sample_has_the_first_bit_of_the_sample_mask(mask: int, drawn: int) -> None:
    driven = Drawing(sample_mask=mask)
    driven.call("Draw", 4, 0)
    assert driven.filled == drawn


@pytest.mark.parametrize("mask", [0b1111, 0b0101, 0])
def test_samples_are_masked_and_counted(mask: int) -> None:
    driven = Drawing(samples=4, sample_mask=mask)
    query = driven.create(Query.OCCLUSION)
    driven.call("QueryBegin", query)
    driven.call("Draw", 4, 0)
    driven.call("QueryEnd", query)
    expected = SIZE * SIZE * mask.bit_count()
    assert driven.data(query, Query.OCCLUSION) == expected.to_bytes(8, "little")


@pytest.mark.parametrize(
    ("interface", "enabled", "several"),
    [
        (Interface.D3D10_0, 0, False),
        (Interface.D3D10_0, 1, True),
        (Interface.D3D10_1, 0, True),
        (Interface.D3D11_0, 1, True),
    ],
)
def test_triangles_are_multisampled_unless_direct3d_10_0_says_no(
    interface: Interface, enabled: int, several: bool
) -> None:
    """An edge through pixel centres: some samples are inside, or all or none."""
    driven = Drawing(
        interface, samples=4, raster=RasterizerDesc(CullMode=1, MultisampleEnable=enabled)
    )
    driven.vertices(
        [[x + 1 / 16, y, 0.5, 1, *RED] for x, y in ((-2, 2), (0, 2), (-2, -2), (0, -2))]
    )
    driven.call("Draw", 4, 0)
    resolved = driven.texture()
    driven.call("ResourceResolveSubresource", resolved, 0, driven.color, 0, RGBA8.value)
    column = driven.pixels(resolved)[0, SIZE // 2] & 0xFF
    assert (column in (0, 255)) is not several


def test_targets_are_slices_and_levels() -> None:
    driven = Drawing()
    array = driven.texture(levels=2, slices=2)
    driven.call("SetRenderTargets", [driven.target(array, RGBA8, 1, 1)], 7, None)
    driven.call("Draw", 4, 0)
    empty = bytes(4 * SIZE * SIZE)
    assert [driven.read(array, n) == empty[: 256 if n & 1 else 1024] for n in range(3)] == [
        True
    ] * 3
    assert (driven.pixels(array, 3, SIZE // 2) == WORDS[RED]).all()


def test_a_target_of_integers_has_the_bits_of_the_shader() -> None:
    driven = Drawing(ps="ps_uint")
    format = DxgiFormat.R32G32B32A32_UINT
    made = driven.texture(format)
    driven.call("SetRenderTargets", [driven.target(made, format)], 7, None)
    driven.call("Draw", 4, 0)
    x, y = np.meshgrid(np.arange(SIZE), np.arange(SIZE))
    expected = np.stack([x, y, x * y, x ^ y], axis=-1).astype("<u4")
    assert driven.read(made) == expected.tobytes()


# Depth that is moved


def stored(
    format: DxgiFormat, raster: RasterizerDesc, z: float = 0.5, view: Viewport | None = None
) -> int:
    """What is stored of a strip at a depth: the word of the first pixel."""
    driven = Drawing(depth=DepthStencilDesc(DepthFunc=CmpFunc.ALWAYS), raster=raster)
    deep = driven.texture(format, bind=BindFlag.DEPTH_STENCIL)
    driven.call("SetRenderTargets", [driven.view], 7, driven.depth(deep, format))
    driven.call("SetViewports", 15, [view or Viewport(0, 0, SIZE, SIZE)])
    driven.vertices(strip(RED, z))
    driven.call("Draw", 4, 0)
    return int.from_bytes(driven.read(deep)[:4], "little")


@pytest.mark.parametrize("bias", [0, 5, -7])
def test_a_bias_counts_in_steps_of_the_format(bias: int) -> None:
    raster = RasterizerDesc(CullMode=1, DepthBias=bias)
    z = 0.25
    assert stored(D24S8, raster, z) & 0xFFFFFF == 0x400000 + bias
    assert stored(DxgiFormat.D16_UNORM, raster, z) & 0xFFFF == 0x4000 + bias
    # The last place of a float from 0.25 to 0.5 is 2 ** -25.
    found = np.uint32(stored(DxgiFormat.D32_FLOAT, raster, z)).view(np.float32)
    assert found == np.float32(z + bias * 2.0**-25)


@pytest.mark.parametrize(("clamp", "moved"), [(0.0, 100), (2.0**-20, 16), (1.0, 100)])
def test_a_bias_is_clamped(clamp: float, moved: int) -> None:
    raster = RasterizerDesc(CullMode=1, DepthBias=100, DepthBiasClamp=clamp)
    found = np.uint32(stored(DxgiFormat.D32_FLOAT, raster)).view(np.float32)
    assert found == np.float32(0.5 + moved * 2.0**-24)


def test_a_slope_moves_what_leans() -> None:
    driven = Drawing(
        depth=DepthStencilDesc(), raster=RasterizerDesc(CullMode=1, SlopeScaledDepthBias=2.0)
    )
    driven.vertices([[x, y, 0.25 + (x + 1) / 8, 1, *RED]
                     for x, y in ((-1, 1), (1, 1), (-1, -1), (1, -1))])  # fmt: skip
    driven.call("Draw", 4, 0)
    found = driven.pixels(driven.deep)[0] & 0xFFFFFF
    step = 0.25 / SIZE
    expected = [(0.25 + (x + 0.5) * step + 2 * step) * 0xFFFFFF for x in range(SIZE)]
    assert np.abs(found - np.array(expected)).max() <= 1


@pytest.mark.parametrize(
    ("z", "clip", "seen"), [(0.0, 1, 0.25), (1.0, 1, 0.5), (3.0, 0, 0.5), (-3.0, 0, 0.25)]
)
def test_depth_goes_to_the_range_of_the_viewport_and_stays_there(
    z: float, clip: int, seen: float
) -> None:
    raster = RasterizerDesc(CullMode=1, DepthClipEnable=clip)
    view = Viewport(0, 0, SIZE, SIZE, 0.25, 0.5)
    found = np.uint32(stored(DxgiFormat.D32_FLOAT, raster, z, view)).view(np.float32)
    assert found == seen


def lines(raster: RasterizerDesc) -> set[int]:
    """Words of a target that a line goes across at a slant."""
    driven = Drawing(raster=raster)
    driven.call("IaSetTopology", 2)
    driven.vertices([[-0.9, -0.6, 0.5, 1, *RED], [0.9, 0.3, 0.5, 1, *RED]])
    driven.call("Draw", 2, 0)
    return set(driven.pixels(driven.color).ravel().tolist())


def test_antialiased_lines_have_alpha_by_coverage() -> None:
    assert lines(RasterizerDesc(CullMode=1)) == {0, WORDS[RED]}
    alphas = {word >> 24 for word in lines(RasterizerDesc(CullMode=1, AntialiasedLineEnable=1))}
    assert len(alphas) > 2


# What there is no state of


@pytest.mark.parametrize(
    ("noun", "desc"),
    [
        ("BlendState", BlendDesc1(RenderTarget=(RenderTargetBlend(1, SrcBlend=0),) * 8)),
        ("BlendState", BlendDesc1(RenderTarget=(RenderTargetBlend(1, DestBlend=12),) * 8)),
        ("BlendState", BlendDesc1(RenderTarget=(RenderTargetBlend(1, BlendOpAlpha=6),) * 8)),
        ("DepthStencilState", DepthStencilDesc(DepthFunc=0)),
        ("DepthStencilState", DepthStencilDesc(StencilEnable=1, BackFace=StencilOpDesc(9))),
        ("RasterizerState", RasterizerDesc(FillMode=1)),
        ("RasterizerState", RasterizerDesc(CullMode=0)),
        ("Sampler", SamplerDesc(AddressW=0)),
        ("Sampler", SamplerDesc(ComparisonFunc=9)),
        ("Sampler", SamplerDesc(BorderColor=(0, 0, 0))),
        ("BlendState", BlendDesc1(RenderTarget=())),
        ("BlendState", BlendDesc(BlendEnable=(1,) * 7)),
    ],
)
def test_values_that_mean_nothing_are_broken_promises(noun: str, desc: Any) -> None:
    driven = Drawing()
    with pytest.raises(ContractError) as broken:
        driven.call(f"Create{noun}", desc, driven.memory_of(noun, desc))
    assert broken.value.rule == "KNOWN_STATE"


def rules(desc: BlendDesc | BlendDesc1) -> Blending:
    """The blend state of a description, without the description."""
    state = blending(desc)
    assert state.desc is desc
    return replace(state, desc=BlendDesc1())


def test_the_blend_state_of_direct3d_10_0_is_one_for_all_that_blend() -> None:
    given = BlendDesc(1, (0, 1) * 4, 5, 6, 1, 2, 1, 3, tuple(range(8)))
    off = RenderTargetBlend(0, 5, 6, 1, 2, 1, 3)
    targets = tuple(off._replace(BlendEnable=n & 1, RenderTargetWriteMask=n) for n in range(8))
    assert rules(given) == rules(BlendDesc1(1, 1, targets))
    assert blending(given).alpha_to_coverage


def test_without_independent_blending_the_first_target_speaks_for_all() -> None:
    first, other = RenderTargetBlend(1, 5, 6), RenderTargetBlend(0)
    shared = rules(BlendDesc1(0, 0, (first, *[other] * 7)))
    assert shared == rules(BlendDesc1(0, 1, (first,) * 8))


def test_null_states_are_the_defaults() -> None:
    driven = Drawing(depth=DepthStencilDesc(DepthFunc=CmpFunc.NEVER))
    driven.call("SetRasterizerState", None)
    driven.call("SetDepthStencilState", None, 0)
    driven.call("SetBlendState", None, WHITE, 0xFFFFFFFF)
    driven.call("Draw", 4, 0)
    assert driven.filled == SIZE * SIZE
    assert driven.pixels(driven.deep)[0, 0] & 0xFFFFFF == 0x800000
