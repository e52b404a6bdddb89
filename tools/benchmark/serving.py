"""One side of a workload in a process of its own, which draws when it is told to.

It is started as ``python -m benchmark.SIDE WORKLOAD OPTIONS`` with ``tools`` on the path, and
answers each line it reads with a line of JSON:

=================  ==========================================================
line               answer
=================  ==========================================================
``frame``          a frame was drawn: ``ms``, and ``cpu_ms`` of all threads
``picture FILE``   pixels are in FILE (``.npy``): ``samples`` counted, or null
``memory``         MiB: ``peak`` of the process, ``surfaces``, ``input``
=================  ==========================================================

The first answer comes unasked, after the first frame: ``first_ms``, of which ``import_ms`` went to
packages that are imported for it, and ``name``.  A side that
cannot draw says ``{"missing": why}`` instead and is gone.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from benchmark.workloads import Array, Workload, workload_of

MIB = 1 << 20


class Missing(Exception):
    """What a side needs is not there."""


class Picture(NamedTuple):
    """uint32 A8R8G8B8 of shape (height, width), and the samples an occlusion query counted."""

    pixels: Array
    samples: int | None


class Memory(NamedTuple):
    """Bytes that are not a side's own."""

    surfaces: int
    input: int


class Drawing(Protocol):
    """A side that is ready to draw."""

    def load(self) -> None:
        """Import packages that the first frame would import."""

    def first(self) -> None:
        """The first frame."""

    def frame(self) -> None:
        """A frame, complete when this returns."""

    def picture(self) -> Picture:
        """What the last frame left."""

    def memory(self) -> Memory:
        """What surfaces and input take."""


Opening = Callable[[Workload, Path, dict[str, Any]], Drawing]


def serve(opening: Opening) -> None:
    """Draw what the command line names, until the input ends."""
    name, options = sys.argv[1], json.loads(sys.argv[2])
    scale, folder = options.pop("scale"), Path(options.pop("folder"))
    workload = workload_of(name, scale)
    try:
        drawing = opening(workload, folder / f"{name}.dp2", options)
    except Missing as why:
        _say({"missing": str(why)})
        return
    # As the command does: a collection of all modules' objects takes as long as a frame, and falls
    # into the first frame or not by the number of objects made before.
    gc.collect()
    gc.freeze()
    loading, first = _timed(drawing.load)["ms"], _timed(drawing.first)["ms"]
    name = getattr(drawing, "name", "dp2emu")
    _say({"first_ms": loading + first, "import_ms": loading, "name": name})
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        _say(_ANSWERS[word](drawing, rest))


def _frame(drawing: Drawing, _: str) -> dict[str, Any]:
    return _timed(drawing.frame)


def _timed(draw: Callable[[], None]) -> dict[str, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    draw()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"ms": 1e3 * wall, "cpu_ms": 1e3 * cpu}


def _picture(drawing: Drawing, file: str) -> dict[str, Any]:
    picture = drawing.picture()
    np.save(file, picture.pixels)
    return {"samples": picture.samples}


def _memory(drawing: Drawing, _: str) -> dict[str, Any]:
    memory = drawing.memory()
    return {
        "peak": peak_bytes() / MIB,
        "surfaces": memory.surfaces / MIB,
        "input": memory.input / MIB,
    }


_ANSWERS: dict[str, Callable[[Drawing, str], dict[str, Any]]] = {
    "frame": _frame,
    "picture": _picture,
    "memory": _memory,
}


def peak_bytes() -> int:
    """What this process held at most.

    Where the system counts it, VmHWM: getrusage may tell of the process that started this one.
    0 where nobody says.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    if find_spec("resource") is None:
        return 0
    resource: Any = import_module("resource")
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def _say(answer: dict[str, Any]) -> None:
    print(json.dumps(answer), flush=True)
