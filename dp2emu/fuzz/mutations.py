"""Mutations of bytes that ignore what the bytes mean.

Each function takes random numbers, the bytes and the bytes of another input, and returns new
bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

Mutation = Callable[[Random, bytes, bytes], bytes]
"""Function that returns mutated bytes; parameters: random numbers, bytes, another input."""
BOUNDARIES: dict[int, tuple[int, ...]] = {
    width: (0, 1, (1 << bits - 1) - 1, 1 << bits - 1, (1 << bits) - 2, (1 << bits) - 1)
    for width, bits in ((1, 8), (2, 16), (4, 32), (8, 64))
}
"""Width of an integer in bytes -> its signed and unsigned boundary values, as unsigned
integers."""
_LONGEST_RUN = 32


def mutate(rng: Random, data: bytes, other: bytes) -> bytes:
    """Apply one to four mutations, mostly one."""
    for _ in range(1 + int(3.99 * rng.random() ** 3)):
        data = rng.choice(MUTATIONS)(rng, data, other)
    return data


def flip_bit(rng: Random, data: bytes, other: bytes) -> bytes:
    """Flip a bit."""
    if not data:
        return data
    at = int(rng.random() * len(data))
    return b"%b%c%b" % (data[:at], data[at] ^ 1 << (rng.getrandbits(3)), data[at + 1 :])


def boundary(rng: Random, data: bytes, other: bytes) -> bytes:
    """Overwrite an integer of 1, 2, 4 or 8 bytes, at a random offset, by a boundary value."""
    width = rng.choice((1, 2, 4, 4, 8))
    value = rng.choice(BOUNDARIES[width]).to_bytes(width, "little")
    return over(data, int(rng.random() * (len(data) + 1)), value)


def arithmetic(rng: Random, data: bytes, other: bytes) -> bytes:
    """Add -16 to 16 to a little-endian integer of 1, 2 or 4 bytes at a random offset."""
    width = rng.choice((1, 2, 4))
    at = int(rng.random() * max(len(data) - width + 1, 1))
    number = int.from_bytes(data[at : at + width], "little") + rng.randrange(-16, 17)
    return over(data, at, (number % (1 << 8 * width)).to_bytes(width, "little"))


def remove(rng: Random, data: bytes, other: bytes) -> bytes:
    """Remove consecutive bytes."""
    at = int(rng.random() * (len(data) + 1))
    return data[:at] + data[at + 1 + int(rng.random() * _LONGEST_RUN) :]


def repeat(rng: Random, data: bytes, other: bytes) -> bytes:
    """Repeat consecutive bytes once."""
    at = int(rng.random() * (len(data) + 1))
    end = at + 1 + int(rng.random() * _LONGEST_RUN)
    return data[:end] + data[at:]


def insert(rng: Random, data: bytes, other: bytes) -> bytes:
    """Insert random bytes."""
    at = int(rng.random() * (len(data) + 1))
    return data[:at] + rng.randbytes(1 + int(rng.random() * 8)) + data[at:]


def cut(rng: Random, data: bytes, other: bytes) -> bytes:
    """Remove a random number of bytes at the end."""
    return data[: int(rng.random() * (len(data) + 1))]


def splice(rng: Random, data: bytes, other: bytes) -> bytes:
    """Replace the last bytes of ``data`` by the last bytes of ``other``."""
    return (
        data[: int(rng.random() * (len(data) + 1))] + other[int(rng.random() * (len(other) + 1)) :]
    )


def take(rng: Random, data: bytes, other: bytes) -> bytes:
    """Overwrite a run of bytes of ``data`` by a run of bytes of ``other``."""
    start = int(rng.random() * (len(other) + 1))
    run = other[start : start + 1 + int(rng.random() * _LONGEST_RUN)]
    return over(data, int(rng.random() * (len(data) + 1)), run)


def over(data: bytes, at: int, piece: bytes) -> bytes:
    """Return ``data`` overwritten by ``piece`` at byte ``at``; the size stays.

    >>> over(b"abcdef", 4, b"123")
    b'abcd12'
    """
    piece = piece[: max(len(data) - at, 0)]
    return data[:at] + piece + data[at + len(piece) :]


MUTATIONS: tuple[Mutation, ...] = (
    flip_bit, boundary, arithmetic, remove, repeat, insert, cut, splice, take,
)  # fmt: skip
