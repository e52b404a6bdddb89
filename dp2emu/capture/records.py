"""Records, of which a capture in any container is a sequence.

Times are adapter clock ticks of the recording side, 0 where unknown.  Replay performs records in
order; no record refers to a later one.
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
    """Creation of a surface or buffer; its memory is zero."""

    desc: SurfaceDesc
    time: int = 0


class SurfaceDestroyed(msgspec.Struct, frozen=True):
    """Destruction of a surface."""

    handle: int
    time: int = 0


class ColorKeySet(msgspec.Struct, frozen=True):
    """DdSetColorKey: stored texel values ``low`` to ``high`` are a texture's colour key."""

    handle: int
    low: int
    high: int
    time: int = 0


class ColorKeyRemoved(msgspec.Struct, frozen=True):
    """DdSetColorKey that removes a texture's colour key."""

    handle: int
    time: int = 0


class Locked(msgspec.Struct, frozen=True):
    """DdLock without DDLOCK_NOOVERWRITE: the host waited until the GPU was idle."""

    handle: int
    time: int = 0


class Flipped(msgspec.Struct, frozen=True):
    """DdFlip: two surfaces of equal layout exchange their contents, after all drawing so far.

    The flip of a chain of several back buffers is several records: front and first back buffer,
    first and second back buffer, and so on.
    """

    front: int
    back: int
    time: int = 0


class Blitted(msgspec.Struct, frozen=True):
    """DdBlt: a fill or copy of a rectangle of a surface, after all drawing so far."""

    blt: Blt
    time: int = 0


class MemoryWritten(msgspec.Struct, frozen=True):
    """Write of the host: ``data`` at byte ``offset`` of a surface."""

    handle: int
    offset: int
    data: bytes
    time: int = 0


class Called(msgspec.Struct, frozen=True):
    """Entry into D3dDrawPrimitives2.  ``abi`` is 32 or 64, the layout of the call."""

    call: Call
    abi: int = 32
    time: int = 0


class Answered(msgspec.Struct, frozen=True):
    """Return of D3dDrawPrimitives2, after its Called.

    Missing if the driver never returned, or in an import (``IMPORTED``), which had no driver.
    """

    answer: Answer


class FrameMarker(msgspec.Struct, frozen=True):
    """End of a frame (present or flip) that shows ``surface``, 0 if unknown."""

    frame: int
    surface: int = 0
    time: int = 0


class PictureKind(IntEnum):
    """The way in which a program showed or read a surface or resource."""

    PRESENT = 1
    TARGET_DATA = 2
    FRONT_BUFFER = 3
    LOCK = 4
    BACK_BUFFER = 5
    MAP = 6


OF_RESOURCES = frozenset({PictureKind.BACK_BUFFER, PictureKind.MAP})
"""Kinds of pictures that a Direct3D 10/11 program shows or reads: of resources, not surfaces."""


class Pictured(msgspec.Struct, frozen=True):
    """Read or presentation of a surface by API call number ``call`` of the recorded program.

    ``how`` is a ``PictureKind``; ``index`` the level and face (face * levels + level) of
    ``handle``.  With a kind in ``OF_RESOURCES``, ``handle`` is the number of the memory of a
    Direct3D 10/11 resource (as in arguments of ``EntryCalled``), and ``index`` a subresource.
    ``data`` are the bytes read, rows without padding; empty where unknown.
    """

    call: int
    how: int
    handle: int
    index: int = 0
    data: bytes = b""
    time: int = 0


class Observed(msgspec.Struct, frozen=True):
    """GetData of a context's query, as API call number ``call`` of the recorded program.

    It returned ``hr`` and, with S_OK, ``data`` of the size that the program asked for.  S_OK
    implies that the answer to the query's last END, if there was one, had reached the host.  For
    a query of Direct3D 10/11 ``context`` is 0, and ``query`` the number of the memory of the
    driver's object; it is 0 if the runtime answered without the driver.
    """

    call: int
    context: int
    query: int
    hr: int = 0
    data: bytes = b""
    time: int = 0


IMPORTED = "imported"
"""Key of the annotation that marks a capture as composed from API calls of a program: it has
observations of the program instead of driver answers.  Precedes all calls; its text names the
source."""
LABEL = "label.surface."
"""Prefix of an annotation's key: the surface handle follows, and the text names the surface."""
RESOURCE_LABEL = "label.resource."
"""Prefix of an annotation's key: the number of the memory of a Direct3D 10/11 object follows, and
the text names the object."""
MARKER, MARKER_BEGIN, MARKER_END = "marker", "marker.begin", "marker.end"
"""Keys of annotations for the marks that a program sets for tools: a single mark, and the begin
and end of a range.  The text is the mark's name, empty for an end."""
DROPPED = "dropped"
"""Key of an annotation for an API call of a program that broke a rule of Direct3D 10/11 and had no
effect; the text has the call's number and name, and the rule."""
TIMING = "timing"
"""Key of the annotation whose text is the timing model of a capture."""
WAIT = "wait"
"""Key of an annotation: the host waited here until the GPU was idle and had answered all."""
API_CALL = "api_call"
"""Key of an annotation whose text is the number of the recorded program's API call that led to the
records from here on, as far as they have no number of their own (``capture.api_calls``)."""
API_CALLS = "api_calls"
"""Key of an annotation before a ``Called``: from which byte offsets in its commands on they were
written by which API calls (``capture.api_calls``)."""


class Annotation(msgspec.Struct, frozen=True):
    """Free text by ``key`` ("title", "timing", "label.surface.5", "marker.begin").

    A replay reacts to ``IMPORTED``, ``TIMING`` and ``WAIT`` only.
    """

    key: str
    text: str
    time: int = 0


class EntryCalled(msgspec.Struct, frozen=True):
    """A call of a function of the Direct3D 10/11 driver interface, with its result.

    ``device`` counts the devices of the adapter from 1, and is 0 for the adapter itself;
    ``interface`` is the version of the device.  ``entry`` is the function's name without ``pfn``,
    after ``DXGI.`` for functions of the DXGI table, ``Adapter.`` for those of the adapter and
    ``Host.`` for memory writes of the host.  ``codes`` were passed to pfnSetErrorCb.  Output
    buffers are ``bytes`` arguments with their content before the call; ``written`` has (index
    among these from 0, new bytes) of each that changed.  ``call`` is the number of the recorded
    program's API call that led to this one, None if unknown.
    """

    device: int
    interface: int
    entry: str
    arguments: tuple[Value, ...] = ()
    result: Value = None
    codes: tuple[int, ...] = ()
    written: tuple[tuple[int, bytes], ...] = ()
    time: int = 0
    call: int | None = None


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
