"""The engines that run programs, by name; all of them compute the same bits.

=============  ============================================================================
``reference``  NumPy over many lanes: the definition
``jit``        machine code by LLVM; falls back to the reference engine without llvmlite
``checked``    both, with an error at the first difference
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
    """Whether llvmlite is installed.  Does not import it."""
    from dp2emu.shader.jit.machine import available

    return available()


def compiles() -> bool:
    """Whether llvmlite is installed and works.  Imports it to find out."""
    from dp2emu.shader.jit.machine import works

    return can_compile() and works()


def engine(name: str) -> Run:
    """Return the engine with a name.

    Raises UsageError for an unknown name, and for ``checked`` without llvmlite.
    """
    if name not in ENGINES:
        raise UsageError(f"unknown engine {name!r}; expected {', '.join(ENGINES)}")
    if name == CHECKED and not can_compile():
        raise UsageError("engine checked needs llvmlite, which is not installed")
    if name == REFERENCE or not can_compile():
        return reference.run
    # Imported on use: the compiling engine would slow the start of every other command.
    if name == JIT:
        from dp2emu.shader.jit.engine import run
    else:
        from dp2emu.shader.checked import run
    return run


def usable(run: Run) -> Run:
    """Return an engine, or the reference engine in its place if llvmlite is installed but broken.

    Imports LLVM for engines that compile.  Raises UsageError for ``checked`` if LLVM cannot be
    used.
    """
    if name_of(run) == REFERENCE:
        return run
    return run if compiles() else engine(name_of(run))


_NAMES = {"dp2emu.shader.jit.engine": JIT, "dp2emu.shader.checked": CHECKED}
"""Names of engines, by the name of the module that has the engine's ``run`` function.  The module
is imported when its engine is first used."""


def name_of(run: Run) -> str:
    """Return the name of an engine; an unknown function counts as the reference engine."""
    return _NAMES.get(getattr(run, "__module__", ""), REFERENCE)


@contextmanager
def locate_disagreement(place: Callable[[int], str]) -> Iterator[None]:
    """Context manager that adds ``place(lane)``, such as a pixel, to a Disagreement inside."""
    try:
        yield
    except Disagreement as error:
        raise error.within(place(error.lane)) from None
