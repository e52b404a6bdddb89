"""Results of ``dp2emu replay`` as test cases: each compared answer and picture, and each fault."""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.capture.records import Record
from dp2emu.diff import Judge, Judgement
from dp2emu.errors import Dp2Error
from dp2emu.junit import CaseResult, Result
from dp2emu.replay import Tally, Watcher
from dp2emu.replay.compare import Compared, Difference
from dp2emu.replay.pictures import Judged


class ReplayCases:
    """The test cases of a replay of the capture ``name``.  Mutable: the replay adds ``rows``.

    Answers are test cases with ``answers`` only; what cannot be read or executed is an error
    always.
    """

    def __init__(self, name: str, *, answers: bool) -> None:
        self.rows: list[CaseResult] = []
        self._name = name
        self._answers = answers
        self._faults = 0

    def watcher(
        self,
        fault: Callable[[Dp2Error], None],
        difference: Callable[[Difference], None],
        record: Callable[[Record], None],
        judgement: Callable[[Judged], None],
    ) -> Watcher:
        """A watcher with these callbacks that adds the test cases too."""

        def failed(error: Dp2Error) -> None:
            fault(error)
            self.fault(error)

        def judged(found: Judged) -> None:
            judgement(found)
            self.judged(found.judgement)

        return Watcher(failed, difference, record, judged, self.compared)

    def fault(self, error: Dp2Error) -> None:
        """Add a fault."""
        self._faults += 1
        self._add(f"fault {self._faults}", Result.ERROR, str(error))

    def compared(self, found: Compared) -> None:
        """Add an answer, result or observation that was compared with the recording."""
        if self._answers:
            text = "\n".join(map(str, found.differences))
            result = Result.FAILURE if found.differences else Result.PASSED
            self._add(found.name, result, text.partition("\n")[0], text)

    def judged(self, judgement: Judgement) -> None:
        """Add a picture that was compared with a reference, or a reference without picture."""
        result = Result.PASSED if judgement.within else Result.FAILURE
        name = judgement.name or judgement.reference or ""
        self._add(f"picture {name}", result, _why(judgement))

    def close(self, tally: Tally, judge: Judge | None, *, whole: bool) -> None:
        """Add what is known at the end: damage of the capture, pictures without a reference, and,
        if the pictures are of the ``whole`` capture, references without a picture.
        """
        if tally.damage is not None:
            self._add("the file", Result.ERROR, str(tally.damage))
        if self._answers and not (tally.compared or tally.observed):
            self._add("answers", Result.ERROR, "nothing to verify: no answer is recorded")
        if judge is not None:
            for name in judge.unreferenced:
                self._add(f"picture {name}", Result.SKIPPED, "no reference")
            if not tally.judged:
                self._add("pictures", Result.ERROR, "nothing to compare")
            for missing in judge.missing() if whole else ():
                self.judged(missing)

    def _add(self, name: str, result: Result, message: str = "", text: str = "") -> None:
        self.rows.append(CaseResult(self._name, name, result, message, text))


def _why(judgement: Judgement) -> str:
    """Why a picture is beyond the allowance, in one line; empty if it is within."""
    found = judgement.comparison
    if judgement.within:
        return ""
    if found is None:
        return f"no picture for the reference {judgement.reference}"
    if found.size != found.other_size:
        return f"{found.size[0]}x{found.size[1]}, not {found.other_size[0]}x{found.other_size[1]}"
    return (
        f"{found.beyond} pixels differ from {judgement.reference}, "
        f"{found.share:.3f} % are within, the largest difference is {found.largest}"
    )
