"""The hash of a DXBC container: MD5 with an ending of its own (SM4-5 tokens, "Container hash")."""

from __future__ import annotations

import math
import struct

_BLOCK = 64
_TAIL = 56
"""Bytes of a last block that leave room for both of its lengths."""
_WORD = 0xFFFFFFFF
_START = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)
_SINES = tuple(int(abs(math.sin(i + 1)) * (1 << 32)) for i in range(64))
_SHIFTS = tuple(
    shift
    for row in ((7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21))
    for shift in row * 4
)
_PLACES = tuple(
    (step * i + first) % 16 for step, first in ((1, 0), (5, 1), (3, 5), (7, 0)) for i in range(16)
)  # of the word that each of the 64 steps takes

_State = tuple[int, int, int, int]


def digest(data: bytes) -> bytes:
    """The 16 bytes of a container's hash.  ``data`` are its bytes from the 20th on."""
    state: _State = _START
    whole = len(data) - len(data) % _BLOCK
    for block in struct.iter_unpack("<16I", data[:whole] + _ending(data[whole:], len(data))):
        state = _compressed(state, block)
    return struct.pack("<4I", *state)


def _ending(rest: bytes, length: int) -> bytes:
    """The last one or two blocks: bits first, then the rest, then another count of them."""
    bits = struct.pack("<I", 8 * length & _WORD)
    odd = struct.pack("<I", 2 * length + 1 & _WORD)
    if len(rest) < _TAIL:
        return (bits + rest + b"\x80").ljust(_BLOCK - 4, b"\0") + odd
    return (rest + b"\x80").ljust(_BLOCK, b"\0") + bits + bytes(_BLOCK - 8) + odd


def _compressed(state: _State, block: tuple[int, ...]) -> _State:
    """MD5's compression of sixteen words into the state."""
    a, b, c, d = state
    for i, (sine, shift, place) in enumerate(zip(_SINES, _SHIFTS, _PLACES, strict=True)):
        mixed = a + _mix(i // 16, b, c, d) + sine + block[place] & _WORD
        a, b, c, d = d, b + (mixed << shift | mixed >> 32 - shift) & _WORD, b, c
    p, q, r, s = state
    return a + p & _WORD, b + q & _WORD, c + r & _WORD, d + s & _WORD


def _mix(turn: int, b: int, c: int, d: int) -> int:
    if turn == 0:
        return b & c | ~b & d
    if turn == 1:
        return d & b | ~d & c
    return b ^ c ^ d if turn == 2 else c ^ (b | ~d & _WORD)
