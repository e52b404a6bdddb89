"""Both sides of a workload against each other: processes of their own, frames in turn."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import mkdtemp
from typing import Any, NamedTuple, Self

import msgspec
import numpy as np

from benchmark.ours import has_option
from benchmark.peer import ENVIRONMENT
from benchmark.place import Place, environment, executable
from benchmark.serving import Missing
from benchmark.workloads import Array, workload_of

FRAMES_TO_WARM = 12
"""Frames of a process, at most, before the next one finds what it has compiled."""
FAR = 8
"""Levels of 255 by which a channel may differ before its pixel counts as another."""
FAR_SHARE = 0.01
"""Share of the pixels that may: those where an alpha is near the threshold, or two depths are."""
COUNT_SHARE = 1e-4
"""Share of the samples by which counts may differ: where two depths are the same but for the
rounding of planes."""

STARTS, FRAMES_FOR_START = 7, 2
"""Processes of which a first frame is the median, at most, and later frames that ask for one."""

RATIOS = {
    "zonly": 0.5,
    "blend": 0.5,
    "textured": 0.9,
    "ps40": 1.0,
    "mesh": 1.0,
    "small_draws": 3.0,
    "msaa4": 1.0,
}
"""Required ratios: dp2emu's time over the peer's at the same number of threads."""


class Settings(msgspec.Struct, frozen=True):
    """How to measure: rounds end after ``runs`` or ``seconds``, whichever is first.

    ``engine`` None is the driver's default; ``threads`` is the number for the second pair of
    columns.  ``peer`` False leaves the other side out.
    """

    runs: int = 9
    seconds: float = 30.0
    engine: str | None = None
    threads: int = 2
    peer: bool = True

    def options(self, threads: int) -> dict[str, Any]:
        """Those of our side that the driver knows, on so many threads."""
        options: dict[str, Any] = {"engine": self.engine, "threads": threads}
        return {n: v for n, v in options.items() if v is not None and has_option(n)}


class Side:
    """A process that draws a workload.  Mutable: it remembers its times.

    Raises Missing if it cannot draw.
    """

    def __init__(
        self, module: str, name: str, place: Place, extra: dict[str, str], options: dict[str, Any]
    ) -> None:
        self.walls: list[float] = []
        self.cpus: list[float] = []
        said = json.dumps({"scale": place.scale, "folder": mkdtemp(dir=place.folder), **options})
        self._process = subprocess.Popen(
            executable(module, name, said),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=extra,
        )  # fmt: skip
        self.hello = self._answer()
        if "missing" in self.hello:
            self.close()
            raise Missing(self.hello["missing"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def ask(self, line: str) -> dict[str, Any]:
        """An answer of ``serving``.  Raises RuntimeError if the process is gone."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._answer()

    def frame(self) -> None:
        """Draw a frame and keep its times."""
        told = self.ask("frame")
        self.walls.append(told["ms"])
        self.cpus.append(told["cpu_ms"])

    def picture(self, file: Path) -> tuple[Array, int | None]:
        """What the last frame drew and counted."""
        samples = self.ask(f"picture {file}")["samples"]
        return np.load(file), samples

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"a side of the benchmark ended with {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


class Sides(msgspec.Struct):
    """Who takes part in a race, by column.  Mutable: they arrive one by one."""

    ours: Side
    peer: Side | None = None
    ours_threads: Side | None = None
    peer_threads: Side | None = None
    notices: list[str] = msgspec.field(default_factory=list)

    def __iter__(self) -> Iterator[Side]:
        every = (self.ours, self.peer, self.ours_threads, self.peer_threads)
        return (side for side in every if side is not None)


