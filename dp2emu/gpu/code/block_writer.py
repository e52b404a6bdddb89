"""A writer of kernel text: variables, branches and loops, lanes of pixel blocks, target memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce

import msgspec

from dp2emu.shader.jit.inline import Typed
from dp2emu.shader.jit.operations import canonical
from dp2emu.shader.jit.writer import ZERO, Target, Writer, number
from dp2emu.shader.types import Type

ROWS = 2
"""Number of pixel rows in the block that a kernel draws at once; the block's columns are the
number of vector lanes divided by this."""


class Order(msgspec.Struct, frozen=True):
    """A lane order: the column and row of each lane in its block."""

    columns: tuple[int, ...]
    rows: tuple[int, ...]

    def lanes_of(self, other: Order) -> tuple[int, ...]:
        """For each lane of this order, the lane of ``other`` with the same column and row."""
        places = [*zip(other.columns, other.rows, strict=True)]
        return tuple(places.index(place) for place in zip(self.columns, self.rows, strict=True))


def memory_order(width: int) -> Order:
    """The lane order of target memory: row by row."""
    columns = width // ROWS
    return Order(tuple(range(columns)) * ROWS, (0,) * columns + (1,) * columns)


def quad_order(width: int) -> Order:
    """The lane order of programs: quad by quad, and row by row within a quad."""
    quads = range(width // 4)
    return Order(
        tuple(2 * quad + column for quad in quads for column in (0, 1, 0, 1)),
        (0, 0, 1, 1) * len(quads),
    )


class Code(Writer):
    """Writer of a kernel's LLVM text.  Mutable: the text grows.

    ``memory`` and ``quads`` are the lane orders of target memory and of programs; they are equal
    if no program takes differences within quads.
    """

    def __init__(self, target: Target, *, quads: bool = True) -> None:
        super().__init__(target)
        self.width = target.width
        self.columns = target.width // ROWS
        self.memory = memory_order(self.width)
        self.quads = quad_order(self.width) if quads else self.memory

    def variable(self, type: str, value: str) -> Variable:
        """Allocate a variable with an initial value."""
        made = Variable(self, type, self.allocate(type))
        made.set(value)
        return made

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """Emit the body of the ``with`` block, executed only if the i1 ``condition`` is set."""
        inside, after = self.fresh_label(), self.fresh_label()
        self.do(f"br i1 {condition}, label {inside}, label {after}")
        self.label(inside)
        yield
        self.do(f"br label {after}")
        self.label(after)

    def leave(self) -> None:
        """Emit a return from the LLVM function that is being written."""
        self.do("ret void")
        self.label(self.fresh_label())

    @contextmanager
    def count(self, type: str, first: str, end: str, step: int) -> Iterator[str]:
        """Emit the ``with`` block as a loop over each ``step``-th number from ``first`` to below
        ``end``.
        """
        number = self.variable(type, first)
        test, inside, after = (self.fresh_label() for _ in range(3))
        self.do(f"br label {test}")
        self.label(test)
        value = number.value
        more = self(f"icmp slt {type} {value}, {end}")
        self.do(f"br i1 {more}, label {inside}, label {after}")
        self.label(inside)
        yield value
        number.set(self(f"add {type} {value}, {step}"))
        self.do(f"br label {test}")
        self.label(after)

    def place(self, base: str, offset: str) -> str:
        """Emit the address ``base`` plus ``offset`` bytes (an i64)."""
        return self(f"getelementptr i8, ptr {base}, i64 {offset}")

    def word(self, type: str, base: str, number: int) -> str:
        """Emit the load of an LLVM ``type`` at the address ``base`` plus 8 * ``number`` bytes."""
        return self(f"load {type}, ptr {self.place(base, str(8 * number))}, align 8")

    def larger(self, type: str, x: str, y: str) -> str:
        """The maximum of two signed scalars."""
        return self(f"select i1 {self(f'icmp sgt {type} {x}, {y}')}, {type} {x}, {type} {y}")

    def smaller(self, type: str, x: str, y: str) -> str:
        """The minimum of two signed scalars."""
        return self(f"select i1 {self(f'icmp slt {type} {x}, {y}')}, {type} {x}, {type} {y}")

    def both(self, x: str, y: str) -> str:
        """Emit the intersection of two lane masks."""
        return self(f"and {self.b} {x}, {y}")

    def either(self, x: str, y: str) -> str:
        """Emit the union of two lane masks."""
        return self(f"or {self.b} {x}, {y}")

    def population(self, mask: str) -> str:
        """Emit the number of set lanes of a mask, an i64."""
        word = f"i{self.width}"
        bits = self(f"bitcast {self.b} {mask} to {word}")
        counted = self.call(f"llvm.ctpop.{word}", word, (word, bits))
        return self(f"zext {word} {counted} to i64")

    def to_quads(self, type: str, value: str) -> str:
        """Reorder lanes from memory order to quad order."""
        return self._turned(type, value, self.quads, self.memory)

    def to_memory(self, type: str, value: str) -> str:
        """Reorder lanes from quad order to memory order."""
        return self._turned(type, value, self.memory, self.quads)

    def _turned(self, type: str, value: str, to: Order, order: Order) -> str:
        return value if to == order else self.picked(type, value, "poison", to.lanes_of(order))


class Variable(msgspec.Struct, frozen=True):
    """A variable in stack memory, which LLVM promotes to a register."""

    code: Code
    type: str
    address: str

    @property
    def value(self) -> str:
        """Emit a load of the variable and return the name of the loaded LLVM value."""
        return self.code(f"load {self.type}, ptr {self.address}")

    def set(self, value: str) -> None:
        """Emit a store of an LLVM value to the variable."""
        self.code.do(f"store {self.type} {value}, ptr {self.address}")

    def add(self, value: str) -> None:
        """Emit the addition of an integer to the variable."""
        self.set(self.code(f"add {self.type} {self.value}, {value}"))


class Lane(msgspec.Struct, frozen=True):
    """One component of the colours of a pixel block: the LLVM name of an F32 vector or, if
    ``whole``, of a vector with the I32 bits of an integer format.
    """

    value: str
    whole: bool = False

    def floats(self, w: Code) -> str:
        """The component as F32; the bits of an integer format are reinterpreted, NaNs made
        canonical.
        """
        if not self.whole:
            return self.value
        return canonical(w, w(f"bitcast {w.i} {self.value} to {w.f}"))

    @property
    def typed(self) -> Typed:
        """The component with its type, as an operand of a formula."""
        return (Type.I32 if self.whole else Type.F32), self.value


def splat(value: int) -> str:
    """A vector constant with an i32 in all lanes."""
    return f"splat (i32 {value})" if value else ZERO


def double(value: float) -> str:
    """A vector constant with a double in all lanes."""
    return f"splat (double {number(value)})"


def numbers(type: str, lanes: tuple[int, ...]) -> str:
    """A vector constant of integers, one for each lane."""
    return f"<{', '.join(f'{type} {lane}' for lane in lanes)}>"


def union(w: Code, masks: Sequence[str]) -> str:
    """Emit the union of all lane masks in ``masks``."""
    return reduce(w.either, masks)


# Reading and writing blocks of targets.
#
# A sample is one or more words of 32 bits, or one smaller word; the samples of a pixel are
# adjacent.  Lanes that are not set are not written.  Loads may reach a row and ``heap.BESIDE``
# bytes beyond a target, where surfaces have memory.  Masks and values are in memory order.

Parts = list[str]
"""Names of LLVM values that hold one sample of every pixel of a block: a vector of i32 for each
word of the sample, with a lane for each pixel."""


class Words(msgspec.Struct, frozen=True):
    """The memory of a render target: address ``base``, ``pitch`` bytes (an i64) in a row of
    pixels, and ``samples`` of ``size`` bytes in a pixel.
    """

    code: Code
    base: str
    pitch: str
    size: int
    samples: int

    @property
    def parts(self) -> int:
        """The number of integers, of at most 32 bits, that one sample of a pixel occupies."""
        return max(1, self.size // 4)

    @property
    def together(self) -> int:
        """The number of integers, of at most 32 bits, that all samples of a pixel occupy."""
        return self.samples * self.parts

    @property
    def item(self) -> str:
        """The LLVM integer type of a word of a sample: i32, or smaller for smaller samples."""
        return f"i{8 * min(self.size, 4)}"

    @property
    def row(self) -> str:
        """The LLVM vector type of all words in one row of a pixel block."""
        return f"<{self.code.columns * self.together} x {self.item}>"

    def at(self, x: str, y: str) -> Block:
        """The block whose top left pixel is x, y (i32)."""
        w = self.code
        row = w(f"mul i64 {w(f'sext i32 {y} to i64')}, {self.pitch}")
        column = w(f"mul i64 {w(f'sext i32 {x} to i64')}, {self.size * self.samples}")
        return Block(self, w.place(self.base, w(f"add i64 {row}, {column}")))


class Block(msgspec.Struct, frozen=True):
    """Writer of loads and stores of a pixel block, whose top left pixel is at ``start``."""

    words: Words
    start: str

    def load(self) -> list[Parts]:
        """Load the words of each sample of all pixels, even of pixels beyond the target."""
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
        """Prefetch the first pixels of both rows; they may be outside of the target."""
        w = self.words.code
        w.declared.add("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
        for row in range(ROWS):
            w.do(f"call void @llvm.prefetch.p0(ptr {self._row(row)}, i32 1, i32 3, i32 1)")

    def store(self, masks: Sequence[str], samples: Sequence[Parts]) -> None:
        """Store each sample to the pixels whose bits are set in the sample's mask."""
        words, w = self.words, self.words.code
        values = [self._narrow(part) for parts in samples for part in parts]
        type = f"<{w.width} x {words.item}>"
        for row in range(ROWS):
            self._store(row, self._on(masks, row), _row(w, type, values, row))

    def _row(self, row: int) -> str:
        return self.words.code.place(self.start, self.words.pitch) if row else self.start

    def _flags(self) -> str:
        return f"<{self.words.code.columns * self.words.together} x i1>"

    def _spread(self, row: int, mask: str) -> str:
        """Repeat the mask bit of each pixel of a row for all words of the pixel."""
        words, w = self.words, self.words.code
        columns = range(row * w.columns, (row + 1) * w.columns)
        return w.picked(w.b, mask, "poison", tuple(
            column for column in columns for _ in range(words.together)
        ))  # fmt: skip

    def _on(self, masks: Sequence[str], row: int) -> str:
        """Convert masks of pixels, one for each sample, to a mask of the words in row ``row``."""
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
    """Interleave vectors, each with one word of every pixel of a block, to the words of its row
    ``row`` in memory order.
    """
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
