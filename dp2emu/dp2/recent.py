"""Which surfaces were targets lately, for those who look on."""

from __future__ import annotations

from dp2emu.gpu.resource.heap import Heap, Surface

RECENT = 64
"""Surfaces remembered; of more, those that became targets last."""


class Recent:
    """Surfaces that became targets since somebody asked.  Mutable; steers nothing.

    It holds none of them: what was destroyed is gone.
    """

    def __init__(self) -> None:
        self._serials: dict[int, int] = {}

    def note(self, surface: Surface | None) -> None:
        """A surface was made a target."""
        if surface is None:
            return
        self._serials.pop(surface.handle, None)
        self._serials[surface.handle] = surface.serial
        if len(self._serials) > RECENT:
            del self._serials[next(iter(self._serials))]

    def take(self, heap: Heap) -> list[int]:
        """The handles of those that are still there, in the order in which they became targets
        last; then none are left.
        """
        serials, self._serials = self._serials, {}
        found = ((heap.get(handle), serial) for handle, serial in serials.items())
        return [
            surface.handle
            for surface, serial in found
            if surface is not None and surface.serial == serial
        ]
