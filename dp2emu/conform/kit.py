"""All cases, in one order."""

from __future__ import annotations

import dp2emu.dp2.tokens  # noqa: F401  (registers the token table)
from dp2emu.conform.case import Case
from dp2emu.conform.draws import draw_cases
from dp2emu.conform.pictures import picture_cases
from dp2emu.conform.queries import query_cases
from dp2emu.conform.responses import response_cases
from dp2emu.conform.states import state_cases
from dp2emu.conform.walks import walk_cases
from dp2emu.errors import UsageError


def kit(*families: str) -> tuple[Case, ...]:
    """The cases whose names begin with one of these, or all; every name once.

    Raises UsageError if there are none.

    >>> [case.name for case in kit("query.order")]
    ['query.order.event', 'query.order.occlusion']
    """
    cases = (
        *query_cases(), *response_cases(), *draw_cases(), *picture_cases(), *state_cases(),
        *walk_cases(),
    )  # fmt: skip
    chosen = tuple(case for case in cases if not families or case.name.startswith(families))
    if not chosen:
        raise UsageError(f"no case begins with {' or '.join(families)}")
    return chosen
