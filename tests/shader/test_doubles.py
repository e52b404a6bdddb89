"""Double precision functions against exact arithmetic: fma above all, where rounding is hard."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

import numpy as np
import pytest

from dp2emu.shader import doubles
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Stage
from dp2emu.shader.jit.engine import run_for
from dp2emu.shader.jit.machine import available
from dp2emu.shader.jit.writer import Target
from dp2emu.shader.reference import Run
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value
from tests.shader.engines import ENGINES
from tests.shader.models import DOUBLE, DOUBLES, is_nan, multiply_add, negated, product, quotient

EMULATED = {"without fma": partial(run_for, Target(4, fused=False))} if available() else {}
RUNS: dict[str, Run] = {**ENGINES, **EMULATED}
"""The engines, and one for a CPU without fma."""
EXPONENT, MANTISSA, LARGEST = 0x7FF, 52, 0x7FE
Triple = tuple[int, int, int]


def computed(
    function: Callable[..., Value], operands: list[tuple[int, ...]], engine: str
) -> list[int]:
    """The bits of a function's results, a lane for each set of operands."""
    b = Builder(Stage.COMPUTE)
    columns = list(zip(*operands, strict=True))
    b.output("y", function(*(b.input(f"x{n}", Type.F64) for n in range(len(columns)))))
    inputs = {
        f"x{n}": np.array(column, np.uint64).view(np.float64) for n, column in enumerate(columns)
    }
    found = RUNS[engine](b.program(), inputs, {}, len(operands)).outputs["y"]
    return np.asarray(found).view(np.uint64).tolist()  # type: ignore[no-any-return]


def fma(x: Value, y: Value, z: Value) -> Value:
    return x.builder.apply("dfma", x, y, z)


def differences(triples: list[Triple], engine: str) -> list[str]:
    found = computed(fma, list(triples), engine)
    wanted = [multiply_add(*each, DOUBLE) for each in triples]
    return [
        f"fma({', '.join(map(hex, each))}) is {x:#x}, not {y:#x}"
        for each, x, y in zip(triples, found, wanted, strict=True)
        if x != (DOUBLE.nan if is_nan(y, DOUBLE) else y)
    ]


def any_double(rng: Random) -> int:
    """Any bits, or bits near an edge, or few ones, or a small exponent."""
    few = rng.getrandbits(MANTISSA) & rng.getrandbits(MANTISSA) & rng.getrandbits(MANTISSA)
    mantissa = rng.choice((rng.getrandbits(MANTISSA), few, rng.getrandbits(6) << 46, 0))
    exponent = rng.choice(
        (rng.randrange(EXPONENT + 1), rng.randrange(900, 1150), rng.randrange(4))
    )
    near = exponent << MANTISSA | mantissa
    return rng.choice((near, near, near, rng.choice(DOUBLES))) ^ rng.getrandbits(1) << 63


def with_exponent(x: int, exponent: int) -> int:
    exponent = min(max(exponent, 0), LARGEST)
    return x & ~(EXPONENT << MANTISSA) | exponent << MANTISSA


def exponent_of(x: int) -> int:
    return x >> MANTISSA & EXPONENT


def anything(rng: Random) -> Triple:
    return any_double(rng), any_double(rng), any_double(rng)


def cancelling(rng: Random) -> Triple:
    """z next to -x y: what is left are the product's low bits."""
    x, y = any_double(rng), any_double(rng)
    z = negated(product(x, y, DOUBLE), DOUBLE) + rng.randrange(-2, 3)
    return x, y, z & 0xFFFFFFFFFFFFFFFF


def halfway(rng: Random) -> Triple:
    """A product that is half the last place of z, or next to it: less than its rounding error."""
    x = with_exponent(any_double(rng), rng.randrange(900, 1150))
    half = rng.randrange(900, 1150)
    y = quotient(half << MANTISSA, x, DOUBLE) ^ rng.getrandbits(1) << 63
    return x, y, with_exponent(any_double(rng), half + rng.randrange(52, 55))


def subnormal(rng: Random) -> Triple:
    """A product near the least numbers, beside a subnormal or a small z."""
    x, y = any_double(rng), any_double(rng)
    y = with_exponent(y, rng.randrange(-70, 10) - exponent_of(x) + 1023)
    z = rng.choice((rng.getrandbits(rng.randrange(1, 56)), with_exponent(any_double(rng), 2)))
    return x, y, z ^ rng.getrandbits(1) << 63


@pytest.mark.parametrize("engine", RUNS)
@pytest.mark.parametrize("kind", [anything, cancelling, halfway, subnormal])
def test_fma_is_rounded_once(kind: Callable[[Random], Triple], engine: str) -> None:
    rng = Random(kind.__name__)
    assert differences([kind(rng) for _ in range(4000)], engine) == []


@pytest.mark.parametrize("engine", RUNS)
def test_fma_of_edges(engine: str) -> None:
    few = DOUBLES[::3]
    triples = [(x, y, z) for x in few for y in few for z in few]
    assert differences(triples, engine) == []


def test_product_and_sum_would_be_wrong() -> None:
    """The random operands include those where two roundings differ from one."""
    for kind in (cancelling, halfway, subnormal):
        rng = Random(kind.__name__)
        triples = [kind(rng) for _ in range(4000)]
        twice = computed(lambda x, y, z: x * y + z, list(triples), "reference")
        wanted = [multiply_add(*each, DOUBLE) for each in triples]
        assert sum(x != y for x, y in zip(twice, wanted, strict=True)) > 100


@pytest.mark.parametrize("engine", RUNS)
def test_saturation_clamps_to_0_and_1_and_nan_is_0(engine: str) -> None:
    found = computed(doubles.saturate, [(x,) for x in DOUBLES], engine)
    wanted = [0 if is_nan(x, DOUBLE) or x & DOUBLE.sign else min(x, DOUBLE.one) for x in DOUBLES]
    assert found == wanted
