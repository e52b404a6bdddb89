"""Stencil: every operation and comparison, and draws against one pixel in plain Python."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dp2emu.d3d.enums import CmpFunc, Format, PrimitiveType, StencilOp
from dp2emu.gpu.command.packets import Draw, MergeNumbers
from dp2emu.gpu.command.pipeline import DepthState, StencilFace, StencilState
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.gpu.output_merger.depth_test import OPERATIONS, MergeTests, StencilTest, depth_stencil
from dp2emu.gpu.resource.heap import Surface
from dp2emu.shader.builder import Builder
from dp2emu.shader.formulas import computed
from dp2emu.shader.values import Value
from tests.gpu.drawing import Vertex, color_surface, corner, depth_surface, draw, rebound
from tests.gpu.model import COMPARE

AFTER: dict[StencilOp, Callable[[int, int, int], int]] = {
    StencilOp.KEEP: lambda old, reference, top: old,
    StencilOp.ZERO: lambda old, reference, top: 0,
    StencilOp.REPLACE: lambda old, reference, top: reference,
    StencilOp.INCRSAT: lambda old, reference, top: min(old + 1, top),
    StencilOp.DECRSAT: lambda old, reference, top: max(old - 1, 0),
    StencilOp.INVERT: lambda old, reference, top: top - old,
    StencilOp.INCR: lambda old, reference, top: (old + 1) % (top + 1),
    StencilOp.DECR: lambda old, reference, top: (old - 1) % (top + 1),
}


def _after(b: Builder, key: tuple[StencilOp, int], old: Value, reference: Value) -> tuple[Value]:
    return (OPERATIONS[key[0]](old, reference, key[1]),)


@pytest.mark.parametrize("top", [1, 15, 255])
@pytest.mark.parametrize("op", list(StencilOp))
def test_every_operation_on_every_value(op: StencilOp, top: int) -> None:
    old = np.arange(top + 1, dtype=np.uint32)
    for reference in {0, 1, top // 2, top}:
        (found,) = computed(_after, (op, top), old, np.full(1, reference, np.int32))
        assert np.broadcast_to(found, old.shape).tolist() == [
            AFTER[op](value, reference, top) for value in range(top + 1)
        ]


@pytest.mark.parametrize("func", list(CmpFunc))
def test_the_reference_is_compared_with_what_is_stored(func: CmpFunc) -> None:
    tests = MergeTests(Format.D24S8, CmpFunc.ALWAYS, False, StencilState(StencilFace(func)))
    numbers = (np.full(1, number, np.int32) for number in (0x35, 0xF0, 0xFF))
    words = np.arange(256, dtype=np.uint32)
    passed = computed(depth_stencil, tests, np.zeros(1), np.zeros(1, bool), *numbers, words)[0]
    found = np.broadcast_to(passed, words.shape).tolist()
    assert found == [COMPARE[func](0x30, value & 0xF0) for value in range(256)]


def test_numbers_count_as_far_as_there_are_bits() -> None:
    numbers = MergeNumbers(stencil_reference=0x135, stencil_mask=0xFFFFFFF6)
    test = StencilTest.of(StencilState(StencilFace()), numbers, 15)
    assert (test.reference, test.mask, test.write_mask) == (5, 6, 15)


class Pixel(msgspec.Struct):
    """A pixel of a D24S8 buffer."""

    depth: int
    stencil: int

    def draw(self, z: int, face: StencilFace, test: DepthState, numbers: MergeNumbers) -> bool:
        """Whether a fragment passes both tests."""
        reference, mask = numbers.stencil_reference & 255, numbers.stencil_mask & 255
        near = not test.enable or COMPARE[test.func](z, self.depth)
        if not COMPARE[face.func](reference & mask, self.stencil & mask):
            op, both = face.fail, False
        elif near:
            op, both = face.passed, True
        else:
            op, both = face.depth_fail, False
        new = AFTER[op](self.stencil, reference, 255)
        writable = numbers.stencil_write_mask & 255
        self.stencil = (new & writable) | (self.stencil & (255 - writable))
        if both and test.enable and test.write:
            self.depth = z
        return both


face_state = st.builds(
    StencilFace,
    st.sampled_from(list(CmpFunc)),
    *(st.sampled_from(list(StencilOp)) for _ in range(3)),
)
stencil_number = st.sampled_from([0, 1, 2, 3, 0x7F, 0x80, 0xFE, 0xFF, 0xFFFFFFFF])
merge_numbers = st.builds(
    MergeNumbers,
    stencil_reference=stencil_number,
    stencil_mask=stencil_number,
    stencil_write_mask=stencil_number,
)
layer = st.tuples(st.sampled_from([0.25, 0.5, 0.75]), st.booleans())


def triangle(z: float, clockwise: bool) -> list[Vertex]:
    """Covers everything."""
    a, b, c = corner(-8, -8, z), corner(90, -8, z), corner(-8, 90, z)
    return [a, b, c] if clockwise else [a, c, b]


def stenciled(packet: Draw, state: StencilState, numbers: MergeNumbers | None = None) -> Draw:
    pipeline = replace(packet.pipeline, stencil=state)
    return rebound(packet, pipeline=pipeline, merge=numbers or MergeNumbers())


@settings(max_examples=150)
@given(
    layers=st.lists(layer, min_size=1, max_size=6),
    front=face_state,
    back=st.none() | face_state,
    numbers=merge_numbers,
    test=st.builds(DepthState, st.booleans(), st.booleans(), st.sampled_from(list(CmpFunc))),
    start=st.sampled_from([0, 1, 0x7F, 0xFE, 0xFF]),
)
def test_a_draw_equals_one_fragment_after_the_other(
    layers: list[tuple[float, bool]],
    front: StencilFace,
    back: StencilFace | None,
    numbers: MergeNumbers,
    test: DepthState,
    start: int,
) -> None:
    pixel = Pixel(0x800000, start)
    depth = depth_surface(width=3, height=2, word=0x80000000 | start)
    passed = 0
    for z, clockwise in layers:
        face = front if clockwise or back is None else back
        passed += pixel.draw(int(z * 0xFFFFFF + 0.5), face, test, numbers)
    vertices = [vertex for each in layers for vertex in triangle(*each)]
    packet = draw(vertices, color=color_surface(width=3, height=2), depth=depth, test=test)
    counters = Counters()
    execute_draw(stenciled(packet, StencilState(front, back), numbers), counters)
    assert (depth.pixels() == (pixel.depth << 8 | pixel.stencil)).all()
    assert counters.samples == 6 * passed


COUNT = StencilState(StencilFace(passed=StencilOp.INCR))


def run(packet: Draw, state: StencilState = COUNT) -> Counters:
    counters = Counters()
    execute_draw(stenciled(packet, state, MergeNumbers(stencil_reference=1)), counters)
    return counters


@pytest.mark.parametrize(
    ("format", "counted"),
    [(Format.D24X8, 0), (Format.D16, 0), (Format.D32F_LOCKABLE, 0), (Format.D24S8, 2)],
)
def test_a_format_without_stencil_bits_passes_every_test(format: Format, counted: int) -> None:
    depth = depth_surface(format)
    never = StencilState(StencilFace(CmpFunc.NEVER, fail=StencilOp.INCR))
    vertices = triangle(0.0, True) * 2
    counters = run(draw(vertices, color=color_surface(), depth=depth), never)
    assert counters.samples == (0 if counted else 2 * 32 * 32)
    assert (depth.pixels() == counted).all()


def test_a_format_without_depth_passes_every_depth_test() -> None:
    depth = depth_surface(Format.S8_LOCKABLE, word=7)
    never = DepthState(True, True, CmpFunc.NEVER)
    assert run(draw(triangle(0.5, True), depth=depth, test=never)).samples == 32 * 32
    assert (depth.pixels() == 8).all()


@pytest.mark.parametrize(
    ("format", "bits"),
    [(Format.D24S8, 8), (Format.D24FS8, 8), (Format.D24X4S4, 4), (Format.D15S1, 1)],
)
def test_stencil_wraps_at_the_bits_of_its_format(format: Format, bits: int) -> None:
    depth = depth_surface(format)
    vertices = triangle(0.0, True) * ((1 << bits) + 1)
    run(draw(vertices, color=color_surface(), depth=depth))
    assert (depth.pixels() == 1).all()


def test_without_a_depth_buffer_there_is_no_stencil_test() -> None:
    never = StencilState(StencilFace(CmpFunc.NEVER))
    assert run(draw(triangle(0.5, True), color=color_surface()), never).samples == 32 * 32


def test_stencil_alone_can_be_tested_and_written_without_a_depth_test() -> None:
    depth = depth_surface(word=7)
    packet = draw(triangle(0.5, True), depth=depth, test=DepthState())
    assert run(packet).samples == 32 * 32
    assert (depth.pixels() == 8).all()


@pytest.mark.parametrize("topology", [PrimitiveType.LINELIST, PrimitiveType.POINTLIST])
def test_lines_and_points_are_fronts(topology: PrimitiveType) -> None:
    depth: Surface = depth_surface(word=0xFFFFFF00)
    state = StencilState(COUNT.front, StencilFace(passed=StencilOp.ZERO))
    run(draw([corner(9, 9), corner(2, 9)], color=color_surface(), depth=depth, topology=topology),
        state)  # fmt: skip
    assert depth.pixels()[9, 9] & 0xFF == 1


@pytest.mark.parametrize(
    ("state", "test", "words"),
    [
        (COUNT, DepthState(True, False), 2),
        (COUNT, DepthState(True, True), 2),
        (StencilState(StencilFace()), DepthState(True, False), 1),
        (StencilState(StencilFace(CmpFunc.NEVER, fail=StencilOp.ZERO)), DepthState(), 2),
        (StencilState(StencilFace(), StencilFace(fail=StencilOp.ZERO)), DepthState(), 2),
    ],
)
def test_each_test_reads_a_word_and_writes_it_if_stencil_can_change(
    state: StencilState, test: DepthState, words: int
) -> None:
    depth = depth_surface(word=0xFFFFFF00)
    assert run(draw(triangle(0.5, True), depth=depth, test=test), state).pixel_bytes == (
        32 * 32 * 4 * words
    )


def test_a_write_mask_of_zero_writes_nothing() -> None:
    depth = depth_surface(word=0xFFFFFF00)
    packet = draw(triangle(0.5, True), depth=depth, test=DepthState())
    counters = Counters()
    execute_draw(stenciled(packet, COUNT, MergeNumbers(stencil_write_mask=0xF00)), counters)
    assert (depth.pixels() == 0xFFFFFF00).all()
    assert counters.pixel_bytes == 32 * 32 * 4
