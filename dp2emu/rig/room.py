"""What the surfaces of a driver elsewhere may take, which nobody else counts."""

from __future__ import annotations

from dp2emu.d3d.hresult import HResult
from dp2emu.errors import Fault
from dp2emu.gpu.resource.heap import Heap, SurfaceDesc
from dp2emu.limits import Limits


class Room:
    """Bytes of surfaces by handle, within limits.  Mutable: surfaces come and go."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._heap = Heap(limits)
        self._sizes: dict[int, int] = {}
        self._total = 0

    def take(self, desc: SurfaceDesc) -> None:
        """Count a surface that is about to be made, in place of another of its handle; one that
        is a part of another takes nothing.

        Raises Fault, which names the limit, and Fault or Unsupported for what no surface can be.
        """
        size = 0 if desc.parent else self._heap.measure(desc)
        limits, total = self._heap.limits, self._total + size - self._sizes.get(desc.handle, 0)
        for name, amount in (
            ("surfaces", len(self._sizes) + (desc.handle not in self._sizes)),
            ("total_bytes", total),
        ):
            most = getattr(limits, name)
            if amount > most:
                what = f"surface {desc.handle}: limit {name} {most}"
                raise Fault(HResult.DDERR_OUTOFMEMORY, what)
        self._sizes[desc.handle], self._total = size, total

    def give(self, handle: int) -> None:
        """A surface is gone."""
        self._total -= self._sizes.pop(handle, 0)

    def clear(self) -> None:
        """All are gone."""
        self._sizes.clear()
        self._total = 0
