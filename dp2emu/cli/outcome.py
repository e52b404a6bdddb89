"""Exit codes, and the one line an error gets."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable

from dp2emu.cli.ending import ending
from dp2emu.errors import Disagreement, Dp2Error, Fault, Unsupported
from dp2emu.escaping import plain

FINE = 0
DIFFERS = 1
UNUSABLE = 2
FAULTS = 3
READER_GONE = 141

_LONGEST = 2000
"""Characters of a line about what is wrong: some of it may be quoted from the input."""

_GRAVITY = (FINE, DIFFERS, FAULTS, UNUSABLE)


def worst(*codes: int) -> int:
    """The exit code that counts when several apply: 2 over 3 over 1 over 0."""
    return max(codes, key=_GRAVITY.index, default=FINE)


def say(what: str) -> None:
    """One line on standard error, whatever is in ``what`` and however long it is."""
    if len(what) > _LONGEST:
        what = f"{what[:_LONGEST]} ..."
    encoding = sys.stderr.encoding or "utf-8"
    with contextlib.suppress(OSError):
        print(
            plain(what).encode(encoding, "backslashreplace").decode(encoding),
            file=sys.stderr,
            flush=True,
        )


def complain(what: str) -> None:
    """One line on standard error about what is wrong."""
    say(f"dp2emu: {what}")


def outcome_of(verb: Callable[[], int | None]) -> int:
    """Run a verb to its exit code; what it raises becomes one line and a code."""
    try:
        code = verb()
        sys.stdout.flush()
    except Dp2Error as error:
        complain(str(error))
        return FAULTS if isinstance(error, (Disagreement, Fault, Unsupported)) else UNUSABLE
    except BrokenPipeError:
        return reader_gone()
    except OSError as error:
        return unusable(error)
    except MemoryError:
        complain("out of memory")
        return UNUSABLE
    return FINE if code is None else code


def interrupted(error: BaseException | None) -> int:
    """The line and the code of an interrupt.  What was not yet written is not written any more:
    whoever reads may be why it is not done.
    """
    code, words = ending(error)
    _abandon_stdout()
    complain(words)
    return code


def reader_gone() -> int:
    """The code of data that nobody reads; there is nobody to tell either."""
    _abandon_stdout()
    return READER_GONE


def unusable(error: OSError) -> int:
    """The line and the code of a file that cannot be opened, read or written."""
    _abandon_stdout()
    complain(f"{error.filename or '-'}: {error.strerror or error}")
    return UNUSABLE


def _abandon_stdout() -> None:
    """What is still buffered can go nowhere; at exit the interpreter would trip over it."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
