"""The conformance kit: small captures of one rule each, and whether a rig follows it."""

from functools import cache
from itertools import chain

from msgspec.structs import replace

import dp2emu.dp2.tokens  # noqa: F401  (registers the token table)
from dp2emu.argument_check import checked
from dp2emu.conform.announced import announced_cases, demanded
from dp2emu.conform.case import Case, Expect
from dp2emu.conform.coverage import coverage_cases
from dp2emu.conform.disputed import disputed, settled
from dp2emu.conform.draws import draw_cases, state_cases
from dp2emu.conform.indices import index_cases
from dp2emu.conform.lengths import length_cases
from dp2emu.conform.pictures import line_cases, merging_cases, texture_cases
from dp2emu.conform.protocol import query_cases, response_cases, walk_cases
from dp2emu.conform.running import Outcome, Verdict, run_case, run_kit, version_of
from dp2emu.conform.targets import target_cases
from dp2emu.d3d.capabilities import Capabilities
from dp2emu.dp2.table import Since
from dp2emu.errors import UsageError

__all__ = ["Case", "Expect", "Outcome", "Verdict", "kit", "run_case", "run_kit", "version_of"]

_FAMILIES = (
    query_cases, response_cases, coverage_cases, draw_cases, index_cases, line_cases,
    merging_cases, texture_cases, state_cases, target_cases, walk_cases, length_cases,
)  # fmt: skip
"""Functions that yield the conformance cases of a version; ``kit`` has them in this order."""


@cache
def _made(ddi: Since) -> tuple[Case, ...]:
    """All cases of a version; making them takes longer than most runs of one."""
    return tuple(chain.from_iterable(family(ddi) for family in _FAMILIES))


@cache
def _cases(ddi: Since) -> tuple[Case, ...]:
    """All cases of a version, each with the first version that has a case of its name."""
    first = {case.name: since for since in reversed(Since) for case in _made(since)}
    return tuple(
        replace(case, since=first[case.name], disputed=disputed(case.name, ddi))
        for case in _made(ddi)
    )


@checked
def kit(
    *prefixes: str, ddi: int = 9, wild: bool = False, capabilities: Capabilities | None = None
) -> tuple[Case, ...]:
    """The cases whose names begin with one of ``prefixes``, by default all cases.

    They are for drivers with the interface of DirectX ``ddi``, 6 to 9: no case uses a token,
    state, structure or query of a later version.  With ``wild``, cases are among them that send
    what no runtime sends, such as unknown contexts.  With the ``capabilities`` of a driver there
    are cases of what it announces (``announced.*``), and it may not refuse what it announces.
    Nor are rules disputed then that its guard band settles.
    Raises UsageError if there are no such cases.

    >>> [case.name for case in kit("query.order")]
    ['query.order.event', 'query.order.occlusion']
    >>> {case.since.value for case in kit("target", ddi=8)}
    {7}
    """
    if ddi not in tuple(Since):
        raise UsageError(f"DirectX {ddi} is not one of 6, 7, 8 and 9")
    cases = tuple(case for case in _cases(Since(ddi)) if wild or not case.wild)
    if capabilities is not None:
        announced = announced_cases(capabilities, Since(ddi))
        cases = (*settled(demanded(cases, capabilities), capabilities), *announced)
    chosen = tuple(case for case in cases if not prefixes or case.name.startswith(prefixes))
    if not chosen:
        names = " or ".join(prefixes)
        raise UsageError(f"no case begins with {names} at DirectX {ddi}; --list shows all")
    return chosen
