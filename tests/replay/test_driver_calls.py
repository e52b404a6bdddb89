"""What a capture carries besides the stream: surfaces, locks, flips and contexts."""

from __future__ import annotations

import struct

import pytest
from msgspec.structs import replace

from dp2emu.capture.records import (
    ContextCreated,
    ContextDestroyed,
    Flipped,
    FrameMarker,
    Locked,
    MemoryWritten,
    Record,
    SurfaceCreated,
    SurfaceDestroyed,
)
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format
from dp2emu.dp2.call import Call
from dp2emu.dp2.driver import Driver
from dp2emu.gpu.device.timing import fixed
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.replay import replay
from tests.replay.authoring import (
    BUFFER,
    CONTEXT,
    END,
    EVENT,
    SETTING,
    TARGET,
    Calls,
    called,
    capture_of,
    clear,
    create,
    issue,
    token,
)
from tests.replay.running import Run

FRONT, TEXTURE, LEVEL = 9, 10, 11
ARGB = int(Format.A8R8G8B8)
RED, GREEN, BLUE = 0xFFFF0000, 0xFF00FF00, 0xFF0000FF


def played(*records: Record, driver: Driver | None = None) -> Driver:
    """A driver after a capture that must not fail."""
    driver = driver or Driver()
    tally = replay(capture_of(*records), rig=driver)
    assert tally.faults == 0
    return driver


def color(driver: Driver, handle: int, x: int = 0, y: int = 0) -> int:
    return int.from_bytes(driver.read(handle, 32 * y + 4 * x, 4), "little")


def test_locks_and_flips_reach_the_rig() -> None:
    rig = Calls()
    Run(Locked(7), Flipped(7, 8), rig=rig)
    assert rig.events == ["lock 7", "flip 7 8"]


def test_a_flip_chain_keeps_what_each_buffer_had() -> None:
    chain = SurfaceCreated(SurfaceDesc(FRONT, SurfaceKind.SURFACE, 8, 4, format=22))
    left = token(Op.COLORFILL, (TARGET, 0, 0, 4, 4, BLUE))
    driver = played(
        *SETTING, chain, called(clear(RED)), Flipped(FRONT, TARGET), FrameMarker(0, FRONT),
        called(clear(GREEN)), Flipped(FRONT, TARGET), FrameMarker(1, FRONT),
        # The third frame draws over a part of the first, which has come back.
        called(left), Flipped(FRONT, TARGET), FrameMarker(2, FRONT),
    )  # fmt: skip
    assert [color(driver, FRONT, x) for x in (0, 7)] == [BLUE, RED]
    assert color(driver, TARGET) == GREEN


def test_a_list_of_levels_names_the_memory_of_their_texture() -> None:
    texture = SurfaceDesc(TEXTURE, SurfaceKind.TEXTURE, 8, 4, ARGB, levels=4)
    sizes = [(8, 4), (4, 2), (2, 1), (1, 1)]
    levels = [
        SurfaceDesc(LEVEL + n, SurfaceKind.SURFACE, *size, ARGB, parent=TEXTURE, index=n)
        for n, size in enumerate(sizes)
    ]
    driver = played(
        *SETTING, *(SurfaceCreated(desc) for desc in (texture, *levels)),
        *(MemoryWritten(desc.handle, 0, bytes([desc.index + 1])) for desc in levels),
        called(token(Op.COLORFILL, (LEVEL + 2, 0, 0, 2, 1, BLUE))),
    )  # fmt: skip
    starts = [0, 128, 160, 168]
    assert [driver.read(TEXTURE, at, 1)[0] for at in starts] == [1, 2, BLUE & 0xFF, 4]


def test_faces_of_a_cube_are_levels_in_order() -> None:
    cube = SurfaceDesc(TEXTURE, SurfaceKind.CUBETEXTURE, 2, 2, ARGB, levels=2)
    face = SurfaceDesc(LEVEL, SurfaceKind.SURFACE, 1, 1, ARGB, parent=TEXTURE, index=7)
    driver = played(SurfaceCreated(cube), SurfaceCreated(face), MemoryWritten(LEVEL, 0, b"\5"))
    assert driver.read(TEXTURE, 3 * 20 + 16, 1) == b"\5"


