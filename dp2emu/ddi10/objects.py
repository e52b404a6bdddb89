"""Objects of a device that live in memory of their creator: resources, views, states, shaders.

As with queries a handle is that memory itself.  What a driver would keep there is kept here; the
bytes hold ``_HEADER``: mark, and the number of the object.
"""

from __future__ import annotations

from struct import Struct
from typing import Generic, TypeVar

from dp2emu.ddi10.codes import DdiCode
from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Rule
from dp2emu.errors import Fault

_HEADER = Struct("<4sIQ")

_T = TypeVar("_T")


class Objects(Generic[_T]):
    """The live objects of one kind.  Mutable: entries make and destroy them.

    ``noun`` is the kind as it is called in the names of entries, and ``mark`` four bytes that
    begin the memory of each.  There are no more at a time than the limit ``objects`` says.
    """

    def __init__(self, context: Context, noun: str, mark: bytes) -> None:
        self._contract = context.contract
        self._most = context.gpu.heap.limits.objects
        self._noun = noun
        self._mark = mark
        self._live: dict[int, tuple[bytearray, _T]] = {}
        self._created = 0

    def __len__(self) -> int:
        return len(self._live)

    def values(self) -> list[_T]:
        """All objects, oldest first."""
        return [value for _, value in self._live.values()]

    def size(self, *description: object) -> int:
        """CalcPrivate...Size: bytes the caller allocates, the same for any description."""
        return _HEADER.size

    def check(self, memory: bytearray) -> None:
        """Raises ContractError if nothing can be created in ``memory``, and Fault with
        E_OUTOFMEMORY if there are too many objects.
        """
        entry = f"Create{self._noun}"
        self._contract.hold(len(memory) == _HEADER.size, Rule.OBJECT_SIZE, entry)
        self._contract.hold(self._find(memory) is None, Rule.FRESH_OBJECT, entry)
        if len(self._live) >= self._most:
            what = f"{entry}: too many of them, limit objects {self._most}"
            raise Fault(DdiCode.E_OUTOFMEMORY, what)

    def add(self, memory: bytearray, value: _T) -> _T:
        """Let ``memory`` hold ``value``, which is returned; raises as ``check`` does."""
        self.check(memory)
        _HEADER.pack_into(memory, 0, self._mark, 0, self._created)
        self._live[self._created] = memory, value
        self._created += 1
        return value

    def open(self, memory: bytearray, entry: str) -> _T:
        """The object in ``memory``.  Raises ContractError if there is none."""
        number = self._find(memory)
        self._contract.hold(number is not None, Rule.LIVE_OBJECT, entry)
        assert number is not None
        return self._live[number][1]

    def maybe(self, memory: bytearray | None, entry: str) -> _T | None:
        """The same of a handle that may be null."""
        return None if memory is None else self.open(memory, entry)

    def destroy(self, memory: bytearray) -> None:
        """The entry Destroy..., for objects that take nothing but this with them."""
        self.take(memory)

    def take(self, memory: bytearray) -> _T:
        """Forget the object, which is returned; the memory is the caller's again.

        Raises ContractError if there is none.
        """
        value = self.open(memory, f"Destroy{self._noun}")
        number = self._find(memory)
        assert number is not None
        del self._live[number]
        return value

    def _find(self, memory: bytearray) -> int | None:
        if len(memory) != _HEADER.size:
            return None
        mark, _, number = _HEADER.unpack_from(memory)
        held, _ = self._live.get(number, (None, None))
        return int(number) if mark == self._mark and held is memory else None
