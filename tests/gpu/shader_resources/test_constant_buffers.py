"""Constant buffers are read when a draw executes, by the files of its programs."""

from __future__ import annotations

import numpy as np
import pytest

from dp2emu.d3d.enums import Format
from dp2emu.gpu.command.packets import Draw, WriteBytes
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.device.timing import fixed
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.types import Type
from tests.gpu.drawing import corner, draw

ALL = (corner(-1, -1), corner(9, -1), corner(-1, 9))


def program(word: int) -> Program:
    """A word of a constant buffer is every component of the colour."""
    b = Builder(Stage.PIXEL)
    file = b.uniform("cb0", Type.I32, 8)
    for component in "xyzw":
        b.output(f"target0.{component}", b.apply("asfloat", b.load(file, word)))
    return b.program()


class Drawn:
    """A GPU, a target of a pixel and a constant buffer of ``size`` bytes."""

    def __init__(self, size: int = 32) -> None:
        self.gpu = Gpu(fixed(packet=10))
        heap = self.gpu.heap
        self.target = heap.create(SurfaceDesc(1, SurfaceKind.SURFACE, 1, 1, Format.A8R8G8B8))
        self.buffer = heap.create(SurfaceDesc(2, SurfaceKind.MEMORY, size))

    def draw(self, word: int = 5) -> Draw:
        """Fill the target with a constant."""
        buffers = {"cb0": self.buffer, "cb9": self.buffer}
        return draw(ALL, color=self.target, pixel=program(word), pixel_buffers=buffers)

    @property
    def color(self) -> int:
        self.gpu.finish()
        return int(self.target.pixels()[0, 0])


def one() -> bytes:
    return np.float32(1).tobytes()


def test_a_draw_reads_its_constants_when_it_executes() -> None:
    drawn = Drawn()
    drawn.gpu.submit(drawn.draw())
    drawn.gpu.submit(drawn.draw())
    drawn.buffer.data[20:24] = np.frombuffer(one(), np.uint8)
    assert drawn.color == 0xFFFFFFFF


def test_constants_follow_the_order_of_packets() -> None:
    drawn = Drawn()
    drawn.gpu.submit(WriteBytes(drawn.buffer, 20, one()))
    drawn.gpu.submit(drawn.draw())
    drawn.gpu.submit(WriteBytes(drawn.buffer, 20, bytes(4)))
    assert drawn.color == 0xFFFFFFFF


@pytest.mark.parametrize(("size", "seen"), [(20, 0), (24, 0xFFFFFFFF), (64, 0xFFFFFFFF)])
def test_behind_the_end_of_the_buffer_constants_are_0(size: int, seen: int) -> None:
    drawn = Drawn(size)
    drawn.buffer.data[:] = np.frombuffer(one() * (size // 4), np.uint8)
    drawn.gpu.submit(drawn.draw())
    assert drawn.color == seen
