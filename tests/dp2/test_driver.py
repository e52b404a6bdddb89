"""D3dDrawPrimitives2 as a call: flags, offsets, results (wire format, "The call", "Results" and
"Unknown opcodes")."""

from __future__ import annotations

import struct
from typing import NoReturn

import pytest

from dp2emu.d3d.enums import Format, QueryType, RenderState
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.call import Call
from dp2emu.dp2.driver import CONTEXTS, SCAN_TOKENS, UnknownCommand
from dp2emu.dp2.options import Options
from dp2emu.errors import Fault, Unsupported
from dp2emu.gpu.device.timing import fixed
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.limits import Limits
from dp2emu.rig import Rig
from tests.dp2.rigging import (
    COLOR,
    COMMANDS,
    END,
    VERTICES,
    Bench,
    clear,
    create,
    dword,
    header,
    issue,
    rectangle,
    render_state,
    token,
    triangle_list,
    vertex,
)

RSTATES = 20
EXECUTEBUFFER = 2
WHITE, BLACK = 0xFFFFFFFF, 0xFF000000
QUAD = rectangle(0, 0, 4, 4)
DRAW_QUAD = triangle_list(0, 2)


def pixel(bench: Bench, x: int = 0, y: int = 0) -> int:
    return int.from_bytes(bench.driver.read(COLOR, 4 * (64 * y + x), 4), "little")


def vertex_buffer(bench: Bench, data: bytes) -> None:
    bench.driver.create_surface(SurfaceDesc(VERTICES, SurfaceKind.VERTEXBUFFER, len(data)))
    bench.driver.write(VERTICES, 0, data)


def test_the_driver_is_a_rig() -> None:
    assert isinstance(Bench().driver, Rig)


def test_an_unknown_context_is_context_bad() -> None:
    answer = Bench().call(clear(), dwhContext=77)
    assert (answer.ddrval, answer.dwErrorOffset) == (HResult.D3DHAL_CONTEXT_BAD, 0)


def test_contexts_are_numbered_once_and_bounded() -> None:
    driver = Bench().driver
    with pytest.raises(Fault, match="exists"):
        driver.create_context(1)
    for number in range(2, CONTEXTS + 1):
        driver.create_context(number)
    with pytest.raises(Fault) as refused:
        driver.create_context(CONTEXTS + 1)
    assert refused.value.hr == HResult.D3DHAL_OUTOFCONTEXTS


def test_a_destroyed_context_takes_its_queries_along() -> None:
    bench = Bench(timing=fixed(call=1, packet=100))
    bench.ok(create(5, QueryType.EVENT) + clear() + issue(5, END))
    bench.driver.destroy_context(1)
    bench.driver.create_context(1, color=COLOR)
    bench.driver.finish()
    assert bench.ok().dwErrorOffset == 0
    with pytest.raises(Fault):
        bench.driver.destroy_context(2)


def test_answers_go_to_the_context_that_asked() -> None:
    bench = Bench(timing=fixed(call=1, packet=100))
    bench.driver.create_context(2, color=COLOR)
    bench.ok(create(5, QueryType.EVENT) + clear() + issue(5, END))
    bench.driver.finish()
    assert bench.ok(dwhContext=2).dwErrorOffset == 0
    assert bench.ok().dwErrorOffset == 20


def test_all_contexts_share_one_adapter_clock() -> None:
    bench = Bench(timing=fixed(call=100, packet=1000))
    bench.driver.create_context(2, color=COLOR)
    times = []
    for context in (1, 2, 1):
        answer = bench.ok(clear(), dwhContext=context)
        times.append(answer.time)
    assert times == [100, 200, 300]


def test_commands_start_at_dwcommandoffset() -> None:
    bench = Bench()
    bench.driver.write(COMMANDS, 0, b"\xff" * 64)
    bench.ok(clear(0xFF00FF00), dwCommandOffset=64)
    assert pixel(bench) == 0xFF00FF00


def test_commands_may_already_be_in_the_buffer() -> None:
    bench = Bench()
    commands = clear(0xFF0000FF)
    bench.driver.write(COMMANDS, 8, commands)
    bench.driver.submit(Call(1, COMMANDS, 8, len(commands)))
    assert pixel(bench) == 0xFF0000FF


