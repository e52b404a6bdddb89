"""Draws that were put off: the same bytes, counts and reports, whatever comes in between."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any
from unittest.mock import patch
from weakref import ref

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dp2emu.d3d.enums import CmpFunc, Format, PrimitiveType
from dp2emu.errors import Exceeded, Unsupported
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import (
    BeginQuery,
    Clear,
    Draw,
    EndQuery,
    Indices,
    Observe,
    Packet,
    PointSize,
    Stream,
)
from dp2emu.gpu.command.pipeline import DepthState, RasterState
from dp2emu.gpu.command.queries import Counters, QuerySlot, snapshot
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.compile import batch_template, point_setup
from dp2emu.gpu.device import draw_batch
from dp2emu.gpu.device import gpu as core
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.device.timing import fixed
from dp2emu.gpu.resource.heap import Heap, SurfaceDesc, SurfaceKind
from dp2emu.limits import Limits
from dp2emu.shader.builder import Builder
from dp2emu.shader.engines import JIT, REFERENCE, engine
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.types import Type
from tests.gpu.drawing import (
    PASSING,
    SIZED,
    color_surface,
    corner,
    depth_surface,
    draw,
    programmed,
    rebound,
    vertex_data,
)
from tests.gpu.kernel_states import random_draw, random_draw_of_any_shape

OCCLUSION = 9
TRIANGLE = [corner(3, 2, 0.25), corner(28, 7, 0.5, 0x80FF0000), corner(10, 30, 0.75)]


def gpu_of(name: str = JIT, **options: Any) -> Gpu:
    return Gpu(run=engine(name), **options)


def templates_of(gpu: Gpu, packet: Draw) -> dict[Any, Any]:
    """The templates of draws that share a draw's output record."""
    return gpu._batch._templates.find((packet.output,))


class Alone(msgspec.Struct):
    """Counts draws that did not wait.  Mutable."""

    count: int = 0

    def __call__(self, *given: Any) -> Work:
        self.count += 1
        return REAL(*given)


REAL = core.execute_draw


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Alone:
    counting = Alone()
    monkeypatch.setattr(core, "execute_draw", counting)
    return counting


def test_of_draws_of_a_state_all_but_the_first_wait(alone: Alone) -> None:
    gpu, packet = gpu_of(), draw(TRIANGLE, color=color_surface())
    for _ in range(9):
        gpu.submit(packet)
    gpu.run()
    assert alone.count == 1
    assert gpu.counters.primitives == 9


def played(packets: Sequence[Packet], name: str = JIT) -> Gpu:
    gpu = gpu_of(name)
    for packet in packets:
        gpu.submit(packet)
    gpu.run()
    return gpu


def counted(gpu: Gpu) -> list[Any]:
    counters = gpu.counters
    passed = sorted(counters.multisamples.passed.values())
    return [passed, *snapshot(counters, 0).counters]


def pictures(packets: Sequence[Packet]) -> list[bytes]:
    return [
        surface.data.tobytes()
        for packet in packets
        if isinstance(packet, Draw)
        for surface in (*packet.output.colors, packet.output.depth)
        if surface is not None
    ]


def same(make: Callable[[], Sequence[Packet]]) -> None:
    """What is made is drawn by either engine alike."""
    results = []
    for name in (REFERENCE, JIT):
        packets = make()
        gpu = played(packets, name)
        results.append((pictures(packets), counted(gpu)))
    assert results[0] == results[1]


Step = tuple[str, int, int]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["draw"] * 6 + ["clear", "begin", "end", "look", "run"]),
        st.integers(0, 2),
        st.integers(0, 3),
    ),
    min_size=4,
    max_size=24,
)


