"""Hazards: memory that is bound for reading and writing at the same time.

Binding an output unbinds it as an input, and an input that is bound as an output becomes null
(Direct3D 11 documentation, SOSetTargets, IASetVertexBuffers, OMSetRenderTargets,
CSSetUnorderedAccessViews and PSSetShaderResources).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from dp2emu.ddi10.resources.resource import BUFFER_TYPES, ResourceType
from dp2emu.errors import ArgumentError

Call = tuple[str, tuple[Any, ...]]
"""A call of the driver, as a tuple: the DDI function's name, and its arguments."""

_Handle = bytearray | None

_ALL = 0xFFFFFFFF

_STAGES = ("Vs", "Hs", "Ds", "Gs", "Ps", "Cs")


class _Range(msgspec.Struct, frozen=True, eq=False):
    """Part of a resource: levels and array slices, each as (first, end); by default all of it."""

    resource: bytearray
    levels: tuple[int, int] = (0, _ALL)
    slices: tuple[int, int] = (0, _ALL)

    def overlaps(self, other: _Range) -> bool:
        """Whether two ranges share a subresource."""
        if self.resource is not other.resource:
            return False
        pairs = (self.levels, other.levels), (self.slices, other.slices)
        return all(a[0] < b[1] and b[0] < a[1] for a, b in pairs)


