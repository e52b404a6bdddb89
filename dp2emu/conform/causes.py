"""Causes: failed conformance cases grouped by the mistake of the driver that explains them.

``RULES`` is tried in order.  A rule gives each case the explanations that it allows; of these the
one that explains the most cases becomes a cause, then the one that explains the most of the rest,
and so on.  What no rule before explains goes to the next one; the last explains everything.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace

from dp2emu.argument_check import checked
from dp2emu.conform import picture_errors
from dp2emu.conform.case import Case
from dp2emu.conform.emulated import MOVES, Move, draws_nothing, explaining_move, still, target_of
from dp2emu.conform.evidence import Died, WrongMemory, WrongPayload, WrongResult
from dp2emu.conform.features import draws, features, tokens_of
from dp2emu.conform.picture_errors import SeenPicture, explained, parts_of, seen_pictures
from dp2emu.conform.running import Outcome, Verdict
from dp2emu.conform.target import TARGET
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult, hr_name
from dp2emu.dp2.table import TABLE


class Cause(msgspec.Struct, frozen=True):
    """A mistake that explains failed cases.

    ``what`` says in a line what is wrong, and ``rule`` names the rule of ``RULES`` that found it.
    ``cases`` are the names of the cases that show it; ``consequences`` the names of cases that
    fail only since these do.  ``example`` is the reason for the failure of the first case.
    """

    what: str
    rule: str
    cases: tuple[str, ...]
    example: str
    consequences: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all its cases, consequences last."""
        return self.cases + self.consequences


class Explanation(NamedTuple):
    """An explanation of a failed case: ``key`` is equal for cases of one cause, and ``detail``
    is what its cause lists of each case, such as the value of a state.
    """

    key: str
    detail: str = ""


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


Groups = tuple[list[Cause], list[Outcome]]
"""Causes, and the failed outcomes that are left."""
Explain = Callable[[Outcome], list[Explanation]]
"""Function that returns the explanations of a failed outcome."""


class Rule(NamedTuple):
    """A rule by which failed cases have one cause; ``says`` explains it.

    ``group`` is a function from the rule's name, failed outcomes and all outcomes.
    """

    name: str
    says: str
    group: Callable[[str, list[Outcome], Sequence[Outcome]], Groups]


def _most_first(
    explaining: Callable[[list[Outcome], Sequence[Outcome]], Explain], least: int = 1
) -> Callable[[str, list[Outcome], Sequence[Outcome]], Groups]:
    """A function for ``Rule.group``: causes of at least ``least`` cases, the largest first.

    ``explaining`` returns the function that explains an outcome, given failed and all outcomes.
    """

    def group(rule: str, failed: list[Outcome], run: Sequence[Outcome]) -> Groups:
        explain = explaining(failed, run)
        left = {number: explain(outcome) for number, outcome in enumerate(failed)}
        made: list[Cause] = []
        while True:
            key, numbers = _largest(left)
            if len(numbers) < least:
                return made, [failed[number] for number in left]
            details = [each.detail for number in numbers for each in left.pop(number)
                       if each.key == key]  # fmt: skip
            chosen = [failed[number] for number in numbers]
            made.append(_cause(rule, _in_words(key, details, chosen), chosen))

    return group


def _largest(left: dict[int, list[Explanation]]) -> tuple[str, list[int]]:
    """The explanation of the most outcomes, the first of several, and their numbers."""
    groups: dict[str, list[int]] = {"": []}
    for number, explanations in left.items():
        for key in dict.fromkeys(each.key for each in explanations):
            groups.setdefault(key, []).append(number)
    return max(groups.items(), key=lambda item: len(item[1]))


def _cause(
    rule: str, what: str, group: Sequence[Outcome], consequences: Sequence[Outcome] = ()
) -> Cause:
    names, others = ([each.case.name for each in some] for some in (group, consequences))
    return Cause(what, rule, tuple(names), group[0].why, tuple(others))


_LISTED = 6
"""Most details that a cause lists."""


def _in_words(key: str, details: Sequence[str], group: Sequence[Outcome]) -> str:
    """What a cause says: its key and details, or the reason of its cases if they have one."""
    whys = {_reason(outcome.why) for outcome in group}
    died = group[0].evidence
    if isinstance(died, Died):
        return replace(died.finding, address=None).report
    if len(whys) == 1 and _numberless(group[0].why) == key:
        return whys.pop()
    distinct = sorted({detail for detail in details if detail})
    if not distinct:
        return key
    more = f" and {len(distinct) - _LISTED} others" if len(distinct) > _LISTED else ""
    return f"{key} {', '.join(distinct[:_LISTED])}{more}"


# The driver's end


def _by_end(failed: list[Outcome], run: Sequence[Outcome]) -> Explain:
    def explain(outcome: Outcome) -> list[Explanation]:
        if not isinstance(outcome.evidence, Died):
            return []
        return [Explanation(_numberless(outcome.evidence.finding.key))]

    return explain


# Coverage

_COVERAGE = ("draw.coverage.", "coverage.")
"""How the names of the cases begin that isolate coverage."""
_AROUND = 4
"""Number of the pixels around a primitive between their centres."""


