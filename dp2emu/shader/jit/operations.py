"""LLVM instructions of each row of the op table.

Rows stand in the order of ``dp2emu.shader.ops`` and compute the same results bit for bit.
Minimum, maximum and clamps are compare and select, conversions saturate, and an fma is the CPU's
own or the reference's round-to-odd emulation.
"""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.shader import double_fma
from dp2emu.shader.ir import Constant
from dp2emu.shader.jit.writer import ALL, ZERO, Writer, constant
from dp2emu.shader.ops import OPS
from dp2emu.shader.types import NAN_BITS, WIDE_NAN_BITS, Type

Emit = Callable[..., str]
"""Function that emits an operation: takes a writer and operand names, returns the result's
name."""

ONE = constant(Constant.of(Type.F32, 1.0))
_NANS = {
    Type.F32: constant(Constant(Type.F32, NAN_BITS)),
    Type.F64: constant(Constant(Type.F64, WIDE_NAN_BITS)),
}
_LEAST_NORMAL = constant(Constant.of(Type.F32, 2.0**-126))
_SHIFT_MASKS = {"i": "splat (i32 31)", "l": "splat (i64 63)"}


def canonical(w: Writer, x: str, type: Type = Type.F32) -> str:
    """Replace every NaN of a float type by the canonical one."""
    vector = w.vector(type)
    return w.select(w(f"fcmp uno {vector} {x}, {ZERO}"), vector, _NANS[type], x)


def _same(w: Writer, x: str) -> str:
    return x


def _binary(word: str, letter: str) -> Emit:
    """Emitter of a two-operand instruction; ``letter`` is the name of the ``Writer`` attribute
    that is its vector type.
    """

    def emit(w: Writer, x: str, y: str) -> str:
        return w(f"{word} {getattr(w, letter)} {x}, {y}")

    return emit


def _intrinsic(name: str, letter: str = "f") -> Emit:
    """Emitter of an intrinsic with a single correct result; ``letter`` is the name of the
    ``Writer`` attribute that is its vector type.
    """
    return lambda w, *operands: w.apply(name, getattr(w, letter), *operands)


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


def _min(letter: str) -> Emit:
    """Emitter of a minimum: x if x < y, else y, as x86 minps, which LLVM matches; but x where y is
    a NaN.
    """

    def emit(w: Writer, x: str, y: str) -> str:
        type = getattr(w, letter)
        least = w.select(w(f"fcmp olt {type} {x}, {y}"), type, x, y)
        return w.select(w(f"fcmp uno {type} {y}, {ZERO}"), type, x, least)

    return emit


def _max(letter: str) -> Emit:
    """Emitter of a maximum: y if y > x, else x, so that equal operands (zeros of either sign) give
    x; but y where x is a NaN.
    """

    def emit(w: Writer, x: str, y: str) -> str:
        type = getattr(w, letter)
        most = w.select(w(f"fcmp ogt {type} {y}, {x}"), type, y, x)
        return w.select(w(f"fcmp uno {type} {x}, {ZERO}"), type, y, most)

    return emit


def _saturate(w: Writer, x: str) -> str:
    positive = w.select(w(f"fcmp ogt {w.f} {x}, {ZERO}"), w.f, x, ZERO)
    return w.select(w(f"fcmp olt {w.f} {positive}, {ONE}"), w.f, positive, ONE)


def _fma(w: Writer, x: str, y: str, z: str) -> str:
    if w.target.fused:
        return w.float_call("fma", x, y, z)
    return rounded_to_odd(w, x, y, z)


def rounded_to_odd(w: Writer, x: str, y: str, z: str) -> str:
    """Emit an fma for CPUs without one: the operations of ``dp2emu.shader.ops.fma``, in the same
    order.
    """
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


def _double_fma(w: Writer, x: str, y: str, z: str) -> str:
    if w.target.fused:
        return w.apply("fma", w.d, x, y, z)

    def apply(op: str, *operands: str | float) -> str:
        types = OPS[op].operands
        given = (
            each if isinstance(each, str) else w.constant(Constant.of(type, each))
            for each, type in zip(operands, types, strict=True)
        )
        return EMIT[op](w, *given)

    return str(double_fma.fma(apply, x, y, z))


def _shift(word: str, letter: str = "i") -> Emit:
    def emit(w: Writer, x: str, y: str) -> str:
        type, mask = getattr(w, letter), _SHIFT_MASKS[letter]
        return w(f"{word} {type} {x}, {w(f'and {type} {y}, {mask}')}")

    return emit


def _high(extend: str) -> Emit:
    """Emitter of the upper half of a 64-bit product; ``extend`` widens the I32 operands."""

    def emit(w: Writer, x: str, y: str) -> str:
        wide = [w(f"{extend} {w.i} {each} to {w.l}") for each in (x, y)]
        product = w(f"mul {w.l} {wide[0]}, {wide[1]}")
        return w(f"trunc {w.l} {w(f'lshr {w.l} {product}, splat (i64 32)')} to {w.i}")

    return emit


def _divided(word: str) -> Emit:
    """Emitter of an unsigned quotient or remainder, which is all ones if the divisor is 0."""

    def emit(w: Writer, x: str, y: str) -> str:
        none = w(f"icmp eq {w.i} {y}, {ZERO}")
        divisor = w.select(none, w.i, "splat (i32 1)", y)
        return w.select(none, w.i, "splat (i32 -1)", w(f"{word} {w.i} {x}, {divisor}"))

    return emit


def _convert(word: str, letters: str) -> Emit:
    """Emitter of a conversion, rounded to nearest; ``letters`` are the names of the ``Writer``
    attributes that are the vector types of operand and result.
    """
    return lambda w, x: w(f"{word} {getattr(w, letters[0])} {x} to {getattr(w, letters[1])}")


