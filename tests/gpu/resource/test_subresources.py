"""Where levels and faces lie."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dp2emu.gpu.resource.subresources import Shape, Subresource, Texels, full_chain, subresources


def test_levels_halve_down_to_one_texel_and_follow_each_other() -> None:
    assert subresources(Shape(5, 3, levels=3), Texels(4)) == (
        Subresource(0, 20, 3, 5, 3, 1),
        Subresource(60, 8, 1, 2, 1, 1),
        Subresource(68, 4, 1, 1, 1, 1),
    )


def test_faces_follow_each_other_with_all_their_levels() -> None:
    found = subresources(Shape(2, 2, levels=2, faces=6), Texels(2))
    assert [part.offset for part in found] == [
        10 * face + at for face in range(6) for at in (0, 8)
    ]


def test_compressed_rows_are_rows_of_whole_blocks() -> None:
    found = subresources(Shape(6, 5, levels=3), Texels(8, 4, 4))
    assert [(part.pitch, part.rows, part.size) for part in found] == [
        (16, 2, 32),
        (8, 1, 8),
        (8, 1, 8),
    ]


@given(*[st.integers(1, 70)] * 3)
def test_a_full_chain_ends_in_one_texel(width: int, height: int, depth: int) -> None:
    levels = full_chain(width, height, depth)
    found = subresources(Shape(width, height, depth, levels), Texels(1))
    assert [(p.width, p.height, p.depth) == (1, 1, 1) for p in found] == [False] * (levels - 1) + [
        True
    ]
