"""Fuzzing targets: each makes inputs, mutates them and tries them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from random import Random
from typing import Any, Protocol

import msgspec

from dp2emu.capture.records import Record
from dp2emu.fuzz.cost import Bound, Cost, Size
from dp2emu.fuzz.growth import Growth, doubled
from dp2emu.fuzz.mutations import Mutation


class Broken(Exception):
    """A property that a target checks does not hold for an input."""


class Deviation(Broken):
    """``Broken`` with its own ``site``, which identifies the mistake, and a ``report`` of it."""

    def __init__(self, site: str, report: str) -> None:
        super().__init__(site)
        self.site = site
        self.report = report


class GivenUp(Exception):
    """Raised by a trial that can try no further input; its text says why.  The worker ends."""


Trial = Callable[[bytes], Hashable]
"""Function that tries an input and returns what it did, as features; an input with a feature that
no earlier one had is kept for mutation.

A frozenset has several features, any other value is one; so an input of several calls is not new
because known events happen in a new order.

An exception is a finding, except ``Dp2Error``, which is the right answer to a damaged input and a
feature."""


class Expecting(Protocol):
    """A trial that knows inputs before it tries them."""

    def __call__(self, data: bytes) -> Hashable:
        """Try an input."""

    def expect(self, inputs: Sequence[bytes]) -> None:
        """Note the inputs of the next calls, in order."""


def cases_of(trial: Any) -> int:
    """Return the ``cases`` of a trial that counts them, 0 of others."""
    return getattr(trial, "cases", 0)


def _no_capture(data: bytes) -> Sequence[Record] | None:
    return None


class Target(msgspec.Struct, frozen=True):
    """A fuzzing target: a property to check, and how to get inputs that test it.

    ``what`` says the property in a line; ``make`` returns the function that tries inputs.
    ``seed`` makes a random input, ``mutate`` changes one; inputs have at most ``most`` bytes.
    ``grow`` makes an input longer, up to ``longest`` bytes; inputs do not grow if that is 0.
    ``pace`` is the number of bytes of longer inputs for each byte of others, and ``pace_of_calls``
    the largest number of their function calls for each call of others.
    ``cost`` is the processor time and memory that an input may take, by its ``size``.
    ``records`` returns the capture that reproduces an input, or None if the input is a file, whose
    name ends in ``suffix``.  ``cover`` names the modules whose coverage is measured; ``compares``:
    they compare with constants that an input may have to contain.
    ``smaller`` returns a ``findings.Finding`` with smaller records; None: inputs lose bytes.
    ``program``: a finding is also saved as a program in C.
    ``ahead`` is the number of inputs that a trial wants to know before it tries the first of them,
    by its method ``expect``; 0: none.
    ``cases`` returns the number of cases that a trial has tried so far, if an input is many: draws
    executed, or a stream and its mutants.
    """

    name: str
    what: str
    make: Callable[[], Trial]
    seed: Callable[[Random], bytes]
    mutate: Mutation
    most: int
    cover: tuple[str, ...]
    records: Callable[[bytes], Sequence[Record] | None] = _no_capture
    suffix: str = ".bin"
    compares: bool = True
    cost: Bound = Bound()
    size: Size = len
    grow: Growth = doubled
    longest: int = 0
    pace: float = 0.25
    pace_of_calls: float = math.inf
    smaller: Callable[[Any], Any] | None = None
    program: bool = False
    ahead: int = 0
    cases: Callable[[Any], int] | None = None

    def allowed(self, data: bytes) -> Cost:
        """Return the most that the input ``data`` may cost."""
        return self.cost.of(self.size(data))

    @property
    def room(self) -> int:
        """Return the most bytes of any input."""
        return max(self.most, self.longest)
