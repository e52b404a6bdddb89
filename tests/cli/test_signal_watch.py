"""A signal ends the command in the middle of compiled code, which works for hours otherwise."""

from __future__ import annotations

import os
import signal
import struct
from pathlib import Path

import pytest

from dp2emu import CaptureWriter, Device9, Driver, PrimitiveType
from dp2emu.cancellation import Cancellation
from dp2emu.cli.signal_watch import kernels_stopped
from dp2emu.errors import Cancelled
from dp2emu.shader.sm.assemble import assemble
from tests.cli.processes import Running, await_that

SIZE = 1024
LOOPS = "rep i0\n" * 3 + "add r0, r0, c0\nmul r0, r0, c1\n" + "endrep\n" * 3
PIXEL = f"ps_3_0\ndefi i0, 255, 0, 0, 0\nmov r0, c0\n{LOOPS}mov oC0, r0\n"
CODES = {signal.SIGINT: (130, "interrupted"), signal.SIGTERM: (143, "terminated")}
BUSY = 0.8
"""Seconds of processor time that a replay has used only if it draws."""


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture whose first draw works for hours."""
    path = tmp_path_factory.mktemp("long") / "long.dp2"
    token = Cancellation()
    with CaptureWriter(str(path)) as capture:
        device = Device9(Driver(cancellation=token), SIZE, SIZE, record=capture.write)
        device.clear(color=0xFF203040)
        device.set_fvf(0x44)
        code = memoryview(assemble(PIXEL)).cast("I").tolist()
        device.set_pixel_shader(device.create_pixel_shader(code))
        corners = ((0, 0), (2 * SIZE, 0), (0, 2 * SIZE))
        vertices = b"".join(struct.pack("<4fI", x, y, 0.5, 1.0, 0) for x, y in corners)
        token.cancel()
        with pytest.raises(Cancelled):
            device.draw_primitive_up(PrimitiveType.TRIANGLELIST, 1, vertices, 20)
    return path


def processor_time(running: Running) -> float:
    """Seconds that a process has worked."""
    fields = Path(f"/proc/{running.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("engine", ["jit", "reference"])
@pytest.mark.parametrize("number", CODES)
def test_a_signal_ends_a_replay_in_the_middle_of_a_draw(
    number: signal.Signals, engine: str, long: Path, tmp_path: Path
) -> None:
    options = ("--limit", "none", "--engine", engine, "--json", "out")
    running = Running(tmp_path, "replay", long, *options)
    await_that(lambda: processor_time(running) > BUSY, running.process)
    running.signal(number)
    code, line = CODES[number]
    ended = running.ended()
    place = f"{long}: call 2, offset 0x14, DRAWPRIMITIVE"
    assert (ended.code, ended.err) == (code, f"dp2emu: {place}: {line}\n")
    assert not (tmp_path / "out").exists()


def test_after_the_block_signals_cancel_nothing() -> None:
    token = Cancellation()
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        with kernels_stopped([signal.SIGTERM]):
            pass
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert not token.cancelled


def test_other_signals_cancel_nothing() -> None:
    token = Cancellation()
    before = signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        with kernels_stopped([signal.SIGTERM]):
            signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert not token.cancelled
