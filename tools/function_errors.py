#!/usr/bin/env python3
"""Measure the transcendental functions of programs against float64, over every float32.

    python tools/function_errors.py [--step N] [NAME ...]

``--step`` looks at every Nth float32; with 1, the default, a function takes some minutes.  Prints
the worst error in units in the last place, where it is, and the share of results that are the
nearest float32.  Exits with 1 if an error exceeds the function's limit.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp2emu.shader import functions
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.reference import run
from dp2emu.shader.values import Value

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

PORTION = 1 << 18
INFINITY_BITS = 0x7F800000
LEAST_OVERFLOW = 2.0**128 * (1 - 2.0**-25)


class Measured(NamedTuple):
    """A function, what it should be, the largest magnitude to try and the error it may have."""

    function: Callable[[Value], Value]
    exact: Callable[[F64], F64]
    magnitude: float
    limit: float


MEASURED = {
    "exp2": Measured(functions.exp2, np.exp2, math.inf, 2),
    "log2": Measured(functions.log2, np.log2, math.inf, 2),
    "sin": Measured(functions.sin, np.sin, math.pi, 2),
    "cos": Measured(functions.cos, np.cos, math.pi, 2),
    "sin-far": Measured(functions.sin, np.sin, 2.0**20, 2),
    "cos-far": Measured(functions.cos, np.cos, 2.0**20, 2),
}


class Worst(NamedTuple):
    """The largest error, its argument, and how many of the results are the nearest float32."""

    error: float
    argument: float
    nearest: int
    results: int


def program_of(function: Callable[[Value], Value]) -> Program:
    """y = function(x)."""
    b = Builder(Stage.VERTEX)
    b.output("y", function(b.input("x")))
    return b.program()


def ulps(found: F32, exact: F64) -> F64:
    """|found - exact| in units of a float32 at ``exact``; infinite for a NaN out of place."""
    exact = np.where(np.abs(exact) >= LEAST_OVERFLOW, np.copysign(np.inf, exact), exact)
    same = (found == exact) | (np.isnan(found) & np.isnan(exact))
    _, exponent = np.frexp(np.where(np.isfinite(exact), exact, 1.0))
    unit = np.ldexp(1.0, np.maximum(exponent, -125) - 24)
    with np.errstate(invalid="ignore"):
        error = np.abs(found.astype(np.float64) - exact) / unit
    return np.where(same, 0.0, np.where(np.isnan(error), np.inf, error))


def arguments(magnitude: float, step: int) -> Iterator[F32]:
    """Every ``step``-th float32 up to a magnitude, positive and negative, in portions."""
    last = min(int(np.float32(magnitude).view(np.uint32)), INFINITY_BITS)
    for first in range(0, last + 1, PORTION * step):
        bits = np.arange(first, min(first + PORTION * step, last + 1), step, dtype=np.uint32)
        for sign in (0, 0x80000000):
            yield (bits | np.uint32(sign)).view(np.float32)


def measure(measured: Measured, step: int) -> Worst:
    """Run a function on its arguments."""
    program = program_of(measured.function)
    worst, at, nearest, count = 0.0, 0.0, 0, 0
    for x in arguments(measured.magnitude, step):
        found = run(program, {"x": x}, {}, len(x)).outputs["y"]
        with np.errstate(all="ignore"):
            errors = ulps(found, measured.exact(x.astype(np.float64)))
        place = int(np.argmax(errors))
        if errors[place] > worst:
            worst, at = float(errors[place]), float(x[place])
        nearest += int(np.count_nonzero(errors <= 0.5))
        count += len(x)
    return Worst(worst, at, nearest, count)


def main() -> int:
    """Print a line for each function."""
    parser = argparse.ArgumentParser(description="Measure the functions of programs.")
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("names", nargs="*", metavar="NAME", default=list(MEASURED))
    options = parser.parse_args()
    failed = False
    print(f"{'function':<9} {'arguments':>11} {'worst ulp':>10} {'nearest':>8}  at")
    for name in options.names:
        worst = measure(MEASURED[name], options.step)
        failed |= worst.error > MEASURED[name].limit
        share = worst.nearest / worst.results
        print(f"{name:<9} {worst.results:>11} {worst.error:>10.4f} {share:>8.2%}  "
              f"{worst.argument!r}", flush=True)  # fmt: skip
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
