"""A target that reads traces of API calls, and imports them."""

from __future__ import annotations

import io
import struct
from collections.abc import Hashable, Iterator
from itertools import islice
from random import Random

from dp2emu.capture.apitrace import open_trace
from dp2emu.fuzz.mutations import mutate as mutate_bytes
from dp2emu.fuzz.target import Target
from dp2emu.limits import FUZZING
from dp2emu.retrace import METHODS, Import

_MOST = 4096
_RECORDS = 2000
_VERSION = 5
_ENTER, _LEAVE = b"\0", b"\1"
_ARGUMENT, _RESULT = b"\1", b"\2"
_CREATE = "Direct3DCreate9"
_NAMES = (_CREATE, *sorted(METHODS))
_POINTERS = 4
"""Different objects a program has: so few that calls meet."""


def trace(data: bytes) -> Hashable:
    """Read a stream of events, in the container that tracers write, and play its calls."""
    imported = Import(open_trace(io.BytesIO(stored(data)), limits=FUZZING))
    number = sum(1 for _ in islice(imported.records(), _RECORDS))
    return number, imported.damage and imported.damage.what


def stored(data: bytes) -> bytes:
    """A snappy container whose one chunk is not compressed."""
    literals = (data[at : at + 60] for at in range(0, len(data), 60))
    packed = _uint(len(data)) + b"".join(bytes((len(p) - 1 << 2,)) + p for p in literals)
    return b"at" + struct.pack("<I", len(packed)) + packed


def events(rng: Random) -> bytes:
    """A program that makes an object and calls some methods with values by chance."""
    known: dict[str, int] = {}
    calls = [_CREATE, *rng.choices(_NAMES, k=rng.randrange(1, 8))]
    return _uint(_VERSION) + b"".join(
        b"".join(_call(rng, number, name, known)) for number, name in enumerate(calls)
    )


def mutate(rng: Random, data: bytes, other: bytes) -> bytes:
    """Change bytes, or the calls behind a place; the version mostly stays."""
    if rng.random() < 0.2:
        return data[: rng.randrange(1, len(data) + 1)] + events(rng)[1:]
    changed = mutate_bytes(rng, data[1:], other[1:])
    return (data[:1] or b"\5") + changed


def _call(rng: Random, number: int, name: str, known: dict[str, int]) -> Iterator[bytes]:
    count = rng.randrange(6)
    yield _ENTER + _uint(0)
    if name in known:
        yield _uint(known[name])
    else:
        known[name] = len(known)
        yield _uint(known[name]) + _string(name) + _uint(count)
        yield from (_string(f"a{index}") for index in range(count))
    for index in range(count):
        yield _ARGUMENT + _uint(index) + _value(rng, 0)
    yield b"\0" + _LEAVE + _uint(number) + _RESULT + _value(rng, 0) + b"\0"


def _value(rng: Random, depth: int) -> bytes:
    kind = rng.randrange(9 if depth < 3 else 7)
    if kind == 0:
        return b"\0"
    if kind < 3:
        return b"\4" + _uint(rng.choice((0, 1, 2, 8, 64, 21, 0xFFFFFFFF, rng.getrandbits(32))))
    if kind == 3:
        return b"\5" + struct.pack("<f", rng.uniform(-2, 2))
    if kind == 4:
        blob = rng.randbytes(rng.choice((0, 4, 64)))
        return b"\x08" + _uint(len(blob)) + blob
    if kind < 7:
        return b"\x0d" + _uint(0x1000 * rng.randrange(1, _POINTERS))
    items = [_value(rng, depth + 1) for _ in range(rng.randrange(3))]
    return b"\x0b" + _uint(len(items)) + b"".join(items)


def _uint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def _string(text: str) -> bytes:
    return _uint(len(text)) + text.encode()


TARGETS = (
    Target(
        "trace", "read a trace of API calls and import it", lambda: trace, events, mutate, _MOST,
        ("dp2emu.capture.apitrace", "dp2emu.retrace"), suffix=".events",
    ),
)  # fmt: skip