@pytest.mark.parametrize(("offset", "length"), [(4090, 16), (4097, 0), (5000, 4)])
def test_commands_that_leave_their_buffer_are_unparsed(offset: int, length: int) -> None:
    """However the bytes got there: with the call or before it."""
    bench = Bench()
    for commands in (None, bytes(length)):
        answer = bench.driver.submit(Call(1, COMMANDS, offset, length, commands=commands))
        assert answer.ddrval == HResult.D3DERR_COMMAND_UNPARSED
        assert answer.dwErrorOffset == offset


def test_a_missing_command_buffer_is_refused() -> None:
    answer = Bench().driver.submit(Call(1, 99, 0, 16))
    assert answer.ddrval == HResult.DDERR_INVALIDPARAMS


def test_dwerroroffset_counts_from_the_start_of_the_surface() -> None:
    bench = Bench()
    answer = bench.call(clear() + header(200), dwCommandOffset=100)
    assert answer.dwErrorOffset == 100 + len(clear())


def test_tokens_before_the_failing_one_have_been_executed() -> None:
    bench = Bench()
    bench.call(clear(0xFF112233) + header(200))
    assert pixel(bench) == 0xFF112233


def test_a_failing_call_says_where_and_what() -> None:
    answer = Bench().call(clear() + issue(5, END))
    assert answer.fault is not None
    assert (answer.fault.offset, answer.fault.token) == (len(clear()), "ISSUEQUERY")
    assert "no query 5" in str(answer.fault)


@pytest.mark.parametrize("length", range(1, 36))
def test_a_token_cut_short_is_unparsed_and_not_executed(length: int) -> None:
    bench = Bench()
    answer = bench.call(clear(0xFF445566)[:length])
    assert (answer.ddrval, answer.dwErrorOffset) == (HResult.D3DERR_COMMAND_UNPARSED, 0)
    assert pixel(bench) == 0


def test_user_memory_vertices_are_read_from_lpvertices() -> None:
    bench = Bench()
    bench.ok(DRAW_QUAD, QUAD)
    assert (pixel(bench, 3, 3), pixel(bench, 4, 4)) == (WHITE, 0)


def test_dwvertexoffset_moves_the_first_vertex() -> None:
    bench = Bench()
    bench.ok(DRAW_QUAD, b"\xee" * 40 + QUAD, dwVertexOffset=40, dwVertexLength=6)
    assert pixel(bench, 3, 3) == WHITE


def test_vertices_come_from_the_vertex_buffer_surface() -> None:
    bench = Bench()
    vertex_buffer(bench, QUAD)
    bench.ok(DRAW_QUAD, lpDDVertex=VERTICES, dwVertexLength=6)
    assert pixel(bench, 3, 3) == WHITE


def test_user_memory_may_change_after_the_call() -> None:
    """Nothing outlives the call: a queued draw holds what lpVertices held then."""
    bench = Bench(timing=fixed(packet=1000, call=1))
    bench.ok(clear() + DRAW_QUAD, QUAD)
    bench.ok(b"\0" * 0, bytes(len(QUAD)))
    bench.driver.finish()
    assert pixel(bench, 3, 3) == WHITE


def test_a_vertex_buffer_is_read_when_the_draw_executes() -> None:
    bench = Bench(timing=fixed(packet=1000, call=1))
    vertex_buffer(bench, QUAD)
    bench.ok(clear() + DRAW_QUAD, lpDDVertex=VERTICES, dwVertexLength=6)
    bench.driver.write(VERTICES, 0, bytes(len(QUAD)))
    bench.driver.finish()
    assert pixel(bench, 3, 3) == BLACK


