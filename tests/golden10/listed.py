"""What golden scenes wait for, and which do not come out as their golden results, and why."""

from __future__ import annotations

from tests.golden.comparing import FAIL, PASS, Verdict

DEPARTS, WAITS = "DEPARTS", "WAITS"
KINDS = (PASS, DEPARTS, WAITS, FAIL)
"""Every kind of verdict, as the columns of the table."""

WAITING: frozenset[str] = frozenset()
"""What is not built, as errors name it."""

_UP = "a line that goes straight up draws the pixel it starts in, since it leaves its diamond"

_BETWEEN = "the corner between two diamonds belongs to the upper one, whose lowest point it is"
_STREAMS = "streams count for themselves, as the notes of the golden results say and these do not"

DEPARTURES: dict[str, str] = {
    "adjacency/adj_linelist_gs": _BETWEEN,
    "adjacency/adj_linestrip_gs": _BETWEEN,
    "clip/clip_wireframe": _UP,
    "ia/ia_linestrip": _UP,
    "sm5/sm5_so_multistream": _STREAMS,
}
"""Scene -> the rule of Direct3D 10 that its golden results do not follow."""


def placed(name: str, verdict: Verdict) -> Verdict:
    """The verdict with the list considered: a listed scene must not match, or the list lies."""
    if name not in DEPARTURES:
        return verdict
    if verdict.kind == FAIL:
        return Verdict(DEPARTS, verdict.notes)
    return Verdict(FAIL, [f"is {verdict.kind}, but stands in DEPARTURES"])
