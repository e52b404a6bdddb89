"""Causes: failed conformance cases grouped by the mistake of the driver that explains them.

``RULES`` is tried in order.  The first ones judge the basic cases, which show coverage and colours
alone.  Then causes compete: what cases have in common, a feature of theirs or a symptom, becomes a
cause if it explains the most cases, then what explains the most of the rest, and so on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from dp2emu.argument_check import checked
from dp2emu.conform.basics import colours, coverage, nothing
from dp2emu.conform.cause import Cause, Groups, cause_of
from dp2emu.conform.evidence import Died
from dp2emu.conform.features import token_names
from dp2emu.conform.operands import is_field, rank
from dp2emu.conform.running import Outcome, Verdict
from dp2emu.conform.suspects import Suspect, Suspects, features_of, suspects
from dp2emu.conform.symptoms import is_drawn, numberless, proofs, reason, symptom

__all__ = ["RULES", "Cause", "Rule", "causes"]


@checked
def causes(outcomes: Iterable[Outcome]) -> tuple[Cause, ...]:
    """The causes of the failures among ``outcomes``; each failed case is in exactly one.

    The same outcomes have the same causes, in the order of ``RULES`` and then of the number of
    their cases.
    """
    run = tuple(outcomes)
    left = [outcome for outcome in run if outcome.verdict is Verdict.FAILED]
    found: list[Cause] = []
    for rule in RULES:
        if not left:
            break
        made, left = rule.group(rule.name, left, run)
        found += made
    return tuple(found)


class Rule(NamedTuple):
    """A rule by which failed cases have one cause; ``says`` explains it.

    ``group`` is a function from the rule's name, failed outcomes and all outcomes.
    """

    name: str
    says: str
    group: Callable[[str, list[Outcome], Sequence[Outcome]], Groups]


# What cases share


class _Shared(NamedTuple):
    """What failed cases have in common: their names, and its words; ``rank`` orders those that
    have as many cases, the lowest first.
    """

    names: frozenset[str]
    rank: int
    words: tuple[str, ...]
    symptom: bool


def _competing(rule: str, failed: list[Outcome], run: Sequence[Outcome]) -> Groups:
    """Causes of at least two cases each, those of the most cases first."""
    left = {outcome.case.name: outcome for outcome in failed}
    passed = [each for each in run if each.verdict is Verdict.PASSED]
    cases, used = [each.case for each in passed], features_of([*failed, *passed])
    single, paired = (suspects(failed, cases, used, pairs) for pairs in (False, True))
    symptoms = {name: proofs(outcome) for name, outcome in left.items()}
    made: list[Cause] = []
    while left:
        best = _best([*_features(single, left), *_proofs(symptoms, left)])
        pair = _best(_features(paired, left))
        if len(pair.names) >= _PAIR * len(best.names):
            best = pair
        if len(best.names) < _FEWEST:
            break
        group = [outcome for name, outcome in left.items() if name in best.names]
        made.append(cause_of(rule, _in_words(best, group), group))
        left = {name: outcome for name, outcome in left.items() if name not in best.names}
    return made, [*left.values()]


_PAIR = 2
"""Two features together are a cause if they explain as many times the cases of a single one."""
_FEWEST = 2
"""Fewest cases of which it is said what they have in common."""


def _best(options: Iterable[_Shared]) -> _Shared:
    """What explains the most cases; of features that explain the same, two are named."""
    found = sorted(options, key=lambda each: (-len(each.names), each.rank, each.words))
    if not found:
        return _Shared(frozenset(), 0, (), False)
    best = found[0]
    alike = [each for each in found if each.names == best.names and each.rank == best.rank]
    if best.symptom:
        return best
    return best._replace(words=tuple(word for each in alike[:_NAMED] for word in each.words))


_NAMED = 2
"""Most features that a cause names of those between which cases do not decide."""


def _features(suspected: Suspects, left: dict[str, Outcome]) -> Iterator[_Shared]:
    """What is at fault in the cases that are left.  If these are many and it is a field, then it
    is at fault in the tokens where it is doubtful, too.
    """
    fault, doubtful = (_users(each, left) for each in suspected)
    for what, values in fault.items():
        sure = set().union(*values.values())
        all_values = doubtful[what] if len(sure) >= _MANY and is_field(what) else values
        names = frozenset().union(*all_values.values())
        yield _Shared(names, rank(what), (_listed(what, all_values),), False)


def _users(
    suspected: dict[str, frozenset[Suspect]], left: dict[str, Outcome]
) -> dict[str, dict[str, set[str]]]:
    """The names of cases by what they use, and by its value."""
    users: dict[str, dict[str, set[str]]] = {}
    for name in left:
        for what, value in suspected[name]:
            users.setdefault(what, {}).setdefault(value, set()).add(name)
    return users


_MANY = 5
"""Fewest cases that are many: their feature is at fault with other values too, and a symptom that
they have is a cause.
"""
_LISTED = 6
"""Most values that a cause lists."""


def _listed(what: str, values: Iterable[str]) -> str:
    distinct = sorted(value for value in values if value)
    more = f" and {len(distinct) - _LISTED} others" if len(distinct) > _LISTED else ""
    return f"{what} {', '.join(distinct[:_LISTED])}{more}" if distinct else what


def _proofs(symptoms: dict[str, list[str]], left: dict[str, Outcome]) -> Iterator[_Shared]:
    users: dict[str, set[str]] = {}
    for name in left:
        for what in symptoms[name]:
            users.setdefault(what, set()).add(name)
    for what, names in users.items():
        drawn = all(is_drawn(left[name]) for name in names)
        yield _Shared(frozenset(names), _FIRST if drawn else _LAST, (what,), True)


_FIRST, _LAST = -1, 100
"""Ranks of symptoms: an error of whole pictures tells more than a feature, others tell less."""


def _in_words(shared: _Shared, group: Sequence[Outcome]) -> str:
    if shared.symptom:
        return _reasons(shared.words[0], group)
    rules = {outcome.case.rule for outcome in group}
    if len(rules) == 1:
        return f"{_symptoms(group)}, against the rule: {rules.pop()}"
    told = _symptoms(group)
    if told.startswith(f"{shared.words[0]} is "):  # refused or misread
        return told
    return f"{told} wherever cases use {' or '.join(shared.words)}"


def _reasons(symptom: str, group: Sequence[Outcome]) -> str:
    """A symptom, or the reason of all the cases that have it if there is one."""
    whys = {reason(outcome.why) for outcome in group}
    died = group[0].evidence
    if isinstance(died, Died):
        return replace(died.finding, address=None).report
    return whys.pop() if len(whys) == 1 and numberless(group[0].why) == symptom else symptom


_TOLD = 2
"""Most symptoms that a cause tells."""


def _symptoms(group: Sequence[Outcome]) -> str:
    """The symptoms of most cases of a group, or the reason that all have."""
    whys = {reason(outcome.why) for outcome in group}
    if len(whys) == 1 and group[0].evidence is None:
        return whys.pop()
    found = Counter(map(symptom, group)).most_common()
    more = "; other errors" if len(found) > _TOLD else ""
    return "; ".join(what for what, _ in found[:_TOLD]) + more


# Everything else


def _by_error(rule: str, failed: list[Outcome], run: Sequence[Outcome]) -> Groups:
    """Causes of cases that have a symptom in common if these are many, else of one rule each.

    A rule of several tokens has a cause for each of them.
    """
    alike: dict[str, list[Outcome]] = {}
    for outcome in failed:
        alike.setdefault(symptom(outcome), []).append(outcome)
    many = {what: some for what, some in alike.items() if len(some) >= _MANY}
    groups: dict[tuple[str, frozenset[str]], list[Outcome]] = {}  # by rule without numbers
    for outcome in (each for what, some in alike.items() if what not in many for each in some):
        key = numberless(outcome.case.rule), token_names(outcome.case)
        groups.setdefault(key, []).append(outcome)
    found = [*many.items()]
    for group in groups.values():
        broken = f"{_symptoms(group)}, against the rule: {group[0].case.rule}"
        found.append((broken, group))
    found.sort(key=lambda item: -len(item[1]))
    return [cause_of(rule, what, group) for what, group in found], []


RULES: tuple[Rule, ...] = (
    Rule("nothing", "No case of coverage draws a pixel; nor do others.", nothing),
    Rule("coverage", "Cases of coverage fail, beside edges alone; so do others, whose pictures "
         "are right inside of primitives, one pixel and more away from edges.", coverage),
    Rule("colours", "All cases of coverage have the right pixels in wrong colours; others have "
         "what follows from it.", colours),
    Rule("shared", "Cases use a token, field, state or format in common, which cases that pass "
         "do not; or the driver ends, refuses a token or answers in the same way.", _competing),
    Rule("error", "The same kind of pixels is wrong in many cases; or a rule is broken.",
         _by_error),
)  # fmt: skip
"""Rules by which failed cases are grouped, in the order in which they are tried."""
