"""Basic causes: what the cases of coverage alone show of mistakes that most pictures have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from msgspec.structs import replace

from dp2emu.conform import picture_errors
from dp2emu.conform.case import Case
from dp2emu.conform.cause import Groups, cause_of
from dp2emu.conform.emulated import MOVES, Move, explaining_move, still, target_of
from dp2emu.conform.evidence import WrongMemory
from dp2emu.conform.features import features
from dp2emu.conform.operands import COLOURS
from dp2emu.conform.picture_errors import SeenPicture, explained, parts_of
from dp2emu.conform.running import Outcome, Verdict
from dp2emu.conform.symptoms import NOTHING, counted, is_drawn, is_empty, pictures, whole
from dp2emu.conform.target import TARGET

_COVERAGE = ("draw.coverage.", "coverage.")
"""How the names of the cases begin that isolate coverage."""
_AROUND = 4
"""Number of the pixels around a primitive between their centres."""


def _isolating(outcomes: Iterable[Outcome]) -> list[Outcome]:
    return [each for each in outcomes if each.case.name.startswith(_COVERAGE)]


# Nothing


def nothing(rule: str, failed: list[Outcome], run: Sequence[Outcome]) -> Groups:
    """A cause if no case of coverage draws anything; its cases are all that draw nothing."""
    own = [each for each in _isolating(failed) if is_drawn(each)]
    if len(own) < _SEVERAL or not all(map(is_empty, own)) or _draw_something(run):
        return [], failed
    names = {each.case.name for each in own}
    others = {each.case.name for each in failed
              if each.case.name not in names and is_drawn(each) and is_empty(each)}  # fmt: skip
    left = [each for each in failed if each.case.name not in names | others]
    group = [*own, *(each for each in failed if each.case.name in others)]
    return [cause_of(rule, NOTHING, group)], left


_SEVERAL = 2
"""Fewest cases that show what is wrong in all of them."""


def _draw_something(run: Iterable[Outcome]) -> bool:
    """Whether a case of coverage passes that draws something."""
    return any(each.verdict is Verdict.PASSED and (target_of(each.case) != 0).any()
               for each in _isolating(run))  # fmt: skip


# Coverage


def coverage(rule: str, failed: list[Outcome], run: Sequence[Outcome]) -> Groups:
    """A cause if cases of coverage fail, all of them beside edges alone.

    Its consequences are the other cases of which only pixels beside edges are wrong.  Of the
    pictures that are left the other rules see what is inside of primitives.
    """
    own = [each for each in _isolating(failed) if is_drawn(each)]
    if not any(map(_other_shape, own)) or not all(_beside_edges(each, MOVES) for each in own):
        return [], failed
    move = explaining_move([(each.case, each.evidence) for each in own])
    if move is None and all(map(is_empty, own)):
        return [], failed
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
    return [cause_of(rule, what, own, others)], left


def _other_shape(outcome: Outcome) -> bool:
    return counted(outcome) is not None or any(
        not picture.right_shape for picture in pictures(outcome)
    )


def _beside_edges(outcome: Outcome, moves: Iterable[Move]) -> bool:
    """Whether all wrong pixels may be beside edges of primitives, or change with ``moves``."""
    count = counted(outcome)
    if count is not None:
        least, most = _count_range(outcome.case, count[1])
        return least <= count[0] <= most
    seen = pictures(outcome)
    inner = [picture.wrong & picture.inside for picture in seen]
    if not any(wrong.any() for wrong in inner):
        return bool(seen)
    # Edges between equal colours, and primitives between pixel centres, are not to be seen.
    return not any((wrong & still(outcome.case, moves)).any() for wrong in inner)


def _inside(outcome: Outcome, moves: Iterable[Move]) -> Outcome:
    """The outcome with the pixels inside of primitives alone, if it has pictures."""
    seen = pictures(outcome)
    if not seen:
        return outcome
    kept = still(outcome.case, moves)
    parts = [part for picture in seen for part in parts_of(picture, picture.inside & kept)]
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


# Colours

_EXPLAINERS = (
    picture_errors.channel_swaps, picture_errors.lost_channels, picture_errors.one_colour,
)  # fmt: skip
_MIXING = "D3DRS_ALPHABLENDENABLE", "D3DRS_COLORWRITEENABLE"
_TESTING = "D3DRS_ALPHATESTENABLE"
"""States by which colours, or alpha alone, decide which pixels differ from the background."""


def colours(rule: str, failed: list[Outcome], run: Sequence[Outcome]) -> Groups:
    """A cause if all cases of coverage with pictures have wrong colours in the right places.

    Its consequences are the other cases that draw coloured vertices, unless wrong colours do not
    explain the places.
    """
    own = [each for each in _isolating(failed) if pictures(each)]
    passed = [each for each in _isolating(run) if each.verdict is Verdict.PASSED]
    if not own or any(map(_other_shape, own)) or any(each.case.shown for each in passed):
        return [], failed
    names = {each.case.name for each in own}
    error = _wrong_colours(own)
    rest = [each for each in failed if each.case.name not in names]
    others = [each for each in rest if _by_colours(each) or error in whole(each)]
    left = [each for each in rest if each not in others]
    return [cause_of(rule, f"colours: {error}", own, others)], left


def _wrong_colours(own: Sequence[Outcome]) -> str:
    """The error that all pictures of colours have."""
    for explainer in _EXPLAINERS:
        errors = [explained(each.case, each.evidence, explainer) for each in own]
        for error in errors[0]:
            if all(error in each for each in errors):
                return error
    return "the right pixels have wrong colours"


def _by_colours(outcome: Outcome) -> bool:
    """Whether wrong colours of vertices may explain a failure."""
    used = features(outcome.case)
    states = {what for what, value in used if value != "FALSE"}
    if (COLOURS, "") not in used or not is_drawn(outcome):
        return False
    if _TESTING in states:
        return True
    if counted(outcome) is not None:
        return False
    return not states.isdisjoint(_MIXING) or not _other_shape(outcome)
