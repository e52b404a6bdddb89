"""Text of an LLVM function, written line by line.

Instructions that give a value are called for it:

    w = Writer(Target())
    total = w(f"fadd {w.f} {x}, {y}")

No instruction has a fast-math flag, so LLVM keeps what IEEE 754 says: nothing is contracted,
reassociated or flushed.
"""

from __future__ import annotations

import struct

import numpy as np

from dp2emu.records import dataclass
from dp2emu.shader.ir import Constant
from dp2emu.shader.types import NAN_BITS, WIDE_NAN_BITS, Type

ZERO = "zeroinitializer"
"""0 or false of any type."""
ALL = "splat (i1 true)"
"""The mask of all lanes."""


@dataclass(frozen=True, slots=True)
class Target:
    """What code is written for: lanes of a vector, 4, 8 or 16, and whether the CPU has an fma.

    ``rounding``: it is an x86 whose conversions of 16 lanes round as they are told, and that
    shuffles their bytes.
    """

    width: int = 8
    fused: bool = True
    rounding: bool = False

    @property
    def row(self) -> int:
        """Bytes of a vector of 32-bit lanes."""
        return 4 * self.width


ZEROS = """define internal void @zeros(ptr %start, i64 %bytes) nounwind {
entry:
  %nothing = icmp eq i64 %bytes, 0
  br i1 %nothing, label %end, label %next
next:
  %at = phi i64 [ 0, %entry ], [ %after, %next ]
  %here = getelementptr i8, ptr %start, i64 %at
  store <16 x i8> zeroinitializer, ptr %here, align 4
  %after = add i64 %at, 16
  %more = icmp ult i64 %after, %bytes
  br i1 %more, label %next, label %end
end:
  ret void
}
"""
"""Zeros in some rows of four lanes or more, by code of our own: for what LLVM has for that it may
call a library, which an object would have to be linked with.
"""


