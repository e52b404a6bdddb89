"""SetResourceMinLOD: which levels of a texture are read, by whatever view and sampler."""

from __future__ import annotations

import pytest

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.queries.query_types import Query
from dp2emu.ddi10.resources.resource import BindFlag, ResourceType, SubresourceUP
from dp2emu.ddi10.resources.views import CreateShaderResourceView
from dp2emu.ddi10.states.state_objects import SamplerDesc
from tests.ddi10.rendering import Handle
from tests.ddi10.test_compute import KEEP, RAW, Computing

LINEAR, POINT = 0x15, 0x00
FLOATS = "(float,float,float,float)"
DECLARED = f"""dcl_sampler s0, mode_default
dcl_resource_texture2d {FLOATS} t0
dcl_uav_raw u0"""


class Levels(Computing):
    """A texture of 8, 4, 2 and 1 texels each way, whose levels are 10, 20, 30 and 40 all over."""

    def __init__(self, filter: int = LINEAR, mip: int = 0, **sampler: float) -> None:
        super().__init__()
        data = [
            SubresourceUP(bytes([10 * level]) * (64 >> 2 * level - 2), 8 >> level - 1, 64)
            for level in (1, 2, 3, 4)
        ]
        self.image = self.texture(
            DxgiFormat.R8_UNORM, 8, 8, bind=BindFlag.SHADER_RESOURCE, levels=4, data=data
        )
        desc = CreateShaderResourceView(
            self.image, DxgiFormat.R8_UNORM.value, ResourceType.TEXTURE2D, mip
        )
        self.call("CsSetShaderResources", 0, [self.make("ShaderResourceView", desc)])
        state = SamplerDesc(filter, 3, 3, 3, MaxAnisotropy=1, **{"MaxLOD": 100.0, **sampler})
        self.call("CsSetSamplers", 0, [self.make("Sampler", state)])
        self.result = self.unordered_buffer()
        view = self.view(self.result, flags=RAW)
        self.call("CsSetUnorderedAccessViews", 0, [view], [KEEP])

    def found(self, instruction: str) -> int:
        """The texel that an instruction puts into r0.x, in units of 1/255, rounded."""
        body = f"{instruction}\nmul r0.x, r0.x, l(255.0)\nround_ne r0.x, r0.x\nftou r0.x, r0.x"
        self.shader(f"{body}\nstore_raw u0.x, l(0), r0.x", DECLARED)
        self.call("Dispatch", 1, 1, 1)
        return self.words(self.result)[0]

    def sampled(self, lod: float) -> int:
        return self.found(f"sample_l r0.xyzw, l(0.5, 0.5, 0, 0), t0.xyzw, s0, l({lod})")

    def loaded(self, level: int) -> int:
        return self.found(f"ld r0.xyzw, l(0, 0, 0, {level}), t0.xyzw")


@pytest.mark.parametrize(
    ("least", "lod", "expected"),
    [
        (0.0, 0.0, 10),
        (1.0, 0.0, 20),
        (1.5, 0.0, 25),
        (1.5, 2.0, 30),
        (9.0, 0.0, 40),
        (-3.0, 1.0, 20),
        (float("nan"), 1.0, 20),
    ],
)
def test_what_is_sampled_has_at_least_that_level(least: float, lod: float, expected: int) -> None:
    driven = Levels()
    driven.call("SetResourceMinLOD", driven.image, least)
    assert driven.sampled(lod) == expected


def test_it_comes_after_what_samplers_say() -> None:
    driven = Levels(MaxLOD=1.0, MinLOD=0.5)
    driven.call("SetResourceMinLOD", driven.image, 2.0)
    assert driven.sampled(0.0) == 30
    driven.call("SetResourceMinLOD", driven.image, 0.0)
    assert driven.sampled(0.0) == 15


def test_it_is_a_level_of_the_resource_and_not_of_a_view() -> None:
    driven = Levels(mip=1)
    driven.call("SetResourceMinLOD", driven.image, 2.0)
    assert driven.sampled(0.0) == 30
    driven.call("SetResourceMinLOD", driven.image, 1.0)
    assert driven.sampled(0.0) == 20


@pytest.mark.parametrize(("least", "found"), [(1.0, [0, 20, 30, 40]), (2.9, [0, 0, 30, 40])])
def test_levels_before_it_are_out_of_range(least: float, found: list[int]) -> None:
    driven = Levels()
    driven.call("SetResourceMinLOD", driven.image, least)
    assert [driven.loaded(level) for level in range(4)] == found


def test_gather_reads_its_whole_part() -> None:
    driven = Levels()
    driven.call("SetResourceMinLOD", driven.image, 1.9)
    gathered = "gather4 r0.xyzw, l(0.5, 0.5, 0, 0), t0.xyzw, s0.x"
    assert driven.found(gathered) == 20


def test_it_is_predicated() -> None:
    driven = Levels(POINT)
    nothing = driven.issue(Query.OCCLUSIONPREDICATE)
    driven.call("SetPredication", nothing, 0)
    driven.call("SetResourceMinLOD", driven.image, 2.0)
    driven.call("SetPredication", nothing, 1)
    driven.call("SetResourceMinLOD", driven.image, 1.0)
    driven.call("SetPredication", None, 0)
    assert driven.sampled(0.0) == 20


def test_draws_that_were_recorded_before_read_as_before() -> None:
    driven = Levels()
    driven.shader("sample_l r0.xyzw, l(0.5, 0.5, 0, 0), t0.xyzw, s0, l(0)\n"
                  "store_raw u0.x, l(0), r0.x", DECLARED)  # fmt: skip
    driven.call("Dispatch", 1, 1, 1)
    driven.call("SetResourceMinLOD", driven.image, 3.0)
    first = driven.words(driven.result)[0]
    driven.call("Dispatch", 1, 1, 1)
    assert first < driven.words(driven.result)[0]


def test_only_resources_have_one() -> None:
    driven = Computing()
    memory: Handle = bytearray(16)
    assert driven.refused("SetResourceMinLOD", memory, 1.0) == "LIVE_OBJECT"
