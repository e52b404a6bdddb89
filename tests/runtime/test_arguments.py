"""Arguments of device methods."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dp2emu.gpu.command.bindings import Rect
from dp2emu.runtime.arguments import clip_boxes, dword, unit

coordinates = st.integers(-20, 20)


def test_a_state_value_is_low_bits_or_float_bits() -> None:
    assert [dword(value) for value in (-1, True, 1.0, 1e300)] == [
        0xFFFFFFFF, 1, 0x3F800000, 0x7F800000,
    ]  # fmt: skip


def test_depth_is_cut_to_its_range() -> None:
    assert [unit(z) for z in (-1.0, 0.0, 0.5, 2.0, float("nan"))] == [0.0, 0.0, 0.5, 1.0, 0.0]


@given(st.lists(st.tuples(*[coordinates] * 4)), st.tuples(*[coordinates] * 4))
def test_clipped_boxes_cover_exactly_the_common_pixels(
    boxes: list[tuple[int, int, int, int]], limits: tuple[int, int, int, int]
) -> None:
    def covered(box: tuple[int, int, int, int]) -> set[tuple[int, int]]:
        return {(x, y) for x in range(box[0], box[2]) for y in range(box[1], box[3])}

    clipped = clip_boxes(boxes, Rect(*limits))
    wanted = [covered(box) & covered(limits) for box in boxes]
    assert [covered(box) for box in clipped] == [pixels for pixels in wanted if pixels]
