"""What is promised of single parts: the walk, dumps, queries, large captures, start-up.

Each measures in one process, whose memory and garbage it may spoil: ``measure_apart`` gives every
one a process of its own.
"""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

import numpy as np

from benchmark.c_walk import compiled
from benchmark.place import ROOT, Place, environment, executable
from dp2emu.capture import CaptureWriter, open_capture
from dp2emu.capture.records import Called, Record
from dp2emu.d3d import fvf
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import PrimitiveType, QueryType
from dp2emu.dp2.call import Call
from dp2emu.dp2.driver import SCAN_TOKENS, Driver
from dp2emu.dp2.header_scan import headers
from dp2emu.dp2.walk import scan
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.limits import Limits
from dp2emu.runtime import Device9
from dp2emu.shader.engines import can_compile
from dp2emu.text import dump_jsonl

MIB = 1 << 20
CONTEXT, BUFFER = 1, 1
STRIDE = 20
COLD_STARTS = 3
FIRST_LIGHT = ROOT / "streams" / "first_light.dp2"


class Row(NamedTuple):
    """A benchmark: the required figure, and the function that measures it."""

    target: str
    measure: Callable[[Place], str]


BENCHMARKS: dict[str, Row] = {}
"""Every benchmark, by the name it has in the table."""


def benchmark(
    name: str, target: str
) -> Callable[[Callable[[Place], str]], Callable[[Place], str]]:
    """Register a benchmark."""

    def register(measure: Callable[[Place], str]) -> Callable[[Place], str]:
        BENCHMARKS[name] = Row(target, measure)
        return measure

    return register


