"""The DXGI functions beside residency."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.codes import DdiCode
from dp2emu.ddi10.dxgi import BltArguments, BltFlag, GammaCaps, PresentArguments, PresentFlag
from dp2emu.ddi10.queries.query_types import Query
from dp2emu.errors import ContractError, Unsupported
from tests.ddi10.rendering import RGBA8, Rendering
from tests.ddi10.resources.test_transfers import filled


def call(driven: Rendering, name: str, *arguments: Any) -> int:
    return driven.device.dxgi_functions[name](*arguments)


def test_presenting_flushes_and_a_flip_shows() -> None:
    driven = Rendering()
    made = driven.texture()
    driven.call("ClearRenderTargetView", driven.target(made), (1, 1, 1, 1))
    assert call(driven, "Present", PresentArguments(made)) == 0
    assert driven.adapter.gpu.idle
    shown = driven.device._parts.dxgi.shown
    assert shown is not None
    assert shown[0].surface.data.all()


def test_presenting_by_a_blt_copies() -> None:
    driven = Rendering()
    one, other = filled(driven, 1), filled(driven, 2)
    present = PresentArguments(one, 0, other, 0, PresentFlag.BLT)
    assert call(driven, "Present", present) == 0
    assert driven.read(other) == driven.read(one)


def test_a_blt_fills_a_rectangle_and_stretches() -> None:
    driven = Rendering()
    one, other = filled(driven, 1, 2), filled(driven, 2)
    expected = driven.pixels(other, size=8).copy()
    expected[2:6, 0:4] = driven.pixels(one, size=2).repeat(2, 0).repeat(2, 1)
    blt = BltArguments(other, 0, 0, 2, 4, 6, one, 0, BltFlag.STRETCH)
    assert call(driven, "Blt", blt) == 0
    assert (driven.pixels(other, size=8) == expected).all()


def test_a_blt_resolves_and_converts() -> None:
    driven = Rendering()
    samples = driven.texture(width=8, height=8, samples=4)
    other = driven.texture(DxgiFormat.B8G8R8A8_UNORM, 8, 8)
    driven.call("ClearRenderTargetView", driven.target(samples), (1, 0, 0, 1))
    flags = BltFlag.RESOLVE | BltFlag.CONVERT
    assert call(driven, "Blt", BltArguments(other, 0, 0, 0, 8, 8, samples, 0, flags)) == 0
    assert (driven.pixels(other, size=8) == 0xFFFF0000).all()


@pytest.mark.parametrize("format", [DxgiFormat.R32_UINT, DxgiFormat.BC1_UNORM])
def test_blts_are_of_colours(format: DxgiFormat) -> None:
    driven = Rendering(checking=False)
    one, other = filled(driven, 1), driven.texture(format, 8, 8)
    for target, source in ((one, other), (other, one)):
        with pytest.raises(ContractError, match="differ in format family"):
            call(driven, "Blt", BltArguments(target, 0, 0, 0, 8, 8, source, 0))


@pytest.mark.parametrize("rect", [(0, 0, 9, 8), (-1, 0, 8, 8), (4, 0, 4, 8), (0, 5, 8, 4)])
def test_rectangles_of_blts_lie_inside(rect: tuple[int, int, int, int]) -> None:
    driven = Rendering(checking=False)
    made = filled(driven, 1)
    with pytest.raises(ContractError) as broken:
        call(driven, "Blt", BltArguments(made, 0, *rect, made, 0))
    assert broken.value.rule == "INSIDE"


def test_rotation_says_that_it_is_not_built() -> None:
    driven = Rendering()
    made = filled(driven, 1)
    with pytest.raises(Unsupported, match="rotated"):
        call(driven, "Blt", BltArguments(made, 0, 0, 0, 8, 8, made, 0, 0, 2))


def test_identities_rotate_and_the_gpu_keeps_what_it_was_told() -> None:
    driven = Rendering()
    names = [b"one!", b"two!", b"six!"]
    buffers = [driven.buffer(name) for name in names]
    late = driven.buffer(bytes(4))
    driven.call("ResourceCopy", late, buffers[0])
    assert call(driven, "RotateResourceIdentities", buffers) == 0
    assert [driven.read(buffer) for buffer in buffers] == [*names[1:], names[0]]
    assert driven.read(late) == names[0]


def test_gamma_ramps_are_from_0_to_1() -> None:
    caps = GammaCaps()
    assert call(Rendering(), "GetGammaCaps", caps) == 0
    points = caps.ControlPointPositions
    assert (points[0], points[-1], points) == (0, 1, sorted(points))
    assert (caps.MinConvertedValue, caps.MaxConvertedValue) == (0, 1)


def test_a_display_mode_shows_a_subresource() -> None:
    driven = Rendering()
    made = driven.texture(slices=2)
    assert call(driven, "SetDisplayMode", made, 1) == 0
    shown = driven.device._parts.dxgi.shown
    assert shown is not None and shown[1] == 1
    with pytest.raises(ContractError, match="no such subresource"):
        call(driven, "SetDisplayMode", made, 2)


def test_predicates_do_not_count_for_what_is_presented() -> None:
    driven = Rendering()
    one, other = filled(driven, 1), filled(driven, 2)
    predicate = driven.create(Query.OCCLUSIONPREDICATE)
    driven.call("QueryBegin", predicate)
    driven.call("QueryEnd", predicate)
    driven.call("SetPredication", predicate, 0)
    before = driven.read(other)
    driven.call("ResourceCopy", other, one)
    assert driven.read(other) == before
    assert call(driven, "Blt", BltArguments(other, 0, 0, 0, 8, 8, one, 0)) == 0
    assert driven.read(other) == driven.read(one)


def test_a_removed_device_presents_nothing() -> None:
    driven = Rendering()
    made = driven.texture(RGBA8)
    driven.adapter.remove()
    for name, argument in (
        ("Present", (PresentArguments(made),)),
        ("GetGammaCaps", (GammaCaps(),)),
        ("SetResourcePriority", (made, 1)),
    ):
        assert call(driven, name, *argument) == DdiCode.D3DDDIERR_DEVICEREMOVED
