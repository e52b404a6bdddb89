"""All cases, in one order."""

from __future__ import annotations

from itertools import chain

import dp2emu.dp2.tokens  # noqa: F401  (registers the token table)
from dp2emu.conform.case import Case
from dp2emu.conform.draws import draw_cases
from dp2emu.conform.lines import line_cases
from dp2emu.conform.merging import merging_cases
from dp2emu.conform.queries import query_cases
from dp2emu.conform.responses import response_cases
from dp2emu.conform.states import state_cases
from dp2emu.conform.textures import texture_cases
from dp2emu.conform.walks import walk_cases
from dp2emu.errors import UsageError

FAMILIES = (
    query_cases, response_cases, draw_cases, line_cases, merging_cases, texture_cases, state_cases,
    walk_cases,
)  # fmt: skip
"""Functions that make the cases, in the order of the kit."""


def kit(*families: str) -> tuple[Case, ...]:
    """The cases whose names begin with one of these, or all; every name once.

    Raises UsageError if there are none.

    >>> [case.name for case in kit("query.order")]
    ['query.order.event', 'query.order.occlusion']
    """
    cases = chain.from_iterable(family() for family in FAMILIES)
    chosen = tuple(case for case in cases if not families or case.name.startswith(families))
    if not chosen:
        raise UsageError(f"no case begins with {' or '.join(families)}")
    return chosen
