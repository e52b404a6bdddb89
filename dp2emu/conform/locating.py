"""The token of a conformance case in which a driver's process fails."""

from __future__ import annotations

from collections.abc import Iterator

from dp2emu.capture.records import Record
from dp2emu.conform.case import Case
from dp2emu.errors import CaptureError, Dp2Error
from dp2emu.replay.player import Watcher, replay
from dp2emu.rig.failure import RigFailure
from dp2emu.rig.interface import Rig


class _Recording:
    """The records of a case, as a replay reads them."""

    damage: CaptureError | None = None

    def __init__(self, case: Case) -> None:
        self.name = case.name
        self._records = case.records

    def records(self) -> Iterator[Record]:
        yield from self._records


def locate_token(failure: RigFailure, case: Case, rig: Rig) -> None:
    """Name the token of the call in which a driver failed in the failure, if its rig can restart.

    The case is replayed, and then parts of its last call, each on a fresh driver; the last one may
    have failed.
    """
    restart = getattr(rig, "restart", None)
    if restart is None:
        return
    found: list[Dp2Error] = []
    restart()
    replay(_Recording(case), rig=rig, watcher=Watcher(fault=found.append))
    for each in found:
        if isinstance(each, RigFailure) and each.finding.key == failure.finding.key:
            failure.at(offset=each.offset, token=each.token)
