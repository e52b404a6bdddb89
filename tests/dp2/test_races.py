"""Moves, draws and the host race: who comes first is decided by the clock, as a model says."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format, QueryType
from dp2emu.gpu.device.timing import Timing, fixed, instant, seeded
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from tests.dp2.rigging import (
    BEGIN,
    COLOR,
    END,
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

ONE, OTHER, SMALL = 10, 11, 12
SIDE = 4
CALL, PACKET = 700, 1000
WHOLE = (0, 0, SIDE, SIDE)


def place(op: Op, source: int, target: int) -> bytes:
    """BLT or SURFACEBLT of everything."""
    return token(op, source, *WHOLE, 0, target, *WHOLE, 0, 0)


def texblt(source: int, target: int) -> bytes:
    return token(Op.TEXBLT, target, source, 0, 0, *WHOLE, 0)


MOVES: dict[str, Callable[[int, int], bytes]] = {
    "BLT": lambda source, target: place(Op.BLT, source, target),
    "SURFACEBLT": lambda source, target: place(Op.SURFACEBLT, source, target),
    "TEXBLT": texblt,
}


def fill(target: int, color: int) -> bytes:
    return token(Op.COLORFILL, target, *WHOLE, color)


def painted(color: int) -> bytes:
    """Two triangles over all of a surface."""
    corners = [(-0.5, -0.5), (3.5, -0.5), (-0.5, 3.5), (3.5, -0.5), (3.5, 3.5), (-0.5, 3.5)]
    return b"".join(vertex(x, y, color=color) for x, y in corners)


def racing(timing: Timing | None = None) -> Bench:
    """A driver with two textures of one colour each, whose calls are faster than its packets."""
    bench = Bench(timing=timing or fixed(call=CALL, packet=PACKET))
    for handle in (ONE, OTHER):
        desc = SurfaceDesc(handle, SurfaceKind.TEXTURE, SIDE, SIDE, int(Format.A8R8G8B8))
        bench.driver.create_surface(desc)
    bench.ok(render_state(22, 1) + render_state(7, 0))
    bench.driver.finish()
    return bench


class Step(NamedTuple):
    """What is done next: a move, a draw or a write to ``target``, or nothing but time passing."""

    kind: str
    target: int
    color: int


KINDS = [*sorted(MOVES), "fill", "draw", "write", "call", "wait"]
STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from(KINDS),
        st.sampled_from([ONE, OTHER]),
        st.integers(0xFF000000, 0xFFFFFFFF),
    ),
    max_size=25,
)


def other(handle: int) -> int:
    return OTHER if handle == ONE else ONE


def commands_of(step: Step) -> bytes:
    """The tokens of a step that is one of moving, filling or drawing."""
    if step.kind in MOVES:
        return MOVES[step.kind](other(step.target), step.target)
    if step.kind == "fill":
        return fill(step.target, step.color)
    return token(Op.SETRENDERTARGET, step.target, 0) + triangle_list(0, 2)


@dataclass
class Model:
    """What every texture's colour is, and the steps that wait, each since it was submitted."""

    now: int
    free: int
    colors: dict[int, int] = field(default_factory=lambda: {ONE: 0, OTHER: 0})
    queue: list[tuple[int, Step]] = field(default_factory=list)

    def call(self, steps: list[Step]) -> None:
        """Submit the steps; the call takes its time."""
        self.queue += [(self.now, step) for step in steps]
        self.now += CALL
        self.run()

    def wait(self) -> None:
        """Let time pass until everything is done."""
        while self.queue:
            self.now = max(self.now, self.free, self.queue[0][0])
            self.run()
        self.now = max(self.now, self.free)

    def run(self) -> None:
        """Each starts when it was submitted and the one before is done."""
        while self.queue and max(self.free, self.queue[0][0]) <= self.now:
            submitted, step = self.queue.pop(0)
            self.free = max(self.free, submitted) + PACKET
            moved = step.kind in MOVES
            self.colors[step.target] = self.colors[other(step.target)] if moved else step.color


