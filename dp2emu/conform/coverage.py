"""Cases of coverage alone: the pixels of triangles of one colour, and no other rule.

Three questions, each of which a driver may answer wrongly on its own: whether a triangle is filled
(``coverage.inside``, which leaves out every pixel next to an edge), where pixel centres are
(``coverage.centre``, whose edges pass no centre), and which of two triangles has a centre on their
common edge (``coverage.edge``, drawn alike by a driver whose centres are half a pixel further).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dp2emu.conform.case import Case
from dp2emu.conform.draws import covered
from dp2emu.conform.script import Corner, Script, token, vertex
from dp2emu.conform.target import FRONT, HEIGHT, WIDTH, Pixel, Pixels, background
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.fvf import DIFFUSE, XYZRHW
from dp2emu.dp2.table import Since

_RULES = "Direct3D 9 documentation of rasterization rules"
_ORDER = 'wire format, "Primitive order"'
_SIZE = WIDTH, HEIGHT
_Shape = tuple[Op, Sequence[Corner]]
"""A token that draws from vertex 0, and the (x, y) of its vertices in pixels."""


def _box(left: float, top: float, right: float, bottom: float) -> _Shape:
    return Op.TRIANGLESTRIP, ((left, top), (right, top), (left, bottom), (right, bottom))


def _triangle(*corners: Corner) -> _Shape:
    return Op.TRIANGLELIST, corners


_INSIDE: dict[str, _Shape] = {
    "box": _box(3.75, 2.75, 20.75, 11.75),
    "clockwise": _triangle((2.75, 1.75), (28.75, 3.75), (5.75, 14.75)),
    "counterclockwise": _triangle((2.75, 1.75), (5.75, 14.75), (28.75, 3.75)),
    "large": _box(0.75, 0.75, 28.75, 12.75),
}
_CENTRES: dict[str, _Shape] = {
    "quarter": _box(4.25, 3.25, 17.25, 9.25),
    "half": _box(4.5, 3.5, 17.5, 9.5),
    "three_quarters": _box(4.75, 3.75, 17.75, 9.75),
    "point": _box(6.75, 5.75, 7.25, 6.25),
}
_EDGES: dict[str, _Shape] = {
    "box": _box(4, 3, 17, 9),
    "left": _triangle((2, 2), (13, 2), (13, 13)),
    "right": _triangle((2, 2), (13, 13), (2, 13)),
}


def coverage_cases(ddi: Since) -> Iterator[Case]:
    """Yield the cases of filled triangles, pixel centres and edges."""
    for name, shape in _INSIDE.items():
        yield _case(
            ddi, f"inside.{name}", "a triangle covers the pixels well inside of it, and no others",
            _RULES, shape, away_from_edges(_filled(shape)),
        )  # fmt: skip
    for name, shape in _CENTRES.items():
        yield _case(
            ddi, f"centre.{name}", "pixel (x, y) has its centre at (x, y), not half a pixel "
            "further", f"{_RULES}; {_ORDER}", shape, _filled(shape),
        )  # fmt: skip
    for name, shape in _EDGES.items():
        yield _case(
            ddi, f"edge.{name}", "a centre on an edge is covered if that is a top or a left edge",
            _RULES, shape, _filled(shape),
        )  # fmt: skip


def away_from_edges(pixels: Mapping[Pixel, int]) -> Pixels:
    """The pixels whose neighbours all have the same colour as they have."""

    def even(at: Pixel) -> bool:
        near = [(at[0] + x, at[1] + y) for x in (-1, 0, 1) for y in (-1, 0, 1)]
        return all(pixels.get(each, pixels[at]) == pixels[at] for each in near)

    return {at: color for at, color in pixels.items() if even(at)}


def _filled(shape: _Shape) -> Pixels:
    """The target with a shape drawn on it: a triangle, or a strip of two."""
    _, corners = shape
    places = covered(tuple(corners[:3]), *_SIZE) | covered(tuple(corners[-3:]), *_SIZE)
    return background() | dict.fromkeys(places, FRONT)


def _case(
    ddi: Since, name: str, rule: str, source: str, shape: _Shape, pixels: Mapping[Pixel, int]
) -> Case:
    op, corners = shape
    script = Script(ddi)
    script.background()
    user = b"".join(vertex(x, y) for x, y in corners)
    script.call(token(op, b"\0\0", len(corners) - 2), user=user, fvf=XYZRHW | DIFFUSE)
    script.show(pixels)
    return script.case(f"coverage.{name}", rule, source, optional=True)