@pytest.mark.parametrize(
    ("fields", "hr"),
    [
        ({"dwVertexLength": 5}, HResult.D3DERR_DRIVERINVALIDCALL),
        ({"dwVertexLength": 6, "dwVertexOffset": 1}, HResult.DDERR_EXCEPTION),
        ({"dwVertexLength": 6, "dwVertexSize": 70000}, HResult.DDERR_INVALIDPARAMS),
        ({"dwVertexLength": 6, "dwFlags": 0, "lpDDVertex": 99}, HResult.DDERR_INVALIDPARAMS),
    ],
)
def test_vertices_that_are_not_there_are_refused(fields: dict[str, int], hr: HResult) -> None:
    vertices = b"" if "lpDDVertex" in fields else QUAD
    assert Bench().call(DRAW_QUAD, vertices, **fields).ddrval == hr


def test_a_vertex_format_without_a_position_cannot_be_drawn() -> None:
    answer = Bench().call(DRAW_QUAD, QUAD, dwVertexType=0x40, dwVertexSize=20)
    assert answer.ddrval == HResult.D3DERR_DRIVERINVALIDCALL
    streams = token(50, 0, 20) + token(52, 4, 0, 2)
    assert Bench().call(streams, QUAD).ddrval == HResult.D3DERR_DRIVERINVALIDCALL


def test_dwvertexsize_wins_over_the_size_of_the_vertex_type() -> None:
    bench = Bench()
    padded = b"".join(QUAD[i : i + 20] + b"\xcc" * 12 for i in range(0, len(QUAD), 20))
    bench.ok(DRAW_QUAD, padded, dwVertexSize=32, dwVertexLength=6)
    assert pixel(bench, 3, 3) == WHITE


def test_vertex_type_gives_the_size_if_dwvertexsize_is_zero() -> None:
    bench = Bench()
    specular = b"".join(QUAD[i : i + 20] + bytes(4) for i in range(0, len(QUAD), 20))
    bench.ok(DRAW_QUAD, specular, dwVertexType=0xC4, dwVertexLength=6)
    assert pixel(bench, 3, 3) == WHITE


def test_render_states_are_mirrored_only_for_an_execute_buffer() -> None:
    bench = Bench()
    bench.driver.create_surface(SurfaceDesc(RSTATES, SurfaceKind.MEMORY, 1024))
    bench.ok(render_state(22, 1), lpdwRStates=RSTATES)
    assert bench.driver.read(RSTATES, 88, 4) == bytes(4)
    bench.ok(render_state(22, 3), lpdwRStates=RSTATES, dwFlags=EXECUTEBUFFER)
    assert bench.driver.read(RSTATES, 88, 4) == b"\3\0\0\0"


@pytest.mark.parametrize("state", [255, 256, 0xFFFFFFFF])
def test_the_mirror_is_bounded(state: int) -> None:
    bench = Bench()
    bench.driver.create_surface(SurfaceDesc(RSTATES, SurfaceKind.MEMORY, 1020))
    bench.ok(render_state(state, 3), lpdwRStates=RSTATES, dwFlags=EXECUTEBUFFER)
    assert bench.driver.read(RSTATES, 0, 1020) == bytes(1020)


def test_a_mirror_over_the_commands_themselves_changes_none_of_them() -> None:
    """State 5 lies where the SETLIGHT behind it keeps its element type."""
    bench = Bench()
    light = header(34) + struct.pack("<2I", 0, 0)
    commands = render_state(5, 2) + light
    bench.ok(commands, lpdwRStates=COMMANDS, dwFlags=EXECUTEBUFFER)
    assert bench.memory(4, 20) == b"\2\0\0\0"


def test_states_are_mirrored_although_a_later_token_fails() -> None:
    bench = Bench()
    bench.driver.create_surface(SurfaceDesc(RSTATES, SurfaceKind.MEMORY, 1024))
    answer = bench.call(
        render_state(22, 3) + header(0), lpdwRStates=RSTATES, dwFlags=EXECUTEBUFFER
    )
    assert answer.ddrval == HResult.D3DERR_COMMAND_UNPARSED
    assert bench.driver.read(RSTATES, 88, 4) == b"\3\0\0\0"
    bench.ok(render_state(23, 1), lpdwRStates=RSTATES)
    assert bench.driver.read(RSTATES, 92, 4) == bytes(4)


