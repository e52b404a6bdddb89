"""The op table once more: what LLVM instructions each row is.

Rows stand in the order of ``dp2emu.shader.ops`` and compute what the expressions there do, bit
for bit.  Minimum, maximum and clamps are comparisons with selections, conversions saturate, and
an fma is the CPU's own or, where it has none, the reference's sum rounded to odd.
"""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.shader.ir import Constant
from dp2emu.shader.jit.writer import ALL, ZERO, Writer, constant
from dp2emu.shader.types import NAN_BITS, Type

Emit = Callable[..., str]
"""Takes a writer and names of operands, gives the name of the result."""

ONE = constant(Constant.of(Type.F32, 1.0))
NAN = constant(Constant(Type.F32, NAN_BITS))
_LEAST_NORMAL = constant(Constant.of(Type.F32, 2.0**-126))
_SHIFT_MASK = "splat (i32 31)"


def canonical(w: Writer, x: str) -> str:
    """Every NaN as the one that is seen."""
    return w.select(w(f"fcmp uno {w.f} {x}, {ZERO}"), w.f, NAN, x)


def _same(w: Writer, x: str) -> str:
    return x


def _binary(word: str, letter: str) -> Emit:
    """An instruction on two vectors, ``letter`` being the writer's attribute for their type."""

    def emit(w: Writer, x: str, y: str) -> str:
        return w(f"{word} {getattr(w, letter)} {x}, {y}")

    return emit


def _float(name: str) -> Emit:
    """An intrinsic with one correct result."""
    return lambda w, *operands: w.float_call(name, *operands)


def _flush(w: Writer, x: str) -> str:
    small = w(f"fcmp olt {w.f} {w.float_call('fabs', x)}, {_LEAST_NORMAL}")
    return w.select(small, w.f, w(f"fmul {w.f} {x}, {ZERO}"), x)


def _select(letter: str) -> Emit:
    return lambda w, condition, x, y: w.select(condition, getattr(w, letter), x, y)


def _fract(w: Writer, x: str) -> str:
    return w(f"fsub {w.f} {x}, {w.float_call('floor', x)}")


def _mulz(w: Writer, x: str, y: str) -> str:
    counts = [w(f"fcmp une {w.f} {each}, {ZERO}") for each in (x, y)]
    both = w(f"and {w.b} {counts[0]}, {counts[1]}")
    return w.select(both, w.f, w(f"fmul {w.f} {x}, {y}"), ZERO)


def _min(w: Writer, x: str, y: str) -> str:
    """What CPUs have an instruction for, and x if y is a NaN."""
    least = w.select(w(f"fcmp olt {w.f} {x}, {y}"), w.f, x, y)
    return w.select(w(f"fcmp uno {w.f} {y}, {ZERO}"), w.f, x, least)


def _max(w: Writer, x: str, y: str) -> str:
    """The same, in the order that gives x if they are equal, which zeros of two signs are."""
    most = w.select(w(f"fcmp ogt {w.f} {y}, {x}"), w.f, y, x)
    return w.select(w(f"fcmp uno {w.f} {x}, {ZERO}"), w.f, y, most)


def _saturate(w: Writer, x: str) -> str:
    positive = w.select(w(f"fcmp ogt {w.f} {x}, {ZERO}"), w.f, x, ZERO)
    return w.select(w(f"fcmp olt {w.f} {positive}, {ONE}"), w.f, positive, ONE)


def _fma(w: Writer, x: str, y: str, z: str) -> str:
    if w.target.fused:
        return w.float_call("fma", x, y, z)
    return rounded_to_odd(w, x, y, z)


def rounded_to_odd(w: Writer, x: str, y: str, z: str) -> str:
    """An fma where the CPU has none: ``dp2emu.shader.ops.fma``, in the same order."""
    x, y, z = (w(f"fpext {w.f} {each} to {w.d}") for each in (x, y, z))
    product = w(f"fmul {w.d} {x}, {y}")
    total = w(f"fadd {w.d} {product}, {z}")
    part = w(f"fsub {w.d} {total}, {product}")
    rest = w(f"fsub {w.d} {product}, {w(f'fsub {w.d} {total}, {part}')}")
    lost = w(f"fadd {w.d} {rest}, {w(f'fsub {w.d} {z}, {part}')}")
    below, above = (w(f"fcmp {how} {w.d} {lost}, {ZERO}") for how in ("olt", "ogt"))
    overshot = w.select(w(f"fcmp olt {w.d} {total}, {ZERO}"), w.b, above, below)
    bits = w(f"bitcast {w.d} {total} to {w.l}")
    cut = w(f"sub {w.l} {bits}, {w(f'zext {w.b} {overshot} to {w.l}')}")
    inexact = w(f"zext {w.b} {w(f'or {w.b} {below}, {above}')} to {w.l}")
    odd = w(f"bitcast {w.l} {w(f'or {w.l} {cut}, {inexact}')} to {w.d}")
    return w(f"fptrunc {w.d} {odd} to {w.f}")


def _shift(word: str) -> Emit:
    def emit(w: Writer, x: str, y: str) -> str:
        return w(f"{word} {w.i} {x}, {w(f'and {w.i} {y}, {_SHIFT_MASK}')}")

    return emit


