"""A cancelled token ends work in the middle of a draw; other tokens have no effect."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Iterator
from itertools import repeat
from threading import Timer
from typing import Any

import numpy as np
import pytest

from dp2emu import Device9, Driver, PrimitiveType
from dp2emu.cancellation import Cancellation
from dp2emu.dp2.options import Options
from dp2emu.errors import Cancelled, Dp2Error, UsageError
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.device import gpu
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.limits import UNLIMITED
from dp2emu.shader.engines import JIT, REFERENCE
from dp2emu.shader.sm.assemble import assemble

SIZE = 2048
LOOPS = "rep i0\n" * 3 + "add r0, r0, c0\nmul r0, r0, c1\n" + "endrep\n" * 3
"""Three nested loops: hours of work for a draw of the whole target."""
PIXEL = f"ps_3_0\ndefi i0, 255, 0, 0, 0\nmov r0, c0\n{LOOPS}mov oC0, r0\n"
VERTEX = (
    f"vs_3_0\ndcl_position v0\ndcl_position o0\ndefi i0, 255, 0, 0, 0\n"
    f"mov r0, c0\n{LOOPS}add o0, v0, r0\n"
)
WHOLE = ((-1, -1), (3, -1), (-1, 3))


def words(text: str) -> list[int]:
    return memoryview(assemble(text)).cast("I").tolist()


def cancelled_soon() -> Cancellation:
    token = Cancellation()
    timer = Timer(0.2, token.cancel)
    timer.daemon = True
    timer.start()
    return token


def device_of(token: Cancellation, engine: str, threads: int = 1) -> Device9:
    options = Options(engine=engine, threads=threads, limits=UNLIMITED)
    return Device9(Driver(options=options, cancellation=token), SIZE, SIZE)


def draw_pixels(device: Device9, count: int = 1) -> None:
    """Draw ``count`` triangles over the whole target."""
    corners = ((0, 0), (2 * SIZE, 0), (0, 2 * SIZE))
    vertices = b"".join(struct.pack("<4fI", x, y, 0.5, 1.0, 0) for x, y in corners)
    device.clear(color=0xFF203040)
    device.set_fvf(0x44)
    device.set_pixel_shader(device.create_pixel_shader(words(PIXEL)))
    device.draw_primitive_up(PrimitiveType.TRIANGLELIST, count, vertices * count, 20)
    device.read_back()


def draw_vertices(device: Device9, count: int = 20_000) -> None:
    vertices = b"".join(struct.pack("<3f", x, y, 0.5) for x, y in WHOLE)
    device.clear(color=0xFF203040)
    device.set_fvf(0x2)
    device.set_vertex_shader(device.create_vertex_shader(words(VERTEX)))
    device.draw_primitive_up(PrimitiveType.TRIANGLELIST, count, vertices * count, 12)
    device.read_back()


@pytest.mark.parametrize("engine", [JIT, REFERENCE])
@pytest.mark.parametrize("draw", [draw_pixels, draw_vertices])
def test_a_token_ends_a_draw_in_the_middle_of_a_shader(engine: str, draw: object) -> None:
    assert callable(draw)
    with pytest.raises(Cancelled, match="cancelled"):
        draw(device_of(cancelled_soon(), engine))


@pytest.mark.parametrize("count", [1, 40])
@pytest.mark.parametrize("engine", [JIT, REFERENCE])
def test_a_cancellation_names_the_call_and_the_token_of_the_draw(
    engine: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Draws are executed at the end of their call, and small ones of one state together."""
    token, found = Cancellation(), []
    driver = Driver(options=Options(engine=engine), cancellation=token)
    driver.command_taps.append(lambda call, offset, row, _: found.append((row.name, offset)))
    device = Device9(driver, 64, 64)
    device.set_fvf(0x44)
    corners = ((0, 0), (8, 0), (0, 8)) * 2
    data = b"".join(struct.pack("<4fI", x, y, 0.5, 1.0, 0) for x, y in corners)
    device.set_stream_source(0, device.create_vertex_buffer(data), 0, 20)
    device.read_back()

    def cancelling(draw: Draw, *given: Any) -> Any:
        if draw.input.count == 2:
            token.cancel()
        return execute_draw(draw, *given)

    monkeypatch.setattr(gpu, "execute_draw", cancelling)
    found.clear()
    for primitives in (*repeat(1, count), 2, *repeat(1, count)):
        device.draw_primitive(PrimitiveType.TRIANGLELIST, 0, primitives)
    with pytest.raises(Cancelled) as raised:
        device.read_back()
    _, offset = [row for row in found if row[0] == "DRAWPRIMITIVE"][count]
    cancelled = raised.value
    assert (cancelled.token, cancelled.offset) == ("DRAWPRIMITIVE", offset)
    assert str(cancelled) == f"call 2, offset {offset:#x}, DRAWPRIMITIVE: cancelled"


