"""Tables and the plot."""

from __future__ import annotations

from xml.etree import ElementTree

from benchmark.report import plot, scaling_table, table, workload_table

SVG = "{http://www.w3.org/2000/svg}"


def test_a_table_is_as_wide_as_it_needs_to_be() -> None:
    assert table(("a", "bcd"), [("long", "x")]).splitlines() == [
        "====  ===", "a     bcd", "====  ===", "long  x", "====  ===",
    ]  # fmt: skip


def test_columns_without_a_value_are_left_out_and_single_holes_marked() -> None:
    rows = {"zonly": {"ms": 1234.5, "asked": 0.5, "ratio": 0.256}, "mesh": {"ms": 1.25}}
    _, head, _, zonly, mesh, _ = workload_table(rows).splitlines()
    assert head.split() == ["workload", "ms", "ratio", "required"]
    assert zonly.split() == ["zonly", "1,234", "0.26", "<=", "0.5"]
    assert mesh.split() == ["mesh", "1.2", "-", "-"]


def test_costs_are_told_by_amount_and_for_each() -> None:
    line = scaling_table({"pixels": [(2000, 4.0)]}).splitlines()[3]
    assert line.split() == ["pixels", "2,000", "4.00", "2.000"]


def test_linear_cost_lies_on_the_dotted_line() -> None:
    root = ElementTree.fromstring(plot({"a": [(10, 0.5), (100, 5.0), (10_000, 500.0)]}))
    (curve,) = root.iter(f"{SVG}polyline")
    points = [tuple(map(float, pair.split(","))) for pair in curve.attrib["points"].split()]
    (dotted,) = (line for line in root.iter(f"{SVG}line") if "stroke-dasharray" in line.attrib)
    ends = [(float(dotted.attrib[f"x{n}"]), float(dotted.attrib[f"y{n}"])) for n in "12"]
    assert [points[0], points[-1]] == ends
    (x0, y0), (x1, y1), (x2, y2) = points
    assert abs((x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)) < 0.5 * (x2 - x0)


def test_everything_lies_on_the_paper() -> None:
    series = {"a": [(1, 0.004), (1_048_576, 12_345.0)], "b": [(7, 3.0)]}
    root = ElementTree.fromstring(plot(series))
    dots = [(float(d.attrib["cx"]), float(d.attrib["cy"])) for d in root.iter(f"{SVG}circle")]
    assert len(dots) == 3
    assert all(56 <= x <= 584 and 56 <= y <= 344 for x, y in dots)
