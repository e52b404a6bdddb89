"""Created shaders and declarations: when they fail, what handles mean, what they draw."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2 import shaders
from dp2emu.dp2.call import Answer
from dp2emu.dp2.states.inspect import facts_of
from dp2emu.limits import Limits
from dp2emu.shader.sm.assemble import assemble
from tests.dp2.rigging import Bench, clear, header, render_state, token
from tests.refusals import refuses

BAD = HResult.D3DERR_DRIVERINVALIDCALL
VERTEX = assemble("vs_2_0\ndcl_position v0\ndcl_color v1\nmov oPos, v0\nmov oD0, v1\n")
PIXEL = assemble("ps_2_0\ndcl v0\nmul r0, v0, c1\nmov oC0, r0\n")
SAMPLING = assemble("ps_2_0\ndcl_2d s0\ndcl t0.xy\ntexld r0, t0, s0\nmov oC0, r0\n")
ELEMENTS = struct.pack("<HHBBBBHHBBBB", 0, 0, 2, 0, 0, 0, 0, 12, 4, 0, 10, 0)
STREAM8 = struct.pack("<4I", 1 << 29, 2 << 29 | 2 << 16, 2 << 29 | 4 << 16 | 5, 0xFFFFFFFF)

NORMAL8 = 3 << 29 | 0 << 20 | 2 << 16 | 3
"""D3DVSD_TESSNORMAL: register 3 from the positions in register 0."""


def create(op: Op, handle: int, code: bytes) -> bytes:
    size = len(code) // 8 if op is Op.CREATEVERTEXSHADERDECL else len(code)
    return header(op) + struct.pack("<2I", handle, size) + code


def create8(handle: int, declaration: bytes, code: bytes) -> bytes:
    sizes = struct.pack("<3I", handle, len(declaration), len(code))
    return header(Op.CREATEVERTEXSHADER) + sizes + declaration + code


DECLARED = create(Op.CREATEVERTEXSHADERDECL, 5, ELEMENTS) + token(Op.SETVERTEXSHADERDECL, 5)
FUNCTION = create(Op.CREATEVERTEXSHADERFUNC, 3, VERTEX) + token(Op.SETVERTEXSHADERFUNC, 3)
SHADED = create(Op.CREATEPIXELSHADER, 2, PIXEL) + token(Op.SETPIXELSHADER, 2)
DRAW = token(50, 0, 16) + token(52, 4, 0, 1)


def vertices(color: int = 0xFF80FF40) -> bytes:
    corners = ((-1.0, 1.0), (3.0, 1.0), (-1.0, -3.0))
    return b"".join(struct.pack("<3fI", x, y, 0.5, color) for x, y in corners)


def constants(op: Op, register: int, *values: float) -> bytes:
    return header(op) + struct.pack("<2I4f", register, 1, *values)


def draw(bench: Bench, *commands: bytes) -> Answer:
    plain = render_state(22, 1) + render_state(137, 0)
    return bench.call(b"".join((plain, *commands, DRAW)), vertices(), dwVertexSize=16)


def drawn(*commands: bytes) -> int:
    """The middle pixel of a draw over all of the target."""
    bench = Bench()
    bench.ok(clear())
    answer = draw(bench, *commands)
    assert answer.ddrval == 0, answer.fault
    words = np.frombuffer(bench.driver.read(1, 0, 64 * 64 * 4), "<u4")
    return int(words[32 * 64 + 32]) & 0xFFFFFF


def test_declarations_feed_the_fixed_function_by_usage() -> None:
    assert drawn(DECLARED) == 0x80FF40


def test_a_declaration_and_a_function_are_joined_at_the_draw() -> None:
    assert drawn(DECLARED, FUNCTION) == drawn(FUNCTION, DECLARED) == 0x80FF40


def test_usages_that_share_a_register_are_each_fed_by_an_element() -> None:
    code = assemble(
        "vs_3_0\ndcl_position v0\ndcl_color v1.xw\ndcl_tangent v1.z\ndcl_position1 v1.y\n"
        "dcl_position o0\ndcl_color o1\nmov o0, v0\nmov o1, v1\n"
    )
    colors = ((12, 4, 0, 10, 0), (8, 0, 0, 0, 1))
    tail = b"".join(struct.pack("<HHBBBB", 0, *each) for each in colors)
    declared = create(Op.CREATEVERTEXSHADERDECL, 5, ELEMENTS[:8] + tail)
    shader = create(Op.CREATEVERTEXSHADERFUNC, 3, code)
    # x of the colour 0xFF80FF40, no tangent, and the y that a FLOAT1 lacks.
    sets = token(Op.SETVERTEXSHADERDECL, 5) + token(Op.SETVERTEXSHADERFUNC, 3)
    assert drawn(declared, shader, sets) == 0x800000


def test_a_directx_8_shader_finds_its_inputs_by_number() -> None:
    code = assemble("vs_1_1\nmov oPos, v0\nmov oD0, v5.zyxw\n")
    assert drawn(create8(7, STREAM8, code), token(Op.SETVERTEXSHADER, 7)) == 0x40FF80


def test_a_directx_8_declaration_without_code_is_fixed_function() -> None:
    assert drawn(create8(7, STREAM8, b""), token(Op.SETVERTEXSHADER, 7)) == 0x80FF40


def test_a_directx_8_declaration_loads_its_constants_when_it_is_set() -> None:
    memory = struct.pack("<I4f", 4 << 29 | 1 << 25 | 9, 1.0, 0.0, 0.0, 1.0)
    code = assemble("vs_1_1\nmov oPos, v0\nmov oD0, c9\n")
    made = create8(7, memory + STREAM8, code)
    after = constants(Op.SETVERTEXSHADERCONST, 9, 0.0, 0.0, 1.0, 1.0)
    assert drawn(made, after, token(Op.SETVERTEXSHADER, 7)) == 0xFF0000
    assert drawn(made, token(Op.SETVERTEXSHADER, 7), after) == 0x0000FF


def test_pixel_shaders_read_constants_as_they_are_at_the_draw() -> None:
    red = constants(Op.SETPIXELSHADERCONST, 1, 1.0, 0.0, 0.0, 1.0)
    assert drawn(DECLARED, SHADED) == 0
    assert drawn(DECLARED, SHADED, red) == 0x800000


def test_a_shaders_own_constants_hide_the_registers_and_leave_them_alone() -> None:
    own = assemble("ps_2_0\ndef c1, 0.0, 1.0, 0.0, 1.0\nmov oC0, c1\n")
    red = constants(Op.SETPIXELSHADERCONST, 1, 1.0, 0.0, 0.0, 1.0)
    other = create(Op.CREATEPIXELSHADER, 4, own) + token(Op.SETPIXELSHADER, 4)
    assert drawn(DECLARED, red, other) == 0x00FF00
    assert drawn(DECLARED, red, other, SHADED) == 0x800000


def test_fog_follows_a_pixel_shader_before_3_0() -> None:
    fog = render_state(28, 1) + render_state(34, 0x0000FF) + render_state(35, 3)
    near, far = struct.unpack("<2I", struct.pack("<2f", 0.0, 0.5))
    fog += render_state(36, near) + render_state(37, far)
    white = constants(Op.SETPIXELSHADERCONST, 1, 1.0, 1.0, 1.0, 1.0)
    assert drawn(DECLARED, SHADED, white, fog) == 0x0000FF
    later = assemble("ps_3_0\ndcl_color0 v0\nmov oC0, v0\n")
    shader = create(Op.CREATEPIXELSHADER, 4, later) + token(Op.SETPIXELSHADER, 4)
    assert drawn(DECLARED, shader, fog) == 0x80FF40


def test_fog_of_vertices_without_ofog_follows_the_alpha_of_the_specular_output() -> None:
    fog = render_state(28, 1) + render_state(34, 0x0000FF)
    text = "vs_2_0\ndcl_position v0\ndef c0, 1, 0, 0, 0.6\nmov oPos, v0\nmov oD0, c0\nmov oD1, c0"
    shader = create(Op.CREATEVERTEXSHADERFUNC, 3, assemble(text))
    shader += token(Op.SETVERTEXSHADERFUNC, 3)
    white = constants(Op.SETPIXELSHADERCONST, 1, 1.0, 1.0, 1.0, 1.0)
    assert drawn(DECLARED, shader, fog) == 0x990066
    assert drawn(DECLARED, shader, SHADED, white, fog) == 0x990066


def test_a_shader_samples_opaque_black_where_nothing_is_bound() -> None:
    sampling = create(Op.CREATEPIXELSHADER, 2, SAMPLING) + token(Op.SETPIXELSHADER, 2)
    assert drawn(DECLARED, sampling) == 0


@pytest.mark.parametrize(
    "bad",
    [
        create(Op.CREATEVERTEXSHADERFUNC, 3, VERTEX[:-4]),
        create(Op.CREATEVERTEXSHADERFUNC, 3, VERTEX[:-1]),
        create(Op.CREATEVERTEXSHADERFUNC, 3, PIXEL),
        create(Op.CREATEVERTEXSHADERFUNC, 3, b""),
        create(Op.CREATEVERTEXSHADERFUNC, 0, VERTEX),
        create(Op.CREATEVERTEXSHADERFUNC, 3, b"\xff\x02\xfe\xff\xff\xff\x00\x00"),
        create(Op.CREATEPIXELSHADER, 2, VERTEX),
        create(Op.CREATEPIXELSHADER, 2, bytes(8)),
        create(Op.CREATEVERTEXSHADERDECL, 4, ELEMENTS),
        create(Op.CREATEVERTEXSHADERDECL, 5, b"\xff" * 8),
        create8(7, STREAM8, PIXEL),
        create8(6, STREAM8, b""),
        create8(7, struct.pack("<I", 6 << 29), VERTEX),
        token(Op.SETVERTEXSHADER, 9),
        token(Op.SETVERTEXSHADERDECL, 9),
        token(Op.SETVERTEXSHADERFUNC, 9),
        token(Op.SETPIXELSHADER, 9),
    ],
)
def test_what_cannot_be_made_or_set_fails_at_its_token(bad: bytes) -> None:
    bench = Bench()
    answer = bench.call(render_state(7, 0) + bad)
    assert (answer.ddrval, answer.dwErrorOffset) == (BAD, 12)


@pytest.mark.parametrize(
    "op",
    [Op.DELETEVERTEXSHADER, Op.DELETEVERTEXSHADERDECL, Op.DELETEVERTEXSHADERFUNC,
     Op.DELETEPIXELSHADER],
)  # fmt: skip
def test_deleting_what_is_not_there_is_an_error(op: Op) -> None:
    assert Bench().call(token(op, 5)).ddrval == HResult.DDERR_INVALIDPARAMS


def test_a_deleted_shader_that_is_set_draws_on_and_cannot_be_set_again() -> None:
    delete = token(Op.DELETEVERTEXSHADERFUNC, 3) + token(Op.DELETEVERTEXSHADERDECL, 5)
    assert drawn(DECLARED, FUNCTION, delete) == 0x80FF40
    assert (
        draw(Bench(), DECLARED, FUNCTION, delete, token(Op.SETVERTEXSHADERFUNC, 3)).ddrval == BAD
    )


def test_a_handle_that_is_created_again_is_a_new_shader() -> None:
    other = assemble("vs_2_0\ndcl_position v0\ndef c0, 1, 0, 0, 1\nmov oPos, v0\nmov oD0, c0\n")
    again = create(Op.CREATEVERTEXSHADERFUNC, 3, other)
    assert drawn(DECLARED, FUNCTION, again) == 0x80FF40
    assert drawn(DECLARED, FUNCTION, again, token(Op.SETVERTEXSHADERFUNC, 3)) == 0xFF0000


def test_shaders_are_bounded_in_number_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two, three = (create(Op.CREATEPIXELSHADER, n, PIXEL) for n in (1, 2, 3))
    bench = Bench(limits=Limits(objects=2))
    bench.ok(one + two + one + token(Op.DELETEPIXELSHADER, 1) + three)
    assert bench.call(one).ddrval == HResult.DDERR_OUTOFMEMORY
    room = 2 * len(PIXEL)
    assert Bench(limits=Limits(shader_bytes=room)).call(one + two).ddrval == 0
    answer = Bench(limits=Limits(shader_bytes=room - 1)).call(one + two)
    assert answer.ddrval == HResult.DDERR_OUTOFMEMORY
    assert refuses(answer.fault, "shader_bytes", room - 1)
    monkeypatch.setattr(shaders, "CODE_BYTES", len(PIXEL) - 1)
    assert Bench().call(one).ddrval == BAD


def test_vertices_without_position_are_refused_by_the_fixed_function_alone() -> None:
    color = create(Op.CREATEVERTEXSHADERDECL, 5, ELEMENTS[8:]) + token(Op.SETVERTEXSHADERDECL, 5)
    assert draw(Bench(), color).ddrval == BAD
    assert draw(Bench(), color, FUNCTION).ddrval == 0


def test_what_is_set_can_be_looked_at() -> None:
    bench = Bench()
    bench.ok(DECLARED + FUNCTION + SHADED)
    context = bench.driver.context(1)
    assert context is not None
    facts = facts_of(context)
    assert facts["vertex_format"] == 5
    assert [(e["offset"], e["usage"], e["register"]) for e in facts["declaration"]] == [
        (0, "D3DDECLUSAGE_POSITION", None), (12, "D3DDECLUSAGE_COLOR", None)
    ]  # fmt: skip
    assert facts["vertex_shader"]["handle"] == 3
    assert assemble(facts["vertex_shader"]["assembly"]) == VERTEX
    assert facts["pixel_shader"]["assembly"].startswith("ps_2_0\n")
    bench.ok(create8(7, STREAM8, b"") + token(Op.SETVERTEXSHADER, 7) + token(56, 0))
    facts = facts_of(context)
    assert [e["register"] for e in facts["declaration"]] == [0, 5]
    assert (facts["vertex_shader"], facts["pixel_shader"]) == (None, None)


@pytest.mark.parametrize(("method", "type"), [(1, 2), (2, 2), (3, 2), (4, 17), (5, 1), (6, 17)])
@pytest.mark.parametrize("function", [b"", FUNCTION])
def test_vertices_that_a_tessellator_computes_are_for_patches(
    method: int, type: int, function: bytes
) -> None:
    computed = ELEMENTS + struct.pack("<HHBBBB", 0, 0, type, method, 5, 0)
    made = create(Op.CREATEVERTEXSHADERDECL, 5, computed) + token(Op.SETVERTEXSHADERDECL, 5)
    assert draw(Bench(), made, function).ddrval == BAD


@pytest.mark.parametrize("code", [b"", assemble("vs_1_1\nmov oPos, v0\n")])
def test_what_a_directx_8_tessellator_computes_is_for_patches(code: bytes) -> None:
    computed = struct.pack("<2I", 1 << 29 | 1 << 28, NORMAL8) + STREAM8
    made = create8(7, computed, code) + token(Op.SETVERTEXSHADER, 7)
    assert draw(Bench(), made).ddrval == BAD
