"""Cases of points and lines: which pixels they are."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from dp2emu.conform.case import Case
from dp2emu.conform.pictures import FRONT, Pixel, Pixels, background, drawn, vertex
from dp2emu.conform.script import token
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import RenderState
from dp2emu.d3d.legacy import TextureStageState8

_RS, _TSS = RenderState, TextureStageState8


def line_cases() -> Iterator[Case]:
    """Every case of these families."""
    yield from _points()
    yield from _lines()


# Points


def _points() -> Iterator[Case]:
    places = ((3, 2), (9, 5), (0, 0), (17, 11), (5, 14))
    user = b"".join(vertex(x, y) for x, y in places)
    for name, ranges in (("one", ((1, 2),)), ("several", ((2, 0), (1, 4))), ("all", ((5, 0),))):
        payload = b"".join(struct.pack("<2H", count, start) for count, start in ranges)
        shown = {place for count, start in ranges for place in places[start : start + count]}
        yield drawn(
            f"point.{name}", "a point of size 1 at a pixel's centre is that pixel",
            "point rasterization rules", background() | dict.fromkeys(shown, FRONT), user,
            token(Op.POINTS, payload, len(ranges)),
        )  # fmt: skip


# Lines


def line(start: Pixel, end: Pixel) -> list[Pixel]:
    """Pixels of a line between centres without its last one, where no pixel is in doubt."""
    (x, y), across, down = start, end[0] - start[0], end[1] - start[1]
    length = max(abs(across), abs(down))
    found = []
    for step in range(length):
        place = []
        for origin, along in ((x, across), (y, down)):
            whole, rest = divmod(2 * step * along + length, 2 * length)
            assert rest, "half-way between two pixels"
            place.append(origin + whole)
        found.append((place[0], place[1]))
    return found


_ENDS: tuple[Pixel, ...] = ((23, 3), (1, 11), (10, 2), (18, 2), (16, 13), (23, 10))
_DIRECTIONS: dict[str, tuple[Pixel, Pixel]] = {
    "right": ((3, 4), (20, 4)), "left": ((20, 4), (3, 4)), "down": ((7, 1), (7, 13)),
    "up": ((7, 13), (7, 1)), "flat": ((3, 2), (24, 9)), "steep": ((9, 1), (14, 14)),
    "diagonal": ((2, 1), (14, 13)), "back": ((28, 13), (5, 6)),
}  # fmt: skip


def _lined(lines: Sequence[tuple[Pixel, Pixel]]) -> Pixels:
    """A target with these lines, but for their last pixels, which drivers may leave out."""
    pixels = background()
    drawn = {place for start, end in lines for place in line(start, end)}
    for _, end in lines:
        if end not in drawn:
            del pixels[end]
    return pixels | dict.fromkeys(drawn, FRONT)


def _lines() -> Iterator[Case]:
    source = "line rasterization rules"
    for name, (start, end) in _DIRECTIONS.items():
        yield drawn(
            f"line.{name}", "a line has the pixels whose diamonds it leaves", source,
            _lined([(start, end)]), vertex(*start) + vertex(*end),
            token(Op.LINELIST, b"\0\0", 1),
        )  # fmt: skip
    user = b"".join(vertex(x, y) for x, y in _ENDS)
    for op, payload, count, pairs in _LINES:
        lines = [(_ENDS[one], _ENDS[other]) for one, other in pairs]
        yield drawn(
            f"line.{op.name.lower()}", f"{op.sdk} draws between the vertices it names", source,
            _lined(lines), user, token(op, struct.pack(f"<{len(payload)}H", *payload), count),
        )  # fmt: skip


_LINES: tuple[tuple[Op, tuple[int, ...], int, tuple[tuple[int, int], ...]], ...] = (
    (Op.LINELIST, (1,), 2, ((1, 2), (3, 4))),
    (Op.LINESTRIP, (1,), 4, ((1, 2), (2, 3), (3, 4), (4, 5))),
    (Op.INDEXEDLINELIST, (4, 1, 5, 0), 2, ((4, 1), (5, 0))),
    (Op.INDEXEDLINELIST2, (1, 0, 2, 4, 3), 2, ((1, 3), (5, 4))),
    (Op.INDEXEDLINESTRIP, (1, 0, 2, 1, 4), 3, ((1, 3), (3, 2), (2, 5))),
)
