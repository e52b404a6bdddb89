"""Scenes that are known not to come out as the golden results have them, and why."""

from __future__ import annotations

from .comparing import EDGE, FAIL, PASS, Verdict

DEPARTS = "DEPARTS"
KINDS = (PASS, EDGE, DEPARTS, FAIL)
"""Every kind of verdict, as the columns of the table."""

DEPARTURES = {
    "shader/decl_udec3": "UDEC3 is three fields of 10 bits in a DWORD, not three of 16 bits",
    "stage/all_alphaops": "BLENDFACTORALPHA of alphas blends by the factor's alpha",
}
"""Scene -> the rule of Direct3D 9 that its golden picture does not follow; docs/departures.rst
says more.
"""


def placed(name: str, verdict: Verdict) -> Verdict:
    """The verdict with the list considered: a listed scene must not match, or the list lies."""
    if name not in DEPARTURES:
        return verdict
    if verdict.kind == FAIL:
        return Verdict(DEPARTS, verdict.notes)
    return Verdict(FAIL, [f"is {verdict.kind}, but stands in DEPARTURES"])