def test_commands_cannot_lie_in_what_can_be_drawn_to() -> None:
    answer = Bench().call(clear(), lpDDCommands=COLOR)
    assert answer.ddrval == HResult.DDERR_INVALIDPARAMS


def test_a_call_of_more_commands_than_a_capture_holds_is_refused() -> None:
    bench = Bench()
    bench.driver.create_surface(SurfaceDesc(9, SurfaceKind.MEMORY, Limits().call_bytes + 4))
    most = {"lpDDCommands": 9, "dwCommandLength": Limits().call_bytes}
    assert bench.call(**most).ddrval == HResult.D3DERR_COMMAND_UNPARSED
    more = most | {"dwCommandLength": Limits().call_bytes + 1}
    assert bench.call(**more).ddrval == HResult.DDERR_INVALIDPARAMS


@pytest.mark.parametrize("request_bits", [0x04, 0x08, 0x14, 0x28, 0x3C])
def test_swap_requests_are_legal_and_not_taken(request_bits: int) -> None:
    answer = Bench().ok(
        clear(), dwFlags=request_bits, dwReqVertexBufSize=1 << 31, dwReqCommandBufSize=1 << 31
    )
    assert answer.dwFlags == request_bits


def test_vidmem_bits_are_the_drivers_to_set() -> None:
    assert Bench().ok(clear(), dwFlags=0xC0).dwFlags == 0


@pytest.mark.parametrize("opcode", [0, 4, 9, 10, 12, 68, 78, 87, 88, 92, 99, 255])
def test_an_unknown_token_ends_the_walk(opcode: int) -> None:
    answer = Bench().call(clear() + header(opcode) + clear())
    assert answer.ddrval == HResult.D3DERR_COMMAND_UNPARSED
    assert answer.dwErrorOffset == len(clear())


def test_the_exit_opcode_stops_with_success_unless_strict() -> None:
    commands = clear() + header(11) + b"\xff" * 40
    assert Bench().ok(commands).dwErrorOffset == 0
    strict = Bench(options=Options(strict=True)).call(commands)
    assert (strict.ddrval, strict.dwErrorOffset) == (HResult.D3DERR_COMMAND_UNPARSED, 36)


def test_the_parse_unknown_callback_may_resume() -> None:
    bench = Bench()
    shown: list[tuple[int, int]] = []

    def skip_8(command: UnknownCommand) -> int:
        shown.append((command.offset, command.opcode))
        return command.offset + 8

    bench.driver.unknown_command = skip_8
    bench.ok(header(200) + b"abcd" + clear(0xFF998877) + header(201) + b"efgh")
    assert shown == [(0, 200), (8 + 36, 201)]
    assert pixel(bench) == 0xFF998877


@pytest.mark.parametrize("resume", [None, 0, -4, 36, 35, 1 << 40])
def test_the_parse_unknown_callback_cannot_go_back_or_outside(resume: int | None) -> None:
    bench = Bench()
    bench.driver.unknown_command = lambda command: resume
    answer = bench.call(clear() + header(200))
    assert (answer.ddrval, answer.dwErrorOffset) == (HResult.D3DERR_COMMAND_UNPARSED, 36)


def test_the_callback_is_not_asked_about_known_tokens_cut_short() -> None:
    bench = Bench()
    bench.driver.unknown_command = lambda command: command.offset + 4
    assert bench.call(clear()[:20]).ddrval == HResult.D3DERR_COMMAND_UNPARSED


def test_a_buffer_of_more_tokens_than_are_found_at_once_is_executed_whole() -> None:
    bench = Bench(buffer=1 << 20)
    empty = header(8, 0) * (SCAN_TOKENS + 3)
    bench.ok(empty + clear(0xFF00FFFF))
    assert pixel(bench) == 0xFF00FFFF
    answer = bench.call(empty + header(255))
    assert answer.dwErrorOffset == len(empty)


def test_strict_responses_start_at_dwcommandoffset() -> None:
    bench = Bench(options=Options(strict=True))
    commands = create(5, QueryType.EVENT) + issue(5, END)
    answer = bench.ok(commands, dwCommandOffset=100)
    assert bench.memory(20, 100) == answer.response
    assert bench.memory(100) == bytes(100)


