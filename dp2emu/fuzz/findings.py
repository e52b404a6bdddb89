"""Findings of a campaign: one per site, saved so that it can be replayed."""

from __future__ import annotations

import re
import traceback
from collections.abc import Sequence
from io import BytesIO, StringIO
from pathlib import Path
from types import FrameType, TracebackType

import msgspec

from dp2emu.capture import CaptureWriter
from dp2emu.capture.records import Record
from dp2emu.fuzz.corpus import name_of
from dp2emu.fuzz.cost import Costly
from dp2emu.fuzz.target import Broken, Deviation, Target
from dp2emu.outputs import write_file
from dp2emu.text.csource import CWriter

_INNERMOST = 3
"""Number of innermost frames of dp2emu that identify the site of an exception."""
_NUMBERS = re.compile(r"0x[0-9a-f]+|\d+")
_OURS = "dp2emu."
_FUZZ = "dp2emu.fuzz."
_CALLERS = "dp2emu.fuzz.worker."
"""Prefix of the qualified names of functions that run inputs; an exception is never attributed to
their stack frames."""


class Finding(msgspec.Struct, frozen=True):
    """A failure by the input ``data``; ``site`` identifies the mistake, ``what`` is a report.

    ``records`` are the capture that reproduces it, if the target's records do not.
    """

    target: str
    site: str
    what: str
    data: bytes
    records: tuple[Record, ...] | None = None

    @property
    def name(self) -> str:
        """Return the stem of this finding's file names: target, hash of the site."""
        return f"{self.target}-{name_of(self.site.encode())[:8]}"


def finding_of(target: str, error: BaseException, data: bytes) -> Finding:
    """Return the finding for an exception that an input raised."""
    if isinstance(error, Deviation):
        return Finding(target, error.site, error.report, data)
    what = "".join(traceback.format_exception(error))
    return Finding(target, site_of(error), what, data)


def site_of(error: BaseException) -> str:
    """Return the exception's class and innermost functions of dp2emu, or else of the target; of
    ``Broken`` the message without its numbers; of ``Costly`` its own site.

    >>> site_of(Broken("a token at 5 instead of 7"))
    'Broken: a token at # instead of #'
    """
    kind = type(error).__name__
    if isinstance(error, Costly | Deviation):
        return error.site
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
    """A directory of findings that processes share, one per site.

    A finding is three files: the report (``.txt``), the input (``.input``), and a capture that
    reproduces it, or the input as a file with the target's suffix; for a driver in C also a
    program (``.c``) that makes the calls of the capture.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def __len__(self) -> int:
        return len(self.names())

    def names(self) -> list[str]:
        """Return the file names, without suffix, of all findings in the directory."""
        return sorted(path.stem for path in self.folder.glob("*.txt"))

    def has(self, finding: Finding) -> bool:
        """Return whether a finding with the same site is saved already."""
        return (self.folder / f"{finding.name}.txt").exists()

    def save(self, finding: Finding, target: Target) -> Path:
        """Write a finding's files; return the path of the one to replay.  Raises OSError."""
        records = finding.records or target.records(finding.data)
        shown = finding.data if records is None else sealed(records)
        suffix = target.suffix if records is None else ".dp2"
        write_file(self.folder / f"{finding.name}{suffix}", shown)
        if target.program and records is not None:
            write_file(self.folder / f"{finding.name}.c", program(records))
        write_file(self.folder / f"{finding.name}.input", finding.data)
        report = f"{finding.site}\n\n{finding.what}"
        write_file(self.folder / f"{finding.name}.txt", report.encode("utf-8", "backslashreplace"))
        return self.folder / f"{finding.name}{suffix}"


def sealed(records: Sequence[Record]) -> bytes:
    """Return a sealed capture of records."""
    out = BytesIO()
    with CaptureWriter(out) as writer:
        for record in records:
            writer.write(record)
    return out.getvalue()


def program(records: Sequence[Record]) -> bytes:
    """Return the C source of a program that makes the calls of records."""
    out = StringIO()
    writer = CWriter(out)
    for record in records:
        writer.write(record)
    writer.finish()
    return out.getvalue().encode("ascii")
