"""Limits on the surfaces of rigs: their number, and the total of their bytes."""

from __future__ import annotations

from dp2emu.d3d.hresult import HResult
from dp2emu.errors import Fault
from dp2emu.gpu.resource.heap import Heap, SurfaceDesc
from dp2emu.limits import Limits


class SurfaceBudget:
    """Counts surfaces and their bytes, and refuses those beyond the limits.  Mutable."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._heap = Heap(limits)
        self._sizes: dict[int, int] = {}
        self._total = 0

    def claim(self, desc: SurfaceDesc) -> None:
        """Count a surface that is about to be created; it replaces one with the same handle.

        A level of another surface counts no bytes.

        Raises Fault, which names the limit that is exceeded, and Fault or Unsupported for an
        impossible surface.
        """
        size = 0 if desc.parent else self._heap.measure(desc)
        limits, total = self._heap.limits, self._total + size - self._sizes.get(desc.handle, 0)
        for name, amount in (
            ("surfaces", len(self._sizes) + (desc.handle not in self._sizes)),
            ("total_bytes", total),
        ):
            if amount > getattr(limits, name):
                what = f"surface {desc.handle}: {limits.refusal(name, amount)}"
                raise Fault(HResult.DDERR_OUTOFMEMORY, what)
        self._sizes[desc.handle], self._total = size, total

    def release(self, handle: int) -> None:
        """Stop counting a surface."""
        self._total -= self._sizes.pop(handle, 0)

    def clear(self) -> None:
        """Stop counting all surfaces."""
        self._sizes.clear()
        self._total = 0
