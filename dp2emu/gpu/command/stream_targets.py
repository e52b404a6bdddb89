"""Records of stream output: buffers, layouts and streams of a draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import NamedTuple

from dp2emu.gpu.resource.heap import Surface
from dp2emu.records import dataclass

STREAMS = 4
"""Streams a geometry shader can have."""

STREAM_TARGETS = 4
"""Buffers that can be streamed into at a time."""


@dataclass(slots=True, eq=False)
class Filled:
    """How many bytes of a buffer are before the place where the next primitive goes.

    Mutable: a register of the machine, which draws move on when they execute.
    """

    size: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class StreamTarget:
    """A buffer that is streamed into, and where."""

    surface: Surface
    filled: Filled

    @property
    def room(self) -> int:
        """Bytes that are left."""
        return max(self.surface.data.nbytes - self.filled.size, 0)


class Word(NamedTuple):
    """An output of the last stage, an I32 ``port``, that is stored in buffer ``slot``, ``offset``
    bytes behind the beginning of each vertex there.
    """

    port: str
    slot: int
    offset: int


@dataclass(frozen=True, slots=True)
class StreamLayout:
    """What of the vertices of a stream is stored; ``strides`` are bytes from vertex to vertex by
    slot, of all slots that the stream uses.
    """

    words: tuple[Word, ...]
    strides: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class StreamOutput:
    """``layouts`` by stream, those of streams that are stored, and ``targets`` by slot; which
    stream is ``rasterized``, None if none is.
    """

    layouts: Mapping[int, StreamLayout] = field(default_factory=dict)
    targets: Mapping[int, StreamTarget] = field(default_factory=dict)
    rasterized: int | None = 0


NOTHING_STORED = StreamOutput()
