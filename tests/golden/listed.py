"""Scenes that are known not to come out as the golden results have them, and why."""

from __future__ import annotations

from pathlib import Path

from .comparing import EDGE, FAIL, PASS, Verdict

DEPARTS, PENDING = "DEPARTS", "PENDING"

DEPARTURES = {
    "depth/viewport_minz_maxz": "MinZ above MaxZ is a range like any other: depth runs backwards",
    "shader/decl_udec3": "UDEC3 is three fields of 10 bits in a DWORD, not three of 16 bits",
    "stage/all_alphaops": "BLENDFACTORALPHA of alphas blends by the factor's alpha",
}
"""Scene -> the rule of Direct3D 9 that its golden picture does not follow."""

PENDING_FILE = Path(__file__).parent / "pending.txt"


def pending() -> frozenset[str]:
    """Scenes that need something not built yet, as ``pending.txt`` lists them."""
    return frozenset(PENDING_FILE.read_text("utf-8").split())


def placed(name: str, verdict: Verdict, pending: frozenset[str]) -> Verdict:
    """The verdict with the lists considered: a listed scene must not match, or the list lies."""
    kind = DEPARTS if name in DEPARTURES else PENDING if name in pending else None
    if kind is None:
        return verdict
    if verdict.kind == FAIL:
        return Verdict(kind, verdict.notes)
    listed = "DEPARTURES of listed.py" if kind == DEPARTS else PENDING_FILE.name
    return Verdict(FAIL, [f"is {verdict.kind}, but stands in {listed}"])


KINDS = (PASS, EDGE, DEPARTS, PENDING, FAIL)
"""Every kind of verdict, as the columns of the table."""
