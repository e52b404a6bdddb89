"""Names of numbers in the SDK headers."""

from __future__ import annotations

from enum import Enum

import pytest

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums10 import Comparison10, Counter, Filter10, Query, StencilOp10, Topology10
from dp2emu.d3d.sdk import named_number, number_name
from dp2emu.ddi10.resources.resource import BindFlag, ResourceMisc, ResourceType
from dp2emu.ddi10.resources.transfers import ClearFlag


@pytest.mark.parametrize(
    ("kind", "value", "name"),
    [
        (DxgiFormat, 28, "DXGI_FORMAT_R8G8B8A8_UNORM"),
        (DxgiFormat, 999, None),
        (ResourceType, 6, "D3D11DDIRESOURCE_BUFFEREX"),
        (BindFlag, 0x120, "D3D10_DDI_BIND_RENDER_TARGET|D3D11_DDI_BIND_UNORDERED_ACCESS"),
        (BindFlag, 0, None),
        (BindFlag, 0x1001, None),
        (BindFlag, -1, None),
        (ResourceMisc, 1, "D3D10_DDI_RESOURCE_AUTO_GEN_MIP_MAP"),
        (ClearFlag, 3, "D3D10_DDI_CLEAR_DEPTH|D3D10_DDI_CLEAR_STENCIL"),
        (Query, 8, "D3D11DDI_QUERY_PIPELINESTATS"),
        (Topology10, 33, "D3D11_PRIMITIVE_TOPOLOGY_1_CONTROL_POINT_PATCHLIST"),
        (Query, 11, "D3D11DDI_QUERY_STREAMOUTPUTSTATS_STREAM2"),
        (Counter, 0x1000, "D3D10DDI_COUNTER_GPU_IDLE"),
        (Comparison10, 4, "D3D10_COMPARISON_LESS_EQUAL"),
        (StencilOp10, 8, "D3D10_STENCIL_OP_DECR"),
        (Filter10, 0x95, "D3D10_FILTER_COMPARISON_MIN_MAG_MIP_LINEAR"),
    ],
)
def test_a_number_has_the_name_of_the_headers(
    kind: type[Enum], value: int, name: str | None
) -> None:
    assert number_name(kind, value) == name
    if name is not None:
        assert named_number(kind, name) == value


@pytest.mark.parametrize(
    ("kind", "name"),
    [(Query, "EVENT"), (BindFlag, ""), (BindFlag, "D3D10_DDI_BIND_RENDER_TARGET|1"),
     (Comparison10, "D3D10_COMPARISON_LESS|D3D10_COMPARISON_EQUAL")],
)  # fmt: skip
def test_a_word_that_is_no_name_has_no_number(kind: type[Enum], name: str) -> None:
    assert named_number(kind, name) is None


def test_filters_are_their_bits() -> None:
    linear = {"MIP": 0x01, "MAG": 0x04, "MIN": 0x10}
    for member in Filter10:
        words = member.name.removeprefix("COMPARISON_").split("_")
        if words[-1] not in ("LINEAR", "POINT"):
            continue
        kinds: list[str] = []
        bits = 0x80 if member.name.startswith("COMPARISON") else 0
        for word in words:
            if word in linear:
                kinds.append(word)
                continue
            bits |= sum(linear[kind] for kind in kinds) if word == "LINEAR" else 0
            kinds = []
        assert bits == member
