"""Codes as fractions of the largest one, c / (2^n - 1), without dividing, and fractions as codes.

A quotient: the number times the reciprocal, in two parts of which the small product is rounded
first, is the nearest float to the quotient for every whole number below 2^16 and every n up to 16.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from dp2emu.shader.ir import Assign, Constant, Operand, Program, Slot, of_program, walk, written
from dp2emu.shader.jit.writer import Writer, constant
from dp2emu.shader.types import Type

BITS = 16
"""Of the largest number, and of the largest divisor."""
_LARGEST = (1 << BITS) - 1
_DIVISORS = {
    Constant.of(Type.F32, float((1 << bits) - 1)): (1 << bits) - 1 for bits in range(1, BITS + 1)
}


def fraction(w: Writer, value: str, largest: int) -> str:
    """value / largest, of whole numbers of at most ``BITS`` bits with any sign."""
    if not w.target.fused or largest > _LARGEST:
        return w(f"fdiv {w.f} {value}, {_constant(largest)}")
    about, beyond = (_constant(float(part)) for part in parts(largest))
    return w.float_call("fma", value, about, w(f"fmul {w.f} {value}, {beyond}"))


def parts(largest: int) -> tuple[np.float32, np.float32]:
    """The reciprocal as a sum of two floats."""
    about = np.float32(1) / np.float32(largest)
    return about, np.float32((1 - float(about) * largest) / largest)


def byte_fraction(w: Writer, words: str, number: int) -> str:
    """code / 255 of a byte of each word: 2^-32 times the byte four times side by side, rounded up.

    Behind these 32 bits the quotient repeats the byte for ever, and the float has no more than 24
    bits from the byte's first one on; so what is cut off always begins with a one, and is more
    than half of the last place.
    """
    width = w.target.width
    bytes, count = f"<{4 * width} x i8>", 4 * width
    each = w(f"bitcast {w.i} {words} to {bytes}")
    four = w.picked(bytes, each, "poison", tuple(n // 4 * 4 + number for n in range(count)))
    repeated = w(f"bitcast {bytes} {four} to {w.i}")
    name = "llvm.x86.avx512.uitofp.round.v16f32.v16i32"
    value = w.call(name, w.f, (w.i, repeated), ("i32", str(_UP)))
    return w(f"fmul {w.f} {value}, {_constant(2.0**-32)}")


_UP = 10
"""How the conversion rounds: up, without exceptions."""
_EXACT = frozenset((1 << bits) - 1 for bits in range(2, 17))
"""Largest codes for which one fma rounds as the definition does: the product is exact, and the
only tie, at one half, is rounded up to an even number."""


def fraction_code(w: Writer, value: str, largest: float) -> str:
    """floor(c * largest + 0.5) of c in 0..1, an i32; ``largest`` is below 2^31."""
    if largest in _EXACT and w.target.fused:
        rounded = w.float_call("fma", value, _constant(largest), _constant(2.0**23))
        # The exponent of 2^23 lies in the upper byte, and may be shifted out anyway.
        return w(f"and {w.i} {w(f'bitcast {w.f} {rounded} to {w.i}')}, splat (i32 {0xFFFFFF})")
    factor, half = (constant(Constant.of(Type.F64, each)) for each in (largest, 0.5))
    scaled = w(f"fmul {w.d} {w(f'fpext {w.f} {value} to {w.d}')}, {factor}")
    return w(f"fptosi {w.d} {w(f'fadd {w.d} {scaled}, {half}')} to {w.i}")


def _constant(value: float) -> str:
    return constant(Constant.of(Type.F32, value))


def divisor(operand: Operand) -> int | None:
    """The number that a constant is, if it is one of those."""
    return _DIVISORS.get(operand) if isinstance(operand, Constant) else None


@of_program
def made_once(program: Program) -> dict[int, Assign]:
    """The operations whose slots are assigned in one place, by slot."""
    statements = [*walk(program.statements)]
    places = Counter(slot for statement in statements for slot in written(statement))
    return {s.slot: s for s in statements if isinstance(s, Assign) and places[s.slot] == 1}


@of_program
def whole_numbers(program: Program) -> frozenset[int]:
    """F32 slots that never hold anything but whole numbers of ``BITS`` bits.

    They are assigned in one place, and so is what they are made of; before that they hold 0.
    """
    made = made_once(program)
    small = {slot for slot, s in made.items() if _is_small(s)}
    converted = {slot: s.operands[0] for slot, s in made.items() if s.op in ("itof", "utof")}
    return frozenset(slot for slot, value in converted.items()
                     if isinstance(value, Slot) and value.number in small)  # fmt: skip


def _is_small(statement: Assign) -> bool:
    """Whether some low bits of an integer are all that is left."""
    last = statement.operands[-1]
    if not isinstance(last, Constant):
        return False
    masked = statement.op == "iand" and 0 <= last.bits <= _LARGEST
    return masked or (statement.op in ("ushr", "ishr") and BITS <= last.bits < 32)