class Play:
    """A GPU and draws of three states, of which it is told step by step.  Mutable."""

    def __init__(self, seed: int, name: str, threads: int = 1) -> None:
        self.gpu = gpu_of(name, threads=threads)
        self.draws = [random_draw(seed + number) for number in range(3)]
        self.slots = [QuerySlot(OCCLUSION, None, key) for key in range(3)]
        self.looks: list[Any] = []

    def draw(self, number: int, part: int) -> None:
        packet = self.draws[number]
        first = min(part, packet.input.count - 1)
        self.gpu.submit(rebound(packet, first=first, count=packet.input.count - first))

    def clear(self, number: int, part: int) -> None:
        packet = self.draws[number]
        target = packet.output.colors[0]
        if target is not None and isinstance(target.format, Format):
            rects = (Rect(0, 0, 7 * part + 1, 9),)
            self.gpu.submit(Clear(rects, (target,), 0x40 * part, None, None, None))

    def begin(self, number: int, part: int) -> None:
        self.gpu.submit(BeginQuery(self.slots[number], part))

    def end(self, number: int, part: int) -> None:
        self.gpu.submit(EndQuery(self.slots[number], part))

    def look(self, number: int, part: int) -> None:
        packet = self.draws[number]
        surface = packet.output.colors[0] or packet.output.depth
        assert surface is not None
        self.gpu.submit(Observe(surface, lambda seen: self.looks.append(seen.data.tobytes())))

    def run(self, number: int, part: int) -> None:
        self.gpu.run()

    def results(self, steps: Sequence[Step]) -> list[Any]:
        for what, number, part in steps:
            getattr(self, what)(number, part)
        self.gpu.finish()
        reports = [
            (report.generation, report.begin.counters, report.end.counters)
            for report in self.gpu.collect()
        ]
        return [self.looks, reports, pictures(self.draws), counted(self.gpu)]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1 << 32), STEPS)
def test_any_order_of_draws_and_looks_is_as_the_reference_has_it(
    seed: int, steps: list[Step]
) -> None:
    wanted = Play(seed, REFERENCE).results(steps)
    assert Play(seed, JIT).results(steps) == wanted


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1 << 32), STEPS)
def test_threads_draw_the_same(seed: int, steps: list[Step]) -> None:
    one, more = (Play(seed, JIT, threads).results(steps) for threads in (1, 3))
    assert one == more


class Watched(Play):
    """As ``Play``, where every draw is executed by itself: a tap sees it, or it takes time."""

    def __init__(self, seed: int, name: str) -> None:
        super().__init__(seed, name)
        self.gpu = gpu_of(name, timing=fixed() if seed % 2 else None)
        self.gpu.packet_taps.append(lambda packet, start: None)

    def results(self, steps: Sequence[Step]) -> list[Any]:
        return [*super().results(steps), self.gpu.now, self.gpu.budget.call]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1 << 32), STEPS)
def test_watched_draws_are_as_the_reference_has_them(seed: int, steps: list[Step]) -> None:
    wanted = Watched(seed, REFERENCE).results(steps)
    assert Watched(seed, JIT).results(steps) == wanted


def test_a_template_executes_watched_draws_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    done, real = [], draw_batch.DrawBatch.execute_one

    def counting(self: draw_batch.DrawBatch, packet: Draw) -> Work | None:
        done.append(real(self, packet))
        return done[-1]

    monkeypatch.setattr(draw_batch.DrawBatch, "execute_one", counting)
    gpu, packet, seen = gpu_of(), draw(TRIANGLE, color=color_surface()), list[int]()
    gpu.packet_taps.append(lambda packet, start: seen.append(gpu.counters.primitives))
    for _ in range(4):
        gpu.submit(packet)
    gpu.run()
    assert [work is not None for work in done] == [False, True, True, True]
    assert seen == [0, 1, 2, 3]


