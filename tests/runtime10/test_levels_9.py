"""What contexts of the feature levels 9_x ignore, with a message."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dp2emu.runtime10 import (
    BindFlag,
    Context,
    Device,
    FeatureLevel,
    Format,
    FormatSupport,
    InputElementDesc,
    Refused,
    SamplerDesc,
    Texture2DDesc,
)
from tests.runtime10.making import VERTEX, buffer, code, device, texture, viewed

L = FeatureLevel
DEPTH = Texture2DDesc(4, 4, Format=Format.D24_UNORM_S8_UINT, BindFlags=BindFlag.DEPTH_STENCIL)


def copy_depth(made: Device) -> None:
    one, other = made.create_texture2d(DEPTH), made.create_texture2d(DEPTH)
    made.context.copy_resource(one, other)


def copy_part_of_depth(made: Device) -> None:
    one, other = made.create_texture2d(DEPTH), made.create_texture2d(DEPTH)
    made.context.copy_subresource_region(one, 0, 0, 0, 0, other, 0)


def copy(made: Device) -> None:
    made.context.copy_resource(texture(made), texture(made))


def use_long_indices(made: Device) -> None:
    indices = buffer(made, 64, BindFlag.INDEX_BUFFER)
    made.context.ia_set_index_buffer(indices, Format.R32_UINT, 0)


def sample_vertices(made: Device) -> None:
    made.context.vs_set_shader_resources(0, [viewed(made)])


def use_a_sampler_of_vertices(made: Device) -> None:
    made.context.vs_set_samplers(0, [made.create_sampler_state(SamplerDesc())])


def use_slot(slot: int) -> Callable[[Device], None]:
    return lambda made: made.context.ps_set_shader_resources(slot, [viewed(made)])


def unbind_all(made: Device) -> None:
    made.context.ps_set_shader_resources(0, [None] * 32)
    made.context.vs_set_samplers(0, [None])


def draw(topology: int, count: int, indexed: bool = False) -> Callable[[Device], None]:
    def act(made: Device) -> None:
        made.context.ia_set_primitive_topology(topology)
        if indexed:
            made.context.draw_indexed(count, 0, 0)
        else:
            made.context.draw(count, 0)

    return act


def draw_instances(made: Device) -> None:
    made.context.draw_instanced(3, 2, 0, 0)


def topology(number: int) -> Callable[[Device], None]:
    return lambda made: made.context.ia_set_primitive_topology(number)


def dispatch(made: Device) -> None:
    made.context.dispatch(1, 1, 1)


def draw_auto(made: Device) -> None:
    made.context.draw_auto()


IGNORED: list[tuple[FeatureLevel, Callable[[Device], None]]] = [
    (L.LEVEL_9_3, copy_depth), (L.LEVEL_9_3, copy_part_of_depth),
    (L.LEVEL_9_1, use_long_indices), (L.LEVEL_9_3, sample_vertices),
    (L.LEVEL_9_3, use_a_sampler_of_vertices), (L.LEVEL_9_3, use_slot(16)),
    (L.LEVEL_9_1, draw(4, 3 * 65_536)), (L.LEVEL_9_1, draw(5, 65_538, indexed=True)),
    (L.LEVEL_9_3, draw(2, 2 * 1_048_576)), (L.LEVEL_9_2, draw_instances),
    (L.LEVEL_9_3, topology(12)), (L.LEVEL_9_3, topology(33)),
    (L.LEVEL_9_3, dispatch), (L.LEVEL_9_3, draw_auto),
]  # fmt: skip
DONE: list[tuple[FeatureLevel, Callable[[Device], None]]] = [
    (L.LEVEL_10_0, copy_depth), (L.LEVEL_9_1, copy), (L.LEVEL_9_2, use_long_indices),
    (L.LEVEL_10_0, sample_vertices), (L.LEVEL_9_1, use_slot(15)), (L.LEVEL_9_1, unbind_all),
    (L.LEVEL_9_3, topology(5)), (L.LEVEL_9_3, topology(0)), (L.LEVEL_10_0, topology(12)),
]  # fmt: skip


@pytest.mark.parametrize(("level", "act"), IGNORED)
def test_a_call_that_a_level_lacks_has_no_effect_but_a_message(
    level: FeatureLevel, act: Callable[[Device], None]
) -> None:
    made = device(level=level)
    act(made)
    assert f"at feature level {level.name}" in made.context.messages[-1]


@pytest.mark.parametrize(("level", "act"), DONE)
def test_a_call_that_a_level_has_is_made(
    level: FeatureLevel, act: Callable[[Device], None]
) -> None:
    made = device(level=level)
    act(made)
    assert not made.context.messages


def test_the_largest_draws_of_a_level_are_made() -> None:
    for level, count in ((L.LEVEL_9_1, 3 * 65_535), (L.LEVEL_9_3, 3 * 65_536)):
        made = device(level=level)
        draw(4, count)(made)
        assert not any("at feature level" in each for each in made.context.messages)
    made = device(level=L.LEVEL_9_3)
    draw_instances(made)
    assert not any("at feature level" in each for each in made.context.messages)


def test_deferred_contexts_have_the_same_limits() -> None:
    made = device(level=L.LEVEL_9_1)
    deferred: Context = made.create_deferred_context()
    deferred.ia_set_primitive_topology(12)
    assert "at feature level LEVEL_9_1" in deferred.messages[-1]


@pytest.mark.parametrize(
    ("level", "name", "bit", "has"),
    [
        (L.LEVEL_9_1, "R16G16_SINT", FormatSupport.IA_VERTEX_BUFFER, True),
        (L.LEVEL_9_3, "R32G32_UINT", FormatSupport.IA_VERTEX_BUFFER, False),
        (L.LEVEL_9_1, "R16_UINT", FormatSupport.IA_INDEX_BUFFER, True),
        (L.LEVEL_9_1, "R32_UINT", FormatSupport.IA_INDEX_BUFFER, False),
        (L.LEVEL_9_2, "R32_UINT", FormatSupport.IA_INDEX_BUFFER, True),
        (L.LEVEL_9_3, "R16G16B16A16_FLOAT", FormatSupport.DISPLAY, False),
        (L.LEVEL_10_0, "R16G16B16A16_FLOAT", FormatSupport.DISPLAY, True),
    ],
)
def test_uses_of_formats_at_a_level(
    level: FeatureLevel, name: str, bit: FormatSupport, has: bool
) -> None:
    try:
        found = device(level=level).check_format_support(getattr(Format, name))
    except Refused:
        found = FormatSupport(0)
    assert bool(found & bit) is has


@pytest.mark.parametrize(
    ("name", "taken"), [("R32G32_FLOAT", True), ("R8G8B8A8_UINT", True), ("R32G32_UINT", False)]
)
def test_vertices_of_the_levels_9_have_formats_of_direct3d_9(name: str, taken: bool) -> None:
    made = device(level=L.LEVEL_9_3)
    elements = [InputElementDesc("v", 0, getattr(Format, name))]
    if taken:
        made.create_input_layout(elements, code(VERTEX))
        return
    with pytest.raises(Refused, match="an input layout"):
        made.create_input_layout(elements, code(VERTEX))
