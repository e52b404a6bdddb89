"""What can go wrong with a driver that is code: findings, which are results and no end."""

from __future__ import annotations

import re
from enum import Enum

from dp2emu.errors import Dp2Error
from dp2emu.records import dataclass


class FindingKind(Enum):
    """How a driver failed as a program."""

    CRASH = "crash"
    TIMEOUT = "timeout"
    OVERRUN = "overrun"
    SANITIZER = "sanitizer"
    PROTOCOL = "protocol"


@dataclass(frozen=True, slots=True)
class Finding:
    """One failure: what happened and, where that is known, the functions it happened in, the
    innermost first.
    """

    kind: FindingKind
    what: str
    stack: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The same for the same mistake: the kind, and the functions or else what happened."""
        return f"{self.kind.value}: {' < '.join(self.stack[:_KEYED]) or self.what}"


_KEYED = 4
"""Functions that tell failures apart."""


class RigFailure(Dp2Error):
    """The driver under test failed as a program; ``finding`` says how."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(f"{finding.kind.value}: {finding.what}")
        self.finding = finding


MARK = "dp2emu-rig:"
"""Begins the line in which a host of drivers says what it found: kind, then what."""

_MARKED = re.compile(rf"^{MARK} (\w+) (.*)$", re.MULTILINE)
_REPORT = re.compile(r"ERROR: (\w+Sanitizer): ([\w-]+)")
_FRAME = re.compile(r"^\s+#\d+ 0x[0-9a-f]+ in (\S+)", re.MULTILINE)
_OURS = ("ffi_", "_ctypes", "Py", "_Py", "__libc", "_start", "__asan", "__interceptor")


def finding_of(words: str, status: int | None) -> Finding:
    """What a dead driver's last words and its exit status tell.

    ``words`` are what it wrote to standard error: a sanitizer's report counts most, then the line
    of its host.  ``status`` is as ``Popen.returncode``, negative for a signal.
    """
    report = _REPORT.search(words)
    if report is not None:
        return Finding(FindingKind.SANITIZER, f"{report[1]}: {report[2]}", _stack(words, report))
    marked = _MARKED.search(words)
    if marked is not None and marked[1] in FindingKind._value2member_map_:
        return Finding(FindingKind(marked[1]), marked[2])
    if status is not None and status < 0:
        return Finding(FindingKind.CRASH, f"signal {-status}")
    return Finding(FindingKind.CRASH, f"it ended with {status}{_last_line(words)}")


def _stack(words: str, report: re.Match[str]) -> tuple[str, ...]:
    """The driver's functions of the first stack in a report."""
    first = words[report.end() :].split("\n\n", 1)[0]
    names = _FRAME.findall(first)
    until = next((n for n, name in enumerate(names) if name.startswith(_OURS)), len(names))
    return tuple(names[:until])


def _last_line(words: str) -> str:
    lines = words.strip().splitlines()
    return f": {lines[-1]}" if lines else ""
