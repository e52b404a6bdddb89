"""Small inputs that ask for a lot of work end at a limit, by its name, on either engine."""

from __future__ import annotations

import tracemalloc
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dp2emu.cancellation import CURRENT
from dp2emu.capture import open_capture
from dp2emu.cli import run
from dp2emu.d3d import fvf
from dp2emu.d3d.enums import Format, PrimitiveType
from dp2emu.dp2.blt import Blt
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.errors import Exceeded
from dp2emu.explain.kept import KeptRecords
from dp2emu.gpu.compile.band_workers import WORTH
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.gpu.transfer.clear_blit import _BAND
from dp2emu.gpu.work_budget import BATCHED_PIXELS, PICTURED
from dp2emu.limits import Limits
from dp2emu.replay import replay
from dp2emu.runtime.device9 import Device9
from dp2emu.shader.sm.assemble import assemble
from dp2emu.testing import Tape
from tests.dp2.rigging import Bench, clear, rectangle, triangle_list
from tests.explain.opening import FIRST_LIGHT, REAL, opened
from tests.refusals import refused, refuses

ENGINES = ["reference", "jit"]
EXTENT = 1 << 14
LARGE, SMALL, OTHER = 20, 21, 22
COLORFILL, KEYSRC = 0x400, 0x10000

NESTED = """
ps_2_x
defi i0, 255, 0, 0, 0
dcl v0
mov r0, v0
rep i0
rep i0
rep i0
mad r0, r0, v0, r0
endrep
endrep
endrep
mov oC0, r0
"""


LOOPS = "rep i0\nrep i1\nmad r0, r0, v0, r0\nendrep\nendrep\n"


def surface(driver: Driver, handle: int, side: int, format: Format = Format.A8R8G8B8) -> None:
    driver.create_surface(SurfaceDesc(handle, SurfaceKind.SURFACE, side, side, int(format)))


def drawing_to(side: int, engine: str, **limits: int) -> Bench:
    """A bench whose target is a square of ``side`` pixels."""
    bench = Bench(context=False, options=Options(engine=engine, limits=Limits(**limits)))
    surface(bench.driver, LARGE, side, Format.R5G6B5)  # 32 bits at this size leave no room
    bench.driver.create_context(1, color=LARGE)
    return bench


def shaded(side: int, engine: str, text: str) -> Device9:
    """A device of this size that draws with a pixel shader."""
    driver = Driver(options=Options(engine=engine))
    device = Device9(driver, side, side, format=Format.R5G6B5, depth=None)
    code = assemble(text)
    words = [int.from_bytes(code[at : at + 4], "little") for at in range(0, len(code), 4)]
    device.set_pixel_shader(device.create_pixel_shader(words))
    device.set_fvf(fvf.XYZRHW | fvf.DIFFUSE)
    return device


def draw_square(device: Device9, side: int) -> None:
    device.draw_primitive_up(PrimitiveType.TRIANGLELIST, 2, rectangle(0, 0, side, side), 20)
    device.read_back()


@pytest.mark.parametrize("engine", ENGINES)
def test_nested_loops_on_a_large_target_are_refused(engine: str) -> None:
    device = shaded(EXTENT, engine, NESTED)
    with pytest.raises(Exceeded, match=refused("call_instructions")):
        draw_square(device, EXTENT)


@pytest.mark.parametrize("engine", ENGINES)
def test_loops_count_as_often_as_their_integers_say(engine: str) -> None:
    """Nested loops may run 255 x 255 times, these run 6 times."""
    device = shaded(512, engine, "ps_2_x\ndcl v0\nmov r0, v0\n" + LOOPS + "mov oC0, r0")
    device.set_pixel_integers(0, [(2, 0, 0, 0), (3, 0, 0, 0)])
    draw_square(device, 512)
    device.set_pixel_integers(0, [(250, 0, 0, 0), (250, 0, 0, 0)])
    with pytest.raises(Exceeded, match=refused("call_instructions")):
        draw_square(device, 512)


@pytest.mark.parametrize("engine", ENGINES)
def test_many_clears_of_a_large_target_are_refused(engine: str) -> None:
    bench = drawing_to(EXTENT, engine)
    commands = clear(rect=(0, 0, EXTENT, EXTENT))
    many = commands[:2] + (100).to_bytes(2, "little") + commands[4:20] + commands[20:] * 100
    with pytest.raises(Exceeded, match=refused("call_pixels")):
        bench.call(many)
    assert bench.driver.gpu.budget.left().pixels == Limits().call_pixels


@pytest.mark.parametrize("engine", ENGINES)
def test_overdraw_ends_where_pixels_are_spent(engine: str) -> None:
    """The sixth square may cover more than is left."""
    bench = drawing_to(64, engine, call_pixels=5 * 64 * 64 + 3000)
    with pytest.raises(Exceeded, match=refused("call_pixels", 5 * 64 * 64 + 3000)):
        bench.call(triangle_list(0, 2) * 100, rectangle(0, 0, 64, 64))
    drawn = bench.driver.gpu.budget.call.pixels
    assert 5 * 64 * 64 <= drawn < 6 * 64 * 64


def test_engines_end_at_the_same_primitive() -> None:
    """Bounds are those of each primitive, however many an engine draws together."""
    ended = []
    for engine in ENGINES:
        bench = drawing_to(64, engine, call_pixels=3000)
        corners = b"".join(rectangle(n % 60, n % 47, 3 + n % 5, 4) for n in range(600))
        with pytest.raises(Exceeded):
            bench.call(triangle_list(0, 1200), corners)
        gpu = bench.driver.gpu
        ended.append((gpu.budget.call, bytes(bench.driver.read(LARGE, 0, 64 * 64 * 2))))
    assert ended[0] == ended[1]
    assert 2900 < ended[0][0].pixels <= 3000


