"""Objects of the traced program by their addresses (apitrace traces, "Traced objects")."""

from __future__ import annotations

from typing import Any, TypeVar

from dp2emu.retrace.losses import Inexpressible

T = TypeVar("T")


class Objects:
    """Address -> object.  Mutable: addresses come, go and are used again.

    An object may have several addresses, one for each interface.  An address is bound whenever a
    call hands it out, whatever it meant before.
    """

    def __init__(self) -> None:
        self._objects: dict[int, object] = {}

    def bind(self, address: int, thing: object) -> None:
        """``address`` means ``thing`` from now on; address 0 is nothing's."""
        if address:
            self._objects[address] = thing

    def forget(self, address: int) -> None:
        """The last reference to an address was released."""
        self._objects.pop(address, None)

    def get(self, address: int) -> Any:
        """What an address means, None if nothing is known."""
        return self._objects.get(address)

    def find(self, address: int, kind: type[T]) -> T:
        """What an address means.  Raises Inexpressible if that is no ``kind``."""
        thing = self._objects.get(address)
        if not isinstance(thing, kind):
            what = "nothing known" if thing is None else f"a {type(thing).__name__}"
            raise Inexpressible(f"{address:#x} is {what}, not a {kind.__name__}")
        return thing

    def addresses(self, thing: object) -> list[int]:
        """Every address of an object."""
        return [address for address, bound in self._objects.items() if bound is thing]