class Course(msgspec.Struct, frozen=True):
    """A workload about to be raced; ``stack`` closes whoever starts."""

    name: str
    place: Place
    settings: Settings
    cache: Path
    stack: ExitStack

    def ours(self, threads: int) -> Side:
        """Our side on so many threads."""
        return self._enter("ours", environment(self.cache), self.settings.options(threads))

    def peer(self, threads: int) -> Side:
        """llvmpipe: 0 threads of its own make everything happen on the one that calls."""
        own = {"LP_NUM_THREADS": str(threads if threads > 1 else 0)}
        return self._enter("peer", environment(None, **ENVIRONMENT, **own), {})

    def _enter(self, module: str, extra: dict[str, str], options: dict[str, Any]) -> Side:
        return self.stack.enter_context(Side(module, self.name, self.place, extra, options))

    def sides(self) -> Sides:
        """Everyone who can take part."""
        sides, several = Sides(self.ours(1)), self.settings.threads
        if has_option("threads"):
            sides.ours_threads = self.ours(several)
        else:
            sides.notices.append("the driver has no threads: their columns are left out")
        try:
            if self.settings.peer:
                sides.peer = self.peer(1)
                sides.peer_threads = self.peer(several)
        except Missing as why:
            sides.notices.append(f"the peer is left out: {why}")
        return sides


def race(name: str, place: Place, settings: Settings) -> tuple[dict[str, Any], list[str]]:
    """The row of a workload, and what there is to say besides.

    Raises SystemExit if the sides do not draw the same.
    """
    folder = Path(mkdtemp(dir=place.folder))
    starts = _starts(name, place, settings)
    with ExitStack() as stack:
        sides = Course(name, place, settings, folder, stack).sides()
        _rounds(sides, settings)
        times = _times(sides)
        row = {
            "triangles": workload_of(name, place.scale).triangles,
            "asked": RATIOS[name],
            **times,
            "first_ms": starts.cold["first_ms"],
            "first_warm_ms": starts.warm["first_ms"],
            "import_ms": starts.cold["import_ms"],
            "adds_ms": _added(starts.cold, times["ms"]),
            "adds_warm_ms": _added(starts.warm, times["ms"]),
            **_states(name, place, settings),
            **_memory(sides.ours),
            **_agreement(name, sides, folder),
        }
        return row, sides.notices


class _Starts(NamedTuple):
    """What our side says when it has started, without and with a cache: medians."""

    cold: dict[str, float]
    warm: dict[str, float]


def _starts(name: str, place: Place, settings: Settings) -> _Starts:
    found: tuple[list[dict[str, Any]], ...] = [], []
    for _ in range(_processes(settings)):
        folder = Path(mkdtemp(dir=place.folder))
        for hellos in found:
            with ExitStack() as stack:
                side = Course(name, place, settings, folder, stack).ours(1)
                hellos.append(side.hello)
                # Who draws one frame and ends leaves little in its cache.
                for _ in range(min(settings.runs, FRAMES_TO_WARM)):
                    side.frame()
    return _Starts(*(
        {key: median(hello[key] for hello in hellos) for key in ("first_ms", "import_ms")}
        for hellos in found
    ))  # fmt: skip


