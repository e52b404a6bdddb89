"""Mutations of bytes that know nothing of what they mean.

Each takes random numbers, the bytes and others to take from, and returns new bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

Mutation = Callable[[Random, bytes, bytes], bytes]
"""(random numbers, bytes, other bytes of the same kind) -> changed bytes."""

BOUNDARIES: dict[int, tuple[int, ...]] = {
    width: (0, 1, (1 << bits - 1) - 1, 1 << bits - 1, (1 << bits) - 2, (1 << bits) - 1)
    for width, bits in ((1, 8), (2, 16), (4, 32), (8, 64))
}
"""By width in bytes: where numbers end, signed and unsigned."""

_LONGEST_RUN = 32


def mutate(rng: Random, data: bytes, other: bytes) -> bytes:
    """One to four mutations, mostly few."""
    for _ in range(1 + int(3.99 * rng.random() ** 3)):
        data = rng.choice(MUTATIONS)(rng, data, other)
    return data


def flip_bit(rng: Random, data: bytes, other: bytes) -> bytes:
    """A bit is another."""
    if not data:
        return data
    at = int(rng.random() * len(data))
    return b"%b%c%b" % (data[:at], data[at] ^ 1 << (rng.getrandbits(3)), data[at + 1 :])


def boundary(rng: Random, data: bytes, other: bytes) -> bytes:
    """A number of 1 to 8 bytes becomes one where numbers end."""
    width = rng.choice((1, 2, 4, 4, 8))
    value = rng.choice(BOUNDARIES[width]).to_bytes(width, "little")
    return over(data, int(rng.random() * (len(data) + 1)), value)


def arithmetic(rng: Random, data: bytes, other: bytes) -> bytes:
    """A number of 1 to 4 bytes becomes a little more or less."""
    width = rng.choice((1, 2, 4))
    at = int(rng.random() * max(len(data) - width + 1, 1))
    number = int.from_bytes(data[at : at + width], "little") + rng.randrange(-16, 17)
    return over(data, at, (number % (1 << 8 * width)).to_bytes(width, "little"))


def remove(rng: Random, data: bytes, other: bytes) -> bytes:
    """A run of bytes is gone."""
    at = int(rng.random() * (len(data) + 1))
    return data[:at] + data[at + 1 + int(rng.random() * _LONGEST_RUN) :]


def repeat(rng: Random, data: bytes, other: bytes) -> bytes:
    """A run of bytes stands there twice."""
    at = int(rng.random() * (len(data) + 1))
    end = at + 1 + int(rng.random() * _LONGEST_RUN)
    return data[:end] + data[at:]


def insert(rng: Random, data: bytes, other: bytes) -> bytes:
    """Some bytes stand where none were."""
    at = int(rng.random() * (len(data) + 1))
    return data[:at] + rng.randbytes(1 + int(rng.random() * 8)) + data[at:]


def cut(rng: Random, data: bytes, other: bytes) -> bytes:
    """The end is missing."""
    return data[: int(rng.random() * (len(data) + 1))]


def splice(rng: Random, data: bytes, other: bytes) -> bytes:
    """The end is that of others."""
    return (
        data[: int(rng.random() * (len(data) + 1))] + other[int(rng.random() * (len(other) + 1)) :]
    )


def take(rng: Random, data: bytes, other: bytes) -> bytes:
    """A run of bytes is from somewhere else."""
    start = int(rng.random() * (len(other) + 1))
    run = other[start : start + 1 + int(rng.random() * _LONGEST_RUN)]
    return over(data, int(rng.random() * (len(data) + 1)), run)


def over(data: bytes, at: int, piece: bytes) -> bytes:
    """``piece`` over ``data`` at byte ``at``; what would stick out is left away.

    >>> over(b"abcdef", 4, b"123")
    b'abcd12'
    """
    piece = piece[: max(len(data) - at, 0)]
    return data[:at] + piece + data[at + len(piece) :]


MUTATIONS: tuple[Mutation, ...] = (
    flip_bit, boundary, arithmetic, remove, repeat, insert, cut, splice, take,
)  # fmt: skip
