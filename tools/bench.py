#!/usr/bin/env python3
"""Measures what the README promises, and prints it as the table that is in it.

    python tools/bench.py [--scale 0.01] [--only NAME] [--dir FOLDER]

``--scale`` multiplies the sizes: 1 takes some minutes and 3 GiB of temporary space.
"""

from __future__ import annotations

import argparse
import io
import os
import platform
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dp2emu.capture import CaptureWriter, open_capture
from dp2emu.capture.records import Called, Record
from dp2emu.d3d import fvf
from dp2emu.d3d.enums import PrimitiveType, QueryType
from dp2emu.dp2.call import Call
from dp2emu.dp2.driver import SCAN_TOKENS, Driver
from dp2emu.dp2.table import Op
from dp2emu.dp2.walk import scan
from dp2emu.gpu.memory import SurfaceDesc, SurfaceKind
from dp2emu.runtime import Device9
from dp2emu.text import dump_jsonl

MIB = 1 << 20
CONTEXT, BUFFER = 1, 1
STRIDE = 20


@dataclass(frozen=True)
class Place:
    """Where a benchmark may put files, and the factor for its sizes."""

    folder: Path
    scale: float

    def size(self, full: int) -> int:
        """``full`` scaled, at least 1."""
        return max(1, round(full * self.scale))


class Row(NamedTuple):
    """A benchmark: what was asked for, and how to measure it."""

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
    """A driver with a context and a command buffer."""
    driver = Driver()
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
    seconds = best(lambda: command("info", str(path)))
    return f"{seconds:.2f} s"


@benchmark("dp2emu --help", "< 0.15 s")
def help_text(place: Place) -> str:
    """The whole command, start of Python included."""
    return f"{best(lambda: command('--help'), times=10):.3f} s"


@benchmark("replay of a 2 GiB capture", "<= 400 MiB")
def replay_large(place: Place) -> str:
    """Memory writes, draws and queries, frame by frame; peak resident memory."""
    path = large_capture(place, 2048)
    start = time.perf_counter()
    peak = command("replay", str(path), "--verify", "--json", os.devnull)
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


def command(*arguments: str) -> int:
    """Run ``dp2emu ARGUMENTS...``; returns the MiB it held at most, 0 if that is unknown."""
    peak = 0
    with subprocess.Popen(
        [sys.executable, "-m", "dp2emu", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr is not None
        said = process.stderr.read().decode()
        if hasattr(os, "wait4"):
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            peak = mib_of(usage.ru_maxrss)
    if process.returncode:
        raise SystemExit(f"dp2emu {' '.join(arguments)}: {said}")
    return peak


def mib_of(maxrss: int) -> int:
    """ru_maxrss, which is KiB except on macOS."""
    return maxrss // (MIB if sys.platform == "darwin" else 1024)


def machine() -> str:
    """What it ran on."""
    model = platform.processor() or platform.machine()
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    python = f"Python {platform.python_version()}, NumPy {np.__version__}"
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, {python}"


def measure_apart(name: str, place: Place) -> str:
    """Measure in a process of its own: memory and collected garbage of one must not tell on
    the next."""
    arguments = ["--only", name, "--dir", str(place.folder), "--scale", str(place.scale)]
    ran = subprocess.run(
        [sys.executable, __file__, *arguments], stdout=subprocess.PIPE, text=True, check=True
    )
    return ran.stdout.strip()


def main() -> None:
    """Measure and print the table, or the bare figure of a single benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--only", choices=list(BENCHMARKS))
    parser.add_argument("--dir", type=Path)
    options = parser.parse_args()
    if options.only:
        with tempfile.TemporaryDirectory() as folder:
            place = Place(options.dir or Path(folder), options.scale)
            print(BENCHMARKS[options.only].measure(place))
        return
    print(f"{machine()}:\n")
    widths = 36, 19, 18
    rule = " ".join("=" * (width - 1) for width in widths)
    print(rule, _line(("benchmark", "asked for", "measured"), widths), rule, sep="\n")
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        place = Place(Path(folder), options.scale)
        for name, row in BENCHMARKS.items():
            cells = name, row.target, measure_apart(name, place)
            print(_line(cells, widths), flush=True)
    print(rule)


def _line(cells: tuple[str, ...], widths: tuple[int, ...]) -> str:
    return "".join(cell.ljust(w) for cell, w in zip(cells, widths, strict=True)).rstrip()


if __name__ == "__main__":
    main()