class HazardTracker:
    """Records which resources are bound as inputs and as outputs of a context.  Mutable.

    The contexts of a device share the subresources of its views: those of ``sharing``.
    """

    def __init__(self, sharing: HazardTracker | None = None) -> None:
        self._vertices: dict[int, bytearray] = {}
        self._indices: _Handle = None
        self._read: dict[tuple[str, int], _Range] = {}
        self._outputs: dict[str, list[_Range]] = {}
        self._slots: dict[int, _Range] = {}
        self._views: dict[int, tuple[bytearray, _Range]] = (
            {} if sharing is None else sharing._views
        )

    def resolved(self, entry: str, arguments: tuple[Any, ...]) -> list[Call]:
        """The calls to make instead of a call of ``entry``: those that unbind inputs in the memory
        of its outputs, then the call itself, with null for inputs that are bound as outputs.

        Raises ArgumentError for arguments that no driver could be passed.
        """
        rule = RULES.get(entry)
        if rule is None:
            return [(entry, arguments)]
        try:
            return list(rule(self, entry, *arguments))
        except (TypeError, ValueError, AttributeError) as error:
            raise ArgumentError(f"{entry}: {error}") from None

    def bound(self) -> tuple[Any, ...]:
        """What is bound now, for ``restore``."""
        return (
            dict(self._vertices), self._indices, dict(self._read), dict(self._outputs),
            dict(self._slots),
        )  # fmt: skip

    def restore(self, bound: tuple[Any, ...]) -> None:
        """Forget what was recorded since ``bound`` returned."""
        self._vertices, self._indices, self._read, self._outputs, self._slots = bound

    # Views

    def _create_read(self, entry: str, desc: Any, memory: bytearray, *rest: Any) -> Iterator[Call]:
        levels = _counted(desc.MostDetailedMip, desc.MipLevels)
        yield self._create(entry, levels, desc, memory, rest)

    def _create_written(
        self, entry: str, desc: Any, memory: bytearray, *rest: Any
    ) -> Iterator[Call]:
        yield self._create(entry, (desc.MipSlice, desc.MipSlice + 1), desc, memory, rest)

    def _create(
        self, entry: str, levels: tuple[int, int], desc: Any, memory: bytearray, rest: Any
    ) -> Call:
        """Remember the subresources of a view's ``levels``; returns the call that creates it."""
        part = _Range(desc.hDrvResource)
        if desc.ResourceDimension not in BUFFER_TYPES:
            # The depth slices of a volume are one subresource.
            volume = desc.ResourceDimension == ResourceType.TEXTURE3D
            slices = part.slices if volume else _counted(desc.FirstArraySlice, desc.ArraySize)
            part = _Range(desc.hDrvResource, levels, slices)
        self._views[id(memory)] = memory, part
        return entry, (desc, memory, *rest)

    def _create_depth(
        self, entry: str, desc: Any, memory: bytearray, *rest: Any
    ) -> Iterator[Call]:
        """CreateDepthStencilView; a view with read-only flags is not tracked as an output."""
        if desc.Flags:
            yield entry, (desc, memory, *rest)
        else:
            yield from self._create_written(entry, desc, memory, *rest)

    def _destroy(self, entry: str, memory: bytearray, *rest: Any) -> Iterator[Call]:
        self._views.pop(id(memory), None)
        yield entry, (memory, *rest)

    def _parts(self, views: Iterable[_Handle]) -> Iterator[_Range | None]:
        for view in views:
            memory, part = self._views.get(id(view), (None, None))
            yield part if memory is view else None

    # Outputs

    def _set_streams(self, entry: str, targets: Any, *rest: Any) -> Iterator[Call]:
        written = [_Range(each) for each in targets if each is not None]
        yield from self._written_by(entry, written)
        yield entry, (targets, *rest)

    def _set_targets(
        self, entry: str, targets: Any, clear: int, depth: _Handle, *rest: Any
    ) -> Iterator[Call]:
        unordered: Sequence[_Handle] = rest[0] if rest else ()
        found = self._parts((*targets, depth, *unordered))
        yield from self._written_by(entry, [part for part in found if part is not None])
        yield entry, (targets, clear, depth, *rest)

    def _set_unordered(self, entry: str, start: int, views: Any, *rest: Any) -> Iterator[Call]:
        for slot, part in enumerate(self._parts(views), start):
            self._slots.pop(slot, None)
            if part is not None:
                self._slots[slot] = part
        yield from self._written_by(entry, list(self._slots.values()))
        yield entry, (start, views, *rest)

    def _written_by(self, setter: str, parts: list[_Range]) -> Iterator[Call]:
        """Record ``parts`` as what is bound by the output-binding function ``setter``; yields
        calls that unbind inputs overlapping any output.
        """
        self._outputs[setter] = parts
        for slot in [slot for slot, each in self._vertices.items() if self._written(each)]:
            del self._vertices[slot]
            yield "IaSetVertexBuffers", (slot, (None,), (0,), (0,))
        if self._written(self._indices):
            self._indices = None
            yield "IaSetIndexBuffer", (None, 0, 0)
        for entry, slot in [at for at, part in self._read.items() if self._meets(part)]:
            del self._read[entry, slot]
            yield entry, (slot, (None,))

    def _written(self, buffer: _Handle) -> bool:
        """Whether any part of a resource is bound as an output."""
        if buffer is None:
            return False
        for parts in self._outputs.values():
            for each in parts:
                if each.resource is buffer:
                    return True
        return False

    def _meets(self, part: _Range) -> bool:
        for parts in self._outputs.values():
            for each in parts:
                if part.overlaps(each):
                    return True
        return False

    # Inputs

    def _set_vertices(self, entry: str, start: int, buffers: Any, *rest: Any) -> Iterator[Call]:
        bound = tuple(None if self._written(each) else each for each in buffers)
        for slot, each in enumerate(bound, start):
            self._vertices.pop(slot, None)
            if each is not None:
                self._vertices[slot] = each
        yield entry, (start, bound, *rest)

    def _set_indices(self, entry: str, buffer: _Handle, *rest: Any) -> Iterator[Call]:
        self._indices = None if self._written(buffer) else buffer
        yield entry, (self._indices, *rest)

    def _set_resources(self, entry: str, start: int, views: Any) -> Iterator[Call]:
        bound: list[_Handle] = []
        for slot, (view, part) in enumerate(zip(views, self._parts(views), strict=True), start):
            self._read.pop((entry, slot), None)
            written = part is not None and self._meets(part)
            bound.append(None if written else view)
            if part is not None and not written:
                self._read[entry, slot] = part
        yield entry, (start, tuple(bound))


def _counted(first: int, count: int) -> tuple[int, int]:
    return first, _ALL if count == _ALL else first + count


RULES: dict[str, Callable[..., Iterator[Call]]] = {
    "CreateShaderResourceView": HazardTracker._create_read,
    "CreateRenderTargetView": HazardTracker._create_written,
    "CreateUnorderedAccessView": HazardTracker._create_written,
    "CreateDepthStencilView": HazardTracker._create_depth,
    **dict.fromkeys(
        (
            f"Destroy{noun}View"
            for noun in ("ShaderResource", "RenderTarget", "UnorderedAccess", "DepthStencil")
        ),
        HazardTracker._destroy,
    ),
    "SoSetTargets": HazardTracker._set_streams,
    "SetRenderTargets": HazardTracker._set_targets,
    "CsSetUnorderedAccessViews": HazardTracker._set_unordered,
    "IaSetVertexBuffers": HazardTracker._set_vertices,
    "IaSetIndexBuffer": HazardTracker._set_indices,
    **dict.fromkeys(
        (f"{stage}SetShaderResources" for stage in _STAGES), HazardTracker._set_resources
    ),
}
"""How calls become others, by DDI function; those of all other functions stay as they are."""
