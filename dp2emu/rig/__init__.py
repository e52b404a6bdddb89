"""What can be driven: the protocol between whoever makes calls and whatever executes them.

The emulator is one implementation; a native driver behind ctypes or a recorded session are
others.  Nothing here knows which one it is talking to.
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
    from dp2emu.rig.native import NativeDriver as NativeDriver
    from dp2emu.rig.pipe import PipeRig as PipeRig
    from dp2emu.rig.recorded import RecordedRig as RecordedRig
    from dp2emu.rig.spec import open_rig as open_rig
    from dp2emu.rig.spec import using_rig as using_rig

_HOMES = {
    "failure": (
        "Finding",
        "FindingKind",
        "RigFailure",
    ),
    "native": ("NativeDriver",),
    "pipe": ("PipeRig",),
    "recorded": ("RecordedRig",),
    "spec": (
        "open_rig",
        "using_rig",
    ),
}
"""Names by module, which are imported when they are asked for."""

__all__ = ["Rig", *(name for names in _HOMES.values() for name in names)]

if not TYPE_CHECKING:  # where types are checked, a name that is not there is an error
    __getattr__ = lazy_names(__name__, _HOMES)


@runtime_checkable
class Rig(Protocol):
    """A display driver under test.  All methods may raise ``Dp2Error``."""

    def create_context(
        self, context: int, *, interface: int = 9, color: int = 0, depth: int = 0
    ) -> None:
        """D3DHAL ContextCreate: make context number ``context`` for DirectX ``interface`` (6 to
        9).

        ``color`` and ``depth`` are handles of its first targets, 0 for none.
        """

    def destroy_context(self, context: int) -> None:
        """D3DHAL ContextDestroy of context number ``context``; its queries die with it."""

    def create_surface(self, desc: SurfaceDesc) -> None:
        """CreateSurface and CreateSurfaceEx in one: zeroed memory behind a handle."""

    def destroy_surface(self, handle: int) -> None:
        """DestroySurface of ``handle``."""

    def set_color_key(self, handle: int, key: ColorKey | None) -> None:
        """DdSetColorKey for source blits from ``handle``, which textures are keyed by.

        None removes it.
        """

    def lock(self, handle: int) -> None:
        """DdLock of ``handle`` without DDLOCK_NOOVERWRITE: wait until the GPU uses no memory any
        more.
        """

    def flip(self, front: int, back: int) -> None:
        """DdFlip: the surfaces ``front`` and ``back``, which are alike, exchange what they hold,
        behind all drawing.
        """

    def blit(self, blt: Blt) -> None:
        """DdBlt: fill or copy a rectangle of a surface, behind all drawing."""

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
        """Let time pass until the GPU is idle and everything it knows is visible."""
