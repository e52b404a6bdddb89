"""What states cost a process that has drawn others: the first draw of each, beside later ones.

    python -m benchmark.states WORKLOAD OPTIONS

draws a small picture of another workload, so that all that a process does once is done, and then
the first step of each look of the workload, each by a driver of its own.  It prints JSON: for each
the milliseconds that the first frame took longer than those after it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from msgspec.structs import replace

from benchmark.ours import Ours
from benchmark.workloads import Look, Step, Workload, workload_of
from dp2emu.gpu.resource.heap import SurfaceKind

PRIMER, OTHER_PRIMER = "mesh", "textured"
"""What is drawn before, and what is before that is the one to be measured."""
PRIMER_SCALE = 0.01
FRAMES = 5
"""Later frames, of which the median counts."""


def states(workload: Workload) -> Iterator[Workload]:
    """The workload cut to the first step of each look."""
    found: dict[Look, Step] = {}
    for step in workload.steps:
        found.setdefault(step.look, step)
    return (replace(workload, steps=(step,)) for step in found.values())


def added(workload: Workload, path: Path, options: dict[str, Any]) -> float:
    """Milliseconds that its first frame takes longer than later ones."""
    ours = Ours(workload, path, options)
    _touch(ours)
    _settle()
    first = _timed(ours.first)
    _settle()
    return first - median(_timed(ours.frame) for _ in range(FRAMES))


def _touch(ours: Ours) -> None:
    """Have memory for targets, which an application has drawn to before."""
    for surface in ours.driver.gpu.heap:
        if surface.desc.kind == SurfaceKind.SURFACE:
            surface.data[:] = 0


def _timed(draw: Any) -> float:
    start = time.perf_counter()
    draw()
    return 1e3 * (time.perf_counter() - start)


def _settle() -> None:
    """Wait for what is compiled in the background for others."""
    from dp2emu.shader.jit.tiering import wait_for_background

    wait_for_background()


def main() -> None:
    """Measure what the command line names."""
    name, options = sys.argv[1], json.loads(sys.argv[2])
    scale, folder = options.pop("scale"), Path(options.pop("folder"))
    primer = OTHER_PRIMER if name == PRIMER else PRIMER
    added(workload_of(primer, PRIMER_SCALE), folder / "primer.dp2", options)
    parts = enumerate(states(workload_of(name, scale)))
    print(json.dumps([added(part, folder / f"{n}.dp2", options) for n, part in parts]))


if __name__ == "__main__":
    main()
