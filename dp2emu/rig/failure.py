"""Findings: how a driver's process failed (crash, hang, overrun, ...), as a result of a test."""

from __future__ import annotations

import re
from enum import Enum
from itertools import dropwhile, takewhile

import msgspec

from dp2emu.errors import Dp2Error
from dp2emu.escaping import plain
from dp2emu.rig.symbols import place_in


class FindingKind(Enum):
    """How a driver failed: crash, timeout, memory overrun, sanitizer report, protocol error."""

    CRASH = "crash"
    TIMEOUT = "timeout"
    OVERRUN = "overrun"
    SANITIZER = "sanitizer"
    PROTOCOL = "protocol"


class Finding(msgspec.Struct, frozen=True):
    """A failure: what happened and, if known, the functions on the stack, innermost first, and
    the ``address`` of the memory access that failed, which may differ from run to run.
    """

    kind: FindingKind
    what: str
    stack: tuple[str, ...] = ()
    address: int | None = None

    @property
    def key(self) -> str:
        """Return text that is equal for findings of one mistake: the kind and the innermost
        functions, or ``what`` without a stack and without standard error.
        """
        where = " < ".join(self.stack[:_KEYED]) or self.what.partition(_SAID)[0]
        return f"{self.kind.value}: {where}"

    @property
    def report(self) -> str:
        """Return what happened, with the innermost functions and the address, in a line."""
        within = f" in {' < '.join(self.stack[:_KEYED])}" if self.stack else ""
        where = "" if self.address is None else f", address {self.address:#x}"
        return f"{self.kind.value}: {self.what}{within}{where}"


_KEYED = 4
"""Maximum number of functions, from the innermost of the stack on, in the key of a finding."""


class RigFailure(Dp2Error):
    """Raised if the driver's process failed; ``finding`` says how, such as a crash or timeout."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.report)
        self.finding = finding


MARK = "dp2emu-rig:"
"""Prefix of a line on standard error by which a driver's host reports a finding; the kind of
finding follows, then what happened and, after ", address", the address of a fault."""

STACK = f"{MARK} stack "
"""Prefix of a line with the functions on the stack of a fault, innermost first, between " < "."""

_ABORTED = "SIGABRT"
"""What a host says of abort(); the line on standard error before tells the reason, such as a heap
that the C library found damaged."""

FRAMES = f"{MARK} frames"
"""A line before the frames of a stack as ``backtrace_symbols_fd`` of the C library writes them."""

_STUB_FRAME = re.compile(
    r"^(\S+)\((\w*)\+?((?:0x)?[0-9a-f]*)\) ?\[(0x[0-9a-f]{1,16})\]$", re.MULTILINE
)
_STUBS = ("dp2stub_", "main")
"""How the names of functions begin that call a driver in a stub."""
_STACK_LINE = re.compile(f"^{STACK}(.*)$", re.MULTILINE)
_MARKED = re.compile(rf"^{MARK} (\w+) (.*?) ?(?:, address (0x[0-9a-f]{{1,16}}))?$", re.MULTILINE)
_REPORT = re.compile(
    r"ERROR: (\w+Sanitizer): ([\w-]+)(?: on (?:unknown )?address (0x[0-9a-f]{1,16}))?"
)
_FRAME = re.compile(r"^\s+#\d+ 0x[0-9a-f]+ in (\S+)", re.MULTILINE)
_OURS = ("ffi_", "_ctypes", "Py", "_Py", "__libc", "_start", "__asan", "__interceptor")


def finding_of(output: str, status: int | None) -> Finding:
    """Return the finding for a driver's process that ended.

    It is, if there is one, the sanitizer's report in ``output`` (the process's standard error),
    else the line there that begins with ``MARK``, else the exit code ``status``, negative for a
    signal.
    """
    report = _REPORT.search(output)
    if report is not None:
        return Finding(
            FindingKind.SANITIZER,
            f"{report[1]}: {report[2]}",
            _stack(output, report),
            _address(report),
        )
    marked = _MARKED.search(output)
    if marked is not None and marked[1] in FindingKind._value2member_map_:
        what = marked[2]
        if what == _ABORTED:
            what += _last_words(output[: marked.start()])
        names = _told_stack(output[marked.end() :], returned=marked[2] == _ABORTED)
        return Finding(FindingKind(marked[1]), what, names, _address(marked))
    if status is not None and status < 0:
        return Finding(FindingKind.CRASH, f"signal {-status}")
    return Finding(FindingKind.CRASH, f"it ended with {status}{_last_words(output)}")


def _told_stack(output: str, *, returned: bool) -> tuple[str, ...]:
    """Return the functions that a host names, or those at the addresses that a stub tells.

    A stub's first frames are those of its handler, behind which comes a frame of another file.
    """
    told = _STACK_LINE.search(output)
    if told is not None:
        return tuple(told[1].split(" < "))
    frames = _STUB_FRAME.findall(output.partition(f"{FRAMES}\n")[2])
    own = frames[0][0] if frames else ""
    behind = list(dropwhile(lambda frame: frame[0] == own, frames))
    names: list[str] = []
    for file, name, offset, address in (frame for frame in behind if frame[0] == own):
        place = int(offset or address, 16)
        names.append(name or place_in(file, place, returned=returned or bool(names)))
    return tuple(takewhile(lambda name: not name.startswith(_STUBS), names))


def _address(found: re.Match[str]) -> int | None:
    """The address in the third group of a match, None without one."""
    return None if found[3] is None else int(found[3], 16)


def _stack(output: str, report: re.Match[str]) -> tuple[str, ...]:
    """Return the names of the functions on the first stack of a sanitizer's report, innermost
    first, up to the first of the host's own.
    """
    first = output[report.end() :].split("\n\n", 1)[0]
    names = _FRAME.findall(first)
    until = next((n for n, name in enumerate(names) if name.startswith(_OURS)), len(names))
    return tuple(names[:until])


def said(output: str) -> str:
    r"""Return the last lines of ``output`` (standard error) for the end of an error, escaped and
    bounded; empty if there are none.

    >>> print(said("warning\n\x1b[1mlibfoo.so: not found\n"))
    ; standard error: warning | \x1b[1mlibfoo.so: not found
    """
    lines = [line for line in output.splitlines() if line.strip()][-_LINES:]
    words = " | ".join(plain(line.strip()[:_LINE_CHARACTERS]) for line in lines)
    return f"{_SAID}{words}" if words else ""


_SAID = "; standard error: "
_LINES = 3
_LINE_CHARACTERS = 200


def _last_words(output: str) -> str:
    lines = output.strip().splitlines()
    return f": {plain(lines[-1][:_LINE_CHARACTERS])}" if lines else ""
