"""Words of pixels: how a block of a target is read and written.

A pixel is one or more parts of 32 bits, or one smaller word.  Lanes that are off are not touched,
not even read.  Masks and values are in MEMORY order.
"""

from __future__ import annotations

from dataclasses import dataclass

from dp2emu.gpu.kernel.writing import Code, numbers


@dataclass(frozen=True, slots=True)
class Words:
    """A target: ``base`` is a pointer, ``pitch`` the bytes of a row, an i64.

    ``size`` bytes a sample, ``samples`` of them a pixel.
    """

    code: Code
    base: str
    pitch: str
    size: int
    samples: int

    @property
    def parts(self) -> int:
        """Words of a pixel."""
        return max(1, self.size // 4)

    @property
    def item(self) -> str:
        """LLVM's type of a word."""
        return f"i{8 * min(self.size, 4)}"

    def at(self, x: str, y: str, sample: int) -> Block:
        """The block whose left top pixel is x, y (i32)."""
        w = self.code
        row = w(f"mul i64 {w(f'sext i32 {y} to i64')}, {self.pitch}")
        column = w(f"mul i64 {w(f'sext i32 {x} to i64')}, {self.size * self.samples}")
        offset = w(f"add i64 {w(f'add i64 {row}, {column}')}, {sample * self.size}")
        return Block(self, w.place(self.base, offset))


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a target, whose first pixel is at ``start``."""

    words: Words
    start: str

    def load(self, mask: str) -> list[str]:
        """Parts of the pixels, i32 each; 0 where the mask is off."""
        words, w = self.words, self.words.code
        if words.samples > 1 or words.parts > 1:
            return [self._gather(part, mask) for part in range(words.parts)]
        upper, lower = (self._half(half, mask) for half in range(2))
        vector = f"<{w.columns} x {words.item}>"
        joined = w.picked(vector, upper, lower, tuple(range(w.width)))
        return [self._wide(joined)]

    def store(self, mask: str, parts: list[str]) -> None:
        """Replace pixels."""
        words, w = self.words, self.words.code
        narrow = [self._narrow(part) for part in parts]
        if words.samples > 1 or words.parts > 1:
            for number, part in enumerate(narrow):
                self._scatter(number, mask, part)
            return
        vector, whole = f"<{w.columns} x {words.item}>", f"<{w.width} x {words.item}>"
        name = f"llvm.masked.store.v{w.columns}{words.item}.p0"
        w.declared.add(f"declare void @{name}({vector}, ptr, i32, {_mask_type(w)})")
        for half in range(2):
            lanes = tuple(range(half * w.columns, (half + 1) * w.columns))
            value, on = w.picked(whole, narrow[0], "poison", lanes), self._mask(half, mask)
            given = (
                f"{vector} {value}, ptr {self._row(half)}, i32 {words.size}, {_mask_type(w)} {on}"
            )
            w.do(f"call void @{name}({given})")

    def _row(self, half: int) -> str:
        return self.words.code.place(self.start, self.words.pitch) if half else self.start

    def _mask(self, half: int, mask: str) -> str:
        w = self.words.code
        return w.picked(
            w.b, mask, "poison", tuple(range(half * w.columns, (half + 1) * w.columns))
        )

    def _half(self, half: int, mask: str) -> str:
        words, w = self.words, self.words.code
        vector = f"<{w.columns} x {words.item}>"
        return w.call(
            f"llvm.masked.load.v{w.columns}{words.item}.p0", vector, ("ptr", self._row(half)),
            ("i32", str(words.size)), (_mask_type(w), self._mask(half, mask)),
            (vector, "zeroinitializer"),
        )  # fmt: skip

    def _wide(self, value: str) -> str:
        item, w = self.words.item, self.words.code
        return value if item == "i32" else w(f"zext <{w.width} x {item}> {value} to {w.i}")

    def _narrow(self, value: str) -> str:
        item, w = self.words.item, self.words.code
        return value if item == "i32" else w(f"trunc {w.i} {value} to <{w.width} x {item}>")

    def _pointers(self, part: int) -> str:
        words, w = self.words, self.words.code
        pixel = words.size * words.samples
        columns = numbers("i64", tuple(pixel * c + 4 * part for c in w.memory.columns))
        rows = w.spread("i64", words.pitch)
        down = w(f"mul {w.l} {rows}, {numbers('i64', w.memory.rows)}")
        return w(f"getelementptr i8, ptr {self.start}, {w.l} {w(f'add {w.l} {down}, {columns}')}")

    def _gather(self, part: int, mask: str) -> str:
        words, w = self.words, self.words.code
        vector = f"<{w.width} x {words.item}>"
        found = w.call(
            f"llvm.masked.gather.v{w.width}{words.item}.v{w.width}p0", vector,
            (f"<{w.width} x ptr>", self._pointers(part)), ("i32", str(min(words.size, 4))),
            (w.b, mask), (vector, "zeroinitializer"),
        )  # fmt: skip
        return self._wide(found)

    def _scatter(self, part: int, mask: str, value: str) -> None:
        words, w = self.words, self.words.code
        vector, pointers = f"<{w.width} x {words.item}>", f"<{w.width} x ptr>"
        name = f"llvm.masked.scatter.v{w.width}{words.item}.v{w.width}p0"
        w.declared.add(f"declare void @{name}({vector}, {pointers}, i32, {w.b})")
        given = f"{vector} {value}, {pointers} {self._pointers(part)}, i32 {min(words.size, 4)}"
        w.do(f"call void @{name}({given}, {w.b} {mask})")


def _mask_type(w: Code) -> str:
    """Of a row of a block."""
    return f"<{w.columns} x i1>"
