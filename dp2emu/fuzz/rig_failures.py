"""Failures of a driver's process as deviations: a crash, a hang, an access to a guard page."""

from __future__ import annotations

from collections.abc import Sequence

from dp2emu.capture.records import Called
from dp2emu.dp2.call import Answer
from dp2emu.fuzz.rig_judge import seen
from dp2emu.fuzz.target import Deviation
from dp2emu.rig.failure import FindingKind, RigFailure
from dp2emu.rig.served import Request

NO_ANSWER = Answer(0, 0, 0)
"""Stands for the answer of a call that had none."""


class Failed(Deviation):
    """A failure of the driver's process, in ``call`` of an input."""

    @property
    def hangs(self) -> bool:
        """Return whether the driver did not answer within the timeout."""
        return is_hang(self.site)


def is_hang(site: str) -> bool:
    """Return whether a finding of this site is a driver that did not answer in time."""
    return site.startswith(FindingKind.TIMEOUT.value)


def failure_of(failure: RigFailure, records: Sequence[Request], performed: int) -> Failed:
    """Return the finding for a failure of the process; ``performed`` records had a reply."""
    finding = failure.finding
    lines = [finding.report]
    record = records[performed] if performed < len(records) else None
    if isinstance(record, Called):
        number = sum(isinstance(each, Called) for each in records[:performed])
        lines.append(f"in call {number}")
        tokens = seen(record.call, NO_ANSWER).found
        names = [f"{token.name} at byte {at}" for at, token, *_ in tokens.commands]
        if tokens.wrong is not None:
            names.append(f"an undecodable token at byte {tokens.stop}")
        if names:
            lines.append(f"the last token of the call is {names[-1]}")
    elif record is not None:
        lines.append(f"in {type(record).__name__}")
    return Failed(finding.key, "\n".join(lines))