def _coverage(rule: str, failed: list[Outcome], run: Sequence[Outcome]) -> Groups:
    """A cause if cases of coverage fail, all of them beside edges alone.

    Its consequences are the other cases of which only pixels beside edges are wrong.  Of the
    pictures that are left the other rules see what is inside of primitives.
    """
    own = [each for each in failed if each.case.name.startswith(_COVERAGE) and _drawn(each)]
    if not any(map(_other_shape, own)) or not all(_beside_edges(each, MOVES) for each in own):
        return [], failed
    move = explaining_move([(each.case, each.evidence) for each in own])
    what = "coverage: pixels at the edges of primitives are wrong"
    if move is not None:
        what += f", as if vertices were moved by ({move[0]:g}, {move[1]:g}) pixels"
    moves = MOVES if move is None else (move,)
    others: list[Outcome] = []
    left: list[Outcome] = []
    names = {each.case.name for each in own}
    for outcome in failed:
        if outcome.case.name not in names:
            beside = _beside_edges(outcome, moves)
            (others if beside else left).append(outcome if beside else _inside(outcome, moves))
    return [_cause(rule, what, own, others)], left


def _drawn(outcome: Outcome) -> bool:
    """Whether a picture or a number of pixels is wrong."""
    return isinstance(outcome.evidence, WrongMemory) or _counted(outcome) is not None


def _counted(outcome: Outcome) -> tuple[int, int] | None:
    """The numbers of pixels, found and expected, of an occlusion query; None for other errors."""
    wrong = outcome.evidence
    if not isinstance(wrong, WrongPayload) or wrong.type != QueryType.OCCLUSION:
        return None
    if len(wrong.found) < 4 or len(wrong.expected) < 4:
        return None
    numbers = (*struct.unpack_from("<I", wrong.found), *struct.unpack_from("<I", wrong.expected))
    return numbers[0], numbers[1]


def _pictures(outcome: Outcome) -> list[SeenPicture]:
    evidence = outcome.evidence
    return seen_pictures(outcome.case, evidence) if isinstance(evidence, WrongMemory) else []


def _other_shape(outcome: Outcome) -> bool:
    return _counted(outcome) is not None or any(
        not picture.right_shape for picture in _pictures(outcome)
    )


def _beside_edges(outcome: Outcome, moves: Iterable[Move]) -> bool:
    """Whether all wrong pixels may be beside edges of primitives, or change with ``moves``."""
    counted = _counted(outcome)
    if counted is not None:
        least, most = _count_range(outcome.case, counted[1])
        return least <= counted[0] <= most
    pictures = _pictures(outcome)
    inner = [picture.wrong & picture.inside for picture in pictures]
    if not any(wrong.any() for wrong in inner):
        return bool(pictures)
    # Edges between equal colours, and primitives between pixel centres, are not to be seen.
    return not any((wrong & still(outcome.case, moves)).any() for wrong in inner)


def _inside(outcome: Outcome, moves: Iterable[Move]) -> Outcome:
    """The outcome with the pixels inside of primitives alone, if it has pictures."""
    pictures = _pictures(outcome)
    if not pictures:
        return outcome
    kept = still(outcome.case, moves)
    parts = [part for picture in pictures for part in parts_of(picture, picture.inside & kept)]
    return replace(outcome, evidence=WrongMemory(tuple(parts)))