def test_by_default_responses_start_at_the_surface_and_use_all_of_it() -> None:
    bench = Bench(buffer=20 + 24)
    bench.ok(create(5, QueryType.EVENT))
    answer = bench.ok(issue(5, END), dwCommandOffset=32)
    assert bench.memory(20) == answer.response


def test_a_poll_without_any_command_buffer_keeps_results_queued() -> None:
    bench = Bench()
    bench.call(create(5, QueryType.EVENT) + issue(5, END) + header(255))
    assert bench.driver.submit(Call(1)).dwErrorOffset == 0
    assert 5 in bench.results()


def lacks(monkeypatch: pytest.MonkeyPatch, thing: str) -> None:
    """No draw is built any more."""

    def refuse(*_: object) -> NoReturn:
        raise Unsupported(thing)

    monkeypatch.setattr("dp2emu.dp2.resolve.pipeline.resolve", refuse)


def test_what_is_not_built_is_raised_with_its_place_and_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lacks(monkeypatch, "drawing")
    bench = Bench()
    with pytest.raises(Unsupported) as raised:
        bench.call(clear() + render_state(27, 1) + DRAW_QUAD, QUAD)
    assert raised.value.offset == len(clear()) + 12
    assert raised.value.token == "TRIANGLELIST"
    assert raised.value.what == "drawing"


@pytest.mark.parametrize(("operation", "first", "second"), [(2, 3, 2), (3, 2, 3), (4, 3, 0)])
def test_a_stage_that_needs_no_texture_is_not_taken_for_one_that_lacks_it(
    operation: int, first: int, second: int
) -> None:
    """Selecting the texture factor works without a texture, whatever the other argument is."""
    states = (0, 1, operation), (0, 2, first), (0, 3, second)
    stage = header(25, 3) + b"".join(struct.pack("<HHI", *state) for state in states)
    bench = Bench()
    bench.ok(stage + render_state(RenderState.TEXTUREFACTOR, 0xFF123456) + DRAW_QUAD, QUAD)
    assert pixel(bench, 3, 3) == 0xFF123456


@pytest.mark.parametrize(("operation", "first", "second"), [(2, 2, 3), (3, 3, 2), (4, 2, 3)])
def test_a_stage_that_lacks_its_texture_passes_the_diffuse_colour(
    operation: int, first: int, second: int
) -> None:
    states = (0, 1, operation), (0, 2, first), (0, 3, second)
    stage = header(25, 3) + b"".join(struct.pack("<HHI", *state) for state in states)
    bench = Bench()
    bench.ok(stage + DRAW_QUAD, QUAD)
    assert pixel(bench, 3, 3) == WHITE


def test_a_clear_fills_each_surface_as_far_as_it_goes() -> None:
    bench = Bench()
    small = SurfaceDesc(21, SurfaceKind.SURFACE, 16, 16, int(Format.D16))
    bench.driver.create_surface(small)
    bench.ok(token(86, 21) + clear(0xFF010203, 0.0))
    assert pixel(bench, 63, 63) == 0xFF010203
    bench.driver.write(21, 0, b"\xff" * 512)
    bench.ok(token(42, 2, 0, 0.0, 0, 0, 0, 64, 64))
    assert bench.driver.read(21, 0, 512) == bytes(512)
    assert pixel(bench) == 0xFF010203


def test_an_unsupported_draw_leaves_the_driver_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    lacks(monkeypatch, "drawing")
    bench = Bench()
    with pytest.raises(Unsupported):
        bench.call(create(5, QueryType.EVENT) + issue(5, END) + DRAW_QUAD, QUAD)
    assert 5 in bench.results()


def test_a_vertex_number_beyond_16_bits_does_not_wrap() -> None:
    """Start vertex and index add in 32 bits (wire format, "Vertex numbers")."""
    bench = Bench()
    triangle = [vertex(-0.5, -0.5), vertex(9.5, -0.5), vertex(-0.5, 9.5)]
    vertices = bytes(20 * 65536) + b"".join(triangle)
    commands = header(26) + struct.pack("<4H", 65535, 1, 2, 3)
    bench.ok(commands, vertices)
    assert pixel(bench) == WHITE


