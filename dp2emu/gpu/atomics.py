"""Atomic operations of many lanes at once, as if one came after the other.

Source: SM4-5 tokens, "Unordered access".  Lanes that act on the same word are ordered; all first
ones of their words go together, then all second ones.  Where most of them meet on a few words
these are taken one after the other instead, with the running results of an operation that has
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from dp2emu.gpu.arrays import I64
from dp2emu.shader.sm4.lower.lowered import Act
from dp2emu.shader.types import I32

Combine = Callable[[I32, I32], I32]

_UNSIGNED: dict[Act, np.ufunc] = {Act.UMAX: np.maximum, Act.UMIN: np.minimum}
_SIGNED: dict[Act, np.ufunc] = {
    Act.AND: np.bitwise_and,
    Act.OR: np.bitwise_or,
    Act.XOR: np.bitwise_xor,
    Act.IADD: np.add,
    Act.IMAX: np.maximum,
    Act.IMIN: np.minimum,
}
COMMUTING = frozenset(_SIGNED) | frozenset(_UNSIGNED)
"""Those that leave the same whatever the order."""


def atomic(act: Act, words: I32, places: I64, *operands: I32) -> I32:
    """Act on ``words`` at ``places``, lane after lane, and give what each lane found there.

    Places and operands have a number for each lane, and all places exist.  Sums wrap.
    """
    old = np.zeros(len(places), np.int32)
    if not len(places):
        return old
    order = np.argsort(places, kind="stable")
    found, starts, counts = np.unique(places[order], return_index=True, return_counts=True)
    combine = _SIGNED.get(act) or _UNSIGNED.get(act)
    if combine is not None and len(found) < counts.max():
        view = np.uint32 if act in _UNSIGNED else np.int32
        for place, start, count in zip(found, starts, counts, strict=True):
            chosen = order[start : start + count]
            given = np.concatenate((words[place : place + 1], operands[0][chosen]))
            running = combine.accumulate(given.view(view), dtype=view).view(np.int32)
            old[chosen], words[place] = running[:-1], running[-1]
        return old
    for chosen in _rounds(order, starts, counts):
        at = places[chosen]
        old[chosen] = words[at]
        words[at] = _RESULTS[act](old[chosen], *(each[chosen] for each in operands))
    return old


def _rounds(order: I64, starts: I64, counts: I64) -> Iterator[I64]:
    """Lanes that are the first of their place, then those that are the second, and so on."""
    for number in range(int(counts.max())):
        yield order[starts[counts > number] + number]


def _of(combine: np.ufunc, view: type[np.int32 | np.uint32]) -> Callable[..., I32]:
    def result(old: I32, given: I32) -> I32:
        found: I32 = combine(old.view(view), given.view(view)).view(np.int32)
        return found

    return result


def _exchanged(old: I32, given: I32) -> I32:
    return given


def _compared(old: I32, expected: I32, given: I32) -> I32:
    return np.where(old == expected, given, old)


_RESULTS: dict[Act, Callable[..., I32]] = {
    **{act: _of(combine, np.int32) for act, combine in _SIGNED.items()},
    **{act: _of(combine, np.uint32) for act, combine in _UNSIGNED.items()},
    Act.EXCHANGE: _exchanged,
    Act.COMPARE: _compared,
}
"""What a word becomes."""
