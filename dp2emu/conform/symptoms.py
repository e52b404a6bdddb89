"""Symptoms: what is wrong in the outcome of a failed case, in words that cases have in common."""

from __future__ import annotations

import re
import struct

from dp2emu.conform import picture_errors
from dp2emu.conform.emulated import draws_nothing
from dp2emu.conform.evidence import Died, WrongMemory, WrongPayload, WrongResult
from dp2emu.conform.features import tokens_of
from dp2emu.conform.picture_errors import SeenPicture, explained, seen_pictures
from dp2emu.conform.running import Outcome
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult, hr_name
from dp2emu.dp2.table import TABLE

_WHOLE_PICTURES = (
    picture_errors.shifts, picture_errors.channel_swaps, picture_errors.lost_channels,
)  # fmt: skip
_SOME_PIXELS = (
    picture_errors.missing_or_extra, picture_errors.one_colour, picture_errors.wrong_shape,
)  # fmt: skip
NOTHING = "nothing is drawn"


def proofs(outcome: Outcome) -> list[str]:
    """The symptoms of a case that tell more than its features: cases with one have one cause.

    The end of the driver, a refused token, a whole picture with one error, an answer against the
    protocol.
    """
    evidence = outcome.evidence
    if isinstance(evidence, Died):
        return [numberless(evidence.finding.key)]
    if isinstance(evidence, WrongResult):
        return [*_offset(evidence), *_refused(outcome)]
    if isinstance(evidence, WrongMemory):
        if _uniform(outcome):
            return []
        return [NOTHING] if _blank(outcome) else whole(outcome)
    return [] if evidence is not None else [numberless(outcome.why)]


def symptom(outcome: Outcome) -> str:
    """What is wrong in a case, in a few words."""
    found = proofs(outcome) or _some(outcome)
    return found[0] if found else numberless(outcome.why)


def is_drawn(outcome: Outcome) -> bool:
    """Whether a picture or a number of pixels is wrong."""
    return isinstance(outcome.evidence, WrongMemory) or counted(outcome) is not None


def counted(outcome: Outcome) -> tuple[int, int] | None:
    """The numbers of pixels, found and expected, of an occlusion query; None for other errors."""
    wrong = outcome.evidence
    if not isinstance(wrong, WrongPayload) or wrong.type != QueryType.OCCLUSION:
        return None
    if len(wrong.found) < 4 or len(wrong.expected) < 4:
        return None
    numbers = (*struct.unpack_from("<I", wrong.found), *struct.unpack_from("<I", wrong.expected))
    return numbers[0], numbers[1]


def pictures(outcome: Outcome) -> list[SeenPicture]:
    """The pictures of a case that fails by them."""
    evidence = outcome.evidence
    return seen_pictures(outcome.case, evidence) if isinstance(evidence, WrongMemory) else []


def is_empty(outcome: Outcome) -> bool:
    """Whether nothing is drawn in a case that draws something."""
    count = counted(outcome)
    if count is not None:
        return count[0] == 0
    return _uniform(outcome) or draws_nothing(outcome.case, outcome.evidence)


def _uniform(outcome: Outcome) -> bool:
    """Whether all pixels of its pictures have one colour."""
    return bool(explained(outcome.case, outcome.evidence, picture_errors.uniform))


def _blank(outcome: Outcome) -> bool:
    """Whether all pixels of its pictures are zeros, which no case expects."""
    return bool(explained(outcome.case, outcome.evidence, picture_errors.blank))


def whole(outcome: Outcome) -> list[str]:
    """The errors each of which explains the whole pictures of a case."""
    return [what for explainer in _WHOLE_PICTURES
            for what in explained(outcome.case, outcome.evidence, explainer)]  # fmt: skip


def _some(outcome: Outcome) -> list[str]:
    """The errors of some pixels, of a number of pixels, or of another answer."""
    count = counted(outcome)
    if count is not None:
        few = "few" if count[0] < count[1] else "many"
        return [f"occlusion queries count too {few} pixels"]
    if isinstance(outcome.evidence, WrongPayload):
        return [f"answers of type {QueryType(outcome.evidence.type).sdk} have wrong values"]
    return [what for explainer in _SOME_PIXELS
            for what in explained(outcome.case, outcome.evidence, explainer)]  # fmt: skip


# Results


def _offset(wrong: WrongResult) -> list[str]:
    """How a call that fails as it should misplaces its error."""
    if wrong.ddrval == HResult.D3D_OK or wrong.expect.ddrval == HResult.D3D_OK:
        return []
    off = wrong.dwErrorOffset - wrong.expect.offset
    return ["dwErrorOffset is not where the error is"] if off else []


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


# Words

_TOKEN = re.compile("|".join(rf"\b{row.op.sdk}\b" for row in TABLE.values()))
_NUMBER = re.compile(r"\b(?:0x[0-9a-f]+|[0-9a-f]*[0-9][0-9a-f]*|[0-9a-f]{8,})\b")
_CALL = re.compile(r"^call \d+: ")
_NUMBERS = re.compile(r"\bN(?:, N)+\b")


def reason(why: str) -> str:
    """A reason without the number of the call."""
    return _CALL.sub("", why)


def numberless(why: str) -> str:
    """A reason without the numbers and token names in it, by which cases of one cause differ."""
    return _NUMBERS.sub("N", _NUMBER.sub("N", _TOKEN.sub("a token", reason(why))))