def _high(extend: str) -> Emit:
    """The upper half of a product."""

    def emit(w: Writer, x: str, y: str) -> str:
        wide = [w(f"{extend} {w.i} {each} to {w.l}") for each in (x, y)]
        product = w(f"mul {w.l} {wide[0]}, {wide[1]}")
        return w(f"trunc {w.l} {w(f'lshr {w.l} {product}, splat (i64 32)')} to {w.i}")

    return emit


def _divided(word: str) -> Emit:
    """An unsigned quotient or rest, all ones if the divisor is 0."""

    def emit(w: Writer, x: str, y: str) -> str:
        none = w(f"icmp eq {w.i} {y}, {ZERO}")
        divisor = w.select(none, w.i, "splat (i32 1)", y)
        return w.select(none, w.i, "splat (i32 -1)", w(f"{word} {w.i} {x}, {divisor}"))

    return emit


def _convert(word: str) -> Emit:
    """Integers to the nearest float."""
    return lambda w, x: w(f"{word} {w.i} {x} to {w.f}")


def _saturating(word: str, low: float, high: float) -> Emit:
    """Floats cut towards zero; out of range is the end of the range, a NaN 0.

    LLVM has an intrinsic for that, of which it makes branches for each lane.
    """
    least, most = (constant(Constant.of(Type.F32, end)) for end in (low, high))
    ends = (f"splat (i32 {int(low)})", f"splat (i32 {int(high) - 1})")

    def emit(w: Writer, x: str) -> str:
        below = w(f"fcmp olt {w.f} {x}, {least}")
        above = w(f"fcmp oge {w.f} {x}, {most}")
        ordered = w(f"fcmp oge {w.f} {x}, {least}")
        inside = w(f"and {w.b} {ordered}, {w(f'xor {w.b} {above}, {ALL}')}")
        found = w(f"{word} {w.f} {w.select(inside, w.f, x, ZERO)} to {w.i}")
        for outside, end in zip((below, above), ends, strict=True):
            wide = w(f"sext {w.b} {outside} to {w.i}")
            found = w(f"or {w.i} {found}, {w(f'and {w.i} {wide}, {end}')}")
        return found

    return emit


EMIT: dict[str, Emit] = {
    # F32 arithmetic
    "mov": _same,
    "add": _binary("fadd", "f"),
    "sub": _binary("fsub", "f"),
    "mul": _binary("fmul", "f"),
    "mulz": _mulz,
    "div": _binary("fdiv", "f"),
    "fma": _fma,
    "sqrt": _float("sqrt"),
    "floor": _float("floor"),
    "ceil": _float("ceil"),
    "round": _float("rint"),
    "trunc": _float("trunc"),
    "fract": _fract,
    "abs": _float("fabs"),
    "neg": lambda w, x: w(f"fneg {w.f} {x}"),
    "min": _min,
    "max": _max,
    "saturate": _saturate,
    "flush": _flush,
    "select": _select("f"),
    # F32 comparisons
    "lt": _binary("fcmp olt", "f"),
    "ge": _binary("fcmp oge", "f"),
    "eq": _binary("fcmp oeq", "f"),
    "ne": _binary("fcmp une", "f"),
    # I32
    "imov": _same,
    "iadd": _binary("add", "i"),
    "isub": _binary("sub", "i"),
    "imul": _binary("mul", "i"),
    "imulh": _high("sext"),
    "umulh": _high("zext"),
    "udiv": _divided("udiv"),
    "urem": _divided("urem"),
    "ineg": lambda w, x: w(f"sub {w.i} {ZERO}, {x}"),
    "iand": _binary("and", "i"),
    "ior": _binary("or", "i"),
    "ixor": _binary("xor", "i"),
    "inot": lambda w, x: w(f"xor {w.i} {x}, splat (i32 -1)"),
    "ishl": _shift("shl"),
    "ishr": _shift("ashr"),
    "ushr": _shift("lshr"),
    "iselect": _select("i"),
    "ilt": _binary("icmp slt", "i"),
    "ige": _binary("icmp sge", "i"),
    "ieq": _binary("icmp eq", "i"),
    "ine": _binary("icmp ne", "i"),
    "ult": _binary("icmp ult", "i"),
    "uge": _binary("icmp uge", "i"),
    # BOOL
    "bmov": _same,
    "band": _binary("and", "b"),
    "bor": _binary("or", "b"),
    "bxor": _binary("xor", "b"),
    "bnot": lambda w, x: w(f"xor {w.b} {x}, {ALL}"),
    "bselect": _select("b"),
    # Conversions
    "ftoi": _saturating("fptosi", -(2.0**31), 2.0**31),
    "ftou": _saturating("fptoui", 0.0, 2.0**32),
    "itof": _convert("sitofp"),
    "utof": _convert("uitofp"),
    "asint": lambda w, x: w(f"bitcast {w.f} {canonical(w, x)} to {w.i}"),
    "asfloat": lambda w, x: w(f"bitcast {w.i} {x} to {w.f}"),
}
