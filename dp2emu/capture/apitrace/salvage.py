"""What is whole of a damaged chunk of raw snappy.

The format is Google's description of snappy: the size expanded, then elements, each a literal or
a copy of what came before, told by the low two bits of its first byte.
"""

from __future__ import annotations

_LONG_LITERAL = 60
"""Lengths from here on stand in the bytes after the first, of a literal."""


def salvage(data: bytes, limit: int) -> bytes:
    """What the elements before the first impossible one expand to, at most ``limit`` bytes."""
    out = bytearray()
    at = _after_size(data)
    while at < len(data) and len(out) < limit:
        kind, bits = data[at] & 3, data[at] >> 2
        extra = max(0, bits - _LONG_LITERAL + 1) if kind == 0 else (0, 1, 2, 4)[kind]
        tail = data[at + 1 : at + 1 + extra]
        at += 1 + extra
        if len(tail) < extra:
            break
        number = int.from_bytes(tail, "little")
        if kind == 0:
            length = 1 + (number if extra else bits)
            out += data[at : at + length]
            at += length
        elif not _copy(out, *_span(kind, bits, number)):
            break
    return bytes(out[:limit])


def _after_size(data: bytes) -> int:
    """Where the elements begin: behind a number with 7 bits in a byte."""
    return next((at + 1 for at, byte in enumerate(data) if byte < 0x80), len(data))


def _span(kind: int, bits: int, number: int) -> tuple[int, int]:
    """(how far back, how many bytes) a copy takes."""
    if kind == 1:
        return (bits >> 3) << 8 | number, (bits & 7) + 4
    return number, bits + 1


def _copy(out: bytearray, back: int, length: int) -> bool:
    """Append a copy, which may reach into itself; False if it begins before ``out`` does."""
    if not 0 < back <= len(out):
        return False
    source = out[len(out) - back :][:length]
    out += (source * (length // len(source) + 1))[:length]
    return True
