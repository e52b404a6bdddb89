"""Random valid tokens, from the token table: for property tests, fuzzing and samples.

Valid means that the walk accepts them: sizes are consistent and lengths small.  Other fields take
boundary values of their width, members of their enumeration or random bits, which a driver may
refuse.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from random import Random
from typing import Any

import numpy as np

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.sdk import SdkEnum
from dp2emu.dp2 import tokens
from dp2emu.dp2.table import TABLE, Token

COUNTS = (0, 1, 1, 1, 2, 3, 8)
"""Values that random tokens may have in the count field of their header; a repeated value is more
likely."""

_LENGTHS = (0, 1, 2, 3, 5, 12)
"""Values that random tokens may have in fields that count the variable bytes after an item."""

_FLOATS = (0.0, -0.0, 0.5, 1.0, -1.0, 1e-45, 3.4028234663852886e38, math.inf, math.nan)
_ASSIGNED = sorted(set(range(256)) - set(tokens.GAPS))


def generate(
    token: Token, rng: Random, *, n: int | None = None, at: int = 0, vertex_size: int = 32
) -> bytes:
    """The bytes of a random token, header included.

    ``n`` is the header's count, drawn from ``COUNTS`` if None; ``at`` the offset the token will
    have, which decides the padding of the _IMM tokens; ``vertex_size`` their vertex in bytes.
    """
    count = rng.choice(COUNTS) if n is None else n
    data = struct.pack("<BBH", token.op, rng.choice((0, 0, 0xFF)), count)
    head = None
    if token.head_dtype is not None:
        data += _record(token.head_dtype, token.enums, rng)
        head = np.frombuffer(data, token.head_dtype, 1, 4)[0]
    if token.item_dtype is not None:
        number = token.number(count, head)
        data += b"".join(_item(token, token.item_dtype, rng) for _ in range(number))
    if token.vertices is not None:
        data += bytes(-(at + len(data)) % 4)
        data += rng.randbytes(token.vertices(count) * vertex_size)
    return data


def generate_stream(
    rng: Random,
    length: int,
    *,
    ops: Collection[int] = _ASSIGNED,
    start: int = 0,
    vertex_size: int = 32,
) -> bytes:
    """``length`` random tokens with opcodes in ``ops``, aligned for byte ``start`` of a buffer."""
    choices = sorted(ops)
    data = b""
    for _ in range(length):
        token = TABLE[rng.choice(choices)]
        data += generate(token, rng, at=start + len(data), vertex_size=vertex_size)
    return data


def _item(token: Token, dtype: np.dtype[Any], rng: Random) -> bytes:
    if token.tail is None:
        return _record(dtype, token.enums, rng)
    data = _record(dtype, token.enums, rng, _length_fields(token.op))
    item = np.frombuffer(data, dtype)[0]
    return data + rng.randbytes(token.tail.size(item))


def _record(
    dtype: np.dtype[Any],
    enums: Mapping[str, type[SdkEnum]],
    rng: Random,
    lengths: Collection[str] = (),
) -> bytes:
    return b"".join(
        _length(leaf, rng) if name in lengths else _value(leaf, enums.get(name), rng)
        for name, leaf in _leaves(dtype)
    )


def _leaves(dtype: np.dtype[Any], name: str = "") -> Iterator[tuple[str, np.dtype[Any]]]:
    """The scalars of a record in order, each with the name of its top-level field."""
    if dtype.names is not None:
        for each in dtype.names:
            yield from _leaves(dtype[each], name or each)
    elif dtype.subdtype is not None:
        base, shape = dtype.subdtype
        for _ in range(math.prod(shape)):
            yield from _leaves(base, name)
    else:
        yield name, dtype


def _length(leaf: np.dtype[Any], rng: Random) -> bytes:
    return rng.choice(_LENGTHS).to_bytes(leaf.itemsize, "little")


def _value(leaf: np.dtype[Any], enum: type[SdkEnum] | None, rng: Random) -> bytes:
    bits = 8 * leaf.itemsize
    kind = rng.randrange(4)
    if kind == 0:
        return rng.randbytes(leaf.itemsize)
    if kind == 1:
        return rng.randrange(17).to_bytes(leaf.itemsize, "little")
    if leaf.kind == "f":
        return struct.pack("<f", rng.choice(_FLOATS))
    if enum is not None:
        return int(rng.choice(list(enum))).to_bytes(leaf.itemsize, "little")
    top = 1 << (bits - 1)
    return rng.choice((0, 1, top - 1, top, 2 * top - 1)).to_bytes(leaf.itemsize, "little")


class _AllOnes(dict[str, int]):
    """Mapping that stands for a token's item: every field, once read, is a key with 0xFFFFFFFF."""

    def __missing__(self, name: str) -> int:
        self[name] = 0xFFFFFFFF
        return self[name]


@cache
def _length_fields(op: Op) -> frozenset[str]:
    """Names of the fields of an ``op`` token's item on which the size of its tail depends."""
    item, tail = _AllOnes(), TABLE[op].tail
    if tail is not None:
        tail.size(item)
    return frozenset(item)