def test_a_level_outlives_the_handle_of_its_texture() -> None:
    texture = SurfaceDesc(TEXTURE, SurfaceKind.TEXTURE, 2, 2, ARGB, levels=2)
    level = SurfaceDesc(LEVEL, SurfaceKind.SURFACE, 1, 1, ARGB, parent=TEXTURE, index=1)
    driver = played(
        SurfaceCreated(texture), SurfaceCreated(level), SurfaceDestroyed(TEXTURE),
        MemoryWritten(LEVEL, 0, b"\7"),
    )  # fmt: skip
    assert driver.read(LEVEL, 0, 1) == b"\7"


@pytest.mark.parametrize(("locked", "wanted"), [(False, RED), (True, BLUE)])
def test_a_lock_waits_so_that_what_is_stored_does_not_race(locked: bool, wanted: int) -> None:
    """Without it the clear that is queued comes after the host's pixel."""
    lock = (Locked(TARGET),) if locked else ()
    driver = Driver(fixed(call=1, packet=100))
    slow = called(clear(GREEN), clear(RED))
    played(*SETTING, slow, *lock, MemoryWritten(TARGET, 0, struct.pack("<I", BLUE)), driver=driver)
    assert color(driver, TARGET) == wanted


def test_a_locked_write_may_be_the_vertices_of_the_next_draw() -> None:
    call = called(token(Op.RENDERSTATE, (22, 1)), struct.pack("<BBHH", Op.TRIANGLELIST, 0, 1, 0))
    assert isinstance(call.call, Call)
    drawn = replace(call, call=replace(call.call, lpDDVertex=TEXTURE, dwVertexType=0x44,
                                       dwVertexLength=3))  # fmt: skip
    ends = ((-0.5, -0.5), (19.5, -0.5), (-0.5, 9.5))
    data = b"".join(struct.pack("<4fI", x, y, 0, 1, GREEN) for x, y in ends)
    driver = played(
        *SETTING, SurfaceCreated(SurfaceDesc(TEXTURE, SurfaceKind.VERTEXBUFFER, 60)),
        Locked(TEXTURE), MemoryWritten(TEXTURE, 0, data), drawn,
    )  # fmt: skip
    assert color(driver, TARGET, 3, 2) & 0xFFFFFF == GREEN & 0xFFFFFF


def test_queries_die_with_their_context() -> None:
    asked = called(create(5, EVENT), issue(5, END))
    run = Run(
        *SETTING, asked, ContextDestroyed(CONTEXT), ContextCreated(CONTEXT, 9, TARGET),
        called(), called(issue(5, END)),
        timing=fixed(call=1, packet=100, delivery=10_000),
    )  # fmt: skip
    assert run.calls[1]["responses"] == []
    assert run.calls[2]["ddrval_name"] == "DDERR_INVALIDPARAMS"
    assert [query["hr"] for query in run.queries] == ["0x00000001"]


def test_state_blocks_die_with_their_context() -> None:
    begin, end = token(Op.STATESET, (0, 5, 0)), token(Op.STATESET, (1, 0, 0))
    execute = called(token(Op.STATESET, (3, 5, 0)))
    run = Run(
        *SETTING, called(begin, end), execute, ContextDestroyed(CONTEXT),
        ContextCreated(CONTEXT, 9, TARGET), execute,
    )  # fmt: skip
    assert [call["ddrval_name"] for call in run.calls] == [
        "D3D_OK", "D3D_OK", "DDERR_INVALIDPARAMS",
    ]  # fmt: skip


def test_a_surface_that_is_gone_cannot_be_named_any_more() -> None:
    run = Run(
        *SETTING, SurfaceCreated(SurfaceDesc(FRONT, SurfaceKind.SURFACE, 8, 4, format=22)),
        SurfaceDestroyed(FRONT), called(token(Op.SETRENDERTARGET2, (0, FRONT))), Locked(FRONT),
        Flipped(FRONT, TARGET),
    )  # fmt: skip
    assert run.calls[0]["ddrval_name"] == "DDERR_INVALIDPARAMS"
    assert run.tally.faults == 3


def test_the_command_buffer_may_be_made_anew() -> None:
    smaller = SurfaceCreated(SurfaceDesc(BUFFER, SurfaceKind.MEMORY, 64))
    driver = played(*SETTING, smaller, called(clear(RED)))
    assert color(driver, TARGET) == RED
