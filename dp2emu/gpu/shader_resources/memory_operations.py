"""What programs do to memory: the accesses of a program, by number, on what is bound to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np

from dp2emu.errors import Unsupported
from dp2emu.gpu.arrays import I64, Mask
from dp2emu.gpu.command.packets import Unordered
from dp2emu.gpu.shader_resources.unordered_access import (
    NOTHING,
    TexelMemory,
    UnorderedMemory,
    WordMemory,
    Words,
    memory_of,
)
from dp2emu.shader.ir import Access, Loop, Program, Statement, blocks
from dp2emu.shader.resources import MemoryOpcode, MemoryOperation
from dp2emu.shader.types import I32, Lanes

WORD_BYTES = 4


class Accesses:
    """Memory for a run of a program (``shader.reference.Memory``).

    ``shared`` is what g# are.  Of its ``lanes`` those that are not ``real``, which only complete
    quads, change nothing.  ``most`` is how many accesses there may be.  Mutable: ``bytes`` counts
    what of ``bound`` lanes read and wrote, and ``steps`` how often memory was acted on.
    """

    def __init__(
        self,
        deeds: Sequence[MemoryOperation],
        bound: Mapping[int, Unordered],
        lanes: int,
        shared: Mapping[int, WordMemory] | None = None,
        real: Mask | None = None,
        most: int | None = None,
    ) -> None:
        self.bytes = 0
        self.steps = 0
        self.lanes = lanes
        self._most = most
        self._deeds = deeds
        self._bound = bound
        self._shared = shared or {}
        self._real = real
        self._memories = [self._memory(deed) for deed in deeds]

    def access(self, unit: int, operands: tuple[I32, ...], active: Mask | None) -> Words:
        """Act for the active lanes, from the lowest on.

        Raises Unsupported once there have been too many.
        """
        self.steps += 1
        if self._most is not None and self.steps > self._most:
            raise Unsupported("so many accesses to memory of one dispatch")
        deed, memory = self._deeds[unit], self._memories[unit]
        if deed.act in _COUNTING:
            return self._count(deed, self._chosen(active))
        if memory is None:
            return NOTHING
        if deed.act in _ASKING:
            return _ASKING[deed.act](memory, operands)
        chosen = self._chosen(active)
        if not deed.shared:
            self.bytes += len(chosen) * _moved(deed, memory, len(operands))
        if deed.act is MemoryOpcode.LOAD:
            return memory.load(operands)
        if deed.act is MemoryOpcode.STORE:
            memory.store(operands[: memory.axes], operands[memory.axes :], chosen)
            return NOTHING
        return self._atomic(deed.act, memory, operands, chosen)

    def saved(self) -> tuple[Lanes, ...]:
        """Copies of all words that accesses can change, and of what is counted."""
        return (*(words.copy() for words in self._words()), np.array([self.bytes, self.steps]))

    def restore(self, saved: tuple[Lanes, ...]) -> None:
        """Make everything what it was."""
        for words, before in zip(self._words(), saved[:-1], strict=True):
            words[:] = before
        self.bytes, self.steps = map(int, saved[-1])

    def _words(self) -> list[I32]:
        """All memory, each once."""
        surfaces = [
            each
            for bound in self._bound.values()
            for each in (bound.surface, bound.counter)
            if each is not None
        ]
        found = [*(each.words for each in surfaces), *(m.words for m in self._shared.values())]
        return list({id(words): words for words in found}.values())

    def _memory(self, deed: MemoryOperation) -> UnorderedMemory | None:
        if deed.shared:
            return self._shared.get(deed.number)
        bound = self._bound.get(deed.number)
        return None if bound is None else memory_of(bound, deed.dimension)

    def _chosen(self, active: Mask | None) -> I64:
        """Lanes that act, in order."""
        if active is None:
            return np.arange(self.lanes) if self._real is None else np.flatnonzero(self._real)
        return np.flatnonzero(active if self._real is None else active & self._real)

    def _atomic(
        self, act: MemoryOpcode, memory: UnorderedMemory, operands: tuple[I32, ...], chosen: I64
    ) -> Words:
        words, axes = memory.words, memory.axes
        if words is None:
            return NOTHING
        own = memory.of_lanes(chosen) if isinstance(memory, WordMemory) else memory
        number, inside = own.places([each[chosen] for each in operands[:axes]])
        acting = chosen[inside]
        old = np.zeros(self.lanes, np.int32)
        given = (each[acting] for each in operands[axes:])
        old[acting] = atomic(act, words, number[inside], *given)
        return old, NOTHING[1], NOTHING[2], NOTHING[3]

    def _count(self, deed: MemoryOperation, chosen: I64) -> Words:
        """The counter a view hides, up or down by one for each lane."""
        bound = self._bound.get(deed.number)
        if bound is None or bound.counter is None:
            return NOTHING
        counter = bound.counter.words.view(np.uint32)[:1]
        steps = np.arange(len(chosen), dtype=np.uint32)
        found = np.zeros(self.lanes, np.uint32)
        if deed.act is MemoryOpcode.ALLOC:
            found[chosen] = counter + steps
            counter += np.uint32(len(chosen))
        else:
            found[chosen] = counter - np.uint32(1) - steps
            counter -= np.uint32(len(chosen))
        self.bytes += 2 * WORD_BYTES * len(chosen)
        return found.view(np.int32), NOTHING[1], NOTHING[2], NOTHING[3]


_COUNTING = frozenset({MemoryOpcode.ALLOC, MemoryOpcode.CONSUME})


def _moved(deed: MemoryOperation, memory: UnorderedMemory, operands: int) -> int:
    """Bytes that a lane reads and writes."""
    if isinstance(memory, TexelMemory) and deed.act in (MemoryOpcode.LOAD, MemoryOpcode.STORE):
        return memory.row.size
    if deed.act is MemoryOpcode.LOAD:
        return 4 * WORD_BYTES
    return WORD_BYTES * (operands - memory.axes if deed.act is MemoryOpcode.STORE else 2)


def _sizes(memory: UnorderedMemory, operands: tuple[I32, ...]) -> Words:
    """Of the only level there is; how many there are is told of any."""
    width, height, depth, levels = memory.sizes()
    x, y, z = (
        np.where(operands[0] == 0, np.int32(each), np.int32(0)) for each in (width, height, depth)
    )
    return x, y, z, np.full(1, levels, np.int32)


def _counted(memory: UnorderedMemory, operands: tuple[I32, ...]) -> Words:
    count = np.full(1, memory.counted(), np.int32)
    return count, count, count, count


_ASKING: dict[MemoryOpcode, Callable[[UnorderedMemory, tuple[I32, ...]], Words]] = {
    MemoryOpcode.SIZE: _sizes,
    MemoryOpcode.COUNT: _counted,
}
"""What changes nothing and reads nothing."""

Same = tuple[tuple[int, int], ...]
"""For each u# that is bound the lowest number of one in the same memory."""