@settings(max_examples=100, deadline=None)
@given(STEPS)
def test_what_the_host_writes_meets_the_moves_the_clock_has_come_to(steps: list[Step]) -> None:
    bench = racing()
    driver, model = bench.driver, Model(bench.driver.time, bench.driver.time)
    pending: list[Step] = []
    for step in steps:
        if step.kind == "write":
            driver.write(step.target, 0, struct.pack("<I", step.color) * SIDE**2)
            model.colors[step.target] = step.color
        elif step.kind == "wait":
            driver.finish()
            model.wait()
        else:
            pending += [] if step.kind == "call" else [step]
            if step.kind in ("call", "draw"):
                bench.ok(b"".join(map(commands_of, pending)), painted(step.color))
                model.call(pending)
                pending = []
        assert driver.time == model.now
        for handle, color in model.colors.items():
            assert driver.read(handle, 0, 4) == struct.pack("<I", color), step


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), STEPS)
def test_without_the_host_no_timing_changes_what_comes_of_it(seed: int, steps: list[Step]) -> None:
    pictures = []
    for timing in (instant(), seeded(seed)):
        bench = racing(timing)
        for step in steps:
            if step.kind not in ("write", "call", "wait"):
                bench.ok(commands_of(step), painted(step.color))
        bench.driver.finish()
        pictures.append([bench.driver.read(handle, 0, 4 * SIDE**2) for handle in (ONE, OTHER)])
    assert pictures[0] == pictures[1]


def test_a_draw_samples_what_the_move_before_it_left() -> None:
    bench = racing()
    bench.driver.write(ONE, 0, struct.pack("<I", 0xFF00FF00) * SIDE**2)
    stage = header(25, 2) + struct.pack("<HHIHHI", 0, 0, OTHER, 0, 1, 2)
    corners = [(-0.5, -0.5), (3.5, -0.5), (-0.5, 3.5), (3.5, -0.5), (3.5, 3.5), (-0.5, 3.5)]
    square = b"".join(struct.pack("<4f2f", x, y, 0.5, 1.0, 0.5, 0.5) for x, y in corners)
    commands = stage + texblt(ONE, OTHER) + triangle_list(0, 2) + fill(OTHER, 0xFFFF0000)
    bench.ok(commands, square, dwVertexType=0x104, dwVertexLength=6, dwVertexSize=24)
    bench.driver.finish()
    assert bench.driver.read(COLOR, 0, 4) == b"\x00\xff\x00\xff"
    assert bench.driver.read(OTHER, 0, 4) == b"\x00\x00\xff\xff"


MOVED = {
    "BLT": place(Op.BLT, ONE, OTHER),
    "stretched": token(Op.BLT, ONE, *WHOLE, 0, COLOR, 0, 0, 64, 64, 0, 2),
    "SURFACEBLT": place(Op.SURFACEBLT, ONE, OTHER),
    "COLORFILL": token(Op.COLORFILL, COLOR, 0, 0, 64, 64, 5),
    "TEXBLT": texblt(ONE, OTHER),
    "BUFFERBLT": token(Op.BUFFERBLT, 21, 20, 0, 0, 8, 0),
    "COMPOSERECTS": token(Op.COMPOSERECTS, 22, 23, 20, 1, 21, 1, 0, 0),
    "GENERATEMIPSUBLEVELS": token(Op.GENERATEMIPSUBLEVELS, 24, 2),
    "ADDDIRTYRECT": token(Op.ADDDIRTYRECT, ONE, *WHOLE),
    "ADDDIRTYBOX": token(Op.ADDDIRTYBOX, 25, *WHOLE, 0, 2),
    "VOLUMEBLT": token(Op.VOLUMEBLT, 26, 25, 0, 0, 0, *WHOLE, 0, 2, 0),
    "colour cleared": clear(7),
}


@pytest.mark.parametrize("name", MOVED)
def test_no_move_or_clear_of_colours_is_seen_by_an_occlusion_query(name: str) -> None:
    bench = racing()
    make = bench.driver.create_surface
    for handle in (20, 21):
        make(SurfaceDesc(handle, SurfaceKind.VERTEXBUFFER, 8))
        bench.driver.write(handle, 0, struct.pack("<4H", 0, 0, 0, 0))
    bench.driver.write(20, 0, struct.pack("<4H", 0, 0, SIDE, SIDE))
    for handle in (22, 23):
        make(SurfaceDesc(handle, SurfaceKind.TEXTURE, SIDE, SIDE, int(Format.A1)))
    for handle in (25, 26):
        kind = SurfaceKind.VOLUMETEXTURE
        make(SurfaceDesc(handle, kind, SIDE, SIDE, int(Format.A8R8G8B8), depth=2))
    make(SurfaceDesc(24, SurfaceKind.TEXTURE, 8, 8, int(Format.A8R8G8B8), levels=4))
    moves = MOVED[name] * 3
    commands = (
        create(5, QueryType.OCCLUSION) + moves + issue(5, BEGIN) + moves + triangle_list(0, 2)
        + moves + triangle_list(0, 2) + moves + issue(5, END) + moves
    )  # fmt: skip
    found = bench.settle(commands, rectangle(0, 0, 8, 8))
    assert dword(found[5]) == 2 * 64