def test_surfaces_may_not_be_made_from_nonsense() -> None:
    driver = Bench().driver
    good = {"handle": 50, "kind": SurfaceKind.SURFACE, "width": 8, "height": 8, "format": 22}
    for wrong in (
        {"handle": 0}, {"width": 0}, {"height": 1 << 31}, {"pitch": 8}, {"pitch": 33},
        {"samples": 3}, {"kind": SurfaceKind.MEMORY},
    ):  # fmt: skip
        with pytest.raises(Fault):
            driver.create_surface(SurfaceDesc(**{**good, **wrong}))
    with pytest.raises(Unsupported):
        driver.create_surface(SurfaceDesc(**{**good, "format": int(Format.MULTI2_ARGB8)}))
    with pytest.raises(Unsupported):
        driver.create_surface(SurfaceDesc(**{**good, "format": 12345}))


def test_a_flip_exchanges_what_two_surfaces_hold() -> None:
    bench = Bench()
    make = bench.driver.create_surface
    make(SurfaceDesc(8, SurfaceKind.SURFACE, 64, 64, int(Format.X8R8G8B8)))
    bench.ok(clear(0xFF00FF00))
    bench.driver.flip(8, COLOR)
    assert pixel(bench) == 0
    assert dword(bench.driver.read(8, 0, 4)) == 0xFF00FF00
    # The context goes on drawing to the surface it names.
    bench.ok(clear(0xFF0000FF))
    bench.driver.flip(8, COLOR)
    assert (pixel(bench), dword(bench.driver.read(8, 0, 4))) == (0xFF00FF00, 0xFF0000FF)


def test_a_flip_waits_for_the_drawing_before_it() -> None:
    bench = Bench(timing=fixed(call=1, packet=100))
    make = bench.driver.create_surface
    make(SurfaceDesc(8, SurfaceKind.SURFACE, 64, 64, int(Format.X8R8G8B8)))
    bench.ok(clear(0xFFFF0000) + clear(0xFF00FF00))
    bench.driver.flip(8, COLOR)
    bench.ok(clear(0xFF0000FF))
    assert dword(bench.driver.read(8, 0, 4)) == 0
    bench.driver.finish()
    assert (pixel(bench), dword(bench.driver.read(8, 0, 4))) == (0xFF0000FF, 0xFF00FF00)


def test_three_buffers_go_around_in_two_flips() -> None:
    bench = Bench()
    for handle in (8, 9, 10):
        bench.driver.create_surface(SurfaceDesc(handle, SurfaceKind.SURFACE, 1, 1, 22))
        bench.driver.write(handle, 0, bytes([handle] * 4))
    bench.driver.flip(8, 9)
    bench.driver.flip(9, 10)
    assert [bench.driver.read(handle, 0, 1)[0] for handle in (8, 9, 10)] == [9, 10, 8]


@pytest.mark.parametrize(
    "other",
    [
        SurfaceDesc(8, SurfaceKind.SURFACE, 64, 32, int(Format.X8R8G8B8)),
        SurfaceDesc(8, SurfaceKind.SURFACE, 64, 64, int(Format.A8R8G8B8)),
        SurfaceDesc(8, SurfaceKind.TEXTURE, 64, 64, int(Format.X8R8G8B8)),
        SurfaceDesc(8, SurfaceKind.MEMORY, 64 * 64 * 4),
    ],
)
def test_surfaces_that_are_not_alike_cannot_be_flipped(other: SurfaceDesc) -> None:
    bench = Bench()
    bench.driver.create_surface(other)
    for pair in ((COLOR, 8), (8, COLOR), (COLOR, 77)):
        with pytest.raises(Fault) as refused:
            bench.driver.flip(*pair)
        assert refused.value.hr == HResult.DDERR_INVALIDPARAMS


def test_buffers_cannot_be_flipped() -> None:
    bench = Bench()
    bench.driver.create_surface(SurfaceDesc(8, SurfaceKind.MEMORY, 4096))
    with pytest.raises(Fault):
        bench.driver.flip(COMMANDS, 8)