def best(measure: Callable[[], object], times: int = 5) -> float:
    """Seconds of the fastest of several runs."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        measure()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


SMALL_TOKENS = b"".join(
    (
        struct.pack("<BBHII", Op.RENDERSTATE, 0, 1, 7, 1),
        struct.pack("<BBHII", Op.RENDERSTATE, 0, 1, 22, 1),
        struct.pack("<BBHIIII", Op.SETSTREAMSOURCE2, 0, 1, 0, 3, 0, STRIDE),
        struct.pack("<BBHII", Op.ISSUEQUERY, 0, 1, 5, 2),
        struct.pack("<BBHIII", Op.DRAWPRIMITIVE, 0, 1, 4, 0, 1),
        struct.pack("<BBHII", Op.ISSUEQUERY, 0, 1, 5, 1),
        struct.pack("<BBHHHI", Op.TEXTURESTAGESTATE, 0, 1, 0, 1, 4),
        struct.pack("<BBHH", Op.TRIANGLELIST, 0, 2, 3),
    )
)
"""Eight small tokens, as a game mixes them."""


@benchmark("header walk", ">= 1 M tokens/s")
def header_walk(place: Place) -> str:
    """Finding tokens in command bytes."""
    repeats = place.size(125_000)
    data = SMALL_TOKENS * repeats
    seconds = best(lambda: walk(data), times=3)
    return f"{8 * repeats / seconds / 1e6:.2f} M tokens/s"


def walk(data: bytes) -> None:
    """Walk as the driver does, in stretches of bounded size."""
    at = 0
    while at < len(data):
        at = scan(data, at, len(data), limit=SCAN_TOKENS).stop


@benchmark("compiled header walk", ">= 100 M tokens/s")
def compiled_header_walk(place: Place) -> str:
    """The same tokens, only where they are."""
    if not can_compile():
        return "no llvmlite"
    repeats = place.size(125_000)
    data = SMALL_TOKENS * repeats

    def found() -> int:
        tokens = at = 0
        while at < len(data):
            stretch = headers(data, at, len(data))
            tokens, at = tokens + len(stretch.offsets), stretch.stop
        return tokens

    assert found() == 8 * repeats
    return f"{8 * repeats / best(found, times=3) / 1e6:.0f} M tokens/s"


@benchmark("header walk in C, to compare", "none")
def header_walk_in_c(place: Place) -> str:
    """The same tokens through a loop that a C compiler has made of the token table."""
    repeats = place.size(125_000)
    data = SMALL_TOKENS * repeats
    in_c = compiled(place.folder)
    if in_c is None:
        return "no C compiler"
    assert in_c(data) == 8 * repeats
    return f"{8 * repeats / best(lambda: in_c(data)) / 1e6:.0f} M tokens/s"


@benchmark("dump to JSON lines", ">= 100 k tokens/s")
def json_lines(place: Place) -> str:
    """``dp2emu dump --jsonl`` of small tokens."""
    path, repeats = place.folder / "small.dp2", place.size(50_000)
    per_call = 1000
    with CaptureWriter(path) as capture:
        for _ in range(-(-repeats // per_call)):
            data = SMALL_TOKENS * min(per_call, repeats)
            capture.write(Called(Call(CONTEXT, BUFFER, 0, len(data), commands=data)))
    tokens = 8 * min(per_call, repeats) * -(-repeats // per_call)
    with open_capture(path) as opened:
        seconds = best(lambda: dump_jsonl(opened, io.StringIO()), times=3)
    return f"{tokens / seconds / 1e3:.0f} k tokens/s"


def pairs(count: int, first: int = 1) -> bytes:
    """BEGIN and END of that many queries."""
    items = np.zeros((count, 2), [("head", "<u4"), ("query", "<u4"), ("flags", "<u4")])
    items["head"] = Op.ISSUEQUERY | 1 << 16
    items["query"] = np.arange(first, first + count)[:, None]
    items["flags"] = [2, 1]
    return items.tobytes()


def created(count: int, kind: QueryType) -> bytes:
    """CREATEQUERY of that many queries."""
    items = np.zeros(count, [("head", "<u4"), ("query", "<u4"), ("kind", "<u4")])
    items["head"] = Op.CREATEQUERY | 1 << 16
    items["query"] = np.arange(1, count + 1)
    items["kind"] = kind
    return items.tobytes()


def query_rig(capacity: int) -> Driver:
    """A driver with a context and a command buffer, all of which one call may use."""
    driver = Driver(limits=Limits(call_bytes=capacity))
    driver.create_surface(SurfaceDesc(BUFFER, SurfaceKind.MEMORY, capacity))
    driver.create_context(CONTEXT)
    return driver


def submit(driver: Driver, commands: bytes) -> int:
    """Make a call; returns the bytes of its response."""
    answer = driver.submit(Call(CONTEXT, BUFFER, 0, len(commands), commands=commands))
    assert answer.ddrval == 0, answer
    return answer.dwErrorOffset


@benchmark("50,000 BEGIN/END pairs in one call", "< 1.5 s")
def begin_end_pairs(place: Place) -> str:
    """Occlusion queries of their own ids, all answered in the same call."""
    count = place.size(50_000)
    driver = query_rig(32 * count)
    submit(driver, created(count, QueryType.OCCLUSION))
    commands = pairs(count)
    start = time.perf_counter()
    assert submit(driver, commands) >= 12 * count
    return f"{time.perf_counter() - start:.2f} s"


@benchmark("1,000,000 live queries", "work")
def live_queries(place: Place) -> str:
    """Created, issued, all pending at once, then all answered."""
    count = place.size(1_000_000)
    start = time.perf_counter()
    driver = query_rig(40 * count)
    submit(driver, created(count, QueryType.OCCLUSION))
    assert submit(driver, pairs(count)) >= 12 * count
    return f"{time.perf_counter() - start:.1f} s"


@benchmark("info on a 1 GiB capture", "< 0.5 s")
def info_large(place: Place) -> str:
    """The whole command, start of Python included."""
    path = large_capture(place, 1024)
    seconds = best(lambda: command("info", str(path)), times=place.size(5))
    return f"{seconds:.2f} s"


@benchmark("dp2emu --help", "< 0.15 s")
def help_text(place: Place) -> str:
    """The whole command, start of Python included."""
    return f"{best(lambda: command('--help'), times=place.size(10)):.3f} s"


@benchmark("first_light.dp2, cold start", "< 0.8 s")
def cold_start(place: Place) -> str:
    """``dp2emu replay`` of the README's stream with nothing in the caches."""
    seconds = [
        _replay_seconds(Path(folder)) for folder in _folders(place, place.size(COLD_STARTS))
    ]
    return f"{min(seconds):.2f} s"


