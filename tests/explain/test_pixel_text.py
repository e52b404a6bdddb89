"""The history of a pixel as text."""

from __future__ import annotations

import pytest

from dp2emu.d3d.enums import Blend, BlendOp, Cull
from dp2emu.explain.events import Event, EventKind, Origin
from dp2emu.explain.pixel_fragment import Verdict
from dp2emu.explain.pixel_history import Entry, History
from dp2emu.explain.pixel_place import Place
from dp2emu.explain.pixel_probe import examine
from dp2emu.explain.pixel_text import lines_of
from dp2emu.gpu.command.pipeline import RasterState
from dp2emu.shader.fixed.blend import BlendEquation, BlendState
from tests.explain.test_pixel_history import plain

BLACK = [0.0, 0.0, 0.0, 1.0]
INSIDE = "the sample is not inside"
DRAW = Event(7, EventKind.DRAW, Origin("DRAWPRIMITIVE", call=1, token=2))


def entry(primitive: int, verdict: Verdict, detail: str, sample: int = 0) -> Entry:
    return Entry(DRAW, sample, verdict, BLACK, BLACK, primitive=primitive, detail=detail)


def told(*entries: Entry, samples: int = 1) -> list[str]:
    """The lines of the entries of a draw, without head and value."""
    values = [BLACK] * samples
    history = History(2, 0, 1, 1, "D3DFMT_X8R8G8B8", None, BLACK, values, list(entries), 4, 4)
    return [line.strip() for line in list(lines_of(history))[2:-1]]


def test_primitives_beside_a_pixel_share_a_line() -> None:
    beside = [entry(number, Verdict.COVERAGE, INSIDE) for number in (0, 1, 2)]
    assert told(*beside, entry(3, Verdict.CULLED, "cull distance")) == [
        f"primitives 0 to 2: coverage ({INSIDE})", "primitive 3: culled (cull distance)",
    ]  # fmt: skip
    assert told(beside[0], beside[2]) == [f"primitives 0, 2: coverage ({INSIDE})"]


def test_a_fragment_keeps_its_line_and_parts_those_beside_it() -> None:
    beside = [entry(number, Verdict.COVERAGE, INSIDE) for number in (0, 1, 3, 4)]
    written = entry(2, Verdict.WRITTEN, "")
    assert told(*beside[:2], written, *beside[2:]) == [
        f"primitives 0 to 1: coverage ({INSIDE})", "primitive 2: written; 0 0 0 1 as before",
        f"primitives 3 to 4: coverage ({INSIDE})",
    ]  # fmt: skip


def test_samples_of_a_primitive_beside_a_pixel_share_a_line() -> None:
    beside = [entry(p, Verdict.COVERAGE, INSIDE, sample) for p in (0, 1) for sample in range(4)]
    assert told(*beside[:-1], samples=4) == [
        f"primitive 0, samples 0 to 3: coverage ({INSIDE})",
        f"primitive 1, samples 0 to 2: coverage ({INSIDE})",
    ]


def test_samples_with_the_same_result_share_a_line() -> None:
    written = [entry(5, Verdict.WRITTEN, "", sample) for sample in range(4)]
    written[2].overwritten = "E9"
    assert told(*written, samples=4) == [
        "primitive 5, samples 0 to 1: written; 0 0 0 1 as before",
        "primitive 5, sample 2: written; 0 0 0 1 as before; overwritten by E9",
        "primitive 5, sample 3: written; 0 0 0 1 as before",
    ]
    cleared = [Entry(DRAW, sample, Verdict.WRITTEN, BLACK, BLACK) for sample in range(2)]
    assert told(*cleared, samples=2) == ["samples 0 to 1: written; 0 0 0 1 as before"]


def test_a_fragment_whose_program_ran_has_a_line_of_its_own() -> None:
    ran = [entry(number, Verdict.COVERAGE, "alpha to coverage") for number in (0, 1)]
    for each in ran:
        each.output = BLACK
    assert [line.split(";")[0] for line in told(*ran)] == [
        f"primitive {number}: coverage (alpha to coverage)" for number in (0, 1)
    ]


@pytest.mark.parametrize(
    ("alpha", "words"),
    [
        (BlendEquation(Blend.SRCALPHA, Blend.INVSRCALPHA), "SRCALPHA ADD INVSRCALPHA"),
        (BlendEquation(Blend.ONE, Blend.ZERO, BlendOp.MAX),
         "SRCALPHA ADD INVSRCALPHA; alpha ONE MAX ZERO"),
    ],
)  # fmt: skip
def test_blending_is_told_with_factors_and_operation(alpha: BlendEquation, words: str) -> None:
    color = BlendEquation(Blend.SRCALPHA, Blend.INVSRCALPHA)
    draw = plain(blend=BlendState(color, alpha))
    target = draw.output.colors[0]
    assert target is not None
    found = examine(draw, Place.of(target, 0, 5, 5))
    assert found is not None
    assert [each.detail for each in found.fragments] == [f"blended: {words}"]


def test_culling_is_told_by_the_winding() -> None:
    draw = plain(raster=RasterState(cull=Cull.CW))
    target = draw.output.colors[0]
    assert target is not None
    found = examine(draw, Place.of(target, 0, 5, 5))
    assert found is not None
    assert [each.detail for each in found.fragments] == ["clockwise triangles are culled"]