def blitting(**limits: int) -> Driver:
    driver = Driver(options=Options(limits=Limits(**limits)))
    surface(driver, SMALL, 16)
    return driver


@pytest.mark.parametrize(
    ("format", "flags"), [(Format.R5G6B5, 0), (Format.R5G6B5, KEYSRC), (Format.DXT1, 0)]
)
def test_stretched_blits_to_a_large_target_are_refused(format: Format, flags: int) -> None:
    driver = blitting()
    surface(driver, LARGE, EXTENT, format)
    blit = Blt(LARGE, 0, 0, EXTENT, EXTENT, SMALL, 0, 0, 16, 16, flags=flags)
    with pytest.raises(Exceeded, match=refused("call_pixels")):
        driver.blit(blit)
        driver.gpu.finish()


@pytest.mark.parametrize("blit", [
    Blt(LARGE, 0, 0, 64, 64, SMALL, 0, 0, 16, 16), Blt(LARGE, 0, 0, 64, 64, flags=COLORFILL),
])  # fmt: skip
def test_blits_end_where_pixels_are_spent(blit: Blt) -> None:
    driver = blitting(capture_pixels=5 * 2 * 64 * 64)
    surface(driver, LARGE, 64)
    done = 0
    with pytest.raises(Exceeded, match=refused("capture_pixels")):
        while done < 100:
            driver.blit(blit)
            driver.gpu.finish()
            done += 1
    assert 5 <= done <= 10


class Polls:
    """A token that counts how often it is polled, and is never cancelled."""

    def __init__(self) -> None:
        self.count = 0

    @property
    def word(self) -> Any:
        """What is polled."""
        self.count += 1
        return SimpleNamespace(value=0)


SIDE = 2048


@pytest.mark.parametrize(
    ("format", "blit"),
    [
        (Format.A8R8G8B8, Blt(LARGE, 0, 0, SIDE, SIDE, flags=COLORFILL, fill=7)),
        (Format.A8R8G8B8, Blt(LARGE, 0, 0, SIDE, SIDE, SMALL, 0, 0, 16, 16)),
        (Format.A8R8G8B8, Blt(LARGE, 0, 0, SIDE, SIDE, SMALL, 0, 0, 16, 16, flags=KEYSRC)),
        (Format.R5G6B5, Blt(LARGE, 0, 0, SIDE, 256, SMALL, 0, 0, 16, 16)),
    ],
)
def test_blits_poll_and_take_little_memory(
    monkeypatch: pytest.MonkeyPatch, format: Format, blit: Blt
) -> None:
    driver, polls = blitting(), Polls()
    surface(driver, LARGE, SIDE, format)
    driver.blit(blit.__class__(LARGE, 0, 0, 16, 16, SMALL, 0, 0, 16, 16))  # imports and tables
    driver.gpu.finish()
    monkeypatch.setattr(driver.gpu, "cancellation", polls)
    tracemalloc.start()
    driver.blit(blit)
    driver.gpu.finish()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    area = (blit.right - blit.left) * (blit.bottom - blit.top)
    assert polls.count >= area // _BAND
    assert peak < 128 * _BAND
    assert CURRENT.token is not polls


def test_clears_poll_for_each_band() -> None:
    bench, polls = drawing_to(SIDE, "jit"), Polls()
    bench.driver.gpu.cancellation = polls  # type: ignore[assignment]
    bench.ok(clear(rect=(0, 0, SIDE, SIDE)))
    assert polls.count >= SIDE * SIDE // _BAND


def test_batched_draws_are_as_small_as_is_assumed() -> None:
    assert WORTH <= BATCHED_PIXELS


def test_pictures_of_a_replay_are_limited(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pictured = ["replay", str(FIRST_LIGHT), "--png", str(tmp_path)]
    for size, code in ((PICTURED * 320 * 240, 0), (PICTURED * 320 * 120, 3)):
        assert run([*pictured, "--limit", f"observed_bytes={size}"]) == code
    assert refuses(capfd.readouterr().err, "observed_bytes")


@pytest.mark.parametrize("piped", [False, True])
def test_the_size_of_a_file_bounds_what_its_draws_raise(piped: bool) -> None:
    """Compressed, a file may have many more draws than a program of its size draws."""
    data, driver = FIRST_LIGHT.read_bytes(), Driver()
    stream: Any = BytesIO(data)
    if piped:
        stream = SimpleNamespace(read=stream.read, seekable=lambda: False)
    with open_capture(stream) as capture:
        replay(capture, rig=driver)
        kept = KeptRecords(capture)
    source = driver.gpu.budget.source
    assert source is not None and driver.gpu.code_budget.source is source
    assert (source(), kept.bytes_read) == (len(data), len(data))


def test_the_size_of_a_trace_bounds_what_its_draws_raise() -> None:
    driver = Driver()
    with opened(REAL[0]) as capture:
        replay(capture, rig=driver)
    source = driver.gpu.budget.source
    assert source is not None and source() == REAL[0].stat().st_size


def test_records_without_a_file_have_no_size() -> None:
    driver = Driver()
    replay(Tape(), rig=driver)
    assert driver.gpu.budget.source is not None and driver.gpu.budget.source() is None
