"""Loads and stores of a program's files, as LLVM instructions.

No lane ever leaves a file's memory: out of range it reads the first scalar, which nobody sees, and
stores into a row that nobody reads.
"""

from __future__ import annotations

from dataclasses import dataclass

from dp2emu.shader.ir import Address, File
from dp2emu.shader.jit.layout import Layout, within
from dp2emu.shader.jit.writer import ALL, ZERO, Writer
from dp2emu.shader.types import Type
from dp2emu.shader.verify import MAX_UNIFORM_SIZE

_STORED = {Type.F32: "float", Type.I32: "i32", Type.BOOL: "i32"}
_I32_OFFSETS = range(2**31 - MAX_UNIFORM_SIZE)
"""Offsets that an unsigned sum of 32 bits cannot carry around into a file: a signed index with
such an offset is in range if and only if the sum, read as unsigned, is."""


@dataclass(frozen=True, slots=True)
class Files:
    """A program's files, and where code finds them."""

    w: Writer
    files: dict[str, File]
    layout: Layout

    def word(self, type: str, number: int) -> str:
        """A word of the bindings."""
        place = self.w(f"getelementptr i64, ptr %bindings, i64 {number}")
        return self.w(f"load {type}, ptr {place}")

    def clear(self) -> None:
        """Local files start as 0."""
        w = self.w
        for file in self.files.values():
            if not file.uniform:
                size = file.size * w.target.row
                w.declared.add("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
                start = self._start(file)
                w.do(f"call void @llvm.memset.p0.i64(ptr {start}, i8 0, i64 {size}, i1 false)")

    def load(self, name: str, address: Address, index: str | None) -> str:
        """What each lane reads; ``index`` names the value of the address's."""
        file, w = self.files[name], self.w
        if index is None and not within(file, address):
            return ZERO
        if index is None:
            return self._typed(file, self._fixed(file, address.offset))
        place, inside = self._place(file, address, index)
        if not file.uniform:
            place = self._columns(place)
        found = self._gather(file, place)
        return self._typed(file, w.select(inside, self._vector(file), found, ZERO))

    def store(
        self, name: str, address: Address, index: str | None, value: str, active: str | None
    ) -> None:
        """Assign in the active lanes; None means all."""
        file, w = self.files[name], self.w
        if file.type is Type.BOOL:
            value = w(f"zext {w.b} {value} to {w.i}")
        if index is not None:
            self._scatter(file, address, index, value, active)
        elif within(file, address):
            if active is not None:
                old = self._fixed(file, address.offset)
                value = w.select(active, self._vector(file), value, old)
            row = self._row(file, address.offset)
            w.do(f"store {self._vector(file)} {value}, ptr {row}, align 4")

    def _start(self, file: File) -> str:
        return self.word("ptr", self.layout.files[file.name])

    def _vector(self, file: File) -> str:
        return self.w.f if file.type is Type.F32 else self.w.i

    def _typed(self, file: File, words: str) -> str:
        """A slot's lanes for a file's words."""
        return self.w(f"icmp ne {self.w.i} {words}, {ZERO}") if file.type is Type.BOOL else words

    def _row(self, file: File, number: int) -> str:
        """Where a scalar lies: the only one, or a vector of all lanes'."""
        size = 4 if file.uniform else self.w.target.row
        return self.w(f"getelementptr i8, ptr {self._start(file)}, i64 {number * size}")

    def _fixed(self, file: File, number: int) -> str:
        """The words of a scalar in range."""
        row, stored = self._row(file, number), _STORED[file.type]
        if not file.uniform:
            return self.w(f"load {self._vector(file)}, ptr {row}, align 4")
        return self.w.spread(stored, self.w(f"load {stored}, ptr {row}, align 4"))

    def _place(self, file: File, address: Address, index: str) -> tuple[str, str]:
        """Scalar numbers, i32 and 0 where out of range, and the mask of those in range."""
        w, type = self.w, self.w.i
        if address.stride == 1 and address.offset in _I32_OFFSETS:
            number = w(f"add {type} {index}, splat (i32 {address.offset})")
        else:
            type = w.l
            wide = w(f"sext {w.i} {index} to {type}")
            scaled = w(f"mul {type} {wide}, splat (i64 {address.stride})")
            number = w(f"add {type} {scaled}, splat (i64 {address.offset})")
        inside = w(f"icmp ult {type} {number}, {self._count(file, type)}")
        if type == w.l:
            number = w(f"trunc {type} {number} to {w.i}")
        return w.select(inside, w.i, number, ZERO), inside

    def _count(self, file: File, type: str) -> str:
        """Scalars that there are."""
        scalar = "i32" if type == self.w.i else "i64"
        if not file.uniform:
            return f"splat ({scalar} {file.size})"
        count = self.word("i64", self.layout.files[file.name] + 1)
        return self.w.spread(
            scalar, count if scalar == "i64" else self.w(f"trunc i64 {count} to i32")
        )

    def _columns(self, place: str) -> str:
        """Places of words for rows, each lane having its own column."""
        w, width = self.w, self.w.target.width
        row = w(f"mul {w.i} {place}, splat (i32 {width})")
        lanes = ", ".join(f"i32 {lane}" for lane in range(width))
        return w(f"add {w.i} {row}, <{lanes}>")

    def _pointers(self, file: File, place: str) -> tuple[str, str]:
        w = self.w
        start = self._start(file)
        pointers = w(f"getelementptr i32, ptr {start}, {w.i} {place}")
        return f"<{w.target.width} x ptr>", pointers

    def _gather(self, file: File, place: str) -> str:
        w, width, letter = self.w, self.w.target.width, "f" if file.type is Type.F32 else "i"
        vector = self._vector(file)
        return w.call(
            f"llvm.masked.gather.v{width}{letter}32.v{width}p0", vector,
            self._pointers(file, place), ("i32", "4"), (w.b, ALL), (vector, "poison"),
        )  # fmt: skip

    def _scatter(
        self, file: File, address: Address, index: str, value: str, active: str | None
    ) -> None:
        w, width = self.w, self.w.target.width
        place, inside = self._place(file, address, index)
        if active is not None:
            inside = w(f"and {w.b} {inside}, {active}")
        place = self._columns(w.select(inside, w.i, place, f"splat (i32 {file.size})"))
        letter = "f" if file.type is Type.F32 else "i"
        name = f"llvm.masked.scatter.v{width}{letter}32.v{width}p0"
        vector = self._vector(file)
        pointers, pointer = self._pointers(file, place)
        w.declared.add(f"declare void @{name}({vector}, {pointers}, i32, {w.b})")
        w.do(f"call void @{name}({vector} {value}, {pointers} {pointer}, i32 4, {w.b} {ALL})")
