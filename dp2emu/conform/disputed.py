"""The rules on which documents disagree or are silent; a driver that does otherwise is warned of.

Such a case says which documents: ``Case.disputed``.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from dp2emu.dp2.table import Since

_SAMPLES = "no document says it; sample drivers"
_GUARD = "only a driver with a guard band gets vertices outside of the viewport"
_ONE = "no document has a count other than 1; some drivers then read one record, some as many"

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
