"""Records of stream output: buffers, layouts and streams of a draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from dp2emu.gpu.resource.heap import Surface

STREAMS = 4
"""Maximum number of output streams of a geometry shader."""
STREAM_TARGETS = 4
"""Maximum number of buffers bound to stream output."""


class Filled(msgspec.Struct, eq=False):
    """The number of bytes that stream output has written to a buffer.

    Mutable: draws increase it when they execute.
    """

    size: int = 0


class StreamTarget(msgspec.Struct, frozen=True, eq=False):
    """A buffer bound to stream output, with its write offset."""

    surface: Surface
    filled: Filled

    @property
    def room(self) -> int:
        """The number of bytes of the buffer after the write offset."""
        return max(self.surface.data.nbytes - self.filled.size, 0)


class Overflow(msgspec.Struct, eq=False):
    """The slots of the buffers of streams that have overflowed since the buffers were bound.

    Mutable: draws add slots when they execute.
    """

    slots: set[int] = msgspec.field(default_factory=set)


class Word(NamedTuple):
    """An output of the last stage, the I32 ``port``, stored in buffer ``slot`` at ``offset`` bytes
    of each vertex.
    """

    port: str
    slot: int
    offset: int


class StreamLayout(msgspec.Struct, frozen=True):
    """The stored output words of a stream; ``strides`` are (slot, bytes of a vertex) pairs of the
    slots that the stream uses.
    """

    words: tuple[Word, ...]
    strides: tuple[tuple[int, int], ...]


class StreamOutput(msgspec.Struct, frozen=True, eq=False):
    """Stream output: ``layouts`` of stored streams by number, ``targets`` by slot and their
    ``overflow``, and the number of the ``rasterized`` stream, None if none is.
    """

    layouts: Mapping[int, StreamLayout] = msgspec.field(default_factory=dict)
    targets: Mapping[int, StreamTarget] = msgspec.field(default_factory=dict)
    rasterized: int | None = 0
    overflow: Overflow = msgspec.field(default_factory=Overflow)


NOTHING_STORED = StreamOutput()
