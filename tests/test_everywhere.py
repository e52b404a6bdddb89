"""Memory that runs out, or a signal that comes, at any line: nothing else is raised, and nothing
is left half done.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import dp2emu
from dp2emu.capture import CaptureWriter, open_capture
from dp2emu.capture.apitrace import open_trace
from dp2emu.cli.interrupts import Asked
from dp2emu.cli.outcome import FAULTS
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.walk import scan
from dp2emu.errors import Dp2Error, Fault
from dp2emu.runtime.responses import parse_responses
from dp2emu.shader.files import translate
from dp2emu.text import convert
from tests.cli.running import Ran
from tests.cli.running import dp2emu as ran
from tests.dp2.rigging import END, Bench, clear, create, issue, rectangle, triangle_list

untold = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""For tests that fail at every line: of files that were not put away then only Python can tell."""
NO_MEMORY = ("out of memory", "no memory")

OURS = str(Path(dp2emu.__file__).parent)
STREAMS = Path(__file__).parents[1] / "streams"
SAMPLE = (STREAMS / "first_light.dp2").read_bytes()
TRACE = (STREAMS / "real" / "d3d7_tri.trace").read_bytes()
WORK = create(9, QueryType.OCCLUSION) + clear() + triangle_list(0, 2) + issue(9, END)
ENDING = {"_subtract", "forget", "__del__"}
"""What is called when something is gone: nobody hears of errors there, and a tracer that raises
one brings Python 3.11 down with it."""
CLEANING = {"_replacing", "open_output"}
"""What puts files away: where a signal comes between two lines of that, one may stay."""


class Lines:
    """Counts lines of ours that are executed, and lets one raise.  Mutable: it counts.

    Every line is taken to allocate, which covers whatever does.
    """

    def __init__(self, bad: int, error: BaseException, spared: set[str]) -> None:
        self.seen = 0
        self._bad, self._error, self._spared = bad, error, spared | ENDING

    def called(self, frame: FrameType, event: str, given: Any) -> Any:
        code = frame.f_code
        ours = code.co_filename.startswith(OURS) and code.co_name not in self._spared
        return self.executed if ours else None

    def executed(self, frame: FrameType, event: str, given: Any) -> Any:
        if event == "line":
            self.seen += 1
            if self.seen == self._bad:
                raise self._error
        return self.executed


@contextmanager
def failing(bad: int, error: BaseException, spared: set[str] = set()) -> Iterator[Lines]:  # noqa: B006
    """Line number ``bad`` of the block raises; 0 counts them."""
    lines, before = Lines(bad, error, spared), sys.gettrace()
    sys.settrace(lines.called)
    try:
        yield lines
    finally:
        sys.settrace(before)


