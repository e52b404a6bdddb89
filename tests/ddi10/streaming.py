"""A device that streams out: the vertices of ``vs_pass`` are their positions and colours, so that
what has to be in buffers can be told from what was drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import unpack
from typing import Any

import numpy as np

from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.queries.query_types import Query
from dp2emu.ddi10.queries.statistics import Statistics
from dp2emu.ddi10.resources.resource import BindFlag
from dp2emu.ddi10.shaders.stream_output import (
    NO_RASTERIZED_STREAM,
    StreamOutputEntry11,
    StreamOutputShader,
    StreamOutputShader11,
)
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.shader.engines import CHECKED, can_compile, engine
from tests.ddi10.drawing import tokens
from tests.ddi10.rendering import Drawing, Handle

ENGINES = ("reference", CHECKED) if can_compile() else ("reference",)
POINTS, LINES, LINE_STRIP, TRIANGLES, STRIP = 1, 2, 3, 4, 5
LINES_ADJ, LINE_STRIP_ADJ, TRIANGLES_ADJ, STRIP_ADJ = 10, 11, 12, 13
APPEND = 0xFFFFFFFF
EMPTY = 0xCDCDCDCD
ALL = 0b1111

Entry = tuple[int, int, int]
"""Slot, register and mask."""

WHOLE: tuple[Entry, ...] = ((0, 0, ALL), (0, 1, ALL))


def vertex(number: int) -> list[float]:
    """A position and a colour like no other; the position is in the viewport."""
    return [number / 32 - 0.5, 0.5 - number % 3, 0.5, 1, number, number + 0.25, -number, 1e30]


VERTICES = [vertex(number) for number in range(24)]


class Streaming(Drawing):
    """A device with vertices, and a shader that streams them out."""

    def __init__(self, run: str = "reference", ps: str | None = "ps_color") -> None:
        super().__init__(ps=ps, adapter=Adapter(Gpu(run=engine(run)), checking=True))
        self.vertices(VERTICES)

    def streaming(self, *entries: Entry, **members: Any) -> None:
        """Set a shader that is none but for what it streams out, of stream 0."""
        declared = tuple(StreamOutputEntry11(0, *entry) for entry in entries)
        self.set_geometry(StreamOutputShader11(None, declared, **members))

    def set_geometry(self, desc: StreamOutputShader | StreamOutputShader11) -> None:
        size = self.device.functions["CalcPrivateGeometryShaderWithStreamOutput"](desc, None)
        memory = bytearray(size)
        assert self.call("CreateGeometryShaderWithStreamOutput", desc, memory) == []
        assert self.call("GsSetShader", memory) == []

    def room(self, words: int) -> Handle:
        """A buffer of so many words, all of them ``EMPTY``."""
        bind = BindFlag.STREAM_OUTPUT | BindFlag.VERTEX_BUFFER
        return self.buffer(np.full(words, EMPTY, "<u4").tobytes(), bind=bind)

    def targets(self, *buffers: Handle | None, offset: int = 0) -> None:
        offsets = [offset] * len(buffers)
        assert self.call("SoSetTargets", list(buffers), 4 - len(buffers), offsets) == []

    def draw(self, topology: int, vertices: int, start: int = 0) -> None:
        assert self.call("IaSetTopology", topology) == []
        assert self.call("Draw", vertices, start) == []

    def floats(self, buffer: Handle) -> list[float]:
        """What is in a buffer, up to what is empty."""
        words = np.frombuffer(self.read(buffer), "<u4")
        end = np.flatnonzero(words != EMPTY).max(initial=-1) + 1
        return words[:end].view("<f4").tolist()

    def measured(self, query: Query, *draws: tuple[int, ...]) -> tuple[int, ...]:
        """What a query says of draws."""
        memory = self.create(query)
        self.call("QueryBegin", memory)
        for topology, vertices, *start in draws:
            self.draw(topology, vertices, *start)
        self.call("QueryEnd", memory)
        data = self.data(memory, query)
        assert data is not None
        return unpack(f"<{len(data) // 4}I" if len(data) == 4 else f"<{len(data) // 8}Q", data)


def rows(numbers: Iterable[int]) -> list[float]:
    """The vertices of ``WHOLE``."""
    return np.array([vertex(n) for n in numbers], np.float32).ravel().tolist()


def statistics(driven: Streaming) -> Statistics:
    driven.call("Flush")
    driven.adapter.finish()
    return driven.device.statistics()


EMITTED = (3, 6, 4, 12)
"""Points that ``gs5_streams`` puts out to each stream."""


class FourStreams(Streaming):
    """A device with a shader of four streams, and a buffer with room for 5 points of each."""

    def __init__(self, run: str = "reference", rasterized: int = NO_RASTERIZED_STREAM) -> None:
        super().__init__(run)
        entries = tuple(StreamOutputEntry11(n, n, n % 2, ALL) for n in range(4))
        self.set_geometry(
            StreamOutputShader11(tokens("gs5_streams"), entries, (16,) * 4, rasterized)
        )
        numbers = np.array(EMITTED, "<u4").tobytes()
        constants = self.buffer(numbers, bind=BindFlag.CONSTANT_BUFFER)
        self.call("GsSetConstantBuffers", 0, [constants])
        self.buffers = [self.room(20) for _ in range(4)]
        self.targets(*self.buffers)