def _saturating(word: str, low: float, high: float, type: Type = Type.F32) -> Emit:
    """Emitter of the conversion of a float type to I32 toward zero, saturated; a NaN gives 0.

    LLVM's saturating intrinsic is lowered to a branch per lane.
    """
    least, most = (constant(Constant.of(type, end)) for end in (low, high))
    ends = (f"splat (i32 {int(low)})", f"splat (i32 {int(high) - 1})")

    def emit(w: Writer, x: str) -> str:
        vector = w.vector(type)
        below = w(f"fcmp olt {vector} {x}, {least}")
        above = w(f"fcmp oge {vector} {x}, {most}")
        ordered = w(f"fcmp oge {vector} {x}, {least}")
        # fptosi of a value out of range is poison: convert 0 in its place.
        inside = w(f"and {w.b} {ordered}, {w(f'xor {w.b} {above}, {ALL}')}")
        found = w(f"{word} {vector} {w.select(inside, vector, x, ZERO)} to {w.i}")
        for outside, end in zip((below, above), ends, strict=True):
            wide = w(f"sext {w.b} {outside} to {w.i}")
            found = w(f"or {w.i} {found}, {w(f'and {w.i} {wide}, {end}')}")
        return found

    return emit


_TO_UNSIGNED = _saturating("fptoui", 0.0, 2.0**32, Type.F64)
_HALF = constant(Constant.of(Type.F64, 0.5))


def _fraction_code(w: Writer, x: str, y: str) -> str:
    wide = [w(f"fpext {w.f} {each} to {w.d}") for each in (_saturate(w, x), y)]
    scaled = w(f"fmul {w.d} {wide[0]}, {wide[1]}")
    return _TO_UNSIGNED(w, w(f"fadd {w.d} {scaled}, {_HALF}"))


EMIT: dict[str, Emit] = {
    # F32 arithmetic
    "mov": _same,
    "add": _binary("fadd", "f"),
    "sub": _binary("fsub", "f"),
    "mul": _binary("fmul", "f"),
    "mulz": _mulz,
    "div": _binary("fdiv", "f"),
    "fma": _fma,
    "sqrt": _intrinsic("sqrt"),
    "floor": _intrinsic("floor"),
    "ceil": _intrinsic("ceil"),
    "round": _intrinsic("rint"),
    "trunc": _intrinsic("trunc"),
    "fract": _fract,
    "abs": _intrinsic("fabs"),
    "neg": lambda w, x: w(f"fneg {w.f} {x}"),
    "min": _min("f"),
    "max": _max("f"),
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
    "imin": _intrinsic("smin", "i"),
    "imax": _intrinsic("smax", "i"),
    "umin": _intrinsic("umin", "i"),
    "umax": _intrinsic("umax", "i"),
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
    # F64
    "dmov": _same,
    "dadd": _binary("fadd", "d"),
    "dsub": _binary("fsub", "d"),
    "dmul": _binary("fmul", "d"),
    "ddiv": _binary("fdiv", "d"),
    "dfma": _double_fma,
    "dfloor": _intrinsic("floor", "d"),
    "dround": _intrinsic("rint", "d"),
    "dabs": _intrinsic("fabs", "d"),
    "dneg": lambda w, x: w(f"fneg {w.d} {x}"),
    "dmin": _min("d"),
    "dmax": _max("d"),
    "dselect": _select("d"),
    "dlt": _binary("fcmp olt", "d"),
    "dge": _binary("fcmp oge", "d"),
    "deq": _binary("fcmp oeq", "d"),
    "dne": _binary("fcmp une", "d"),
    # I64
    "lmov": _same,
    "ladd": _binary("add", "l"),
    "lsub": _binary("sub", "l"),
    "lmul": _binary("mul", "l"),
    "lneg": lambda w, x: w(f"sub {w.l} {ZERO}, {x}"),
    "land": _binary("and", "l"),
    "lor": _binary("or", "l"),
    "lxor": _binary("xor", "l"),
    "lnot": lambda w, x: w(f"xor {w.l} {x}, splat (i64 -1)"),
    "lshl": _shift("shl", "l"),
    "lshr": _shift("ashr", "l"),
    "lmin": _intrinsic("smin", "l"),
    "lmax": _intrinsic("smax", "l"),
    "lselect": _select("l"),
    "llt": _binary("icmp slt", "l"),
    "lge": _binary("icmp sge", "l"),
    "leq": _binary("icmp eq", "l"),
    "lne": _binary("icmp ne", "l"),
    # Conversions
    "ftoi": _saturating("fptosi", -(2.0**31), 2.0**31),
    "ftou": _saturating("fptoui", 0.0, 2.0**32),
    "ftoun": _fraction_code,
    "itof": _convert("sitofp", "if"),
    "utof": _convert("uitofp", "if"),
    "asint": lambda w, x: w(f"bitcast {w.f} {canonical(w, x)} to {w.i}"),
    "asfloat": _convert("bitcast", "if"),
    "ftod": _convert("fpext", "fd"),
    "dtof": _convert("fptrunc", "df"),
    "dtoi": _saturating("fptosi", -(2.0**31), 2.0**31, Type.F64),
    "dtou": _TO_UNSIGNED,
    "itod": _convert("sitofp", "id"),
    "ltod": _convert("sitofp", "ld"),
    "itol": _convert("sext", "il"),
    "utol": _convert("zext", "il"),
    "ltoi": _convert("trunc", "li"),
    "aslong": lambda w, x: w(f"bitcast {w.d} {canonical(w, x, Type.F64)} to {w.l}"),
    "asdouble": _convert("bitcast", "ld"),
}
