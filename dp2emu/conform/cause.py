"""A cause: the mistake of a driver that explains failed conformance cases."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from dp2emu.conform.running import Outcome


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


Groups = tuple[list[Cause], list[Outcome]]
"""Causes, and the failed outcomes that are left."""


def cause_of(
    rule: str, what: str, group: Sequence[Outcome], consequences: Sequence[Outcome] = ()
) -> Cause:
    """The cause ``what`` of a group of failed cases and of their consequences."""
    names, others = ([each.case.name for each in some] for some in (group, consequences))
    return Cause(what, rule, tuple(names), group[0].why, tuple(others))