@benchmark("first_light.dp2, warm start", "< 0.5 s")
def warm_start(place: Place) -> str:
    """The same again and again."""
    (folder,) = _folders(place, 1)
    _replay_seconds(folder)
    return f"{min(_replay_seconds(folder) for _ in range(place.size(COLD_STARTS))):.2f} s"


def _folders(place: Place, count: int) -> list[Path]:
    return [Path(mkdtemp(dir=place.folder)) for _ in range(count)]


def _replay_seconds(cache: Path) -> float:
    start = time.perf_counter()
    command("replay", str(FIRST_LIGHT), "--json", os.devnull, cache=cache)
    return time.perf_counter() - start


@benchmark("replay of a 2 GiB capture", "<= 400 MiB")
def replay_large(place: Place) -> str:
    """Memory writes, draws and queries, frame by frame; peak resident memory."""
    path = large_capture(place, 2048)
    start = time.perf_counter()
    peak = command("replay", str(path), "--verify", "--json", os.devnull).mib
    return f"{peak} MiB, {time.perf_counter() - start:.0f} s"


def large_capture(place: Place, frames: int) -> Path:
    """A sealed capture of ``frames`` MiB: each a memory write, a draw in a query, an answer."""
    frames = place.size(frames)
    path = place.folder / f"{frames}.dp2"
    if path.exists():
        return path
    noise = np.random.default_rng(2).integers(0, 256, MIB, np.uint8).tobytes()
    with CaptureWriter(path, compression="none") as capture:
        film(capture.write, frames, noise)
    return path


def film(record: Callable[[Record], None], frames: int, noise: bytes) -> None:
    """Play the frames on a driver and record them."""
    device = Device9(Driver(), 64, 64, record=record)
    device.set_fvf(fvf.XYZRHW | fvf.DIFFUSE)
    buffer = device.session.create_surface(SurfaceKind.VERTEXBUFFER, MIB)
    device.set_stream_source(0, buffer, 0, STRIDE)
    query = device.create_query(QueryType.OCCLUSION)
    corners = [(0.0, 0.0), (64.0, 0.0), (0.0, 64.0)]
    triangle = b"".join(struct.pack("<4fI", x, y, 0.5, 1.0, 0xFF00FF00) for x, y in corners)
    for frame in range(frames):
        device.write(buffer, 0, triangle + noise[frame % 977 : frame % 977 - 1000])
        device.clear(color=frame)
        query.begin()
        device.draw_primitive(PrimitiveType.TRIANGLELIST, 0, 1)
        query.end()
        device.present()
    device.close()


class Used(NamedTuple):
    """What a process used: MiB of memory at most, and seconds of processors.  0 if unknown."""

    mib: int
    seconds: float


def command(*arguments: str, cache: Path | None = None) -> Used:
    """Run ``dp2emu ARGUMENTS...``; returns what it used.  Raises SystemExit if it fails."""
    return run([sys.executable, "-m", "dp2emu", *arguments], cache)


def run(line: Sequence[str], cache: Path | None = None) -> Used:
    """Run a command line; returns what it used.  Raises SystemExit if it fails."""
    used = Used(0, 0.0)
    with subprocess.Popen(
        line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment(cache)
    ) as process:
        assert process.stderr is not None
        said = process.stderr.read().decode()
        if hasattr(os, "wait4"):
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            used = Used(mib_of(usage.ru_maxrss), usage.ru_utime + usage.ru_stime)
    if process.returncode:
        raise SystemExit(f"{' '.join(line)}: {said}")
    return used


def mib_of(maxrss: int) -> int:
    """ru_maxrss, which is KiB except on macOS."""
    return maxrss // (MIB if sys.platform == "darwin" else 1024)


def measure_apart(name: str, place: Place) -> str:
    """Measure in a process of its own: memory and collected garbage of one must not tell on
    the next."""
    arguments = [name, str(place.folder), str(place.scale)]
    ran = subprocess.run(
        executable("promises", *arguments),
        stdout=subprocess.PIPE, text=True, check=True, env=environment(None),
    )  # fmt: skip
    return ran.stdout.strip()


if __name__ == "__main__":
    # Rows are registered in the module of this name, of which this process runs another copy.
    from benchmark import fuzzing, imports  # noqa: F401

    _name, _folder, _scale = sys.argv[1:]
    print(fuzzing.BENCHMARKS[_name].measure(Place(Path(_folder), float(_scale))))
