"""The protocol between code that makes calls and a driver that executes them."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from dp2emu.dp2.blt import Blt
from dp2emu.dp2.call import Answer, Call
from dp2emu.gpu.resource.heap import ColorKey, SurfaceDesc


@runtime_checkable
class Rig(Protocol):
    """A display driver under test.  All methods may raise ``Dp2Error``."""

    def create_context(
        self, context: int, *, interface: int = 9, color: int = 0, depth: int = 0
    ) -> None:
        """D3DHAL ContextCreate of number ``context`` for DirectX ``interface`` (6 to 9).

        ``color`` and ``depth`` are handles of its first targets, 0 for none.
        """

    def destroy_context(self, context: int) -> None:
        """D3DHAL ContextDestroy of number ``context`` and of its queries."""

    def create_surface(self, desc: SurfaceDesc) -> None:
        """CreateSurface and CreateSurfaceEx in one: zeroed memory with a handle."""

    def destroy_surface(self, handle: int) -> None:
        """DestroySurface of ``handle``."""

    def set_color_key(self, handle: int, key: ColorKey | None) -> None:
        """DdSetColorKey of ``handle``, for blits from it and its use as texture; None: no key."""

    def lock(self, handle: int) -> None:
        """DdLock of ``handle`` without DDLOCK_NOOVERWRITE: wait until the GPU is done with all
        memory.
        """

    def flip(self, front: int, back: int) -> None:
        """DdFlip after all drawing: ``front`` and ``back``, alike in format, exchange contents."""

    def blit(self, blt: Blt) -> None:
        """DdBlt: fill or copy a rectangle of a surface, after all drawing."""

    def write(self, handle: int, offset: int, data: bytes) -> None:
        """Store ``data`` at byte ``offset`` of surface ``handle`` as the host does, without
        waiting for the GPU.
        """

    def read(self, handle: int, offset: int, size: int) -> bytes:
        """Load ``size`` bytes from byte ``offset`` of surface ``handle`` as the host does, without
        waiting for the GPU.
        """

    def submit(self, call: Call) -> Answer:
        """D3dDrawPrimitives2."""

    def finish(self) -> None:
        """Let time pass until the GPU is idle and all its reports are visible."""