def test_a_token_ends_all_threads_of_a_draw() -> None:
    with pytest.raises(Cancelled, match="cancelled"):
        draw_pixels(device_of(cancelled_soon(), JIT, threads=3), count=5)


def test_a_timeout_ends_a_draw_and_is_named() -> None:
    with pytest.raises(Cancelled, match=r"timeout of 0\.2 s"):
        draw_pixels(device_of(Cancellation(0.2), JIT))


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_timeout_is_positive(seconds: float) -> None:
    with pytest.raises(UsageError, match="timeout"):
        Cancellation(seconds)


def test_a_closed_token_has_no_timeout() -> None:
    token = Cancellation(0.05)
    token.close()
    device = device_of(token, JIT)
    for _ in repeat(None, 20):
        device.clear(color=0xFF203040)
        device.present()
    assert not token.cancelled


@pytest.fixture
def other() -> Iterator[Cancellation]:
    yield (token := Cancellation())
    token.close()


def test_a_token_ends_no_work_of_other_tokens(other: Cancellation) -> None:
    """Programs and pipelines are shared between devices; stop words must not be."""
    pictures = []
    text = PIXEL.replace("255", "2")
    for token in (other, Cancellation()):
        device = device_of(token, JIT)
        device.set_fvf(0x44)
        device.clear(color=0xFF203040)
        device.set_pixel_constants(0, ((0.25, 0.5, 0.75, 1.0),) * 2)
        device.set_pixel_shader(device.create_pixel_shader(words(text)))
        corners = ((0, 0), (SIZE, 0), (0, SIZE))
        vertices = b"".join(struct.pack("<4fI", x, y, 0.5, 1.0, 0) for x, y in corners)
        device.draw_primitive_up(PrimitiveType.TRIANGLELIST, 1, vertices, 20)
        pictures.append(device.read_back())
        token.cancel()
        other.cancel()
    assert (pictures[0] != 0xFF203040).any()
    assert np.array_equal(*pictures)


def test_nothing_runs_after_a_cancellation() -> None:
    token = Cancellation()
    device = device_of(token, JIT)
    device.clear(color=0xFF203040)
    token.cancel("no longer needed")
    for _ in range(2):
        with pytest.raises(Cancelled, match="no longer needed"):
            device.read_back()


def test_a_cancellation_is_no_error_of_the_input() -> None:
    assert not issubclass(Cancelled, (Dp2Error, Exception))


def test_all_tokens_are_cancelled_together() -> None:
    """In a process of its own, so that the tokens of other tests are not cancelled."""
    code = (
        "from dp2emu import Driver\n"
        "from dp2emu.cancellation import Cancellation, cancel_all\n"
        "drivers = Driver(cancellation=Cancellation()), Driver()\n"
        "tokens = [driver.gpu.cancellation for driver in drivers]\n"
        "cancel_all('interrupted')\n"
        "print([token.cancelled for token in tokens])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[True, True]\n"