def _processes(settings: Settings) -> int:
    """How many are started for a figure of which a process has but one."""
    return min(max(1, settings.runs // FRAMES_FOR_START), STARTS)


def _states(name: str, place: Place, settings: Settings) -> dict[str, float]:
    """What a new state adds in a process that has drawn others, without and with a cache: the
    median of several processes for each state, of which the median and the worst.
    """
    found: tuple[list[list[float]], ...] = [], []
    for _ in range(_processes(settings)):
        cache = Path(mkdtemp(dir=place.folder))
        for said in found:
            said.append(_added_by_states(name, place, settings, cache))
    cold, warm = ([median(each) for each in zip(*said, strict=True)] for said in found)
    return {
        "state_ms": median(cold),
        "state_worst_ms": max(cold),
        "state_warm_ms": median(warm),
        "state_worst_warm_ms": max(warm),
    }


def _added_by_states(name: str, place: Place, settings: Settings, cache: Path) -> list[float]:
    own = {"folder": mkdtemp(dir=place.folder), "scale": place.scale}
    said = json.dumps({**own, **settings.options(1)})
    ran = subprocess.run(
        executable("states", name, said),
        stdout=subprocess.PIPE, text=True, check=True, env=environment(cache),
    )  # fmt: skip
    found: list[float] = json.loads(ran.stdout)
    return found


def _added(hello: dict[str, float], ms: float) -> float:
    """What a first frame takes longer than others, but for what is imported."""
    return float(hello["first_ms"] - hello["import_ms"] - ms)


def _rounds(sides: Sides, settings: Settings) -> None:
    """Frames in turn; each side starts every other round."""
    end = time.monotonic() + settings.seconds
    for number in range(settings.runs):
        order = list(sides)
        for side in order if number % 2 == 0 else reversed(order):
            side.frame()
        if time.monotonic() >= end:
            return


def _times(sides: Sides) -> dict[str, Any]:
    """Medians; a ratio is our median over the peer's."""
    row: dict[str, Any] = {"runs": len(sides.ours.walls)}
    row |= {"ms": median(sides.ours.walls), "cpu_ms": median(sides.ours.cpus)}
    if sides.peer is not None:
        row |= {"peer_ms": median(sides.peer.walls), "peer_cpu_ms": median(sides.peer.cpus)}
        row |= {"ratio": row["ms"] / row["peer_ms"], "peer": sides.peer.hello["name"]}
        row["cpu_ratio"] = row["cpu_ms"] / row["peer_cpu_ms"]
    if sides.peer_threads is not None:
        row["peer_ms2"] = median(sides.peer_threads.walls)
    if sides.ours_threads is not None:
        row["ms2"] = median(sides.ours_threads.walls)
        row["speedup2"] = row["ms"] / row["ms2"]
    if "ms2" in row and "peer_ms2" in row:
        row["ratio2"] = row["ms2"] / row["peer_ms2"]
    return row


def _memory(side: Side) -> dict[str, float]:
    told = side.ask("memory")
    own = told["peak"] - told["surfaces"] - told["input"]
    return {"memory_mib": own, "surfaces_mib": told["surfaces"], "input_mib": told["input"]}


def _agreement(name: str, sides: Sides, folder: Path) -> dict[str, Any]:
    """Whether the sides drew the same, as far as that can be asked of two GPUs."""
    pixels, samples = sides.ours.picture(folder / "ours.npy")
    row: dict[str, Any] = {} if samples is None else {"samples": samples}
    if sides.peer is None:
        return row
    other, counted = sides.peer.picture(folder / "peer.npy")
    share = far_share(pixels, other)
    if share > FAR_SHARE or not close_counts(samples, counted):
        what = f"{share:.1%} of the pixels differ, samples are {samples} and {counted}"
        raise SystemExit(f"{name}: the sides do not draw the same: {what}")
    counts = {} if counted is None else {"peer_samples": counted}
    return row | counts | {"pixels_apart": share}


def far_share(first: Array, second: Array) -> float:
    """Share of the pixels, uint32 A8R8G8B8, of which a channel differs by more than ``FAR``."""
    lanes = (each.view(np.uint8).reshape(*each.shape, 4).astype(int) for each in (first, second))
    one, other = lanes
    return float((np.abs(one - other).max(axis=-1) > FAR).mean())


def close_counts(ours: int | None, theirs: int | None) -> bool:
    """Whether counts are as good as equal."""
    if ours is None or theirs is None:
        return ours is theirs
    return abs(ours - theirs) <= 1 + COUNT_SHARE * theirs


def cost(name: str, place: Place, settings: Settings) -> float:
    """Milliseconds of one of our frames, the median."""
    with ExitStack() as stack:
        side = Course(name, place, settings, Path(mkdtemp(dir=place.folder)), stack).ours(1)
        _rounds(Sides(side), settings)
        return median(side.walls)