class Writer:
    """Mutable: it collects lines, entry allocations and declarations of intrinsics.

    ``f``, ``i``, ``b``, ``d``, ``l``: vectors of float, i32, i1, double and i64, as LLVM spells
    their types; in a text of ``scalars`` these types themselves.
    """

    def __init__(self, target: Target, *, scalars: bool = False) -> None:
        self.target, self._scalars = target, scalars
        self.f, self.i, self.b, self.d, self.l = (
            each if scalars else f"<{target.width} x {each}>"
            for each in ("float", "i32", "i1", "double", "i64")
        )
        self.lines: list[str] = []
        self.entry: list[str] = []
        self.declared: set[str] = set()
        self._types: dict[Type, str] = {type: getattr(self, type.letter) for type in Type}
        self._count = 0

    def __call__(self, instruction: str) -> str:
        """Name of the value that an instruction gives."""
        name = self._fresh("%v")
        self.lines.append(f"  {name} = {instruction}")
        return name

    def do(self, instruction: str) -> None:
        """An instruction without a value."""
        self.lines.append(f"  {instruction}")

    def label(self, name: str) -> None:
        """Start a basic block; what is before has to end with a branch."""
        self.lines.append(f"{name[1:]}:")

    def fresh_label(self) -> str:
        """A name for a block that has not been used."""
        return self._fresh("%at")

    def allocate(self, type: str, count: int = 1) -> str:
        """Memory of the function's frame, of which LLVM makes registers if it can."""
        name = self._fresh("%m")
        # An array is a type: of a count of something LLVM makes nothing.
        self.entry.append(f"  {name} = alloca {type if count == 1 else f'[{count} x {type}]'}")
        return name

    def call(self, name: str, result: str, *operands: tuple[str, str]) -> str:
        """An intrinsic on (type, value) operands."""
        types = ", ".join(type for type, _ in operands)
        self.declared.add(f"declare {result} @{name}({types})")
        given = ", ".join(f"{type} {value}" for type, value in operands)
        return self(f"call {result} @{name}({given})")

    def float_call(self, name: str, *operands: str) -> str:
        """An intrinsic from float vectors to one."""
        return self.apply(name, self.f, *operands)

    def constant(self, value: Constant) -> str:
        """A constant of the representation in all lanes, or as a scalar."""
        return scalar(value).split(" ", 1)[1] if self._scalars else constant(value)

    def apply(self, name: str, type: str, *operands: str) -> str:
        """An intrinsic on vectors of a type to one, such as ``rint`` on doubles."""
        suffix = {self.f: "f32", self.i: "i32", self.d: "f64", self.l: "i64"}[type]
        lanes = "" if self._scalars else f"v{self.target.width}"
        full = f"llvm.{name}.{lanes}{suffix}"
        return self.call(full, type, *((type, each) for each in operands))

    def vector(self, type: Type) -> str:
        """The LLVM type of a slot's lanes."""
        return self._types[type]

    def spread(self, type: str, scalar: str, count: int | None = None) -> str:
        """A vector of a scalar type, with the same value in all lanes or so many."""
        count = count or self.target.width
        vector = f"<{count} x {type}>"
        one = self(f"insertelement {vector} poison, {type} {scalar}, i32 0")
        zeros = f"<{count} x i32> {ZERO}"
        return self(f"shufflevector {vector} {one}, {vector} poison, {zeros}")

    def shuffle(self, value: str, lanes: tuple[int, ...]) -> str:
        """A float vector whose lanes are those numbered, by quads of lanes."""
        first = range(0, self.target.width, len(lanes))
        order = ", ".join(f"i32 {base + lane}" for base in first for lane in lanes)
        return self(f"shufflevector {self.f} {value}, {self.f} poison, {self.i} <{order}>")

    def picked(self, type: str, x: str, y: str, lanes: tuple[int, ...]) -> str:
        """Lanes of two vectors, numbered through."""
        order = ", ".join(f"i32 {lane}" for lane in lanes)
        picks = f"<{len(lanes)} x i32> <{order}>"
        return self(f"shufflevector {type} {x}, {type} {y}, {picks}")

    def all(self, mask: str) -> str:
        """An i1: whether all lanes of a mask are on."""
        word = f"i{self.target.width}"
        return self(f"icmp eq {word} {self(f'bitcast {self.b} {mask} to {word}')}, -1")

    def any(self, mask: str) -> str:
        """An i1: whether some lane of a mask is on."""
        word = f"i{self.target.width}"
        return self(f"icmp ne {word} {self(f'bitcast {self.b} {mask} to {word}')}, 0")

    def bits(self, mask: str) -> str:
        """An i32 with a mask's lanes as bits."""
        word = f"i{self.target.width}"
        return self(f"zext {word} {self(f'bitcast {self.b} {mask} to {word}')} to i32")

    def mask(self, bits: str) -> str:
        """The mask that is the bits of an i32."""
        word = f"i{self.target.width}"
        return self(f"bitcast {word} {self(f'trunc i32 {bits} to {word}')} to {self.b}")

    def select(self, mask: str, type: str, x: str, y: str) -> str:
        """x in the lanes of a mask, y in the others.

        Integers are chosen bit by bit: what LLVM 22 makes with AVX-512 of a selection between y
        and some bits of y joined with bits of others is wrong.
        """
        if type == self.i:
            wide = self(f"sext {self.b} {mask} to {type}")
            differing = self(f"and {type} {self(f'xor {type} {x}, {y}')}, {wide}")
            return self(f"xor {type} {differing}, {y}")
        return self(f"select {self.b} {mask}, {type} {x}, {type} {y}")

    def _fresh(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count}"


def constant(value: Constant) -> str:
    """A constant of the representation in all lanes; a NaN is the one that is seen."""
    if not value.bits:
        return ZERO
    return ALL if value.type is Type.BOOL else f"splat ({scalar(value)})"


def scalar(value: Constant) -> str:
    """A constant of the representation with its LLVM type."""
    if value.type is Type.F32:
        return f"float {_double(value.bits)}"
    if value.type is Type.F64:
        bits = WIDE_NAN_BITS if np.isnan(value.scalar) else value.bits
        return f"double 0x{bits:016x}"
    return f"i{value.type.bits} {value.bits}"


def number(value: float) -> str:
    """A finite double as LLVM spells it, exactly."""
    return "0x" + struct.pack(">d", value).hex()


def _double(bits: int) -> str:
    """A float's bits as those of a double, which is how LLVM spells it."""
    value = np.uint32(bits).view(np.float32)
    if np.isnan(value):
        return f"0x{_widened(NAN_BITS):016x}"
    return number(float(value))


def _widened(bits: int) -> int:
    """Bits of the double that a float NaN is: its payload is in front."""
    return 0x7FF << 52 | (bits & 0x7FFFFF) << 29


def module(*functions: tuple[str, Writer]) -> str:
    """Text of a module: headers with the functions that they head."""
    declared = sorted(set().union(*(writer.declared for _, writer in functions)))
    bodies = ["\n".join([f"{header} {{", "entry:", *w.entry, *w.lines, "}"])
              for header, w in functions]  # fmt: skip
    return "\n".join([*declared, *bodies, ""])