def points(total: int, most: int) -> range:
    """So many of the lines, the first among them."""
    return range(1, total + 1, max(1, total // most))


def read_sealed() -> object:
    return list(open_capture(io.BytesIO(SAMPLE)).records())


def read_trace() -> object:
    return [repr(call) for call in open_trace(io.BytesIO(TRACE)).calls()]


def write_sealed() -> object:
    out = io.BytesIO()
    with CaptureWriter(out) as writer:
        for record in RECORDS:
            writer.write(record)
    return list(open_capture(io.BytesIO(out.getvalue())).records())


def rewrite_as_text() -> object:
    out = io.BytesIO()
    convert(open_capture(io.BytesIO(SAMPLE)), "text", out)
    return out.getvalue()


def translate_both_ways() -> object:
    code = translate(SHADER)
    assert isinstance(code, bytes)
    return code, translate(code)


RECORDS = list(open_capture(io.BytesIO(SAMPLE)).records())
SHADER = b"ps_2_0\ndcl t0\ndef c0, 1, 2, 3, 4\nmad r0, t0, c0, c0.x\nmov oC0, r0\n"
RESPONSE = bytes.fromhex("58000100140000000100000004000000010000005800000008000000")
DEEDS: dict[str, Callable[[], object]] = {
    "reading a capture": read_sealed,
    "reading a trace": read_trace,
    "writing a capture": write_sealed,
    "walking commands": lambda: scan(WORK, 0, len(WORK), 0),
    "parsing responses": lambda: parse_responses(RESPONSE, lambda query: 4),
    "turning into text": rewrite_as_text,
    "translating a shader": translate_both_ways,
}


def check_deed(deed: Callable[[], object], most: int) -> None:
    wanted = deed()
    with failing(0, MemoryError()) as lines:
        assert deed() == wanted
    for bad in points(lines.seen, most):
        try:
            with failing(bad, MemoryError()):
                found = deed()
        except MemoryError:
            continue
        assert found == wanted, bad


@pytest.mark.parametrize("name", DEEDS)
def test_memory_that_runs_out_is_told_and_nothing_else(name: str) -> None:
    check_deed(DEEDS[name], 40)


@untold
@pytest.mark.slow
@pytest.mark.parametrize("name", DEEDS)
def test_memory_that_runs_out_anywhere_is_told_and_nothing_else(name: str) -> None:
    check_deed(DEEDS[name], 4000)


def check_calls(most: int) -> None:
    quad = rectangle(0, 0, 8, 8)
    Bench().call(WORK, quad)
    bench = Bench()
    with failing(0, MemoryError()) as lines:
        bench.call(WORK, quad)
    for bad in points(lines.seen, most):
        bench = Bench()
        try:
            with failing(bad, MemoryError()):
                bench.call(WORK, quad)
        except Fault as error:
            assert error.hr == HResult.DDERR_OUTOFMEMORY
        except MemoryError:  # ahead of the call, or behind it
            pass
        try:
            assert bench.call(clear()).ddrval == 0
        except Dp2Error as error:
            raise AssertionError(bad) from error


def test_a_driver_goes_on_after_a_call_without_memory() -> None:
    check_calls(40)


@untold
@pytest.mark.slow
def test_a_driver_goes_on_after_a_call_without_memory_anywhere() -> None:
    check_calls(4000)


VERBS = {
    "convert": "convert sample out --to log",
    "replay": "replay sample --json out --sheet sheet.png",
    "assemble": "assemble text -o out",
}
ERRORS: dict[str, tuple[BaseException, int, str]] = {
    "memory": (MemoryError(), 2, "out of memory"),
    "signal": (Asked(15), 143, "terminated"),
}


def check_ended(ended: Ran, code: int, words: str) -> None:
    if ended.code == FAULTS:
        assert (code, any(words in ended.err for words in NO_MEMORY)) == (2, True), ended
    elif ended.code != 0:
        assert (ended.code, ended.err.endswith(f": {words}\n")) == (code, True), ended


def check_verb(line: str, what: str, most: int, folder: Path) -> None:
    error, code, words = ERRORS[what]
    (folder / "sample").write_bytes(SAMPLE)
    (folder / "text").write_bytes(ran("dump", folder / "sample").out)
    arguments = [str(folder / word) if (folder / word).exists() or word in ("out", "sheet.png")
                 else word for word in line.split()]  # fmt: skip
    with failing(0, error, CLEANING) as lines:
        assert ran(*arguments).code == 0
    whole = (folder / "out").read_bytes()
    for bad in points(lines.seen, most):
        (folder / "out").write_bytes(b"old")
        try:
            with failing(bad, error, CLEANING):
                ended = ran(*arguments)
        except (KeyboardInterrupt, MemoryError):  # ahead of the verb, or behind it
            continue
        check_ended(ended, code, words)
        if ended.code == FAULTS:  # a call failed without memory, of which the document tells
            json.loads((folder / "out").read_bytes())
        else:
            assert (folder / "out").read_bytes() in (b"old", whole), bad
        assert {path.name for path in folder.iterdir()} <= {"sample", "text", "out", "sheet.png"}


@pytest.mark.parametrize("what", ERRORS)
@pytest.mark.parametrize("name", VERBS)
def test_a_verb_leaves_its_files_whole(name: str, what: str, tmp_path: Path) -> None:
    check_verb(VERBS[name], what, 8, tmp_path)


@untold
@pytest.mark.slow
@pytest.mark.parametrize("what", ERRORS)
@pytest.mark.parametrize("name", VERBS)
def test_a_verb_leaves_its_files_whole_whatever_line_fails(
    name: str, what: str, tmp_path: Path
) -> None:
    check_verb(VERBS[name], what, 1000, tmp_path)
