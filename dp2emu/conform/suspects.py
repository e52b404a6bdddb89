"""Suspects: features that cases which fail have, and cases which pass have not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

from dp2emu.conform.case import ANY_RESULT, Case
from dp2emu.conform.features import draws, features
from dp2emu.conform.operands import Feature
from dp2emu.conform.running import Outcome
from dp2emu.conform.symptoms import is_drawn

_SURE, _DOUBTFUL = 0.2, 2
"""Most cases that pass for each that fails: a case may use what is at fault and not show it."""
_MISDRAWN = 2
"""Most cases that draw something wrong for each that fails in another way: what only draws wrongly
is not at fault in what is refused.
"""


Used = dict[str, frozenset[Feature]]
"""Features of cases by name."""


class Suspect(NamedTuple):
    """What failing cases use: ``what``, by which they have one cause, and ``value``."""

    what: str
    value: str


class Suspects(NamedTuple):
    """By the name of each failed case, the features that may be at ``fault``, and those that may
    have to do with it if they are values of what is at fault elsewhere: ``doubtful``.
    """

    fault: dict[str, frozenset[Suspect]]
    doubtful: dict[str, frozenset[Suspect]]


def features_of(outcomes: Iterable[Outcome]) -> Used:
    """The features of each case, by its name; they take most of the time of grouping."""
    return {outcome.case.name: features(outcome.case) for outcome in outcomes}


def suspects(
    failed: Sequence[Outcome], passed: Iterable[Case], used: Used, pairs: bool = False
) -> Suspects:
    """The features that failed cases have and hardly any that passes.

    Witnesses are passing cases: of a case that draws something wrong, those whose pictures are
    looked at; of others, all but those in which every result is right.  If no case passes there
    are no suspects.  ``used`` has the features of failed and of passed cases.  ``pairs`` are types
    of primitives, each together with a state.
    """
    passed = tuple(passed)
    suspected = {
        each.case.name: _suspected(used[each.case.name], pairs) if passed else frozenset()
        for each in failed
    }
    wrong = Counter(one for each in suspected.values() for one in each)
    executed = [each.case for each in failed if is_drawn(each) and _tells(each.case, False)]
    misdrawn = Counter(one for case in executed for one in suspected[case.name])
    found = Suspects({}, {})
    for drawn in (True, False):
        witnesses = [case for case in passed if _tells(case, drawn)]
        right = Counter(one for case in witnesses for one in _suspected(used[case.name], pairs))
        for name in (each.case.name for each in failed if is_drawn(each) is drawn):
            for some, most in zip(found, (_SURE, _DOUBTFUL), strict=True):
                some[name] = frozenset(
                    one
                    for one in suspected[name]
                    if right[one] <= most * wrong[one]
                    and (drawn or misdrawn[one] <= _MISDRAWN * (wrong[one] - misdrawn[one]))
                )
    return found


def _tells(case: Case, drawn: bool) -> bool:
    """Whether a case that passes tells that what it uses is right."""
    open = case.disputed or any(each.ddrval == ANY_RESULT for each in case.expected)
    return not open and (draws(case) or not drawn)


def _suspected(used: frozenset[Feature], pairs: bool) -> frozenset[Suspect]:
    if not pairs:
        return frozenset(Suspect(*each) for each in used)
    primitives = [each for each in used if each[0] == "primitive type"]
    states = [each for each in used if each[0].startswith(_STATES)]
    return frozenset(_pair(*each) for each in product(primitives, states))


_STATES = "D3DRS_", "D3DTSS_"
"""How the names of states begin."""


def _pair(primitive: Feature, state: Feature) -> Suspect:
    return Suspect(f"{primitive[1]} with {state[0]}", state[1])