@pytest.mark.parametrize("pixels", [40_000, 10_000_000])
def test_watched_draws_end_where_the_work_budget_ends(pixels: int) -> None:
    ends = []
    for name in (REFERENCE, JIT):
        gpu = gpu_of(name, limits=Limits(call_pixels=pixels))
        large = [corner(-0.5, -0.5), corner(199.5, -0.5), corner(-0.5, 199.5)]
        packet = draw(large, color=color_surface(width=128, height=128))
        gpu.packet_taps.append(lambda packet, start: None)
        for _ in range(6):
            gpu.submit(packet)
        try:
            gpu.run()
        except Exceeded as error:
            ends.append(str(error))
        ends.append((counted(gpu), gpu.budget.call, pictures([packet])))
    assert ends[: len(ends) // 2] == ends[len(ends) // 2 :]


def test_one_template_draws_triangles_with_perspective_and_without() -> None:
    tilted = [corner(3, 2, 0.5, 0xFF00FF00, 0.25), *TRIANGLE[1:]]

    def make() -> list[Packet]:
        like = draw(TRIANGLE, color=color_surface())
        other = rebound(like, streams=(Stream(vertex_data(tilted), 0, 20),))
        return [like, other, like, other, other]

    same(make)


def test_what_is_cut_is_drawn_in_pieces(alone: Alone) -> None:
    def make() -> list[Packet]:
        across = [corner(-9, 0.5, -0.5), corner(3, 9, 0.5, 0xFF0000FF), corner(7, -2, 1.5)]
        like = programmed(draw(across, color=color_surface()))
        return [like] * 4

    same(make)
    assert alone.count == 4 + 1


def test_a_large_draw_among_small_ones_is_drawn_in_its_turn(alone: Alone) -> None:
    whole = [corner(-0.5, -0.5), corner(399.5, -0.5, 0.5, 0x80808080), corner(-0.5, 399.5)]

    def make() -> list[Packet]:
        color = color_surface(width=256, height=256)
        like = draw(TRIANGLE, color=color)
        large = rebound(like, streams=(Stream(vertex_data(whole), 0, 20),))
        return [like, like, large, like, large]

    same(make)
    assert alone.count == 5 + 3


@pytest.mark.parametrize(
    ("room", "size"), [("_LANE_ROOM", 16), ("_NUMBER_ROOM", 0), ("_RECORD_ROOM", 16)]
)
def test_what_finds_no_room_is_drawn_alone(room: str, size: int, alone: Alone) -> None:
    with patch.object(batch_template, room, size):
        same(lambda: [draw(TRIANGLE, color=color_surface())] * 3)
    assert alone.count == 3 + 3


def test_more_draws_than_can_wait() -> None:
    with patch.object(batch_template, "ROWS", 4):
        same(lambda: [draw(TRIANGLE, color=color_surface())] * 11)


@pytest.mark.parametrize("size", [2, 4])
def test_draws_of_other_places_in_an_index_buffer(size: int) -> None:
    def make() -> list[Packet]:
        buffer = Heap().create(SurfaceDesc(2, SurfaceKind.INDEXBUFFER, 64, 1))
        numbers = np.array([0, 1, 2, 3, 2, 1, 5, 0, 3], f"<u{size}").tobytes()
        buffer.data[: len(numbers)] = np.frombuffer(numbers, np.uint8)
        like = draw([*TRIANGLE, *map(_moved, TRIANGLE)], color=color_surface(), count=1)
        return [
            rebound(like, first=first, indices=Indices(buffer, size, offset, base))
            for first, offset, base in [(0, 0, 0), (3, 0, 0), (0, 3 * size, 1), (6, 0, 0)]
        ]

    same(make)


def _moved(vertex: Sequence[float]) -> Sequence[float]:
    x, y, *rest = vertex
    return (x / 2 + 4, 31 - y, *rest)


def _tinted(stage: Stage) -> Program:
    b = Builder(stage)
    file = b.uniform("tint", Type.F32, 4)
    for number, component in enumerate("xyzw"):
        value = b.input(f"color0.{component}") * b.load(file, number)
        if stage is Stage.VERTEX:
            b.output(f"position0.{component}", b.input(f"position0.{component}"))
            b.output(f"color0.{component}", value)
        else:
            b.output(f"target0.{component}", value)
    return b.program()


@pytest.mark.parametrize("stage", list(Stage))
def test_every_draw_has_numbers_of_its_own_for_its_programs(stage: Stage) -> None:
    program = _tinted(stage)

    def make() -> list[Packet]:
        color = color_surface()
        pixel = {"pixel": program} if stage is Stage.PIXEL else {}
        near = [corner(-1, -1, 0.5), corner(0.5, 1, 0.5, 0x80FF4020), corner(1, -0.5, 0.5)]
        vertex = program if stage is Stage.VERTEX else PASSING
        like = programmed(draw(near, color=color, **pixel), program=vertex)
        name = "vertex_uniforms" if stage is Stage.VERTEX else "pixel_uniforms"
        tints = [np.array([n / 8, 1 - n / 8, 0.5, 1.0], np.float32) for n in range(8)]
        return [rebound(like, **{name: {"tint": tint}}) for tint in tints]

    same(make)


def test_nobody_waits_while_somebody_watches(alone: Alone) -> None:
    gpu, packet = gpu_of(), draw(TRIANGLE, color=color_surface())
    gpu.packet_taps.append(lambda packet, start: None)
    for _ in range(3):
        gpu.submit(packet)
    gpu.run()
    assert alone.count == 3


def test_nobody_waits_where_draws_take_time(alone: Alone) -> None:
    gpu, packet = gpu_of(timing=fixed()), draw(TRIANGLE, color=color_surface())
    for _ in range(3):
        gpu.submit(packet)
    gpu.finish()
    assert alone.count == 3


def test_a_context_counts_what_it_draws(alone: Alone) -> None:
    gpu, packet, own = gpu_of(), draw(TRIANGLE, color=color_surface()), Counters()
    for context in (None, None, own, None):
        gpu.submit(packet, context)
    gpu.run()
    assert (own.primitives, gpu.counters.primitives) == (1, 4)
    assert own.samples * 4 == gpu.counters.samples


def test_what_cannot_be_drawn_says_so_when_all_before_it_is_drawn() -> None:
    color, bad = color_surface(), color_surface(Format.DXT1)
    gpu, packet = gpu_of(), draw(TRIANGLE, color=color)
    for each in (packet, packet, packet, draw(TRIANGLE, color=bad), packet):
        gpu.submit(each)
    with pytest.raises(Unsupported):
        gpu.run()
    assert gpu.counters.primitives == 3
    gpu.run()
    assert gpu.counters.primitives == 4


def test_draws_behind_one_that_fails_alone_are_drawn_by_the_next_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = [corner(-0.5, -0.5), corner(399.5, -0.5), corner(-0.5, 399.5)]
    gpu, small = gpu_of(), draw(TRIANGLE, color=color_surface(width=256, height=256))
    large = rebound(small, streams=(Stream(vertex_data(whole), 0, 20),))
    for each in (small, small, large, small, small):
        gpu.submit(each)

    def failing(packet: Draw, *given: Any) -> Work:
        if packet is large:
            raise MemoryError
        return REAL(packet, *given)

    monkeypatch.setattr(core, "execute_draw", failing)
    with pytest.raises(MemoryError):
        gpu.run()
    assert gpu.counters.primitives == 2
    gpu.run()
    assert gpu.counters.primitives == 4


@pytest.mark.parametrize("before", [1, 2, 3])
def test_a_draw_that_fails_while_it_is_put_off_is_not_drawn_later(
    before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu, packet = gpu_of(), draw(TRIANGLE, color=color_surface())
    bad = rebound(packet, streams=(Stream(vertex_data(TRIANGLE), 0, 20),))
    gone, real = ref(bad.input.streams[0]), batch_template.BatchRun.add

    def failing(self: batch_template.BatchRun, template: Any, draw: Draw, waiting: int) -> None:
        real(self, template, draw, waiting)
        if draw.input.streams[0] is gone():
            raise MemoryError

    monkeypatch.setattr(batch_template.BatchRun, "add", failing)
    for each in (*[packet] * before, bad):
        gpu.submit(each)
    del bad, each
    with pytest.raises(MemoryError):
        gpu.run()
    assert gpu.counters.primitives == before
    for _ in range(2):
        gpu.submit(packet)
        gpu.run()
    gc.collect()
    assert gpu.counters.primitives == before + 2
    assert gone() is None


@pytest.mark.parametrize("word", ["arguments", "setup", "kernel"])
def test_a_template_that_is_half_learned_is_learned_again(
    word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    packet = draw(TRIANGLE, color=color_surface())
    gpu, real, left = gpu_of(), batch_template.BatchTemplate._set, [1]

    def failing(self: batch_template.BatchTemplate, **values: int) -> None:
        for name, value in values.items():
            if name.startswith(word) and left:
                left.pop()
                raise MemoryError
            real(self, **{name: value})

    monkeypatch.setattr(batch_template.BatchTemplate, "_set", failing)
    for _ in range(4):
        gpu.submit(packet)
    with pytest.raises(MemoryError):
        gpu.run()
    gpu.run()
    assert not left and gpu.counters.primitives == 4


def test_a_template_keeps_no_vertices() -> None:
    gpu, packet = gpu_of(), draw(TRIANGLE, color=color_surface())
    for _ in range(3):
        gpu.submit(packet)
    gpu.run()
    stream, known = ref(packet.input.streams[0]), templates_of(gpu, packet)
    assert any(template is not None for template in known.values())
    del packet
    gc.collect()
    assert stream() is None


def test_templates_of_a_state_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw_batch, "TEMPLATES", 3)
    gpu, packet = gpu_of(), draw(TRIANGLE, color=color_surface())
    for number in range(20):
        gpu.submit(replace(packet, scissor=Rect(0, 0, number + 1, 32)))
    gpu.run()
    assert len(templates_of(gpu, packet)) <= 3


def as_points(packet: Draw, size: float) -> Draw:
    """A draw's vertices as points."""
    stream = packet.input.streams[0]
    assert stream is not None and isinstance(stream.data, bytes)
    return rebound(
        packet,
        topology=PrimitiveType.POINTLIST,
        count=len(stream.data) // stream.stride,
        point=PointSize(size, 0.5, 64.0),
    )


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 1 << 32), st.sampled_from([0.0, 0.5, 1.0, 1.37, 2.0, 7.25, 64.0]), st.booleans()
)
def test_points_of_any_state_and_place(seed: int, size: float, far: bool) -> None:
    def make() -> list[Packet]:
        packet = random_draw_of_any_shape(seed) if far else random_draw(seed)
        like = as_points(packet, size)
        return [rebound(like, first=n % 2, count=like.input.count - n % 2) for n in range(4)]

    same(make)


