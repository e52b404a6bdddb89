"""The engines that run programs, by name; all of them give the same bits.

=============  ============================================================================
``reference``  NumPy over many lanes: the definition
``jit``        machine code; without llvmlite it is the reference engine that runs
``checked``    both, and an error at the first difference
=============  ============================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dp2emu.errors import Disagreement, UsageError
from dp2emu.shader import reference
from dp2emu.shader.reference import Run

REFERENCE, JIT, CHECKED = ENGINES = ("reference", "jit", "checked")


def can_compile() -> bool:
    """Whether llvmlite is there, which is not imported to find out."""
    from dp2emu.shader.jit.machine import available

    return available()


def compiles() -> bool:
    """The same, found out: whether llvmlite is there and of use, which imports it."""
    from dp2emu.shader.jit.machine import works

    return can_compile() and works()


def engine(name: str) -> Run:
    """What runs programs.  Raises UsageError for no engine, or one that cannot be here."""
    if name not in ENGINES:
        raise UsageError(f"no engine {name!r}, but {', '.join(ENGINES)}")
    if name == CHECKED and not can_compile():
        raise UsageError("without llvmlite there is nothing to check the reference engine against")
    if name == REFERENCE or not can_compile():
        return reference.run
    # The compiling engine is imported by those who use it.
    if name == JIT:
        from dp2emu.shader.jit.engine import run
    else:
        from dp2emu.shader.checked import run
    return run


def usable(run: Run) -> Run:
    """An engine, or the reference engine if what compiles is there and of no use.

    Imports LLVM for engines that compile.  Raises UsageError if there is nothing to check.
    """
    if name_of(run) == REFERENCE:
        return run
    return run if compiles() else engine(name_of(run))


_NAMES = {"dp2emu.shader.jit.engine": JIT, "dp2emu.shader.checked": CHECKED}
"""By the modules of what runs programs, which are imported by those who use them."""


def name_of(run: Run) -> str:
    """Which engine runs programs so; what is not known counts as the reference engine."""
    return _NAMES.get(run.__module__, REFERENCE)


@contextmanager
def locate_disagreement(place: Callable[[int], str]) -> Iterator[None]:
    """If engines disagree in here, the error says what place their lane is."""
    try:
        yield
    except Disagreement as error:
        raise error.within(place(error.lane)) from None
