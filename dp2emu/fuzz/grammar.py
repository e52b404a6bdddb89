"""Random command streams, and mutations that know where tokens begin.

Layout and size of tokens come from the token table.  Results are often valid, otherwise nearly.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import dp2emu.dp2.tokens  # noqa: F401  (registers the token table)
from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.generate import generate, generate_stream
from dp2emu.dp2.table import TABLE
from dp2emu.dp2.walk import scan
from dp2emu.fuzz.mutations import BOUNDARIES, over
from dp2emu.fuzz.mutations import mutate as mutate_bytes

VERTEX_SIZE = 28
"""Bytes of a vertex: XYZRHW, DIFFUSE and a texture coordinate."""
Tokens = list[bytes]
"""The bytes of each token of a stream; the last item may be an incomplete token."""
QUERIES = (Op.CREATEQUERY, Op.ISSUEQUERY, Op.DELETEQUERY)
_ISSUING = bytes(QUERIES)
_HEADER = 4
_RAW = 0.25
"""Probability that a mutation changes bytes without regard to where tokens begin."""
_MOST_TOKENS = 64


def stream(rng: Random) -> bytes:
    """Return 1 to 4 valid tokens: all with random fields, or all samples of the token table."""
    if rng.random() < 0.5:
        return generate_stream(rng, rng.randrange(1, 5), vertex_size=VERTEX_SIZE)
    return b"".join(sample(rng) for _ in range(rng.randrange(1, 5)))


def sample(rng: Random, op: int | None = None) -> bytes:
    """Return a sample token of ``op`` (None: any), or a random token if the table has none."""
    token = rng.choice(_TOKENS) if op is None else TABLE[op]
    if token.samples and token.vertices is None:
        return rng.choice(token.samples)
    return generate(token, rng, vertex_size=VERTEX_SIZE)


def mutate(rng: Random, data: bytes, other: bytes) -> bytes:
    """Mutate a stream: its tokens, their fields, or bytes."""
    if rng.random() < _RAW:
        return mutate_bytes(rng, data, other)
    tokens = tokens_of(data)
    if not tokens:
        return stream(rng)
    changed = rng.choice(MUTATIONS)(rng, tokens, other)
    return b"".join(changed[:_MOST_TOKENS])


def grow(rng: Random, data: bytes) -> bytes:
    """Make a stream about twice as long: more tokens, or more items in one."""
    tokens = tokens_of(data)
    if not tokens:
        return data + stream(rng)
    if rng.random() < 0.25:
        return b"".join(tokens) * 2
    at = rng.randrange(len(tokens))
    if rng.random() < 0.5:
        run = tokens[at : at + rng.choice((1, 2, 8))]
        size = sum(map(len, run)) or 1
        return b"".join((*tokens[:at], *run * -(-len(data) // size), *tokens[at:]))
    token = rng.choice(_COUNTED)
    item = VERTEX_SIZE if token.item_dtype is None else token.item_dtype.itemsize
    count = min(len(data) // item + 1, 0xFFFF)
    tokens.insert(at, generate(token, rng, n=count, vertex_size=VERTEX_SIZE))
    return b"".join(tokens)


def tokens_of(data: bytes) -> Tokens:
    """Return the bytes of each token, and the bytes after the last complete token."""
    found = scan(data, 0, len(data), VERTEX_SIZE)
    pieces = [data[at:stop] for at, _, _, _, stop in found.commands]
    return [*pieces, data[found.stop :]] if found.stop < len(data) else pieces


# Mutations.  Each changes and returns the list.


def splice(rng: Random, tokens: Tokens, other: bytes) -> Tokens:
    """Insert one to three consecutive tokens of the stream ``other``."""
    found = tokens_of(other) or [sample(rng)]
    start = rng.randrange(len(found))
    at = rng.randrange(len(tokens) + 1)
    tokens[at:at] = found[start : start + rng.randrange(1, 4)]
    return tokens


def repeat(rng: Random, tokens: Tokens, other: bytes) -> Tokens:
    """Repeat a token."""
    at = rng.randrange(len(tokens))
    tokens[at:at] = [tokens[at]] * rng.choice((1, 1, 2, 7))
    return tokens


def remove(rng: Random, tokens: Tokens, other: bytes) -> Tokens:
    """Remove a token."""
    del tokens[rng.randrange(len(tokens))]
    return tokens


def exchange(rng: Random, tokens: Tokens, other: bytes) -> Tokens:
    """Exchange two tokens."""
    a, b = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    tokens[a], tokens[b] = tokens[b], tokens[a]
    return tokens


def fresh(rng: Random, tokens: Tokens, other: bytes) -> Tokens:
    """Insert a sample token, or a random one, at a random place."""
    tokens.insert(rng.randrange(len(tokens) + 1), sample(rng))
    return tokens


def count(rng: Random, tokens: Tokens, other: bytes) -> Tokens:
    """Change the count in the header of a token."""
    return _changed(rng, tokens, lambda token: over(token, 2, _near(rng, token, 2, 2)))


def opcode(rng: Random, tokens: Tokens, other: bytes) -> Tokens:
    """Change an opcode to another or an invalid one."""
    value = rng.choice(_OPS) if rng.random() < 0.9 else rng.getrandbits(8)
    return _changed(rng, tokens, lambda token: over(token, 0, bytes((value,))))


def number(rng: Random, tokens: Tokens, other: bytes) -> Tokens:
    """Change a field (size, count, handle, offset, enumeration) to a boundary or nearby value."""

    def change(token: bytes) -> bytes:
        width = rng.choice((1, 2, 4, 4, 4))
        places = max((len(token) - _HEADER) // width, 1)
        at = _HEADER + width * rng.randrange(places)
        return over(token, at, _near(rng, token, at, width))

    return _changed(rng, tokens, change)


def name(rng: Random, tokens: Tokens, other: bytes) -> Tokens:
    """Copy four bytes, which may be a handle, from one token into another."""
    giver = rng.choice(tokens)
    start = _HEADER + 4 * rng.randrange(max((len(giver) - _HEADER) // 4, 1))
    word = giver[start : start + 4]

    def change(token: bytes) -> bytes:
        return over(token, _HEADER + 4 * rng.randrange(max(len(token) // 4 - 1, 1)), word)

    return _changed(rng, tokens, change)


def misalign(rng: Random, tokens: Tokens, other: bytes) -> Tokens:
    """Insert or remove bytes inside a token, which moves inline vertices."""

    def change(token: bytes) -> bytes:
        at = rng.randrange(len(token) + 1)
        if rng.random() < 0.5:
            return token[:at] + bytes(rng.randrange(1, 4)) + token[at:]
        return token[:at] + token[at + rng.randrange(1, 4) :]

    return _changed(rng, tokens, change)


def reorder(rng: Random, tokens: Tokens, other: bytes) -> Tokens:
    """Shuffle the CREATEQUERY, ISSUEQUERY and DELETEQUERY tokens, or insert one."""
    places = [at for at, token in enumerate(tokens) if token[0] in _ISSUING]
    if len(places) < 2:
        return splice(rng, tokens, generate(TABLE[rng.choice(QUERIES)], rng))
    shuffled = rng.sample(places, len(places))
    moved = [tokens[at] for at in shuffled]
    for at, token in zip(places, moved, strict=True):
        tokens[at] = token
    return tokens


def _changed(rng: Random, tokens: Tokens, change: Callable[[bytes], bytes]) -> Tokens:
    at = rng.randrange(len(tokens))
    tokens[at] = change(tokens[at])
    return tokens


def _near(rng: Random, token: bytes, at: int, width: int) -> bytes:
    """Return ``width`` bytes to put at ``at``: a boundary value, near the old one, or random."""
    kind = rng.randrange(4)
    if kind < 2:
        value = rng.choice(BOUNDARIES[width])
    elif kind == 2:
        value = int.from_bytes(token[at : at + width], "little") + rng.choice((-2, -1, 1, 2))
    else:
        value = rng.getrandbits(8 * width)
    return (value % (1 << 8 * width)).to_bytes(width, "little")


MUTATIONS: tuple[Callable[[Random, Tokens, bytes], Tokens], ...] = (
    splice, repeat, remove, exchange, fresh, count, opcode, number, number, name, misalign,
    reorder,
)  # fmt: skip
_TOKENS = tuple(TABLE[op] for op in sorted(TABLE))
_COUNTED = tuple(
    token for token in _TOKENS
    if (token.item_dtype is not None and token.count(2) > token.count(1))
    or (token.vertices is not None and token.vertices(2) > token.vertices(1))
)  # fmt: skip
"""Tokens whose size depends on the count in their header."""
_OPS = tuple(int(token.op) for token in _TOKENS)
