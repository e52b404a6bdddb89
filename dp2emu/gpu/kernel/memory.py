"""Words of pixels: how a block of a target is read and written.

A sample is one or more parts of 32 bits, or one smaller word; the samples of a pixel lie side by
side.  Lanes that are off are not written.  What is read may lie a row and ``memory.BESIDE`` bytes
beyond a target, where surfaces have memory.  Masks and values are in memory order.
"""

from __future__ import annotations

from collections.abc import Sequence

from dp2emu.gpu.kernel.writing import ROWS, Code
from dp2emu.records import dataclass
from dp2emu.shader.jit.writer import ZERO

Parts = list[str]
"""Parts of a sample, vectors of i32."""


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
        """Words of a sample."""
        return max(1, self.size // 4)

    @property
    def together(self) -> int:
        """Words of a pixel."""
        return self.samples * self.parts

    @property
    def item(self) -> str:
        """LLVM's type of a word."""
        return f"i{8 * min(self.size, 4)}"

    @property
    def row(self) -> str:
        """LLVM's type of a row of a block."""
        return f"<{self.code.columns * self.together} x {self.item}>"

    def at(self, x: str, y: str) -> Block:
        """The block whose left top pixel is x, y (i32)."""
        w = self.code
        row = w(f"mul i64 {w(f'sext i32 {y} to i64')}, {self.pitch}")
        column = w(f"mul i64 {w(f'sext i32 {x} to i64')}, {self.size * self.samples}")
        return Block(self, w.place(self.base, w(f"add i64 {row}, {column}")))


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a target, whose first pixel is at ``start``."""

    words: Words
    start: str

    def load(self) -> list[Parts]:
        """Parts by sample, of all lanes, even if there are no such pixels."""
        words, w = self.words, self.words.code
        upper, lower = (self._load(row) for row in range(ROWS))
        count = w.columns * words.together
        lanes = [
            w.picked(words.row, upper, lower, tuple(
                row * count + column * words.together + place
                for row in range(ROWS) for column in range(w.columns)
            ))
            for place in range(words.together)
        ]  # fmt: skip
        wide = [self._wide(each) for each in lanes]
        return [wide[at : at + words.parts] for at in range(0, words.together, words.parts)]

    def fetch(self) -> None:
        """Have the first pixels of its rows brought near; they need not be in the target."""
        w = self.words.code
        w.declared.add("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
        for row in range(ROWS):
            w.do(f"call void @llvm.prefetch.p0(ptr {self._row(row)}, i32 1, i32 3, i32 1)")

    def store(self, masks: Sequence[str], samples: Sequence[Parts]) -> None:
        """Replace samples, each where its mask is on."""
        words, w = self.words, self.words.code
        values = [self._narrow(part) for parts in samples for part in parts]
        type = f"<{w.width} x {words.item}>"
        for row in range(ROWS):
            value = _row(w, type, values, row)
            self._store(row, self._on(masks, row), value)

    def _row(self, row: int) -> str:
        return self.words.code.place(self.start, self.words.pitch) if row else self.start

    def _flags(self) -> str:
        return f"<{self.words.code.columns * self.words.together} x i1>"

    def _spread(self, row: int, mask: str) -> str:
        """The mask of a row's words, by that of pixels."""
        words, w = self.words, self.words.code
        columns = range(row * w.columns, (row + 1) * w.columns)
        return w.picked(w.b, mask, "poison", tuple(
            column for column in columns for _ in range(words.together)
        ))  # fmt: skip

    def _on(self, masks: Sequence[str], row: int) -> str:
        """The mask of a row's words, by those of samples."""
        words, w = self.words, self.words.code
        if words.samples == 1:
            return self._spread(row, masks[0])
        whole = [w(f"sext {w.b} {mask} to {w.i}") for mask in masks for _ in range(words.parts)]
        count = w.columns * words.together
        return w(f"icmp slt <{count} x i32> {_row(w, w.i, whole, row)}, {ZERO}")

    def _load(self, row: int) -> str:
        words = self.words
        place = f"ptr {self._row(row)}, align {min(words.size, 4)}"
        return words.code(f"load {words.row}, {place}")

    def _store(self, row: int, mask: str, value: str) -> None:
        words, w = self.words, self.words.code
        name = f"llvm.masked.store.v{w.columns * words.together}{words.item}.p0"
        w.declared.add(f"declare void @{name}({words.row}, ptr, i32, {self._flags()})")
        align = min(words.size, 4)
        given = f"{words.row} {value}, ptr {self._row(row)}, i32 {align}, {self._flags()} {mask}"
        w.do(f"call void @{name}({given})")

    def _wide(self, value: str) -> str:
        item, w = self.words.item, self.words.code
        return value if item == "i32" else w(f"zext <{w.width} x {item}> {value} to {w.i}")

    def _narrow(self, value: str) -> str:
        item, w = self.words.item, self.words.code
        return value if item == "i32" else w(f"trunc {w.i} {value} to <{w.width} x {item}>")


def _row(w: Code, type: str, lanes: Sequence[str], row: int) -> str:
    """A row of vectors of a type, with what belongs to a pixel side by side."""
    item = type.split()[-1].rstrip(">")
    together, width, joined = len(lanes), w.width, list(lanes)
    while len(joined) > 2:
        pairs = [(joined[at], joined[min(at + 1, len(joined) - 1)])
                 for at in range(0, len(joined), 2)]  # fmt: skip
        vector = f"<{width} x {item}>"
        joined = [w.picked(vector, *pair, tuple(range(2 * width))) for pair in pairs]
        width *= 2
    columns = range(row * w.columns, (row + 1) * w.columns)
    picks = tuple(place * w.width + column for column in columns for place in range(together))
    return w.picked(f"<{width} x {item}>", joined[0], joined[-1], picks)
