"""The rules on which documents disagree or are silent; a driver that does otherwise is warned of.

Such a case says which documents: ``Case.disputed``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from msgspec.structs import replace

from dp2emu.conform.case import Case
from dp2emu.conform.vertices import places_of
from dp2emu.d3d.capabilities import Capabilities
from dp2emu.dp2.table import Since

_SAMPLES = "no document says it; sample drivers"
_GUARD = "only a driver with a guard band gets vertices outside of the viewport"
_ONE = "no document has a count other than 1; some drivers then read one record, some as many"

_SIDES = "GuardBandLeft", "GuardBandTop", "GuardBandRight", "GuardBandBottom"

_Reasons = tuple[tuple[str, tuple[str, ...]], ...]

_REASONS: _Reasons = (
    ("no document says whether answers begin at the surface's start or at dwCommandOffset",
     ("response.offset",)),
    (f"{_SAMPLES} answer so", ("query.issue_unknown", "query.delete_unknown",
                               "query.unknown_type")),
    ("no document defines both flags, no flags, or BEGIN for a query that has END only",
     ("query.both_flags", "query.no_flags", "query.event_begin")),
    ("the driver documents do not say what END without BEGIN, or a second END, does",
     ("query.end_without_begin", "query.end_again")),
    ("no document has the answer of these query types in DrawPrimitives2",
     ("query.type.resourcemanager", "query.type.vertexstats", "query.type.timestamp*",
      "query.type.*timings", "query.type.cacheutilization", "count.*")),
    (_ONE, ("walk.length.setrendertarget.2", "walk.length.createlight.2",
            "walk.length.viewportinfo.2")),
    ("no document says that a token may draw no primitives, and runtimes send none",
     ("draw.none",)),
    ("no document says what follows D3DHAL_DP2EXT", ("walk.cut.ext.1[2-9]",)),
    (_GUARD, ("draw.viewport", "draw.coverage.outside", "draw.coverage.across")),
)  # fmt: skip
"""Which documents disagree or are silent, and patterns of the names of cases that rest on them."""
_UNTIL_8: _Reasons = (
    ("the documents of DirectX 8 have an unsigned base vertex", ("draw.negative_base",)),
)
"""The same for versions before DirectX 9."""


def patterns() -> tuple[str, ...]:
    """The patterns of the names of all cases that rest on a dispute in some version."""
    return tuple(pattern for _, each in (*_REASONS, *_UNTIL_8) for pattern in each)


def disputed(name: str, ddi: Since) -> str:
    """Which documents disagree on the rule of case ``name`` in version ``ddi``; empty if none."""
    for reason, patterns in (*_REASONS, *(_UNTIL_8 if ddi < Since.DX9 else ())):
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            return reason
    return ""


def settled(cases: Iterable[Case], capabilities: Capabilities) -> Iterator[Case]:
    """Yield the cases, without a dispute where what a driver announces settles it.

    A driver whose guard band encloses all vertices of a case gets them from a runtime, and clips
    at the viewport itself.  Source: the documentation of D3DCAPS9 (GuardBandLeft).
    """
    band = [capabilities.word(side) for side in _SIDES]
    for case in cases:
        clips = case.disputed == _GUARD and _encloses(band, places_of(case))
        yield replace(case, disputed="") if clips else case


def _encloses(band: list[float | None], places: Iterable[tuple[float, float]]) -> bool:
    """Whether a guard band, left, top, right and bottom, is told and all places are in it."""
    if None in band:
        return False
    left, top, right, bottom = (side or 0.0 for side in band)
    return all(left <= x <= right and top <= y <= bottom for x, y in places)