@pytest.mark.parametrize("clip", [True, False])
def test_points_at_the_ends_of_depth_and_beyond(clip: bool) -> None:
    depths = [0.0, 1.0, -0.25, 1.5, math.inf, -math.inf, math.nan, 0.25]
    places = [corner(3 * n + 2, 5, z, 0x10203040 * n) for n, z in enumerate(depths)]
    kind, test = PrimitiveType.POINTLIST, DepthState(True, True, CmpFunc.ALWAYS)
    raster = RasterState(clip=clip)

    def make() -> list[Packet]:
        like = draw(
            places, color=color_surface(), depth=depth_surface(word=7), topology=kind,
            raster=raster, test=test,
        )  # fmt: skip
        return [like] * 3

    same(make)


def test_points_have_numbers() -> None:
    b = Builder(Stage.PIXEL)
    number = b.itof(b.input("primitive_id.x", Type.I32))
    for component in "xyzw":
        b.output(f"target0.{component}", number / 8.0)
    places = [corner(3 * n + 2, 5) for n in range(7)]
    kind, program = PrimitiveType.POINTLIST, b.program()
    same(lambda: [draw(places, color=color_surface(), topology=kind, pixel=program)] * 3)


def test_points_wait_unless_they_have_sizes_of_their_own_or_are_sprites(alone: Alone) -> None:
    places = [corner(3, 2, 0.25), corner(28.5, 7, 0.5, 0x80FF0000), corner(10, 30, 1.5)]
    sprites = RasterState(point_sprites=True)
    sized = [(x, y, z, rhw, 3.0, color) for x, y, z, rhw, color in places]
    for count, vertices, options in (
        (1, places, {}), (4, places, {"raster": sprites}), (4, sized, {"fvf": SIZED}),
    ):  # fmt: skip
        alone.count = 0
        kind = PrimitiveType.POINTLIST
        like = draw(vertices, color=color_surface(), topology=kind, **options)
        played([like] * 4)
        assert alone.count == count


