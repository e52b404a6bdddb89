"""Tables of live device objects: resources, views, states, shaders.

A handle is the memory that the runtime allocated for the object, as with queries.  The memory only
holds ``_HEADER``, a mark and the object's number; the state of the driver is in the table.
"""

from __future__ import annotations

import re
from struct import Struct
from typing import Generic, TypeVar

from dp2emu.ddi10.codes import DdiCode
from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Rule
from dp2emu.errors import Fault

_HEADER = Struct("<4sIQ")
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")

_T = TypeVar("_T")


class Objects(Generic[_T]):
    """The live objects of one type, such as queries or views.

    ``noun`` is the type's name in DDI function names, ``mark`` the first four bytes in the memory
    of each object.  Their number is limited by the heap's limit ``objects``.  Mutable: DDI
    functions create and destroy them.
    """

    def __init__(self, context: Context, noun: str, mark: bytes) -> None:
        self._contract = context.contract
        self._limits = context.gpu.heap.limits
        self._noun = noun
        self._mark = mark
        self._live: dict[int, tuple[bytearray, _T]] = {}
        self._created = 0

    def __len__(self) -> int:
        return len(self._live)

    @property
    def words(self) -> str:
        """The name of the type in small letters, such as "blend state"."""
        return _CAPITAL.sub(" ", self._noun).lower()

    def items(self) -> list[tuple[bytearray, _T]]:
        """All live objects with their memory, oldest first."""
        return list(self._live.values())

    def values(self) -> list[_T]:
        """All live objects, oldest first."""
        return [value for _, value in self._live.values()]

    def size(self, *description: object) -> int:
        """CalcPrivate...Size: bytes that the runtime has to allocate, for any ``description``."""
        return _HEADER.size

    def check(self, memory: bytearray) -> None:
        """Raise ContractError if no object can be created in ``memory``, and Fault
        (E_OUTOFMEMORY) at the limit of objects.
        """
        entry = f"Create{self._noun}"
        self._contract.check(len(memory) == _HEADER.size, Rule.OBJECT_SIZE, entry)
        self._contract.check(self._find(memory) is None, Rule.FRESH_OBJECT, entry)
        if len(self._live) >= self._limits.objects:
            what = f"{entry}: {self._limits.refusal('objects', len(self._live) + 1)}"
            raise Fault(DdiCode.E_OUTOFMEMORY, what)

    def add(self, memory: bytearray, value: _T) -> _T:
        """Create an object in ``memory`` and return ``value``; raises as ``check`` does."""
        self.check(memory)
        _HEADER.pack_into(memory, 0, self._mark, 0, self._created)
        self._live[self._created] = memory, value
        self._created += 1
        return value

    def open(self, memory: bytearray, entry: str) -> _T:
        """The object whose handle is ``memory``.  Raises ContractError if there is none."""
        number = self._contract.need(self._find(memory), Rule.LIVE_OBJECT, entry)
        return self._live[number][1]

    def get(self, memory: bytearray) -> _T | None:
        """The object whose handle is ``memory``, None if there is none."""
        number = self._find(memory)
        return None if number is None else self._live[number][1]

    def maybe(self, memory: bytearray | None, entry: str) -> _T | None:
        """The object whose handle is ``memory``, None if that is None; raises as ``open`` does."""
        return None if memory is None else self.open(memory, entry)

    def destroy(self, memory: bytearray) -> None:
        """Destroy..., for objects that own no other resources."""
        self.remove(memory)

    def remove(self, memory: bytearray) -> _T:
        """Remove and return the object whose handle is ``memory``.

        The runtime may then reuse the memory.  Raises ContractError if there is no such object.
        """
        entry = f"Destroy{self._noun}"
        number = self._contract.need(self._find(memory), Rule.LIVE_OBJECT, entry)
        return self._live.pop(number)[1]

    def _find(self, memory: bytearray) -> int | None:
        if len(memory) != _HEADER.size:
            return None
        mark, _, number = _HEADER.unpack_from(memory)
        owner, _ = self._live.get(number, (None, None))
        return int(number) if mark == self._mark and owner is memory else None
