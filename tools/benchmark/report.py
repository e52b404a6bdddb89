"""What is printed: tables as reStructuredText has them, and a plot of costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import log10
from typing import Any

Row = dict[str, Any]


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A simple table, its columns as wide as they need to be."""
    lines = [list(heads), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = "  ".join("=" * width for width in widths)
    first, *others = (_line(line, widths) for line in lines)
    return "\n".join((rule, first, rule, *others, rule))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)).rstrip()


def _ms(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def _factor(value: float) -> str:
    return f"{value:.2f}"


def _ask(value: float) -> str:
    return f"<= {value}"


_COLUMNS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "ms": ("ms", _ms),
    "peer_ms": ("peer ms", _ms),
    "ratio": ("ratio", _factor),
    "cpu_ratio": ("CPU ratio", _factor),
    "asked": ("required", _ask),
    "ms2": ("ms 2", _ms),
    "peer_ms2": ("peer ms 2", _ms),
    "ratio2": ("ratio2", _factor),
    "first_ms": ("first ms", _ms),
    "first_warm_ms": ("warm", _ms),
    "import_ms": ("import", _ms),
    "adds_ms": ("adds", _ms),
    "adds_warm_ms": ("adds warm", _ms),
    "state_ms": ("state", _ms),
    "state_worst_ms": ("worst", _ms),
    "state_warm_ms": ("state warm", _ms),
    "state_worst_warm_ms": ("worst warm", _ms),
    "memory_mib": ("MiB", _ms),
}
"""Columns of the table of workloads, by key: head, and how a value reads."""


def workload_table(rows: dict[str, Row]) -> str:
    """The workloads; columns nobody has a value for are left out."""
    shown = [key for key in _COLUMNS if any(key in row for row in rows.values())]
    lines = (
        (name, *(_COLUMNS[key][1](row[key]) if key in row else "-" for key in shown))
        for name, row in rows.items()
    )
    return table(("workload", *(_COLUMNS[key][0] for key in shown)), lines)


Points = list[tuple[int, float]]
"""Amounts and what they cost, in milliseconds."""


def scaling_table(series: dict[str, Points]) -> str:
    """Costs by amount, and of one more thousand of the amount."""
    lines = [
        (name, f"{amount:,}", f"{ms:.2f}", f"{1e3 * ms / amount:.3f}")
        for name, points in series.items()
        for amount, ms in points
    ]
    return table(("series", "amount", "ms", "us each"), lines)


WIDTH, HEIGHT, MARGIN = 640, 400, 56
_COLORS = ("#1f5fa8", "#b5442c", "#2c8a57")
_TEXT = 'font-family="sans-serif" font-size="12"'


def plot(series: dict[str, Points]) -> str:
    """Costs over amounts on logarithmic axes, as SVG.  A dotted line is linear cost."""
    amounts = [a for points in series.values() for a, _ in points]
    costs = [c for points in series.values() for c in (*(c for _, c in points), _linear(points))]
    place = _Axes(_decades(amounts), _decades(costs))
    body = [*place.grid(), *_legend(series)]
    for color, points in zip(_COLORS, series.values(), strict=False):
        body += place.curve(points, color)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">'
    paper = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'
    return "\n".join((head, paper, *body, "</svg>", ""))


def _linear(points: Points) -> float:
    """What the first would cost if all of it went by the amount, as the last does."""
    (first, _), (last, most) = points[0], points[-1]
    return most * first / last


def _legend(series: dict[str, Points]) -> list[str]:
    return [
        f'<text x="{MARGIN + 12}" y="{MARGIN + 20 + 16 * n}" fill="{color}" {_TEXT}>{name}</text>'
        for n, (color, name) in enumerate(zip(_COLORS, series, strict=False))
    ]


def _decades(values: list[float] | list[int]) -> range:
    """Powers of ten around positive values."""
    low, high = (len(f"{value * 1000:.0f}") - 4 for value in (min(values), max(values)))
    return range(low, high + 2)


class _Axes:
    """Where amounts and milliseconds lie on the paper."""

    def __init__(self, across: range, up: range) -> None:
        self.across, self.up = across, up

    def x(self, power: float) -> float:
        """Of ten to a power of amounts."""
        span = len(self.across) - 1
        return MARGIN + (power - self.across[0]) / span * (WIDTH - 2 * MARGIN)

    def y(self, power: float) -> float:
        """Of ten to a power of milliseconds."""
        span = len(self.up) - 1
        return HEIGHT - MARGIN - (power - self.up[0]) / span * (HEIGHT - 2 * MARGIN)

    def grid(self) -> list[str]:
        """Lines and numbers at powers of ten."""
        left, right, top, bottom = MARGIN, WIDTH - MARGIN, MARGIN, HEIGHT - MARGIN
        lines = [_stroke(self.x(n), top, self.x(n), bottom) for n in self.across]
        lines += [_stroke(left, self.y(n), right, self.y(n)) for n in self.up]
        lines += [_note(self.x(n), bottom + 18, f"{10**n:,}") for n in self.across]
        lines += [_note(left - 26, self.y(n) + 4, f"{10.0**n:g} ms") for n in self.up]
        return lines

    def curve(self, points: Points, color: str) -> list[str]:
        """The points, a line through them, and linear cost through the last."""
        places = [(self.x(log10(a)), self.y(log10(c))) for a, c in points]
        linear = self.y(log10(_linear(points)))
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        (begin, _), (end, height) = places[0], places[-1]
        dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in places]
        return [
            f'<polyline points="{path}" fill="none" stroke="{color}"/>',
            _stroke(begin, linear, end, height, color, 'stroke-dasharray="2 4"'),
            *dots,
        ]


def _stroke(
    x: float, y: float, to_x: float, to_y: float, color: str = "#ddd", more: str = ""
) -> str:
    ends = f'x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"'
    return f'<line {ends} stroke="{color}" {more}/>'


def _note(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" {_TEXT}>{text}</text>'
