"""Vertex sources of draws: the memory of the call, bound streams, and stream frequencies.

Source: wire format, "DirectX 8 opcodes" and "Vertex sources"; Direct3D 9 documentation of
SetStreamSourceFreq.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from dp2emu.d3d.flags import EVERY_VERTEX, Frequency, StreamSource
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.capabilities import MAX_STRIDE
from dp2emu.dp2.resolve.surface_caches import SurfaceCaches
from dp2emu.dp2.states.raw_state import STREAMS
from dp2emu.errors import Fault
from dp2emu.gpu.command.packets import Stream
from dp2emu.gpu.resource.heap import Surface

Streams = tuple[Stream | None, ...]
NO_STREAMS: Streams = (None,) * STREAMS

INSTANCES_MAX = 1 << 14
"""Maximum number of instances that one draw call may request."""
MAX_INSTANCED = 1 << 24
"""Maximum number of primitives of an instanced draw: primitives per instance times instances."""
ROOM = 256
"""Maximum number of streams that a context caches, by buffer, offset and stride."""


# Stream frequencies


def check_frequency(stream: int, value: int) -> Frequency:
    """The frequency in DWORD ``value`` for a stream.  Raises Fault if it is invalid."""
    check_stream(stream, 0)
    frequency = Frequency.of(value)
    if not frequency.allowed(stream):
        what = f"stream {stream}: frequency {value:#x}"
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what)
    return frequency


def instances(
    streams: Streams, frequencies: Mapping[int, Frequency], *, first: int | None
) -> Iterator[Streams]:
    """The vertex streams of each instance; ``first`` is the first vertex, None if indexed.

    Only indexed draws have several instances.  Frequencies without flags (dividers) count only in
    draws without indices.  Raises Fault for more than ``INSTANCES_MAX``.
    """
    if not frequencies:
        yield streams
        return
    for instance in range(_instances(frequencies) if first is None else 1):
        yield tuple(
            stream and _advanced(stream, frequencies.get(number, EVERY_VERTEX), instance, first)
            for number, stream in enumerate(streams)
        )


def _instances(frequencies: Mapping[int, Frequency]) -> int:
    first = frequencies.get(0, EVERY_VERTEX)
    if not first.flags & StreamSource.INDEXEDDATA:
        return 1
    if first.number > INSTANCES_MAX:
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, f"{first.number} instances in one draw")
    return first.number


def _advanced(stream: Stream, frequency: Frequency, instance: int, first: int | None) -> Stream:
    """A stream as ``instance`` of a draw reads it; with INSTANCEDATA its stride is 0, so that all
    vertices read the same element.
    """
    if frequency.flags & StreamSource.INSTANCEDATA:
        offset = stream.offset + instance // frequency.number * stream.stride
        return replace(stream, offset=offset, stride=0)
    if frequency.flags & StreamSource.INDEXEDDATA or first is None:
        return stream
    return replace(stream, divider=frequency.number, first=first)


# Vertices of the call


class CallVertices(msgspec.Struct, frozen=True):
    """The vertices of a call: ``length`` of them in ``data``, the first at byte ``offset``.

    A vertex has ``size`` bytes; ``format`` is its FVF code.  ``made`` caches their stream, so that
    all draws of the call share one object and the caches keyed by its identity.
    """

    data: Surface | bytes | None = None
    offset: int = 0
    length: int = 0
    size: int = 0
    format: int = 0
    made: list[Stream] = msgspec.field(default_factory=list)

    def stream(self, vertices: int) -> Stream:
        """The vertex buffer as a stream of at least ``vertices`` vertices.

        Raises Fault if it is shorter (wire format, "Vertex numbers").
        """
        size = self.checked_size()
        if vertices > self.length:
            what = f"vertex {vertices - 1} of {self.length}"
            raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what)
        if self.data is None:
            raise Fault(HResult.DDERR_INVALIDPARAMS, "draw without a vertex buffer")
        held = len(self.data) if isinstance(self.data, bytes) else self.data.data.nbytes
        if self.offset + vertices * size > held:
            what = f"{vertices} vertices of {size} bytes do not lie in {held} bytes"
            raise Fault(HResult.DDERR_EXCEPTION, what)
        if not self.made:
            self.made.append(Stream(self.data, self.offset, size))
        return self.made[0]

    def immediate(self, vertices: bytes) -> Stream:
        """The vertices of an _IMM token as a stream."""
        return Stream(vertices, 0, self.checked_size())

    def user_stream(self, offset: int, stride: int) -> Stream:
        """A stream in the user memory of the call.  Raises Fault if the call has none."""
        if not isinstance(self.data, bytes):
            raise Fault(HResult.DDERR_EXCEPTION, "the call has no user memory vertices")
        return Stream(self.data, self.offset + offset, stride)

    def checked_size(self) -> int:
        """Bytes of a vertex.  Raises Fault unless it is 1 to ``MAX_STRIDE``."""
        if not 0 < self.size <= MAX_STRIDE:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"vertex size {self.size}")
        return self.size


NO_CALL = CallVertices()
"""Call vertices while no call is executed: there are none."""


# Bound streams


class UserStream(msgspec.Struct, frozen=True):
    """A stream set by SETSTREAMSOURCEUM, which reads lpVertices of the call that draws."""

    stride: int


class VertexStreams:
    """Bound streams and their frequencies, both by stream number.  Mutable: tokens bind them.

    ``caches`` are told of cached streams.
    """

    def __init__(self, caches: SurfaceCaches | None = None) -> None:
        self._caches = caches or SurfaceCaches()
        self.bound: dict[int, Stream | UserStream] = {}
        self._as_bound: Streams | None = None
        self._known: dict[tuple[int, int, int], Stream] = {}
        self.frequencies: dict[int, Frequency] = {}

    def bind(self, number: int, surface: Surface | None, offset: int, stride: int) -> None:
        """SETSTREAMSOURCE and SETSTREAMSOURCE2: bind a vertex buffer; None unbinds."""
        check_stream(number, stride)
        self._set(number, None if surface is None else self._stream(surface, offset, stride))

    def _stream(self, surface: Surface, offset: int, stride: int) -> Stream:
        """The stream of a buffer; equal arguments return the same object, so that caches by
        identity hit.
        """
        key = surface.serial, offset, stride
        found = self._known.get(key)
        if found is None:
            found = Stream(surface, offset, stride)
            if len(self._known) >= ROOM:
                del self._known[next(iter(self._known))]
            self._known[key] = found
            self._caches.add_buffer(self, surface)
        return found

    def forget(self, surface: Surface) -> None:
        """Drop cached streams of a buffer that loses its handle; bound streams keep it."""
        for key in [key for key in self._known if key[0] == surface.serial]:
            del self._known[key]

    def bind_user_memory(self, number: int, stride: int) -> None:
        """SETSTREAMSOURCEUM: draws read the user memory of their own call."""
        check_stream(number, stride)
        self._set(number, UserStream(stride))

    def _set(self, number: int, source: Stream | UserStream | None) -> None:
        self._as_bound = None
        if source is None:
            self.bound.pop(number, None)
        else:
            self.bound[number] = source

    def set_frequency(self, number: int, value: int) -> None:
        """SETSTREAMSOURCEFREQ: set the advance rate of a stream."""
        self.frequencies[number] = check_frequency(number, value)

    def of_call(self, call: CallVertices, byte_offset: int, *, read: bool = True) -> Streams:
        """The bound streams by number; ``byte_offset`` is added to the offset of stream 0.

        Without an offset the tuple is one object until a binding changes, so that caches by
        identity hit.  Raises Fault if no stream is bound and vertices are ``read``.
        """
        if self._as_bound is not None and not byte_offset:
            return self._as_bound
        if not self.bound:
            if not read:
                return NO_STREAMS
            raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, "draw without streams")
        streams = list(NO_STREAMS)
        for number, source in self.bound.items():
            streams[number] = _stream(source, call, byte_offset if number == 0 else 0)
        found = tuple(streams)
        if not byte_offset and not any(isinstance(s, UserStream) for s in self.bound.values()):
            self._as_bound = found
        return found

    def instances(
        self,
        call: CallVertices,
        byte_offset: int,
        *,
        first: int | None,
        dividers: bool = False,
        read: bool = True,
    ) -> Sequence[Streams]:
        """The vertex streams of each instance; ``first`` is the first vertex, None if indexed.

        A frequency without flags (a divider) counts only if the draw has ``dividers``.  Raises
        Fault if no stream is bound and vertices are ``read``.
        """
        streams = self.of_call(call, byte_offset, read=read)
        if not self.frequencies:
            return (streams,)
        used = {n: each for n, each in self.frequencies.items() if dividers or each.flags}
        return tuple(instances(streams, used, first=first))


def _stream(source: Stream | UserStream, call: CallVertices, offset: int) -> Stream:
    """The stream to read in a call, ``offset`` bytes past where it is bound."""
    if isinstance(source, UserStream):
        return call.user_stream(offset, source.stride)
    return replace(source, offset=source.offset + offset) if offset else source


def check_stream(number: int, stride: int) -> None:
    """Raises Fault for a stream number, or a stride in bytes, out of range."""
    if number >= STREAMS or stride > MAX_STRIDE:
        raise Fault(HResult.DDERR_INVALIDPARAMS, f"stream {number}, stride {stride}")
