"""Long work of NumPy goes in pieces and polls its token between them, with the same results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace

import numpy as np
import pytest

from dp2emu.cancellation import CURRENT
from dp2emu.d3d.enums import Format
from dp2emu.errors import Cancelled
from dp2emu.gpu.command.packets import Copy, CopyBytes, Swap, Write, whole_part
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.resource.heap import Heap, Surface, SurfaceDesc, SurfaceKind
from dp2emu.gpu.transfer import copy_resolve
from dp2emu.picture import take_picture
from dp2emu.shader import reference
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.jit.bodies import body
from dp2emu.shader.jit.writer import Target, module
from dp2emu.shader.sm.assemble import assemble
from dp2emu.shader.sm.decode import decode
from dp2emu.shader.sm.lower import lower_pixel

SIDE = 16
PIECE = 4 * SIDE
"""Bytes of a row of a surface: the surfaces are copied in ``SIDE`` pieces."""


class Token:
    """A token that counts polls, and is cancelled at one of them."""

    def __init__(self, last: int) -> None:
        self.polls, self._last = 0, last

    @property
    def word(self) -> SimpleNamespace:
        self.polls += 1
        return SimpleNamespace(value=int(self.polls > self._last))

    def check(self) -> None:
        raise Cancelled("cancelled")


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], Token]]:
    """A function that makes the token of this thread's work."""
    monkeypatch.setattr(copy_resolve, "_COPY_BYTES", PIECE)
    monkeypatch.setattr("dp2emu.picture._BAND", SIDE)
    monkeypatch.setattr(reference, "_PIECE", 4)
    before = CURRENT.token

    def made(last: int) -> Token:
        CURRENT.token = Token(last)
        return CURRENT.token

    yield made
    CURRENT.token = before


def surface(first: int, kind: SurfaceKind = SurfaceKind.SURFACE) -> Surface:
    size = (SIDE, SIDE, Format.A8R8G8B8) if kind is SurfaceKind.SURFACE else (SIDE * PIECE,)
    made = Heap().create(SurfaceDesc(1, kind, *size))
    made.data[:] = np.arange(first, first + made.data.size).astype(np.uint8)
    return made


def copied() -> bool:
    one, other = surface(1), surface(9)
    copy_resolve.execute_copy(Copy(whole_part(one, 0), whole_part(other, 0)), Counters())
    return np.array_equal(one.data, other.data)


def bytes_copied() -> bool:
    one, other = (surface(at, SurfaceKind.VERTEXBUFFER) for at in (1, 9))
    copy = CopyBytes(one, 0, other, 0, one.data.size)
    copy_resolve.execute_copy_bytes(copy, Counters())
    return np.array_equal(one.data, other.data)


def written() -> bool:
    one = surface(9)
    data = bytes(range(256)) * 4
    copy_resolve.execute_write(Write(whole_part(one, 0), data), Counters())
    return one.data.tobytes() == data


def swapped() -> bool:
    one, other = surface(1), surface(9)
    before = one.data.copy(), other.data.copy()
    copy_resolve.execute_swap(Swap(one, other))
    return np.array_equal((other.data, one.data), before)


def pictured() -> bool:
    one = surface(1)
    found = take_picture(one).image
    return np.array_equal(found[..., ::-1], np.roll(one.data.reshape(SIDE, SIDE, 4), 1, 2))


def chain() -> Program:
    """A program of many statements, each of which depends on the one before."""
    b = Builder(Stage.PIXEL)
    x = b.input("x")
    for _ in range(SIDE * reference._PIECE):
        x = x + x
    b.output("y", x)
    return b.program()


def executed() -> bool:
    lanes = {"x": np.zeros(8, np.float32)}
    return reference.run(chain(), lanes, {}, 8).outputs["y"].tolist() == [0.0] * 8


def coded() -> bool:
    text = module(body(chain(), ("x",), target=Target(8), masked=False, name="body"))
    return text.count(" fadd ") == SIDE * reference._PIECE


def lowered() -> bool:
    lines = "mad r0, r0, c0, c1\n" * SIDE
    code = assemble(f"ps_3_0\nmov r0, c0\n{lines}mov oC0, r0\n")
    return len(lower_pixel(decode(code)).program.statements) > SIDE


WORKS = (copied, bytes_copied, written, swapped, pictured, executed, coded, lowered)


@pytest.mark.parametrize("work", WORKS)
def test_long_work_polls_between_its_pieces(
    work: Callable[[], bool], token: Callable[[int], Token]
) -> None:
    made = token(1 << 30)
    assert work()
    assert made.polls >= SIDE
    for last in range(SIDE):
        token(last)
        with pytest.raises(Cancelled):
            work()