def _count_range(case: Case, pixels: int) -> tuple[int, int]:
    """The least and the largest number of pixels that a case may count if coverage is wrong.

    ``pixels`` is the right number.  The emulator draws the case: each layer of what it draws may
    lose its outermost pixels, or gain those around it.
    """
    drawn = target_of(case)
    once = int((drawn != 0).sum())
    if once == 0:
        return 0, pixels + _AROUND
    inside = SeenPicture(TARGET, drawn, drawn, np.ones(drawn.shape, bool)).inside
    kept, gained = inside & (drawn != 0), ~inside | (drawn != 0)
    most = max(int(gained.sum()), _AROUND) * -(-pixels // once)
    return int(kept.sum()) * (pixels // once), most


# Refused tokens


def _by_refusal(failed: list[Outcome], run: Sequence[Outcome]) -> Explain:
    refused = {name for each in failed if _must_succeed(each) for name in _refused(each)}

    def explain(outcome: Outcome) -> list[Explanation]:
        return [Explanation(what) for what in _refused(outcome) if what in refused]

    return explain


def _must_succeed(outcome: Outcome) -> bool:
    evidence = outcome.evidence
    return isinstance(evidence, WrongResult) and evidence.expect.ddrval == HResult.D3D_OK


def _refused(outcome: Outcome) -> list[str]:
    """The token at which, or in which, a failing call says that it stopped."""
    wrong, calls = outcome.evidence, outcome.case.calls
    if not isinstance(wrong, WrongResult) or wrong.ddrval == HResult.D3D_OK:
        return []
    if wrong.call > len(calls):
        return []
    call = calls[wrong.call - 1].call
    at, result = wrong.dwErrorOffset - call.dwCommandOffset, hr_name(wrong.ddrval)
    for command in tokens_of(call):
        if command.offset == at:
            return [f"{command.token.op.sdk} is refused: {result}"]
        if command.offset < at < command.end:
            return [f"{command.token.op.sdk} is misread: {result} inside of it"]
    return []


# Pictures

_WHOLE_PICTURES = (
    picture_errors.shifts, picture_errors.channel_swaps, picture_errors.lost_channels,
)  # fmt: skip
_SOME_PIXELS = (
    picture_errors.missing_or_extra, picture_errors.one_colour, picture_errors.wrong_shape,
)  # fmt: skip


def _by_pictures(failed: list[Outcome], run: Sequence[Outcome]) -> Explain:
    def explain(outcome: Outcome) -> list[Explanation]:
        if _uniform(outcome):
            return []
        return [Explanation(what) for explainer in _WHOLE_PICTURES
                for what in explained(outcome.case, outcome.evidence, explainer)]  # fmt: skip

    return explain


# Features

_NOTHING = "nothing is drawn"


def _by_features(failed: list[Outcome], run: Sequence[Outcome]) -> Explain:
    right = [each.case for each in run if each.verdict is Verdict.PASSED and draws(each.case)]
    passed = {feature for case in right for feature in features(case)}
    suspects = {each.case.name: features(each.case) - passed
                for each in failed if right and _drawn(each)}  # fmt: skip
    users: dict[str, frozenset[str]] = {}
    for name, suspected in suspects.items():
        for what, _ in suspected:
            users[what] = users.get(what, frozenset()) | {name}

    def explain(outcome: Outcome) -> list[Explanation]:
        if not _drawn(outcome):
            return []
        found = [Explanation(_NOTHING)] if _draws_nothing(outcome) else []
        for what, value in sorted(suspects.get(outcome.case.name, ())):
            alike = sorted(each for each in users if users[each] == users[what])
            detail = value if len(alike) == 1 else ""
            found.append(Explanation(f"wrong wherever cases use {' or '.join(alike)}", detail))
        return found

    return explain


def _draws_nothing(outcome: Outcome) -> bool:
    counted = _counted(outcome)
    if counted is not None:
        return counted[0] == 0
    return _uniform(outcome) or draws_nothing(outcome.case, outcome.evidence)


def _uniform(outcome: Outcome) -> bool:
    """Whether all pixels of its pictures have one colour."""
    return bool(explained(outcome.case, outcome.evidence, picture_errors.uniform))


# Everything else


def _by_error(failed: list[Outcome], run: Sequence[Outcome]) -> Explain:
    return _error


def _error(outcome: Outcome) -> list[Explanation]:
    found = [Explanation(what) for explainer in _SOME_PIXELS
             for what in explained(outcome.case, outcome.evidence, explainer)]  # fmt: skip
    counted = _counted(outcome)
    if counted is not None:
        few = "few" if counted[0] < counted[1] else "many"
        found.append(Explanation(f"occlusion queries count too {few} pixels"))
    elif isinstance(outcome.evidence, WrongPayload):
        kind = QueryType(outcome.evidence.type).sdk
        found.append(Explanation("answers have wrong values, of types", kind))
    return found or [Explanation(_numberless(outcome.why))]


_TOKEN = re.compile("|".join(rf"\b{row.op.sdk}\b" for row in TABLE.values()))
_NUMBER = re.compile(r"\b(?:0x[0-9a-f]+|[0-9a-f]*[0-9][0-9a-f]*|[0-9a-f]{8,})\b")
_CALL = re.compile(r"^call \d+: ")
_NUMBERS = re.compile(r"\bN(?:, N)+\b")


def _reason(why: str) -> str:
    """A reason without the number of the call."""
    return _CALL.sub("", why)


def _numberless(why: str) -> str:
    """A reason without the numbers and token names in it, by which cases of one cause differ."""
    return _NUMBERS.sub("N", _NUMBER.sub("N", _TOKEN.sub("a token", _reason(why))))


RULES: tuple[Rule, ...] = (
    Rule("end", "The driver's process ends in the same way: crash, hang, overrun.",
         _most_first(_by_end)),
    Rule("coverage", "Cases of coverage fail, beside edges alone; so do others, whose pictures "
         "are right inside of primitives, one pixel and more away from edges.", _coverage),
    Rule("token", "Calls that must succeed fail, and dwErrorOffset is at or in the same token.",
         _most_first(_by_refusal)),
    Rule("picture", "Whole pictures are wrong in the same way: shifted, channels exchanged or "
         "lost.", _most_first(_by_pictures)),
    Rule("feature", "Nothing is drawn; or pictures are wrong in cases that have a token, state "
         "or format in common, which no case with a right picture has.",
         _most_first(_by_features, 2)),
    Rule("error", "The same kind of pixels is wrong, or the same words but for numbers and names "
         "of tokens tell the error.", _most_first(_by_error)),
)  # fmt: skip
"""Rules by which failed cases are grouped, in the order in which they are tried."""
