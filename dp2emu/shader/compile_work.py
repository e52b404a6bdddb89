"""Compile work: what machine code for programs costs, counted alike on any engine.

A unit stands for about 0.1 ms of one processor.  Counted is the code that a capture needs, not
what is compiled for it: the count must not depend on caches, on engines or on threads.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from dp2emu.errors import ShaderError
from dp2emu.identity_cache import identity_cached
from dp2emu.limits import Limits, Source, raising_draws
from dp2emu.shader import ir

KERNEL = 400
"""Units of a kernel, without its programs."""
_FUNCTION = 80
"""Units of a program that is compiled by itself, without its statements."""
SAMPLER = 160
"""Units of a texture that a kernel samples."""
DRAW = 4
"""Units that each queued draw adds to what a capture may use: long captures have more shaders."""
_LOWERED = 4
"""Number of statements of a program that are recorded in a unit of time."""

_T = TypeVar("_T")

_PASSES = 2
"""Units of any statement for the passes over a program before LLVM."""
_COMPUTED = 24
"""Units of LLVM for a load or store at a computed address, which is code for each lane."""
_STATEMENTS: dict[type[ir.Statement], int] = {
    ir.Input: 3,
    ir.Output: 3,
    ir.Store: 2,
    ir.Derivative: 8,
    ir.Sample: 9,
    ir.Fetch: 4,
    ir.Access: 9,
    ir.If: 12,
    ir.Loop: 16,
    ir.Break: 4,
    ir.Kill: 4,
}
"""Units of LLVM for a statement by its type; 1 for others."""
_OPERATIONS: dict[str, int] = {
    **dict.fromkeys(("lmul", "udiv", "urem", "lshl", "lshr"), 20),
    **dict.fromkeys(("ishl", "ushr"), 10),
    **dict.fromkeys(("imulh", "umulh", "flush"), 5),
    **dict.fromkeys(("imul", "ishr", "abs", "dabs"), 3),
    "dfma": 2,
}
"""Units of LLVM for an assignment by its operation; 1 for others.  Measured by hand, for code of
16 lanes."""


@identity_cached()
def statement_count(program: ir.Program) -> int:
    """Return the number of statements of a program, nested ones included."""
    return sum(1 for _ in ir.walk(program.statements))


@identity_cached()
def compile_work(program: ir.Program) -> int:
    """Return the units of compile work of a program."""
    return sum(_PASSES + _units(each) for each in ir.walk(program.statements))


def _units(statement: ir.Statement) -> int:
    if isinstance(statement, ir.Assign):
        return _OPERATIONS.get(statement.op, 1)
    if isinstance(statement, ir.Load | ir.Store) and statement.address.index is not None:
        return _COMPUTED
    return _STATEMENTS.get(type(statement), 1)


class TooLong(ShaderError):
    """A shader that has more than ``size`` statements with its calls expanded."""

    def __init__(self, size: int, offset: int) -> None:
        super().__init__(f"more than {size} operations, calls expanded", offset=offset)
        self.size = size


class CompileBudget:
    """The compile work of the current call and of all calls, with its limits.  Mutable: it grows.

    Code is counted once, at its first use.  It is known by its hash, so that a long replay does
    not keep its programs alive.  ``Gpu`` resets ``call``, the units of the current call, and
    counts queued draws in ``draws``: each lets the capture use more (``DRAW``), as many as the
    ``source`` allows.
    """

    def __init__(self, limits: Limits, source: Source | None = None) -> None:
        self._limits = limits
        self.source = source
        self._known: set[int] = set()
        self.call = self._capture = self.draws = 0

    @property
    def spent(self) -> int:
        """Units of all code so far."""
        return self._capture

    def shader(
        self,
        code: Hashable,
        make: Callable[[], _T],
        programs: Callable[[_T], Iterable[ir.Program]],
    ) -> _T:
        """Return what ``make`` returns, a shader that is created from ``code``, and count its
        ``programs``.

        Raises Exceeded for a program with too many statements, and if too little work is left.
        """
        key = hash(code)
        if key in self._known:
            return make()
        self._allow(1)
        try:
            made = make()
        except TooLong as error:
            self._spend(error.size // _LOWERED)
            self._limits.check("shader_statements", error.size + 1)
            raise
        self._known.add(key)
        sizes = [statement_count(each) for each in programs(made)]
        self._spend(sum(sizes) // _LOWERED)
        self._limits.check("shader_statements", max(sizes, default=0))
        return made

    def code(self, key: Hashable, units: Callable[[], int]) -> None:
        """Count code, whose compile work ``units`` returns, unless it is known by its key.

        Raises Exceeded if too little work is left.
        """
        number = hash(key)
        if number not in self._known:
            more = units()
            self._allow(more)
            self._known.add(number)
            self._spend(more)

    def program(self, program: ir.Program | None) -> None:
        """Count a program that is compiled by itself.  Raises Exceeded as ``code`` does."""
        if program is not None:
            self.code(program, lambda: _FUNCTION + compile_work(program))

    def _allow(self, more: int) -> None:
        self._limits.check("call_compile", self.call, more)
        draws, source = self.draws, self.source
        earned = DRAW * (draws if source is None else raising_draws(draws, source))
        self._limits.check("capture_compile", max(self._capture - earned, 0), more)

    def _spend(self, units: int) -> None:
        self.call += units
        self._capture += units
