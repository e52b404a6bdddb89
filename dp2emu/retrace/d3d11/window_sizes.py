"""Sizes of windows, which a trace does not tell: swap chains without a size of their own have that
of their window (the DXGI documentation of DXGI_SWAP_CHAIN_DESC and IDXGISwapChain::ResizeBuffers).

The call that needs the size, and those after it, are held back until one of them tells it: a
GetDesc of the swap chain or of its buffer, the size of a depth-stencil texture, or a viewport.
"""

from __future__ import annotations

import math

from dp2emu.capture.apitrace import TraceCall
from dp2emu.capture.apitrace.values import Struct
from dp2emu.errors import Dp2Error
from dp2emu.retrace.arguments import Arguments, Objects, flattened, integer, real, structure
from dp2emu.retrace.program import Program
from dp2emu.runtime10.dxgi import Window

MOST_HELD = 1000
"""The most calls that are held back."""
MOST_BYTES = 64 << 20
"""Bytes of data in calls after which no more are held back."""
FALLBACK = 640, 480
"""The size in pixels of a window of which no call tells it."""
_MOST = 16384
"""The largest width and height of a texture."""
_DEPTH_STENCIL = 0x40
"""D3D11_BIND_DEPTH_STENCIL."""
MOST_UNANSWERED = 16
"""The number of searches without an answer after which calls are not held back any more."""

Size = tuple[int, int]


class Windows:
    """The windows of a program by handle, and which calls got the size of one.  Mutable.

    ``answers`` tells of calls by number whether a later call told the size that they needed;
    ``unanswered`` counts the calls of which none did.
    """

    def __init__(self) -> None:
        self.by_handle: dict[int, Window] = {}
        self.answers: dict[int, bool] = {}
        self.unanswered = 0


def _windows(program: Program) -> Windows:
    found = program.handles.setdefault(("windows", 0), Windows())
    assert isinstance(found, Windows)
    return found


def window_of(program: Program, handle: int) -> Window:
    """The window of a handle."""
    return _windows(program).by_handle.setdefault(handle, Window(*FALLBACK))


def await_size(program: Program, call: Arguments, window: Window, chain: int) -> bool:
    """Whether the call has to wait for the size of a ``window``, which then has it when the call
    is made again.  ``chain`` is the address of the swap chain that needs it.
    """
    windows = _windows(program)
    if call.number in windows.answers or windows.unanswered >= MOST_UNANSWERED:
        return False
    program.waiter = SizeSearch(program, call.call, window, chain)
    return True


def is_told(program: Program, call: Arguments) -> bool:
    """Whether a later call told the size that this one needed."""
    return _windows(program).answers.get(call.number, False)


class SizeSearch:
    """Calls that are held back until one tells the size of a window.  Mutable."""

    def __init__(self, program: Program, call: TraceCall, window: Window, chain: int) -> None:
        self._program = program
        self._held = [call]
        self._window = window
        self._chain = chain
        self._buffers: set[int] = set()
        self._bytes = 0

    def take(self, call: TraceCall) -> list[TraceCall]:
        """Hold a call back; returns the calls to make now, none while the size is not known."""
        self._held.append(call)
        values = flattened(call.arguments)
        self._bytes += sum(len(each) for each in values if isinstance(each, bytes))
        if not call.finished:
            return []
        try:
            found = self._told(Arguments(call, Objects()), call.name.partition("::")[2])
        except (Dp2Error, LookupError, ValueError, OverflowError):
            found = None
        if found is not None and all(0 < side <= _MOST for side in found):
            self._window.width, self._window.height = found
            return self._given(known=True)
        full = len(self._held) >= MOST_HELD or self._bytes >= MOST_BYTES
        ended = full or self._shows(call)
        return self._given(known=False) if ended else []

    def end(self) -> list[TraceCall]:
        """The calls to make at the end of the trace."""
        return self._given(known=False)

    def _given(self, known: bool) -> list[TraceCall]:
        """The calls that were held back."""
        windows = _windows(self._program)
        windows.answers[self._held[0].number] = known
        windows.unanswered += not known
        self._program.waiter = None
        return self._held

    def _shows(self, call: TraceCall) -> bool:
        return call.name.partition("::")[2] in ("Present", "Present1")

    def _told(self, call: Arguments, name: str) -> Size | None:
        """The size that a call tells, if any."""
        if call.failed:
            return None
        reader = _READERS.get(name)
        return None if reader is None else reader(self, call)

    def _note_buffer(self, call: Arguments) -> Size | None:
        if call.address("this") == self._chain:
            self._buffers.add(call.address("ppSurface"))
        return None

    def _described(self, call: Arguments) -> Size | None:
        if call.address("this") not in (self._chain, *self._buffers):
            return None
        given = call.struct("pDesc")
        names = given.signature.members
        return _size(structure(given["BufferDesc"]) if "BufferDesc" in names else given)

    def _resized(self, call: Arguments) -> Size | None:
        if call.address("this") != self._chain:
            return None
        return call.integer("Width"), call.integer("Height")

    def _depth(self, call: Arguments) -> Size | None:
        given = call.struct("pDesc")
        flat = integer(given["ArraySize"]) == 1
        return _size(given) if flat and integer(given["BindFlags"]) & _DEPTH_STENCIL else None

    def _viewport(self, call: Arguments) -> Size | None:
        left, top, width, height = (
            real(call.structs("pViewports")[0][name])
            for name in ("TopLeftX", "TopLeftY", "Width", "Height")
        )
        return math.ceil(left + width), math.ceil(top + height)


_READERS = {
    "GetBuffer": SizeSearch._note_buffer,
    "GetDesc": SizeSearch._described,
    "GetDesc1": SizeSearch._described,
    "ResizeBuffers": SizeSearch._resized,
    "ResizeBuffers1": SizeSearch._resized,
    "CreateTexture2D": SizeSearch._depth,
    "RSSetViewports": SizeSearch._viewport,
}
"""The method that reads the size from a call, by the call's name."""


def _size(given: Struct) -> Size:
    return integer(given["Width"]), integer(given["Height"])
