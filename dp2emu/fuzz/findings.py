"""What was found: one of each site, saved so that it can be replayed."""

from __future__ import annotations

import re
import traceback
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from types import FrameType, TracebackType

from dp2emu.capture import CaptureWriter
from dp2emu.capture.records import Record
from dp2emu.fuzz.corpus import name_of
from dp2emu.fuzz.target import Broken, Target
from dp2emu.outputs import write_file
from dp2emu.records import dataclass

_INNERMOST = 3
"""Frames of ours that make the site of an exception."""
_NUMBERS = re.compile(r"0x[0-9a-f]+|\d+")
_OURS = "dp2emu."
_FUZZ = "dp2emu.fuzz."
_CALLERS = ("dp2emu.fuzz.worker.", "__main__.")
"""Who tries inputs, by one way or another."""


@dataclass(frozen=True, slots=True)
class Finding:
    """``site`` is the same for the same mistake; ``what`` is all that is known of this one."""

    target: str
    site: str
    what: str
    data: bytes

    @property
    def name(self) -> str:
        """Of its files, without suffix."""
        return f"{self.target}-{name_of(self.site.encode())[:8]}"


def finding_of(target: str, error: BaseException, data: bytes) -> Finding:
    """What an exception says of an input."""
    what = "".join(traceback.format_exception(error))
    return Finding(target, site_of(error), what, data)


def site_of(error: BaseException) -> str:
    """Kind and innermost functions of ours, or of a target that is none of ours; of a broken
    promise, its words without numbers.

    >>> site_of(Broken("a token at 5 instead of 7"))
    'Broken: a token at # instead of #'
    """
    kind = type(error).__name__
    if isinstance(error, Broken):
        return f"{kind}: {_NUMBERS.sub('#', str(error))}"
    frames = [_where(frame) for frame in _frames(error.__traceback__)]
    tried = [where for where in frames if not where.startswith(_CALLERS)]
    inner = [w for w in tried if w.startswith(_OURS) and not w.startswith(_FUZZ)] or tried
    return " < ".join((kind, *inner[: -_INNERMOST - 1 : -1]))


def _frames(trace: TracebackType | None) -> list[FrameType]:
    frames = []
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    return frames


def _where(frame: FrameType) -> str:
    return f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_name}"


class Findings:
    """A folder of findings that several processes share; one of each site.

    Each is three files: what was raised (``.txt``), the input (``.input``), and the capture that
    shows it, if the input is not the file itself (its suffix is then the target's).
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def __len__(self) -> int:
        return len(self.names())

    def names(self) -> list[str]:
        """Of all findings, whoever made them."""
        return sorted(path.stem for path in self.folder.glob("*.txt"))

    def has(self, finding: Finding) -> bool:
        """Whether the site is known."""
        return (self.folder / f"{finding.name}.txt").exists()

    def save(self, finding: Finding, target: Target) -> Path:
        """Write the files; returns the one to replay.  Raises OSError."""
        records = target.records(finding.data)
        shown = finding.data if records is None else sealed(records)
        suffix = target.suffix if records is None else ".dp2"
        write_file(self.folder / f"{finding.name}{suffix}", shown)
        write_file(self.folder / f"{finding.name}.input", finding.data)
        said = f"{finding.site}\n\n{finding.what}"
        write_file(self.folder / f"{finding.name}.txt", said.encode("utf-8", "backslashreplace"))
        return self.folder / f"{finding.name}{suffix}"


def sealed(records: Sequence[Record]) -> bytes:
    """Records as a sealed capture."""
    out = BytesIO()
    with CaptureWriter(out) as writer:
        for record in records:
            writer.write(record)
    return out.getvalue()
