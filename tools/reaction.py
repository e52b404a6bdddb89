#!/usr/bin/env python3
"""Measure how long a verb goes on after a signal, in the middle of each kind of work.

    python tools/reaction.py [--tries N] [--dask] [WORK ...]

Each try starts a verb, sends SIGINT or SIGTERM at another moment of its work, and measures the
time until the process has ended.  Prints for each kind of work the shortest, the median and the
longest time, and the load of the machine; then exits with 1 if one took longer than BOUND, if a
message or an exit code was wrong, or if a process, a partial file or a changed output was left.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from statistics import median
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dp2emu import Cancellation, Cancelled, CaptureWriter, Device9, Driver, PrimitiveType
from dp2emu.gpu.device.gpu import DRAWING
from dp2emu.limits import UNLIMITED
from dp2emu.shader.sm.assemble import assemble

ROOT = Path(__file__).resolve().parents[1]
BOUND = 0.5
"""Seconds within which a signal ends a verb."""
TRIES = 10
SOONER = 6
"""Most attempts at a try whose verb ends before its moment."""
SHUTDOWN = 0.1
"""Seconds that the interpreter takes to end after a verb has: a signal is too late then."""
ENDED = "it had ended"
"""Beginning of the fault of such a try."""
OLD = b"what was there"
STREAMS = ROOT / "streams"
SAMPLE = STREAMS / "first_light.dp2"
ANY = ("--limit", "none")
"""The inputs work for longer than default limits allow."""
SIGNALS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
TICK = os.sysconf("SC_CLK_TCK")
LOOPS = "rep i0\n" * 3 + "add r0, r0, c0\nmul r0, r0, c1\n" + "endrep\n" * 3
LONG_LOOP = f"ps_3_0\ndefi i0, 255, 0, 0, 0\nmov r0, c0\n{LOOPS}mov oC0, r0\n"
LONG_TEXT = "ps_3_0\nmov r0, c0\n" + "mad r0, r0, c0, c1\n" * 2000 + "mov oC0, r0\n"


class Work(NamedTuple):
    """A kind of work: the words of a verb, and the moments at which it is interrupted.

    The moments are between ``first`` and ``last``, in seconds of the processor time of its process
    after ``python_start``, or since the start of a verb that works in other processes or waits
    (``elsewhere``).
    """

    words: tuple[str, ...]
    first: float
    last: float
    elsewhere: bool = False


WORKS = {
    "start": Work(("replay", str(SAMPLE), "--json", "OUT"), 0.02, 0.32),
    "kernel": Work(("replay", "loop.dp2", *ANY, "--json", "OUT"), 0.6, 1.5),
    "kernel of one thread": Work(("replay", "loop.dp2", *ANY, "--threads", "1"), 0.6, 1.5),
    "reference engine": Work(("replay", "loop.dp2", *ANY, "--engine", "reference"), 0.6, 1.5),
    "compilation": Work(("replay", "text.dp2", *ANY, "--json", "OUT"), 0.6, 5.0),
    "large surfaces": Work(("replay", "large.dp2", *ANY, "--json", "OUT"), 0.4, 2.0),
    "large surfaces, reference": Work(
        ("replay", "large.dp2", *ANY, "--engine", "reference", "--json", "OUT"), 0.4, 3.0
    ),
    "pictures": Work(("replay", "large.dp2", *ANY, "--png", "shown"), 0.5, 4.0),
    "import": Work(("import", "TRACE", "-o", "OUT"), 0.3, 0.7),
    "decompression": Work(("convert", "zeros.dp2", "OUT", *ANY, "--to", "log"), 0.2, 0.5),
    "dump to a pipe": Work(("dump", "zeros.dp2", *ANY), 0.5, 1.5, True),
    "batch": Work(
        ("batch", "loop.dp2", "large.dp2", "text.dp2", *ANY, "--jobs", "2", "--out", "rows"),
        0.6, 4.0, True,
    ),
    "fuzz": Work(("fuzz", "--plain", "--jobs", "2", "--corpus", "kept"), 0.6, 4.0, True),
    "minimize": Work(("minimize", str(SAMPLE), "--check", "CHECK", "-o", "OUT"), 0.6, 2.0, True),
    "conform, rig": Work(("conform", "--rig", "pipe:sleep 1000", "--json", "OUT"), 0.6, 2.0, True),
    "conform": Work(("conform", "--json", "OUT"), 0.4, 1.0),
    "scene": Work(("scene", "SCENES", "--out", "shown"), 0.5, 1.5),
}  # fmt: skip


def main() -> None:
    """Try every kind of work, and print the times."""
    parser = argparse.ArgumentParser(description="Measure reactions to signals.")
    parser.add_argument("work", nargs="*", metavar="WORK", help=f"one of: {', '.join(WORKS)}")
    parser.add_argument("--tries", type=int, default=TRIES)
    parser.add_argument("--dask", action="store_true", help="interrupt a batch on dask as well")
    options = parser.parse_args()
    bad = 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="reaction-")))
        make_inputs(folder)
        works = {name: WORKS[name] for name in options.work or WORKS}
        if options.dask:
            address = stack.enter_context(cluster(folder))
            words = ("batch", "loop.dp2", "text.dp2", *ANY, "--dask", address, "--out", "rows")
            works["batch, dask"] = Work(words, 1.5, 5.0, True)
        for name, work in works.items():
            tries = tries_of(work, folder, options.tries)
            times = sorted(seconds for seconds, _ in tries)
            faults = sorted({fault for _, found in tries for fault in found})
            shown = f"{times[0]:.3f} to {times[-1]:.3f} s, median {median(times):.3f} s"
            load = f"load {os.getloadavg()[0]:.1f}"
            print(f"{name:26}{shown}, {load}", *faults, sep="; ", flush=True)
            bad += bool(faults) or times[-1] > BOUND
    sys.exit(1 if bad else 0)


def tries_of(work: Work, folder: Path, tries: int) -> list[tuple[float, list[str]]]:
    """Interrupt a verb at moments from the first to the last, which come sooner where the machine
    is so fast that the verb ends before one.
    """
    found = []
    for at in range(tries):
        for _ in range(SOONER):
            result = tried(work, folder, at, tries)
            if not any(fault.startswith(ENDED) for fault in result[1]):
                break
            work = work._replace(last=work.first + 0.7 * (work.last - work.first))
        found.append(result)
    return found


def tried(work: Work, folder: Path, number: int, tries: int) -> tuple[float, list[str]]:
    """Interrupt a verb once -> the seconds that it went on, and what was wrong."""
    moment = work.first + (work.last - work.first) * number / max(tries - 1, 1)
    moment += python_start()
    which = list(SIGNALS)[number % len(SIGNALS)]
    (folder / "OUT").write_bytes(OLD)
    before = {path.name for path in folder.iterdir()}
    words = [word for given in work.words for word in spelled(given)]
    verb = subprocess.Popen(
        [sys.executable, "-m", "dp2emu", *words], cwd=folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, env=environment(),
    )  # fmt: skip
    started = time.monotonic()
    while verb.poll() is None and worked(verb.pid, started, work) < moment:
        time.sleep(0.002)
    if verb.poll() is not None:
        _, err = verb.communicate()
        return 0.0, [f"{ENDED} with {verb.returncode} before {moment:.2f} s: {err[-200:]!r}"]
    sent = time.monotonic()
    verb.send_signal(which)
    verb.wait()
    seconds = time.monotonic() - sent
    _, err = verb.communicate()
    if seconds < SHUTDOWN and verb.returncode in (0, -which):
        return seconds, [f"{ENDED} with {verb.returncode} at {moment:.2f} s: {err[-200:]!r}"]
    return seconds, list(faults_of(verb, which, err.decode(), folder, before))


def faults_of(
    verb: subprocess.Popen[bytes], which: signal.Signals, err: str, folder: Path, before: set[str]
) -> Iterator[str]:
    """Yield what is wrong with the end of a verb."""
    if verb.returncode != 128 + which:
        yield f"exit code {verb.returncode} for {which.name}"
    last = err.splitlines()[-1:] or [""]
    if not (last[0].startswith("dp2emu: ") and last[0].endswith(SIGNALS[which])):
        yield f"message {err[-300:]!r}"
    if (folder / "OUT").read_bytes() != OLD:
        yield "the output has changed"
    left = {path.name for path in folder.iterdir()} - before - {"rows", "kept", "shown"}
    if left:
        yield f"left: {', '.join(sorted(left))}"
    until = time.monotonic() + 5.0
    while alive(verb.pid):
        if time.monotonic() > until:
            yield "a process is left"
            os.killpg(verb.pid, signal.SIGKILL)
            break
        time.sleep(0.01)
    for name in ("kept", "shown"):
        shutil.rmtree(folder / name, ignore_errors=True)


def alive(group: int) -> bool:
    """Whether a process group has a process."""
    with suppress(ProcessLookupError):
        os.killpg(group, 0)
        return True
    return False


def environment() -> dict[str, str]:
    """The environment of a verb of this checkout."""
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}


@cache
def python_start() -> float:
    """The most seconds of processor time of three starts of Python, until it has loaded the part
    of dp2emu that takes care of signals; before, they have the effect that Python gives them.
    """
    code = "import dp2emu.process.signals, time; print(time.process_time())"
    asked = [sys.executable, "-c", code]
    return max(
        float(subprocess.run(asked, capture_output=True, check=True, env=environment()).stdout)
        for _ in range(3)
    )


def worked(process: int, started: float, work: Work) -> float:
    """Seconds that a process has worked; seconds since its start if others work for it."""
    if work.elsewhere:
        return time.monotonic() - started
    fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def spelled(word: str) -> list[str]:
    """The arguments that replace a word of a command line in ``WORKS``; most stay as they are."""
    there = {
        "TRACE": [str(max(STREAMS.rglob("*.trace"), key=lambda path: path.stat().st_size))],
        "SCENES": [str(path) for path in sorted((ROOT / "tests/golden/scenes").rglob("*.json"))],
        "CHECK": ["sh -c 'sleep 0.2; test $(wc -c < {}) -lt 2000'"],
    }
    return there.get(word, [word])


# Inputs


def make_inputs(folder: Path) -> None:
    """Write captures that work for long."""
    for name, text in (("loop", LONG_LOOP), ("text", LONG_TEXT)):
        drawn(folder / f"{name}.dp2", 1024, text)
    with CaptureWriter(str(folder / "large.dp2")) as capture:
        driver = Driver(limits=UNLIMITED)
        driver.gpu.skipped = DRAWING
        device = Device9(driver, 8192, 8192, record=capture.write)
        for color in range(64):
            device.clear(color=0xFF000000 + color)
            device.present()
    with CaptureWriter(str(folder / "zeros.dp2"), chunk_bytes=16 << 20) as capture:
        device = Device9(Driver(), 64, 64, record=capture.write)
        for _ in range(64):
            device.create_vertex_buffer(bytes(1 << 20))


def drawn(path: Path, size: int, text: str) -> None:
    """Write a capture of one draw over the whole target by a pixel shader."""
    token = Cancellation()
    with CaptureWriter(str(path)) as capture, suppress(Cancelled):
        device = Device9(
            Driver(limits=UNLIMITED, cancellation=token), size, size, record=capture.write
        )
        device.clear(color=0xFF203040)
        device.set_fvf(0x44)
        code = memoryview(assemble(text)).cast("I").tolist()
        device.set_pixel_shader(device.create_pixel_shader(code))
        corners = ((0, 0), (2 * size, 0), (0, 2 * size))
        vertices = b"".join(struct.pack("<4fI", x, y, 0.5, 1.0, 0) for x, y in corners)
        token.cancel()
        device.draw_primitive_up(PrimitiveType.TRIANGLELIST, 1, vertices, 20)


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """A dask cluster of two worker processes on this machine; yields its address."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=None,
        local_directory=str(folder / "d"),
    ) as made:
        yield made.scheduler_address


if __name__ == "__main__":
    main()
