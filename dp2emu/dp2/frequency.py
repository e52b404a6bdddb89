"""Instances of indexed draws, and streams that advance once in several vertices.

Source: Direct3D 9 documentation of SetStreamSourceFreq.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dp2emu.d3d.flags import StreamSource
from dp2emu.d3d.frequency import ALWAYS, Frequency
from dp2emu.d3d.hresult import HResult
from dp2emu.errors import Fault
from dp2emu.gpu.packets import Stream

Streams = tuple[Stream | None, ...]

INSTANCES_MAX = 1 << 14
"""Instances of a draw."""
MAX_INSTANCED = 1 << 24
"""Primitives of all instances of a draw together."""


def frequency_of(stream: int, value: int) -> Frequency:
    """The frequency a stream is given.  Raises Fault for one that means nothing."""
    frequency = Frequency.of(value)
    if not frequency.allowed(stream):
        what = f"stream {stream}: frequency {value:#x}"
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what)
    return frequency


def instances(
    streams: Streams, frequencies: Mapping[int, Frequency], *, first: int | None
) -> Iterator[Streams]:
    """The streams of each instance of a draw from vertex ``first``, None for an indexed one.

    Only that has more than one instance, and only others have dividers.  Raises Fault for more
    than ``INSTANCES_MAX``.
    """
    if not frequencies:
        yield streams
        return
    for instance in range(_instances(frequencies) if first is None else 1):
        yield tuple(
            stream and _advanced(stream, frequencies.get(number, ALWAYS), instance, first)
            for number, stream in enumerate(streams)
        )


def _instances(frequencies: Mapping[int, Frequency]) -> int:
    first = frequencies.get(0, ALWAYS)
    if not first.flags & StreamSource.INDEXEDDATA:
        return 1
    if first.number > INSTANCES_MAX:
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, f"{first.number} instances in one draw")
    return first.number


def _advanced(stream: Stream, frequency: Frequency, instance: int, first: int | None) -> Stream:
    """A stream as an instance reads it: all vertices the same element, or as they go."""
    if frequency.flags & StreamSource.INSTANCEDATA:
        offset = stream.offset + instance // frequency.number * stream.stride
        return replace(stream, offset=offset, stride=0)
    if frequency.flags & StreamSource.INDEXEDDATA or first is None:
        return stream
    return replace(stream, divider=frequency.number, first=first)
