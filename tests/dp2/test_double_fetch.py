"""A call executes the bytes it has validated, whatever becomes of the shared buffer meanwhile."""

from __future__ import annotations

import struct

import pytest

from dp2emu.dp2.call import Call
from dp2emu.dp2.table import Token
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from tests.dp2.rigging import COMMANDS, Bench, header, render_state

ZFUNC, FILL = 23, 8
STATES = b"".join(render_state(FILL + n, n) for n in range(4))


@pytest.mark.parametrize("byte", [0, 1, 2, 3])
def test_bytes_that_change_after_a_token_ran_are_not_seen(byte: int) -> None:
    bench = Bench()
    seen: list[int] = []

    def overwrite(call: Call, offset: int, token: Token, count: int) -> None:
        seen.append(offset)
        surface = bench.driver.gpu.heap.get(COMMANDS)
        assert surface is not None
        surface.data[byte : len(STATES) : 4] = 0xFF

    bench.driver.command_taps.append(overwrite)
    bench.ok(STATES)
    assert seen == [0, 12, 24, 36]
    context = bench.driver.context(1)
    assert context is not None
    assert [context.state.render_states[FILL + n] for n in range(4)] == [0, 1, 2, 3]


def test_a_copy_onto_the_commands_under_way_is_for_later_calls() -> None:
    bench = Bench(buffer=1 << 18)
    bench.driver.create_surface(SurfaceDesc(9, SurfaceKind.VERTEXBUFFER, 64))
    bench.driver.write(9, 0, b"\xff" * 64)
    copies, behind = 5000, 4 + 5000 * 24  # more than the FIFO holds, so that some are done
    record = struct.pack("<6I", COMMANDS, 9, behind, 0, 12, 0)
    bench.ok(header(64, copies) + record * copies + render_state(ZFUNC, 7))
    context = bench.driver.context(1)
    assert context is not None
    assert context.state.render_states[ZFUNC] == 7
    assert bench.driver.read(COMMANDS, behind, 12) == b"\xff" * 12
