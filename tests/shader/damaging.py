"""Damage to shaders of any model, and what becomes of damaged ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from hypothesis import strategies as st

from dp2emu.errors import ShaderError


def flipped(code: bytes, data: st.DataObject) -> bytes:
    """Up to four bits of it are wrong."""
    damaged = bytearray(code)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(code) - 1))
        damaged[place] ^= 1 << data.draw(st.integers(0, 7))
    return bytes(damaged)


def shuffled(instructions: Sequence[Sequence[int]], rng: Random) -> list[int]:
    """The words of the instructions, some of which are doubled, replaced or left out."""
    parts = list(instructions)
    for _ in range(rng.randrange(1, 4)):
        change = rng.choice((list.insert, list.__setitem__))
        change(parts, rng.randrange(len(parts)), rng.choice(parts))
    if rng.randrange(2):
        parts.remove(rng.choice(parts))
    return [word for part in parts for word in part]


def survives(
    code: bytes, disassemble: Callable[[bytes], str], assemble: Callable[[str], bytes]
) -> None:
    """Damaged code is refused with an offset, or is a shader like any other."""
    try:
        text = disassemble(code)
    except ShaderError as error:
        assert error.offset is not None and 0 <= error.offset <= len(code)
    else:
        assert assemble(text) == code
