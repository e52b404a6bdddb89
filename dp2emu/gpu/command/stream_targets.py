"""Records of stream output: buffers, layouts and streams of a draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from dp2emu.gpu.resource.heap import Surface

STREAMS = 4
"""Streams a geometry shader can have."""

STREAM_TARGETS = 4
"""Buffers that can be streamed into at a time."""


class Filled(msgspec.Struct, eq=False):
    """The number of bytes of a buffer that stream output has written so far.

    Mutable: a register of the machine, which draws move on when they execute.
    """

    size: int = 0


class StreamTarget(msgspec.Struct, frozen=True, eq=False):
    """A buffer bound to stream output, and its write offset."""

    surface: Surface
    filled: Filled

    @property
    def room(self) -> int:
        """The number of bytes behind the write offset."""
        return max(self.surface.data.nbytes - self.filled.size, 0)


class Word(NamedTuple):
    """An output of the last stage, an I32 ``port``, that is stored in buffer ``slot``, ``offset``
    bytes behind the beginning of each vertex there.
    """

    port: str
    slot: int
    offset: int


class StreamLayout(msgspec.Struct, frozen=True):
    """Output words of a stream that are stored; ``strides`` are bytes from vertex to vertex by
    slot, of all slots that the stream uses.
    """

    words: tuple[Word, ...]
    strides: tuple[tuple[int, int], ...]


class StreamOutput(msgspec.Struct, frozen=True, eq=False):
    """``layouts`` by stream, those of streams that are stored, and ``targets`` by slot; which
    stream is ``rasterized``, None if none is.
    """

    layouts: Mapping[int, StreamLayout] = msgspec.field(default_factory=dict)
    targets: Mapping[int, StreamTarget] = msgspec.field(default_factory=dict)
    rasterized: int | None = 0


NOTHING_STORED = StreamOutput()
