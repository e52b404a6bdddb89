"""What can be fuzzed: a target makes inputs, changes them and tries them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from random import Random

from dp2emu.capture.records import Record
from dp2emu.fuzz.mutations import Mutation
from dp2emu.records import dataclass


class Broken(Exception):
    """Something that is promised of every input does not hold for this one."""


Trial = Callable[[bytes], Hashable]
"""Tries an input and returns what it was like: an input unlike all before is kept.  Of a frozenset
each member tells something, and one that is new is enough: an input of several calls is not new
because of which known things happen in it one after the other.

Raises ``Broken``, or whatever a user would see, for a finding; an error that the input deserves
(``Dp2Error``) is none and part of what it was like.
"""


def _no_capture(data: bytes) -> Sequence[Record] | None:
    return None


@dataclass(frozen=True, slots=True)
class Target:
    """``what`` it checks, in a line.  ``make`` sets up a trial.

    ``seed`` makes an input by chance, ``mutate`` one of another.  Inputs are at most ``most``
    bytes.  ``records`` are the capture that shows an input, None if it is a file itself, whose
    name ends in ``suffix``.  ``cover`` names the modules whose coverage tells inputs apart;
    ``compares``: they compare with numbers that inputs may have to contain.
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
