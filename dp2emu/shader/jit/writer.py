"""A line-by-line writer of LLVM functions over vectors of lanes.

Calling a writer emits an instruction and returns the name of its value:

    w = Writer(Target())
    total = w(f"fadd {w.f} {x}, {y}")

No instruction has a fast-math flag, so LLVM preserves IEEE 754 semantics: nothing is contracted,
reassociated or flushed.
"""

from __future__ import annotations

import struct

import msgspec
import numpy as np

from dp2emu.shader.ir import Constant
from dp2emu.shader.types import NAN_BITS, WIDE_NAN_BITS, Type

ZERO = "zeroinitializer"
"""LLVM text of the constant 0 or false of any vector or scalar type."""
ALL = "splat (i1 true)"
"""LLVM constant of a mask with all lanes set."""


class Target(msgspec.Struct, frozen=True):
    """The compilation target: vector width in lanes (4, 8 or 16) and whether the CPU has an fma.

    ``rounding``: an x86 CPU with 16-lane conversions of explicit rounding mode and byte shuffles.
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
"""LLVM text of the function ``zeros``, which clears a multiple of 16 bytes.  LLVM's own memset
could call a library function, which an object would have to be linked with."""


class Writer:
    """Collects instructions, entry-block allocations and declarations; hence mutable.

    ``f``, ``i``, ``b``, ``d``, ``l`` are the vector types of float, i32, i1, double and i64; with
    ``scalars`` they are these types themselves.
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
        """Emit an instruction and return the name of its value."""
        name = self._fresh("%v")
        self.lines.append(f"  {name} = {instruction}")
        return name

    def do(self, instruction: str) -> None:
        """Emit an instruction without a value."""
        self.lines.append(f"  {instruction}")

    def label(self, name: str) -> None:
        """Start a basic block; the previous one must end with a terminator."""
        self.lines.append(f"{name[1:]}:")

    def fresh_label(self) -> str:
        """Return an unused label."""
        return self._fresh("%at")

    def allocate(self, type: str, count: int = 1) -> str:
        """Allocate stack memory in the entry block, where LLVM can promote it to registers."""
        name = self._fresh("%m")
        # An array type, not alloca's count operand: LLVM's SROA ignores counted allocas.
        self.entry.append(f"  {name} = alloca {type if count == 1 else f'[{count} x {type}]'}")
        return name

    def call(self, name: str, result: str, *operands: tuple[str, str]) -> str:
        """Call an intrinsic on (type, value) operands."""
        types = ", ".join(type for type, _ in operands)
        self.declared.add(f"declare {result} @{name}({types})")
        given = ", ".join(f"{type} {value}" for type, value in operands)
        return self(f"call {result} @{name}({given})")

    def float_call(self, name: str, *operands: str) -> str:
        """Call an intrinsic from float vectors to a float vector."""
        return self.apply(name, self.f, *operands)

    def constant(self, value: Constant) -> str:
        """Return a constant of the IR as an LLVM vector, or with ``scalars`` as an LLVM scalar."""
        return scalar(value).split(" ", 1)[1] if self._scalars else constant(value)

    def apply(self, name: str, type: str, *operands: str) -> str:
        """Call an intrinsic whose operands and result have one type, such as ``rint`` on F64."""
        suffix = {self.f: "f32", self.i: "i32", self.d: "f64", self.l: "i64"}[type]
        lanes = "" if self._scalars else f"v{self.target.width}"
        full = f"llvm.{name}.{lanes}{suffix}"
        return self.call(full, type, *((type, each) for each in operands))

    def vector(self, type: Type) -> str:
        """Return the LLVM vector type of a slot type."""
        return self._types[type]

    def running(self, stop: str) -> str:
        """Emit a poll of the stop word at the address ``stop`` (``dp2emu.cancellation``): an i1
        that is set unless the work was cancelled.
        """
        # Volatile: another thread changes the word, so the load must stay in its loop.
        return self(f"icmp eq i64 {self(f'load volatile i64, ptr {stop}, align 8')}, 0")

    def spread(self, type: str, scalar: str, count: int | None = None) -> str:
        """Broadcast a scalar to all lanes, or to ``count`` lanes."""
        count = count or self.target.width
        vector = f"<{count} x {type}>"
        one = self(f"insertelement {vector} poison, {type} {scalar}, i32 0")
        zeros = f"<{count} x i32> {ZERO}"
        return self(f"shufflevector {vector} {one}, {vector} poison, {zeros}")

    def shuffle(self, value: str, lanes: tuple[int, ...]) -> str:
        """In each quad of a float vector, replace lane i by the quad's lane ``lanes[i]``."""
        first = range(0, self.target.width, len(lanes))
        order = ", ".join(f"i32 {base + lane}" for base in first for lane in lanes)
        return self(f"shufflevector {self.f} {value}, {self.f} poison, {self.i} <{order}>")

    def picked(self, type: str, x: str, y: str, lanes: tuple[int, ...]) -> str:
        """Shuffle two vectors: lane numbers count the lanes of ``x``, then those of ``y``."""
        order = ", ".join(f"i32 {lane}" for lane in lanes)
        picks = f"<{len(lanes)} x i32> <{order}>"
        return self(f"shufflevector {type} {x}, {type} {y}, {picks}")

    def all(self, mask: str) -> str:
        """Whether all lanes of a mask are set, an i1."""
        word = f"i{self.target.width}"
        return self(f"icmp eq {word} {self(f'bitcast {self.b} {mask} to {word}')}, -1")

    def any(self, mask: str) -> str:
        """Whether any lane of a mask is set, an i1."""
        word = f"i{self.target.width}"
        return self(f"icmp ne {word} {self(f'bitcast {self.b} {mask} to {word}')}, 0")

    def bits(self, mask: str) -> str:
        """Convert a mask, a vector of i1, to an i32 with a bit for each lane."""
        word = f"i{self.target.width}"
        return self(f"zext {word} {self(f'bitcast {self.b} {mask} to {word}')} to i32")

    def mask(self, bits: str) -> str:
        """Convert an i32 with a bit for each lane to a mask, a vector of i1."""
        word = f"i{self.target.width}"
        return self(f"bitcast {word} {self(f'trunc i32 {bits} to {word}')} to {self.b}")

    def select(self, mask: str, type: str, x: str, y: str) -> str:
        """Select x in the lanes of a mask, y in the others.

        Integers are selected bitwise: LLVM 22 with AVX-512 miscompiles a select between y and a
        combination of bits of y with others.
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
    """Return a constant of the IR as an LLVM vector; NaNs are canonical."""
    if not value.bits:
        return ZERO
    return ALL if value.type is Type.BOOL else f"splat ({scalar(value)})"


def scalar(value: Constant) -> str:
    """Return a constant of the IR as an LLVM scalar with its type; NaNs are canonical."""
    if value.type is Type.F32:
        return f"float {_double(value.bits)}"
    if value.type is Type.F64:
        bits = WIDE_NAN_BITS if np.isnan(value.scalar) else value.bits
        return f"double 0x{bits:016x}"
    return f"i{value.type.bits} {value.bits}"


def number(value: float) -> str:
    """Return the exact LLVM spelling of a finite double."""
    return "0x" + struct.pack(">d", value).hex()


def _double(bits: int) -> str:
    """Return the LLVM spelling of a float, which uses the bits of the equal double."""
    value = np.uint32(bits).view(np.float32)
    if np.isnan(value):
        # A NaN's payload moves to the top of the mantissa.
        return f"0x{0x7FF << 52 | (NAN_BITS & 0x7FFFFF) << 29:016x}"
    return number(float(value))


def module(*functions: tuple[str, Writer]) -> str:
    """Return the text of a module of functions, given by header and body."""
    declared = sorted(set().union(*(writer.declared for _, writer in functions)))
    bodies = ["\n".join([f"{header} {{", "entry:", *w.entry, *w.lines, "}"])
              for header, w in functions]  # fmt: skip
    return "\n".join([*declared, *bodies, ""])
