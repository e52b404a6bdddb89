"""Exit codes, and messages and progress on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO

from dp2emu.errors import DecodingDisagreement, Disagreement, Dp2Error, Fault, Unsupported
from dp2emu.escaping import plain

if TYPE_CHECKING:
    from rich.progress import Progress

    from dp2emu.retrace import Losses

FINE, DIFFERS, UNUSABLE, FAULTS = range(4)
READER_GONE = 141

_LONGEST = 2000
"""Maximum characters of a message on standard error; longer messages are cut."""

_GRAVITY = (FINE, DIFFERS, FAULTS, UNUSABLE)

# Messages and exit codes


def worst(*codes: int) -> int:
    """The most serious of several exit codes: 2 over 3 over 1 over 0."""
    return max(codes, key=_GRAVITY.index, default=FINE)


def say(what: str) -> None:
    """Print a message as one line on standard error, escaped, and cut if it is too long."""
    if len(what) > _LONGEST:
        what = f"{what[:_LONGEST]} ..."
    encoding = sys.stderr.encoding or "utf-8"
    line = plain(what).encode(encoding, "backslashreplace").decode(encoding)
    with suppress(OSError):
        print(line, file=sys.stderr, flush=True)


def complain(what: str) -> None:
    """Print an error message as one line on standard error."""
    say(f"dp2emu: {what}")


MESSAGES = 20
"""Maximum number of messages of one kind that are printed; further ones are counted."""


class MessageLines:
    """Prints the first ``MESSAGES`` messages of one kind and counts the others.  Mutable."""

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._count = 0

    def show(self, line: str) -> None:
        """Print or count a message."""
        self._count += 1
        if self._count <= MESSAGES:
            complain(line)

    def close(self) -> None:
        """Print how many messages were counted only."""
        if self._count > MESSAGES:
            complain(f"and {self._count - MESSAGES} more {self._noun}s")


class Faults:
    """Collects the errors of a replay, to be printed after the verb's output.  Mutable."""

    def __init__(self) -> None:
        self._first: list[str] = []
        self._count = 0

    def __bool__(self) -> bool:
        """Return whether there are errors."""
        return self._count > 0

    def note(self, error: Dp2Error) -> None:
        """Collect an error; of those beyond ``MESSAGES`` only the number is kept."""
        self._count += 1
        if self._count <= MESSAGES:
            self._first.append(str(error))

    def clear(self) -> None:
        """Forget all errors."""
        self._first.clear()
        self._count = 0

    def report(self) -> int:
        """Print the errors; returns ``FAULTS``, or ``FINE`` without any."""
        for line in self._first:
            complain(line)
        if self._count > MESSAGES:
            complain(f"and {self._count - MESSAGES} more faults")
        return FAULTS if self._count else FINE


_OF_THE_STREAM = DecodingDisagreement, Disagreement, Fault, Unsupported
"""Errors of a stream or of its execution; others mean that the input is unusable."""


_LOST = "error return without exception set", "returned NULL without setting an exception"
"""What Python says where a C function failed and set no exception: NumPy does that in an indexing
that has no memory."""


def outcome_of(verb: Callable[[], int | None]) -> int:
    """Run a verb and return its exit code; prints a message and returns a code for an error."""
    try:
        code = verb()
        sys.stdout.flush()
    except Dp2Error as error:
        return outcome_of_error(error)
    except BrokenPipeError:
        return reader_gone()
    except OSError as error:
        return unusable(error)
    except MemoryError:
        return out_of_memory()
    except SystemError as error:
        if not any(words in str(error) for words in _LOST):
            raise
        return out_of_memory()
    return FINE if code is None else code


def outcome_of_error(error: Dp2Error) -> int:
    """Print the message of an error that ended a verb; returns its exit code."""
    complain(str(error))
    return FAULTS if isinstance(error, _OF_THE_STREAM) else UNUSABLE


def reader_gone() -> int:
    """Discard buffered output, and return the exit code for a closed standard output."""
    abandon_stdout()
    return READER_GONE


def unusable(error: OSError) -> int:
    """Print a message for an error of a file; returns the exit code ``UNUSABLE``."""
    abandon_stdout()
    complain(f"{error.filename or '-'}: {error.strerror or error}")
    return UNUSABLE


def out_of_memory() -> int:
    """Print the message for a failed allocation; returns the exit code ``UNUSABLE``."""
    abandon_stdout()
    complain("out of memory")
    return UNUSABLE


def abandon_stdout() -> None:
    """Discard buffered output: the interpreter would fail to flush it at exit."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def report_losses(name: str, losses: Losses) -> int:
    """Print the calls of a trace that a capture cannot express, and return the exit code."""
    for line in losses.lines():
        complain(f"{name}: {line}")
    said = f"{losses.total} calls not expressed" if losses else "every call read is expressed"
    say(f"{name}: {said}")
    return FAULTS if losses else FINE


# Progress bars

_EVERY = 64
"""Number of records read between two updates of a progress bar."""


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """A progress display on standard error; None unless that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        yield bar


@contextmanager
def progress_through(verb: str, file: BinaryIO | None) -> Iterator[Callable[[object], None]]:
    """Show under the name of the ``verb`` how much of ``file`` was read (None: a pipe).

    Yields a function to call with each record.
    """
    with _progress() as bar:
        if bar is None:
            yield lambda record: None
            return
        size = None if file is None else os.fstat(file.fileno()).st_size
        task = bar.add_task(verb, total=size)
        seen = 0

        def advance(record: object) -> None:
            nonlocal seen
            seen += 1
            if seen % _EVERY == 0:
                bar.update(task, completed=file.tell() if file else seen)

        yield advance


@contextmanager
def progress_over(files: int) -> Iterator[Callable[[], None]]:
    """A progress bar over a number of files; the result is to be called after each."""
    with _progress() as bar:
        task = None if bar is None else bar.add_task("batch", total=files)
        yield lambda: None if bar is None or task is None else bar.advance(task)
