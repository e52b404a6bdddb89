"""Hostile numbers of draws: sizes, coordinates, counts and offsets at and beyond every edge.

An input of a drawing target is two bytes, the number of a *variant*, and further bytes.  The
variant chooses what compiled code depends on: formats, states, shaders.  The further bytes choose
the numbers, which compiled code reads, so that many draws share few compiled functions.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from random import Random
from typing import TypeVar

from dp2emu.fuzz.cost import Bound

COST = Bound(30.0, 1.0, 256.0, 8.0)
"""What the draws of an input may cost, compilation of their variant included."""
VARIANT_BYTES = 2
SEED_BYTES = 8
"""Number of bytes of an input from which the numbers of its draws are made."""
SCENES = 2
"""Number of scenes of an input, each with its own surfaces, buffers and constants."""
CALLS = 16
"""Number of calls of a scene that draw, or of sets of buffers, for each of which some draws are
made."""
FLOATS = (
    math.inf, -math.inf, math.nan, 3.4e38, -3.4e38, 1e-45, -0.0, 1e30, -1e30, 2147483648.0,
    -2147483904.0, 16777216.0, 65536.0, 32768.0, -16384.5, 4096.0, 255.5, 1.0, 0.5, -1.0, 0.0,
)  # fmt: skip
WORDS = (0, 1, 2, 3, 4, 7, 0x7F, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF,
         0x80000000, 0xFFFFFFFE, 0xFFFFFFFF)  # fmt: skip
SIDES = (1, 1, 2, 3, 4, 5, 7, 8, 13, 16, 31, 33)
LONGEST = 16384

_T = TypeVar("_T")


def seed(rng: Random) -> bytes:
    """Return a random input."""
    return rng.randbytes(VARIANT_BYTES + SEED_BYTES)


def parts(data: bytes, variants: int) -> tuple[Random, Random]:
    """Return the generators of an input's variant, one of ``variants``, and of its numbers."""
    number = int.from_bytes(data[:VARIANT_BYTES], "little") % variants
    return Random(number), Random(data)


def often(rng: Random, usual: _T, others: Sequence[_T], share: float = 0.3) -> _T:
    """Return ``usual``, or with the probability ``share`` one of ``others``."""
    return rng.choice(others) if rng.random() < share else usual


def real(rng: Random, low: float = -4.0, high: float = 40.0, share: float = 0.2) -> float:
    """Return a float from ``low`` to ``high``, or with the probability ``share`` a hostile one."""
    return often(rng, rng.uniform(low, high), FLOATS, share)


def word(rng: Random, usual: int = 0) -> int:
    """Return ``usual``, any 32 bits, or a boundary of the widths of integers."""
    return often(rng, usual, (*WORDS, rng.getrandbits(32)))


def near(rng: Random, edge: int) -> int:
    """Return a number of 0 to ``edge``, or one around ``edge``."""
    return rng.choice((0, 1, edge - 1, edge, edge + 1, rng.randrange(max(edge, 1)))) % (1 << 32)


def sides(rng: Random) -> tuple[int, int]:
    """Return width and height of a surface: a single texel, odd, of any shape, or very long."""
    if rng.random() < 0.03:
        return rng.choice(((LONGEST, 1), (1, LONGEST), (LONGEST - 1, 1)))
    return often(rng, 33, SIDES, 0.5), often(rng, 31, SIDES, 0.5)


def words(values: Sequence[float]) -> bytes:
    """Return float32 values as bytes."""
    return struct.pack(f"<{len(values)}f", *values)


def vertices(rng: Random, size: int, stride: int, edge: float) -> bytes:
    """Return ``size`` bytes of vertices of ``stride`` bytes, whose first two floats are from
    around -``edge`` to around ``edge``, the third is a depth and the fourth is 1; some floats of
    some buffers are hostile, and some buffers are random bytes.
    """
    kind = rng.random()
    if kind < 0.1:
        return rng.randbytes(size)
    share = 0.0 if kind < 0.6 else rng.choice((0.02, 0.2))
    made = b""
    while len(made) < min(size, 40 * stride):
        place = [rng.uniform(-1.5, 1.5) * edge for _ in "xy"]
        rest = [rng.uniform(-0.5, 1.5) for _ in range(stride // 4 - 4)]
        values = (*place, rng.random(), 1.0, *rest)
        made += words([often(rng, each, FLOATS, share) for each in values])
    return (made * (size // max(len(made), 1) + 1))[:size]
