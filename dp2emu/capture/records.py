"""What a capture is made of, whatever the container: a sequence of these records.

Times are adapter clock ticks of the recording side, 0 where unknown.  Replay performs records in
order; nothing in a capture refers forward.
"""

from __future__ import annotations

from enum import IntEnum

import msgspec

from dp2emu.capture.values import Value
from dp2emu.dp2.blt import Blt
from dp2emu.dp2.call import Answer, Call
from dp2emu.gpu.resource.heap import SurfaceDesc


class ContextCreated(msgspec.Struct, frozen=True):
    """D3DHAL ContextCreate: a context with its first targets.

    ``interface`` is the application's DirectX version (6 to 9): it decides filter numbering and
    defaults.  ``color`` and ``depth`` are surface handles, 0 for none.
    """

    context: int
    interface: int = 9
    color: int = 0
    depth: int = 0
    time: int = 0


class ContextDestroyed(msgspec.Struct, frozen=True):
    """D3DHAL ContextDestroy."""

    context: int
    time: int = 0


class SurfaceCreated(msgspec.Struct, frozen=True):
    """A surface or buffer came into being; its memory is zero."""

    desc: SurfaceDesc
    time: int = 0


class SurfaceDestroyed(msgspec.Struct, frozen=True):
    """A surface handle is gone."""

    handle: int
    time: int = 0


class ColorKeySet(msgspec.Struct, frozen=True):
    """DdSetColorKey: texels from ``low`` to ``high``, as stored, are a texture's colour key."""

    handle: int
    low: int
    high: int
    time: int = 0


class ColorKeyRemoved(msgspec.Struct, frozen=True):
    """A texture has no colour key any more."""

    handle: int
    time: int = 0


class Locked(msgspec.Struct, frozen=True):
    """DdLock without DDLOCK_NOOVERWRITE: the host waited until the GPU used no memory any more."""

    handle: int
    time: int = 0


class Flipped(msgspec.Struct, frozen=True):
    """DdFlip: two surfaces that are alike exchanged what they hold, behind all drawing so far.

    A chain of more is told from its front on: front and first, first and second back buffer.
    """

    front: int
    back: int
    time: int = 0


class Blitted(msgspec.Struct, frozen=True):
    """DdBlt: a rectangle of a surface was filled or copied, behind all drawing so far."""

    blt: Blt
    time: int = 0


class MemoryWritten(msgspec.Struct, frozen=True):
    """The host stored ``data`` at byte ``offset`` of a surface."""

    handle: int
    offset: int
    data: bytes
    time: int = 0


class Called(msgspec.Struct, frozen=True):
    """D3dDrawPrimitives2 was entered.  ``abi`` is 32 or 64: the layout the call had."""

    call: Call
    abi: int = 32
    time: int = 0


class Answered(msgspec.Struct, frozen=True):
    """... and returned.  Follows its Called; missing if the driver never came back, or if there
    was none (``IMPORTED``).
    """

    answer: Answer


class FrameMarker(msgspec.Struct, frozen=True):
    """A frame ended (present or flip) with ``surface`` shown, 0 if not known."""

    frame: int
    surface: int = 0
    time: int = 0


class PictureKind(IntEnum):
    """How a program came to show or see what a surface holds."""

    PRESENT = 1
    TARGET_DATA = 2
    FRONT_BUFFER = 3
    LOCK = 4


class Pictured(msgspec.Struct, frozen=True):
    """The program's API call number ``call`` showed or read a surface as it is here.

    ``how`` is a ``PictureKind``; ``index`` the level and face (face * levels + level) of
    ``handle``.  ``data`` is what it read, rows tight, where that is known; else it is empty.
    """

    call: int
    how: int
    handle: int
    index: int = 0
    data: bytes = b""
    time: int = 0


class Observed(msgspec.Struct, frozen=True):
    """The program's API call number ``call`` was GetData of a context's query.

    It gave ``hr`` and, with S_OK, ``data``, of which there is as much as the program asked for.
    The answer to the query's last END has reached the host by then if there was one to give.
    """

    call: int
    context: int
    query: int
    hr: int = 0
    data: bytes = b""
    time: int = 0


IMPORTED = "imported"
"""Key of the annotation before all calls that says: they were composed from the calls of a
program, so there are no answers of a driver, only what the program itself saw.  Its text names
where they come from."""
LABEL = "label.surface."
"""Key, together with a handle, of the annotation that says what a surface is."""
TIMING = "timing"
"""Key of the annotation that names the timing model a capture wants."""
WAIT = "wait"
"""Key of the annotation where the host waited until the GPU was idle and all answers ready."""


class Annotation(msgspec.Struct, frozen=True):
    """Free text: ``key`` names it ("title", "timing", "label.surface.5"), ``text`` says it.

    Only ``IMPORTED``, ``TIMING`` and ``WAIT`` mean anything to a replay.
    """

    key: str
    text: str
    time: int = 0


class EntryCalled(msgspec.Struct, frozen=True):
    """A function of the Direct3D 10/11 driver interface was called, and came back.

    ``device`` counts the devices of the adapter from 1, and is 0 for what is the adapter's;
    ``interface`` is the version of the device.  ``entry`` is its name without ``pfn``, with
    ``DXGI`` before it for functions of that table, ``Adapter`` for those of the adapter and
    ``Host`` for what the host did to memory.  ``codes`` were given to pfnSetErrorCb, ``result``
    is what it returned.  Memory that is only there to be filled is told by the bytes in it before;
    ``written`` has pairs of a place among these, from 0, and the bytes in it now, of what changed.
    """

    device: int
    interface: int
    entry: str
    arguments: tuple[Value, ...] = ()
    result: Value = None
    codes: tuple[int, ...] = ()
    written: tuple[tuple[int, bytes], ...] = ()
    time: int = 0


Record = (
    ContextCreated
    | ContextDestroyed
    | SurfaceCreated
    | SurfaceDestroyed
    | ColorKeySet
    | ColorKeyRemoved
    | Locked
    | Flipped
    | Blitted
    | MemoryWritten
    | Called
    | Answered
    | FrameMarker
    | Annotation
    | Pictured
    | Observed
    | EntryCalled
)
