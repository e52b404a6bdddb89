"""The conformance kit: small captures of one rule each, and whether a rig follows it."""

from functools import cache
from itertools import chain

import dp2emu.dp2.tokens  # noqa: F401  (registers the token table)
from dp2emu.argument_check import checked
from dp2emu.conform.case import Case, Expect
from dp2emu.conform.draws import draw_cases, state_cases
from dp2emu.conform.pictures import line_cases, merging_cases, texture_cases
from dp2emu.conform.protocol import query_cases, response_cases, walk_cases
from dp2emu.conform.running import Outcome, Verdict, run_case, run_kit
from dp2emu.errors import UsageError

__all__ = ["Case", "Expect", "Outcome", "Verdict", "kit", "run_case", "run_kit"]

_FAMILIES = (
    query_cases, response_cases, draw_cases, line_cases, merging_cases, texture_cases, state_cases,
    walk_cases,
)  # fmt: skip
"""Functions that yield conformance cases; ``kit`` has the cases in this order."""


@cache
def _cases() -> tuple[Case, ...]:
    """All cases; making them takes longer than most runs of one."""
    return tuple(chain.from_iterable(family() for family in _FAMILIES))


@checked
def kit(*prefixes: str) -> tuple[Case, ...]:
    """The cases whose names begin with one of ``prefixes``, by default all cases.

    Raises UsageError if there are none.

    >>> [case.name for case in kit("query.order")]
    ['query.order.event', 'query.order.occlusion']
    """
    chosen = tuple(case for case in _cases() if not prefixes or case.name.startswith(prefixes))
    if not chosen:
        raise UsageError(f"no case begins with {' or '.join(prefixes)}; --list shows all")
    return chosen
