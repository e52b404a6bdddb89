"""Nothing outlives the buffer: a queued draw holds copies of whatever the call's memory held."""

from __future__ import annotations

import struct

import pytest

from dp2emu.gpu.device.timing import fixed
from tests.dp2.rigging import (
    COLOR,
    COMMANDS,
    DEPTH,
    END,
    Bench,
    clear,
    create,
    header,
    issue,
    rectangle,
    render_state,
    triangle_list,
)

POISON = b"\xee"
QUAD = rectangle(0, 0, 8, 8)
FAN_QUAD = QUAD[:40] + QUAD[80:100] + QUAD[100:120]
WORD = struct.Struct("<H").pack


def indices(*numbers: int) -> bytes:
    return b"".join(map(WORD, numbers))


TOKENS = {
    "TRIANGLELIST": triangle_list(0, 2),
    "INDEXEDTRIANGLELIST": header(3, 2) + indices(0, 1, 2, 0x700, 3, 4, 5, 0x700),
    "INDEXEDTRIANGLELIST2": header(26, 2) + indices(0, 0, 1, 2, 3, 4, 5),
    "TRIANGLESTRIP": header(19, 2) + indices(0),
    "INDEXEDTRIANGLESTRIP": header(20, 2) + indices(0, 2, 0, 4, 1),
    "INDEXEDTRIANGLEFAN": header(22, 2) + indices(0, 0, 1, 4, 2),
    "TRIANGLEFAN_IMM": header(23, 2) + bytes(4) + FAN_QUAD,
}  # fmt: skip


@pytest.mark.parametrize("name", TOKENS)
def test_a_draw_survives_its_command_buffer(name: str) -> None:
    pictures = []
    for poison in (False, True):
        bench = Bench(timing=fixed(call=1, packet=1000))
        bench.ok(render_state(22, 1) + clear() + TOKENS[name], QUAD)
        if poison:
            bench.driver.write(COMMANDS, 0, POISON * 4096)
        bench.driver.finish()
        pictures.append(bench.driver.read(COLOR, 0, 4 * 64 * 64))
    assert pictures[0] == pictures[1]
    assert b"\xff\xff\xff\xff" in pictures[0]


def test_state_tokens_survive_their_command_buffer() -> None:
    """Lights, materials and planes are kept by value."""
    bench = Bench()
    light = struct.pack("<2I", 3, 2) + struct.pack("<I", 3) + bytes(100)
    plane = struct.pack("<I4f", 1, 1.0, 2.0, 3.0, 4.0)
    bench.ok(header(34) + light + header(33) + b"\1" * 68 + header(44) + plane)
    bench.driver.write(COMMANDS, 0, POISON * 4096)
    state = bench.driver._contexts[1].state
    assert state.lights[3].tobytes()[:4] == b"\3\0\0\0"
    assert state.material.tobytes() == b"\1" * 68
    assert state.clip_planes[1] == (1.0, 2.0, 3.0, 4.0)


def test_a_response_written_over_the_commands_changes_no_queued_draw() -> None:
    bench = Bench(timing=fixed(call=1, packet=1000))
    bench.ok(create(5, 8) + issue(5, END) + TOKENS["INDEXEDTRIANGLELIST2"], QUAD)
    bench.driver.finish()
    assert bench.driver.read(COLOR, 4 * (64 * 7 + 7), 4) == b"\xff\xff\xff\xff"


def test_a_destroyed_target_does_not_stop_a_queued_draw() -> None:
    bench = Bench(timing=fixed(call=1, packet=1000))
    bench.ok(clear(0xFF010203) + TOKENS["TRIANGLELIST"], QUAD)
    bench.driver.destroy_surface(DEPTH)
    bench.driver.finish()
    assert bench.driver.read(COLOR, 4 * (64 * 7 + 7), 4) == b"\xff\xff\xff\xff"