def test_points_of_more_rows_than_there_is_room_for_are_drawn_alone(alone: Alone) -> None:
    def make() -> list[Packet]:
        like = draw(TRIANGLE, color=color_surface(), topology=PrimitiveType.POINTLIST)
        return [rebound(like, point=PointSize(20.0, 1.0, 64.0))] * 3

    with patch.object(point_setup, "ROWS", 8):
        same(make)
    assert alone.count == 3 + 3


def test_a_point_without_a_number_for_its_perspective_is_drawn_alone(alone: Alone) -> None:
    places = [*TRIANGLE[:2], corner(10, 30, 0.5, rhw=float("nan"))]
    kind = PrimitiveType.POINTLIST
    same(lambda: [draw(places, color=color_surface(), topology=kind)] * 3)
    assert alone.count == 3 + 3


def test_strips_read_as_many_vertices_as_they_have() -> None:
    random = Random(7)
    corners = [corner(random.uniform(0, 32), random.uniform(0, 32)) for _ in range(9)]

    def make() -> list[Packet]:
        like = draw(
            corners,
            color=color_surface(),
            depth=depth_surface(),
            topology=PrimitiveType.TRIANGLESTRIP,
        )
        return [rebound(like, first=first, count=6 - first) for first in (0, 1, 2, 1)]

    same(make)
