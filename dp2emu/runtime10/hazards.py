"""Buffers that are read and written at a time, which the runtime does not let happen.

What is bound to be streamed into is no input any more, and what is streamed into is bound as no
input but null (Direct3D 11 documentation, SOSetTargets and IASetVertexBuffers).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Call = tuple[str, tuple[Any, ...]]
"""A function of the driver and its arguments."""

_Handle = bytearray | None


class Hazards:
    """What buffers a device has as inputs and outputs.  Mutable: calls change it."""

    def __init__(self) -> None:
        self._vertices: dict[int, bytearray] = {}
        self._indices: _Handle = None
        self._outputs: list[bytearray] = []

    def resolved(self, entry: str, arguments: tuple[Any, ...]) -> Iterator[Call]:
        """What a driver is called with in the place of a call."""
        rule = _RULES.get(entry)
        if rule is None:
            yield entry, arguments
        else:
            yield from rule(self, *arguments)

    def _set_outputs(self, targets: Any, clear: int, offsets: Any) -> Iterator[Call]:
        self._outputs = [each for each in targets if each is not None]
        for slot in [slot for slot, each in self._vertices.items() if self._written(each)]:
            del self._vertices[slot]
            yield "IaSetVertexBuffers", (slot, (None,), (0,), (0,))
        if self._written(self._indices):
            self._indices = None
            yield "IaSetIndexBuffer", (None, 0, 0)
        yield "SoSetTargets", (targets, clear, offsets)

    def _set_vertices(self, start: int, buffers: Any, *rest: Any) -> Iterator[Call]:
        bound = tuple(None if self._written(each) else each for each in buffers)
        for slot, each in enumerate(bound, start):
            self._vertices.pop(slot, None)
            if each is not None:
                self._vertices[slot] = each
        yield "IaSetVertexBuffers", (start, bound, *rest)

    def _set_indices(self, buffer: _Handle, *rest: Any) -> Iterator[Call]:
        self._indices = None if self._written(buffer) else buffer
        yield "IaSetIndexBuffer", (self._indices, *rest)

    def _written(self, buffer: _Handle) -> bool:
        return any(each is buffer for each in self._outputs)


_RULES: dict[str, Callable[..., Iterator[Call]]] = {
    "SoSetTargets": Hazards._set_outputs,
    "IaSetVertexBuffers": Hazards._set_vertices,
    "IaSetIndexBuffer": Hazards._set_indices,
}
