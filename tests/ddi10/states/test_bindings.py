"""Setters: slots, and what is let go of."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.ddi10.resources.resource import BindFlag
from dp2emu.ddi10.shaders.stages import PREFIXES
from dp2emu.ddi10.states.bindings import Viewport
from dp2emu.ddi10.states.input_layout import CreateElementLayout, InputElement
from dp2emu.errors import ContractError, ShaderError, Unsupported
from tests.ddi10.drawing import tokens
from tests.ddi10.driving import REMOVED
from tests.ddi10.rendering import D24S8, FLOAT4, Drawing, Rendering
from tests.shader.sm4.making import container

NAN = float("nan")


def rule_of(driven: Rendering, entry: str, *arguments: Any) -> str:
    with pytest.raises(ContractError) as error:
        driven.call(entry, *arguments)
    return error.value.rule


@pytest.mark.parametrize(
    ("entry", "arguments"),
    [
        ("IaSetVertexBuffers", (32, [None], [0], [0])),
        ("IaSetVertexBuffers", (-1, [None], [0], [0])),
        ("IaSetVertexBuffers", (0, [None], [0, 0], [0])),
        ("SetViewports", (16, [Viewport(0, 0, 1, 1)])),
        ("SetViewports", (0, [Viewport(0, 0, 1, 1)] * 17)),
        ("SetScissorRects", (-1, [])),
        ("SetRenderTargets", ([None] * 9, 0, None)),
        ("SetRenderTargets", ([None], 8, None)),
        *((f"{prefix}SetConstantBuffers", (14, [None])) for prefix in PREFIXES),
        *((f"{prefix}SetShaderResources", (127, [None, None])) for prefix in PREFIXES),
        *((f"{prefix}SetSamplers", (-1, [None])) for prefix in PREFIXES),
    ],
)
def test_there_are_only_so_many_slots(entry: str, arguments: tuple[Any, ...]) -> None:
    assert rule_of(Rendering(checking=False), entry, *arguments) == "SLOTS"


@pytest.mark.parametrize(("stride", "offset"), [(2049, 0), (-1, 0), (0, -1), (0, 1 << 32)])
def test_numbers_of_vertex_buffers_fit(stride: int, offset: int) -> None:
    driven = Rendering(checking=False)
    buffer = driven.buffer(bytes(4))
    numbers = 0, [buffer], [stride], [offset]
    assert rule_of(driven, "IaSetVertexBuffers", *numbers) == "NUMBERS"


def test_targets_have_the_same_number_of_samples() -> None:
    driven = Rendering(checking=False)
    deep = driven.depth(driven.texture(D24S8, bind=BindFlag.DEPTH_STENCIL, samples=4))
    one, four = (driven.target(driven.texture(samples=count)) for count in (1, 4))
    assert rule_of(driven, "SetRenderTargets", [one], 7, deep) == "SAME_SAMPLES"
    assert rule_of(driven, "SetRenderTargets", [four, None, one], 5, None) == "SAME_SAMPLES"
    assert driven.call("SetRenderTargets", [None, four], 6, deep) == []


@pytest.mark.parametrize("prefix", PREFIXES)
def test_every_stage_can_have_nothing(prefix: str) -> None:
    driven = Rendering()
    assert driven.call(f"{prefix}SetShader", None) == []
    assert driven.call(f"{prefix}SetConstantBuffers", 0, [None] * 14) == []
    assert driven.call(f"{prefix}SetShaderResources", 0, [None] * 128) == []
    assert driven.call(f"{prefix}SetSamplers", 0, [None] * 16) == []


def test_slots_keep_what_is_set_until_it_is_replaced() -> None:
    driven = Rendering()
    one, other = driven.buffer(bytes(16)), driven.buffer(bytes(16))
    driven.call("PsSetConstantBuffers", 2, [one, other])
    driven.call("PsSetConstantBuffers", 3, [None, one])
    assert sorted(driven.device._parts.stages.pixel.constants) == [2, 4]
    assert not driven.device._parts.stages.vertex.constants


@pytest.mark.parametrize(
    "view",
    [
        Viewport(NAN, 0, 1, 1),
        Viewport(0, 0, -1, 1),
        Viewport(0, 0, 1, NAN),
        Viewport(1e9, 0, 1, 1),
        Viewport(0, 0, 1, 1, 0.5, 0.25),
        Viewport(0, 0, 1, 1, -0.5, 1),
        Viewport(0, 0, 1, 1, 0, 1.5),
    ],
)
def test_viewports_are_possible(view: Viewport) -> None:
    assert rule_of(Rendering(checking=False), "SetViewports", 15, [view]) == "KNOWN_STATE"


def test_a_blend_factor_has_four_numbers() -> None:
    driven = Rendering(checking=False)
    assert rule_of(driven, "SetBlendState", None, (1, 1, 1), 1) == "NUMBERS"
    assert driven.call("SetBlendState", None, (1e300, 0, 0, 0), 1) == []


def test_a_layout_has_no_more_elements_than_there_are_registers() -> None:
    driven = Rendering(checking=False)
    memory = driven.memory_of("ElementLayout")
    layout = CreateElementLayout([InputElement(0, 0, FLOAT4.value)] * 33)
    assert rule_of(driven, "CreateElementLayout", layout, memory) == "KNOWN_STATE"


@pytest.mark.parametrize("format", [0, 28, 41])
def test_indices_have_two_formats(format: int) -> None:
    driven = Rendering(checking=False)
    buffer = driven.buffer(bytes(4))
    assert rule_of(driven, "IaSetIndexBuffer", buffer, format, 0) == "KNOWN_STATE"
    assert driven.call("IaSetIndexBuffer", None, format, 0) == []


@pytest.mark.parametrize(
    "element",
    [
        InputElement(32, 0, FLOAT4.value),
        InputElement(0, -1, FLOAT4.value),
        InputElement(0, 0, FLOAT4.value, InputRegister=32),
        InputElement(0, 0, FLOAT4.value, 2),
        InputElement(0, 0, 71),
        InputElement(0, 0, 0),
        InputElement(0, 0, 999),
    ],
)
def test_elements_are_of_formats_slots_and_registers_there_are(element: InputElement) -> None:
    driven = Rendering(checking=False)
    memory = driven.memory_of("ElementLayout")
    layout = CreateElementLayout([element])
    assert rule_of(driven, "CreateElementLayout", layout, memory) == "KNOWN_STATE"


APPEND = 0xFFFFFFFF


def test_buffers_to_stream_into_are_set_by_slot_and_others_cleared() -> None:
    driven = Rendering()
    made = [driven.buffer(bytes(4), bind=BindFlag.STREAM_OUTPUT) for _ in range(2)]
    bound = driven.device._parts.setters.bindings
    for targets, clear, slots in (
        ([made[0], None, made[1]], 1, {0, 2}),
        ([None] * 4, 0, set()),
        ([made[1]], 3, {0}),
        ([], 4, set()),
    ):
        assert driven.call("SoSetTargets", targets, clear, [APPEND] * len(targets)) == []
        assert bound.stream_targets.keys() == slots


def test_what_cannot_be_streamed_into_is_refused() -> None:
    driven = Rendering(checking=False)
    plain, buffer = driven.buffer(bytes(4)), driven.buffer(bytes(4), bind=BindFlag.STREAM_OUTPUT)
    for rule, targets, clear, offsets in (
        ("SLOTS", [buffer], 4, [0]),
        ("SLOTS", [buffer], 0, []),
        ("SLOTS", [None] * 5, 0, [0] * 5),
        ("NUMBERS", [buffer], 0, [-1]),
        ("LIVE_OBJECT", [bytearray(16)], 0, [0]),
        ("STREAM_TARGETS", [plain], 0, [0]),
        ("STREAM_TARGETS", [buffer, None, buffer], 0, [0, 0, 4]),
    ):
        assert rule_of(driven, "SoSetTargets", targets, clear, offsets) == rule


# Shaders


def test_shaders_come_as_tokens_or_in_containers() -> None:
    driven = Drawing()
    driven.call("VsSetShader", driven.make("VertexShader", container("vs_pass")))
    driven.call("PsSetShader", driven.make("PixelShader", container("ps_color")))
    driven.call("Draw", 4, 0)
    assert driven.filled == 256


def test_shaders_that_cannot_be_meant_are_not_created() -> None:
    driven = Rendering()
    memory = driven.memory_of("PixelShader")
    with pytest.raises(ShaderError):
        driven.call("CreatePixelShader", tokens("ps_color")[:-4], memory)
    with pytest.raises(Unsupported, match="vertex shader"):
        driven.call("CreatePixelShader", tokens("vs_pass"), memory)
    with pytest.raises(ContractError, match="no such object"):
        driven.call("DestroyShader", memory)


def test_a_destroyed_shader_is_drawn_with_as_long_as_it_is_set() -> None:
    driven = Drawing()
    shader = driven.make("PixelShader", tokens("ps_const"))
    driven.call("PsSetShader", shader)
    driven.call("DestroyShader", shader)
    driven.call("Draw", 4, 0)
    assert (driven.pixels(driven.color) == 0).all()


def test_setting_reports_a_removed_device() -> None:
    driven = Rendering()
    driven.adapter.remove()
    for entry, arguments in (
        ("IaSetTopology", (4,)),
        ("VsSetShader", (None,)),
        ("SetRenderTargets", ([], 8, None)),
        ("GsSetSamplers", (0, [])),
    ):
        assert driven.call(entry, *arguments) == REMOVED
