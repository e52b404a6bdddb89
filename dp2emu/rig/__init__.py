"""Rigs: the protocol between code that makes calls and a driver that executes them.

The emulator implements it, and so do a native driver, a driver behind a command and a recorded
session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from dp2emu.dp2.blt import Blt
from dp2emu.dp2.call import Answer, Call
from dp2emu.gpu.resource.heap import ColorKey, SurfaceDesc
from dp2emu.lazy_import import lazy_names

if TYPE_CHECKING:
    from dp2emu.rig.failure import Finding as Finding
    from dp2emu.rig.failure import FindingKind as FindingKind
    from dp2emu.rig.failure import RigFailure as RigFailure
    from dp2emu.rig.recorded import RecordedRig as RecordedRig
    from dp2emu.rig.served import NativeDriver as NativeDriver
    from dp2emu.rig.served import PipeRig as PipeRig
    from dp2emu.rig.spec import open_rig as open_rig
    from dp2emu.rig.spec import using_rig as using_rig

_HOMES = {
    "failure": ("Finding", "FindingKind", "RigFailure"),
    "recorded": ("RecordedRig",),
    "served": ("NativeDriver", "PipeRig"),
    "spec": ("open_rig", "using_rig"),
}
"""Lazily imported names by module."""

__all__ = ["Rig", *(name for names in _HOMES.values() for name in names)]

if not TYPE_CHECKING:  # a type checker reports names that do not exist
    __getattr__ = lazy_names(__name__, _HOMES)


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
        """DdSetColorKey for source blits from ``handle`` and textures; None removes the key."""

    def lock(self, handle: int) -> None:
        """DdLock of ``handle`` without DDLOCK_NOOVERWRITE: wait until the GPU is done with all
        memory.
        """

    def flip(self, front: int, back: int) -> None:
        """DdFlip: exchange the contents of ``front`` and ``back``, which are alike, after all
        drawing.
        """

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
