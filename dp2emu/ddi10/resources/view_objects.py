"""Tables of live views, and the number of views of each resource.

Source: Direct3D 10/11 DDI, "Device functions".
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from dp2emu.ddi10.context import Context
from dp2emu.ddi10.objects import Objects
from dp2emu.ddi10.resources.resource import Resource, Resources


class View(Protocol):
    """A view of a resource."""

    @property
    def resource(self) -> Resource:
        """The resource that is viewed."""


_V = TypeVar("_V", bound=View)


class ViewObjects(Objects[_V]):
    """The live views of one type.  Mutable: DDI functions create and destroy them.

    Views are counted in ``resources``, so that DestroyResource need not search for views of its
    resource.
    """

    def __init__(self, context: Context, noun: str, mark: bytes, resources: Resources) -> None:
        super().__init__(context, noun, mark)
        self._views_of = resources.views_of

    def add(self, memory: bytearray, value: _V) -> _V:
        """Create a view; raises as ``Objects.add`` does."""
        added = super().add(memory, value)
        # A view keeps its resource alive, and with it the identity.
        resource = id(value.resource)
        self._views_of[resource] = self._views_of.get(resource, 0) + 1
        return added

    def remove(self, memory: bytearray) -> _V:
        """Remove and return a view; raises as ``Objects.remove`` does."""
        removed = super().remove(memory)
        resource = id(removed.resource)
        self._views_of[resource] -= 1
        if not self._views_of[resource]:
            del self._views_of[resource]
        return removed
