"""What the state, target, stream, lighting and query tokens set, in stream order."""

from __future__ import annotations

import struct

import pytest

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.states.setting_kinds import Kind
from dp2emu.errors import Fault
from tests.dp2.tokens.recorder import executed


def token(op: Op, n: int, *values: int | float) -> bytes:
    return struct.pack("<BBH", op, 0, n) + b"".join(
        struct.pack("<f" if isinstance(value, float) else "<i", value) for value in values
    )


def test_render_states_are_set_in_order() -> None:
    assert executed(token(Op.RENDERSTATE, 2, 7, 1, 7, 0)) == [
        ("set_render_state", 7, 1),
        ("set_render_state", 7, 0),
    ]


def test_texture_stage_states_have_word_sized_stage_and_state() -> None:
    data = token(Op.TEXTURESTAGESTATE, 1) + struct.pack("<HHI", 257, 13, 3)
    assert executed(data) == [("set_texture_stage_state", 257, 13, 3)]


@pytest.mark.parametrize(
    ("op", "last", "call"),
    [
        (Op.VIEWPORTINFO, (1, 2, 3, 4), "set_viewport"),
        (Op.ZRANGE, (0.25, 0.75), "set_z_range"),
        (Op.SETSCISSORRECT, (-1, 2, 3, 4), "set_scissor"),
    ],
)
def test_of_several_rectangles_or_ranges_the_last_wins(
    op: Op, last: tuple[int | float, ...], call: str
) -> None:
    earlier = tuple(type(value)(9) for value in last)
    assert executed(token(op, 2, *earlier, *last)) == [(call, *last)]
    assert executed(token(op, 0)) == []


def test_of_several_ranges_of_a_w_buffer_the_last_wins() -> None:
    done = executed(token(Op.WINFO, 2, 9.0, 9.0, 0.5, 2.0))
    assert done == [("set_plain", Kind.W_RANGE, (0.5, 2.0))]
    assert executed(token(Op.WINFO, 0)) == []


def test_set_render_target_sets_colour_and_depth() -> None:
    assert executed(token(Op.SETRENDERTARGET, 1, 5, 6)) == [
        ("set_render_target", 0, 5),
        ("set_depth_stencil", 6),
    ]


def test_directx_9_sets_targets_one_by_one() -> None:
    data = token(Op.SETRENDERTARGET2, 1, 1, 5) + token(Op.SETDEPTHSTENCIL, 1, 6)
    assert executed(data) == [("set_render_target", 1, 5), ("set_depth_stencil", 6)]


def test_clear_passes_its_rectangles() -> None:
    data = token(Op.CLEAR, 2, 3, 0x00FF00FF, 0.5, 8, 0, 0, 4, 4, -1, 2, 9, 9)
    assert executed(data) == [("clear", 3, 0x00FF00FF, 0.5, 8, [[0, 0, 4, 4], [-1, 2, 9, 9]])]


def test_clear_without_rectangles_passes_none_even_when_one_is_in_the_stream() -> None:
    assert executed(token(Op.CLEAR, 0, 9, 0, 1.0, 0, 1, 2, 3, 4)) == [("clear", 9, 0, 1.0, 0, [])]


def test_streams_and_indices_are_bound_by_handle() -> None:
    data = (
        token(Op.SETSTREAMSOURCE, 1, 0, 5, 20)
        + token(Op.SETSTREAMSOURCE2, 1, 1, 6, 64, 24)
        + token(Op.SETSTREAMSOURCEUM, 1, 0, 16)
        + token(Op.SETINDICES, 1, 7, 2)
    )
    assert executed(data) == [
        ("set_stream", 0, 5, 0, 20),
        ("set_stream", 1, 6, 64, 24),
        ("set_stream_um", 0, 16),
        ("set_indices", 7, 2),
    ]


def test_vertex_formats_come_by_shader_or_declaration_handle() -> None:
    data = (
        token(Op.SETVERTEXSHADER, 1, 0x44)
        + token(Op.SETVERTEXSHADERDECL, 1, 0x144)
        + token(Op.SETVERTEXSHADERFUNC, 1, 0)
        + token(Op.SETPIXELSHADER, 1, 0)
    )
    assert executed(data) == [
        ("set_vertex_shader", 0x44),
        ("set_declaration", 0x144),
        ("set_function", 0),
        ("set_pixel_shader", 0),
    ]


def test_transforms_pass_sixteen_floats_row_by_row() -> None:
    matrix = tuple(float(number) for number in range(16))
    data = token(Op.SETTRANSFORM, 1, 256, *matrix) + token(Op.MULTIPLYTRANSFORM, 1, 2, *matrix)
    assert executed(data) == [("set_transform", 256, matrix), ("multiply_transform", 2, matrix)]


def test_clip_planes_pass_four_floats() -> None:
    assert executed(token(Op.SETCLIPPLANE, 1, 3, 1.0, 0.0, -1.0, 0.5)) == [
        ("set_clip_plane", 3, (1.0, 0.0, -1.0, 0.5))
    ]


def test_of_several_materials_the_last_wins() -> None:
    first, last = [0.0] * 17, [float(number) for number in range(17)]
    [(name, material)] = executed(token(Op.SETMATERIAL, 2, *first, *last))
    assert name == "set_material"
    assert material[0] == (0.0, 1.0, 2.0, 3.0)
    assert material[4] == 16.0


def test_lights_are_made_described_and_switched() -> None:
    light = (1, *(float(number) for number in range(25)))
    data = (
        token(Op.CREATELIGHT, 2, 0, 4)
        + token(Op.SETLIGHT, 3, 4, 2, *light, 4, 0, 0, 1)
    )  # fmt: skip
    *made, (name, index, record), enabled, disabled = executed(data)
    assert made == [("create_light", 0), ("create_light", 4)]
    assert (name, index) == ("set_light", 4)
    assert (record[0], record[-1]) == (1, 24.0)
    assert (enabled, disabled) == (("light_enable", 4, True), ("light_enable", 0, False))


def test_a_light_token_of_unknown_kind_is_a_fault() -> None:
    with pytest.raises(Fault) as caught:
        executed(token(Op.SETLIGHT, 1, 0, 3))
    assert caught.value.hr == HResult.DDERR_INVALIDPARAMS


def test_query_tokens_pass_every_element() -> None:
    data = (
        token(Op.CREATEQUERY, 2, 1, 9, 2, 8)
        + token(Op.ISSUEQUERY, 2, 1, 2, 1, 1)
        + token(Op.DELETEQUERY, 2, 1, 2)
    )
    assert executed(data) == [
        ("create", 1, 9),
        ("create", 2, 8),
        ("issue", 1, 2),
        ("issue", 1, 1),
        ("delete", 1),
        ("delete", 2),
    ]