@lru_cache(maxsize=1 << 8)
def in_any_order(
    program: Program, deeds: tuple[MemoryOperation, ...], same: Same, read: bool
) -> bool:
    """Whether lanes far from each other may do all of a program side by side, and it comes to the
    same as if one did it after the other, but for what they share.

    Of each memory lanes only read, or do a single thing once, or something that commutes and that
    nobody looks at the results of.  ``read``: some of it is read as a resource as well.
    """
    lowest, found = dict(same), dict[tuple[int, bool], list[tuple[MemoryOperation, bool]]]()
    for unit, looped in _accesses(program.statements, looped=False):
        deed = deeds[unit]
        if not (deed.shared or deed.act in _ASKING):
            kept = lowest.get(deed.number, deed.number), deed.act in _COUNTING
            found.setdefault(kept, []).append((deed, looped))
    return all(_harmless(each, read) for each in found.values())


def _accesses(statements: tuple[Statement, ...], *, looped: bool) -> list[tuple[int, bool]]:
    """Numbers of accesses, and whether each is in a loop."""
    done = []
    for statement in statements:
        if isinstance(statement, Access):
            done.append((statement.unit, looped))
        inner = looped or (isinstance(statement, Loop) and statement.limit > 1)
        for block in blocks(statement):
            done += _accesses(block, looped=inner)
    return done


def _harmless(deeds: list[tuple[MemoryOperation, bool]], read: bool) -> bool:
    if all(deed.act is MemoryOpcode.LOAD for deed, _ in deeds):
        return True
    if read:
        return False
    acts = {deed.act for deed, _ in deeds}
    silent = all(deed.silent for deed, _ in deeds)
    if len(acts) == 1 and silent and acts <= COMMUTING:
        return True
    return len(deeds) == 1 and not deeds[0][1]


# Atomic operations of many lanes at once, as if one came after the other.
#
# Source: SM4-5 tokens, "Unordered access".  Lanes that act on the same word are ordered; all first
# ones of their words go together, then all second ones.  Where most of them meet on a few words
# these are taken one after the other instead, with the running results of an operation that has
# them.

Combine = Callable[[I32, I32], I32]

_UNSIGNED: dict[MemoryOpcode, np.ufunc] = {
    MemoryOpcode.UMAX: np.maximum,
    MemoryOpcode.UMIN: np.minimum,
}


_SIGNED: dict[MemoryOpcode, np.ufunc] = {
    MemoryOpcode.AND: np.bitwise_and,
    MemoryOpcode.OR: np.bitwise_or,
    MemoryOpcode.XOR: np.bitwise_xor,
    MemoryOpcode.IADD: np.add,
    MemoryOpcode.IMAX: np.maximum,
    MemoryOpcode.IMIN: np.minimum,
}


COMMUTING = frozenset(_SIGNED) | frozenset(_UNSIGNED)
"""Those that leave the same whatever the order."""


def atomic(act: MemoryOpcode, words: I32, places: I64, *operands: I32) -> I32:
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


_RESULTS: dict[MemoryOpcode, Callable[..., I32]] = {
    **{act: _of(combine, np.int32) for act, combine in _SIGNED.items()},
    **{act: _of(combine, np.uint32) for act, combine in _UNSIGNED.items()},
    MemoryOpcode.EXCHANGE: _exchanged,
    MemoryOpcode.COMPARE: _compared,
}
"""What a word becomes."""
