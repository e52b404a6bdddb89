"""Loads and stores of uniform and local files as LLVM instructions.

Every address is in bounds: a lane that is out of range loads the first scalar, which is discarded,
or stores into a spare row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from dp2emu.identity_cache import identity_cached
from dp2emu.shader import ir
from dp2emu.shader.jit.layout import BindingLayout, within
from dp2emu.shader.jit.ranges import producer
from dp2emu.shader.jit.writer import ALL, ZERO, ZEROS, Writer
from dp2emu.shader.types import Type
from dp2emu.shader.verify import MAX_UNIFORM_SIZE

_STORED = {Type.F32: "float", Type.I32: "i32", Type.BOOL: "i32"}
_I32_OFFSETS = range(2**31 - MAX_UNIFORM_SIZE)
"""Offsets for which a 32-bit address cannot wrap around into the file: a signed index plus such an
offset is in range exactly if the sum, read as unsigned, is."""


class RegisterFiles(msgspec.Struct, frozen=True):
    """Writer of loads and stores of a program's files; binding words have their addresses."""

    w: Writer
    files: dict[str, ir.File]
    layout: BindingLayout

    def word(self, type: str, number: int) -> str:
        """Load word ``number`` of the program's bindings."""
        place = self.w(f"getelementptr i64, ptr %bindings, i64 {number}")
        return self.w(f"load {type}, ptr {place}")

    def clear(self) -> None:
        """Zero the local files."""
        w = self.w
        for file in self.files.values():
            if not file.uniform:
                size = file.size * w.target.row
                w.declared.add(ZEROS)
                w.do(f"call void @zeros(ptr {self._start(file)}, i64 {size})")

    def load(self, name: str, address: ir.Address, index: str | None) -> str:
        """Load a scalar per lane; ``index`` is the value name of the address's index."""
        file = self.files[name]
        if index is None and not within(file, address):
            return ZERO
        if index is None:
            return self._typed(file, self._fixed(file, address.offset))
        return self._typed(file, self._gathered(file, address, index))

    def load_two(self, name: str, address: ir.Address, one: str, other: str) -> tuple[str, str]:
        """Load the scalars at indices ``one`` and ``other``, by one load if consecutive in all
        lanes.
        """
        file, w = self.files[name], self.w
        type, offset = self._vector(file), f"splat (i32 {address.offset})"
        first, second = (w(f"add {w.i} {index}, {offset}") for index in (one, other))
        count = w(f"trunc i64 {self._scalars(file)} to i32")
        last = w.call("llvm.usub.sat.i32", "i32", ("i32", count), ("i32", "1"))
        inside = w(f"icmp ult {w.i} {first}, {w.spread('i32', last)}")
        next = w(f"icmp eq {w.i} {second}, {w(f'add {w.i} {first}, splat (i32 1)')}")
        together, apart, after = (w.fresh_label() for _ in range(3))
        found = [w.allocate(type) for _ in range(2)]
        whole = w.all(w(f"and {w.b} {inside}, {next}"))
        w.do(f"br i1 {whole}, label {together}, label {apart}")
        w.label(together)
        self._keep(found, self._words_of_two(file, first), type)
        w.do(f"br label {after}")
        w.label(apart)
        self._keep(found, [self._gathered(file, address, index) for index in (one, other)], type)
        w.do(f"br label {after}")
        w.label(after)
        low, high = (w(f"load {type}, ptr {place}") for place in found)
        return low, high

    def _keep(self, places: Sequence[str], values: Sequence[str], type: str) -> None:
        for place, value in zip(places, values, strict=True):
            self.w.do(f"store {type} {value}, ptr {place}")

    def _gathered(self, file: ir.File, address: ir.Address, index: str) -> str:
        """For each lane, load the scalar at its own index, 0 where that is out of range."""
        place, inside = self._place(file, address, index)
        place = place if file.uniform else self._columns(place)
        return self.w.select(inside, self._vector(file), self._gather(file, place), ZERO)

    def _words_of_two(self, file: ir.File, places: str) -> list[str]:
        """For each lane, load the scalar at its index in ``places`` and the next one, by one
        64-bit load -> the vector of the first scalars and the vector of the second.
        """
        w, width, start = self.w, self.w.target.width, self._start(file)
        held = w.allocate(w.i)
        # volatile: otherwise LLVM forwards the store and extracts lanes one by one.
        w.do(f"store volatile {w.i} {places}, ptr {held}")
        # Split by lane bit 1, so that one shuffle instruction brings both halves into place.
        lower, upper = (self._words_at(start, held, [n for n in range(width) if n & 2 == half])
                        for half in (0, 2))  # fmt: skip
        lanes = [n // 4 * 4 + n % 2 * 2 + (width if n & 2 else 0) for n in range(width)]
        pairs = [w.picked(w.i, lower, upper, tuple(lane + part for lane in lanes))
                 for part in range(2)]  # fmt: skip
        type = self._vector(file)
        return [each if type == w.i else w(f"bitcast {w.i} {each} to {type}") for each in pairs]

    def _words_at(self, start: str, held: str, lanes: list[int]) -> str:
        """Load a 64-bit word for each of ``lanes``, which are half of all lanes, as an I32 vector;
        ``held`` is the address of an array with every lane's index.
        """
        w, type = self.w, f"<{len(lanes)} x i64>"
        words = "poison"
        for number, lane in enumerate(lanes):
            place = w(f"load i32, ptr {w(f'getelementptr i32, ptr {held}, i64 {lane}')}")
            at = w(f"getelementptr i32, ptr {start}, i64 {w(f'zext i32 {place} to i64')}")
            word = w(f"load i64, ptr {at}, align 4")
            words = w(f"insertelement {type} {words}, i64 {word}, i32 {number}")
        return w(f"bitcast {type} {words} to {w.i}")

    def store(
        self, name: str, address: ir.Address, index: str | None, value: str, active: str | None
    ) -> None:
        """Store a scalar of each active lane to a file; ``active`` None means all lanes."""
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

    def _start(self, file: ir.File) -> str:
        return self.word("ptr", self.layout.files[file.name])

    def _vector(self, file: ir.File) -> str:
        return self.w.f if file.type is Type.F32 else self.w.i

    def _typed(self, file: ir.File, words: str) -> str:
        """Convert words of a file to its type: those of BOOL to a mask."""
        return self.w(f"icmp ne {self.w.i} {words}, {ZERO}") if file.type is Type.BOOL else words

    def _row(self, file: ir.File, number: int) -> str:
        """Return the address of scalar ``number`` of a uniform file, or of the vector with each
        lane's scalar ``number`` of a local file.
        """
        size = 4 if file.uniform else self.w.target.row
        return self.w(f"getelementptr i8, ptr {self._start(file)}, i64 {number * size}")

    def _fixed(self, file: ir.File, number: int) -> str:
        """Load scalar ``number`` of a file, which is in range, for all lanes."""
        row, stored = self._row(file, number), _STORED[file.type]
        if not file.uniform:
            return self.w(f"load {self._vector(file)}, ptr {row}, align 4")
        return self.w.spread(stored, self.w(f"load {stored}, ptr {row}, align 4"))

    def _place(self, file: ir.File, address: ir.Address, index: str) -> tuple[str, str]:
        """Return scalar indices, i32 and 0 out of range, and the mask of lanes in range."""
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

    def _count(self, file: ir.File, type: str) -> str:
        """Return the number of scalars of a file, as a vector of I32 or I64."""
        scalar = "i32" if type == self.w.i else "i64"
        if not file.uniform:
            return f"splat ({scalar} {file.size})"
        count = self._scalars(file)
        return self.w.spread(
            scalar, count if scalar == "i64" else self.w(f"trunc i64 {count} to i32")
        )

    def _scalars(self, file: ir.File) -> str:
        """Load the number of scalars of a uniform file, i64."""
        return self.word("i64", self.layout.files[file.name] + 1)

    def _columns(self, place: str) -> str:
        """Return the word index of each lane's scalar number ``place`` in a local file, which
        stores for each number a vector of all lanes' scalars.
        """
        w, width = self.w, self.w.target.width
        row = w(f"mul {w.i} {place}, splat (i32 {width})")
        lanes = ", ".join(f"i32 {lane}" for lane in range(width))
        return w(f"add {w.i} {row}, <{lanes}>")

    def _pointers(self, file: ir.File, place: str) -> tuple[str, str]:
        w = self.w
        start = self._start(file)
        pointers = w(f"getelementptr i32, ptr {start}, {w.i} {place}")
        return f"<{w.target.width} x ptr>", pointers

    def _gather(self, file: ir.File, place: str) -> str:
        w, width, letter = self.w, self.w.target.width, "f" if file.type is Type.F32 else "i"
        vector = self._vector(file)
        return w.call(
            f"llvm.masked.gather.v{width}{letter}32.v{width}p0", vector,
            self._pointers(file, place), ("i32", "4"), (w.b, ALL), (vector, "poison"),
        )  # fmt: skip

    def _scatter(
        self, file: ir.File, address: ir.Address, index: str, value: str, active: str | None
    ) -> None:
        w, width = self.w, self.w.target.width
        place, inside = self._place(file, address, index)
        if active is not None:
            inside = w(f"and {w.b} {inside}, {active}")
        # Lanes that must not store write to the spare row behind the file.
        place = self._columns(w.select(inside, w.i, place, f"splat (i32 {file.size})"))
        letter = "f" if file.type is Type.F32 else "i"
        name = f"llvm.masked.scatter.v{width}{letter}32.v{width}p0"
        vector = self._vector(file)
        pointers, pointer = self._pointers(file, place)
        w.declared.add(f"declare void @{name}({vector}, {pointers}, i32, {w.b})")
        w.do(f"call void @{name}({vector} {value}, {pointers} {pointer}, i32 4, {w.b} {ALL})")


# Paired loads: a filter reads a texel and the next one in the row.  One 64-bit load per lane is
# far cheaper than two gathers.

WORD_SHIFT = ir.Constant(Type.I32, 2)
"""The I32 constant 2, by which a byte address is shifted right to the index of a 32-bit word."""
_WORD = ir.Constant(Type.I32, 4)


class LoadPair(msgspec.Struct, frozen=True):
    """The second load of a pair: its result slot, and the slots ``common`` and ``step`` whose sum
    is its byte address.
    """

    slot: int
    common: ir.Slot
    step: ir.Slot


_Made = dict[int, ir.Statement]
"""The defining statement of each slot that is assigned once, by slot number."""
_Address = tuple[ir.Slot, ir.Slot]
"""Slots (common, step) of a load whose index is (common + step) >> 2; step is a multiple of 4."""


@identity_cached()
def load_pairs(program: ir.Program) -> dict[int, LoadPair]:
    """Return the second load of each pair, by the result slot of the first, which precedes it in
    its block.

    Both load from a uniform file at common + step, where step is a multiple of the word size; all
    terms are known at the first load.
    """
    places = Counter(slot for s in ir.walk(program.statements) for slot in ir.written(s))
    made: _Made = {slot: s for s in ir.walk(program.statements) for slot in ir.written(s)
                   if places[slot] == 1}  # fmt: skip
    uniform = {file.name for file in program.files if file.uniform}
    found: dict[int, LoadPair] = {}
    for block in _all_blocks(program.statements):
        found |= _block_pairs(block, made, uniform)
    return found


def _block_pairs(
    block: tuple[ir.Statement, ...], made: _Made, uniform: set[str]
) -> dict[int, LoadPair]:
    number = {slot: at for at, s in enumerate(block) for slot in ir.written(s)}
    first: dict[tuple[str, int, ir.Slot], ir.Load] = {}
    found: dict[int, LoadPair] = {}
    for statement in block:
        if not isinstance(statement, ir.Load) or statement.file not in uniform:
            continue
        address = _address(statement, made)
        if address is None:
            continue
        common, step = address
        before = first.pop((statement.file, statement.address.offset, common), None)
        if before is None:
            first[statement.file, statement.address.offset, common] = statement
        elif number.get(step.number, len(block)) < number[before.slot]:
            found[before.slot] = LoadPair(statement.slot, common, step)
    return found


def _all_blocks(statements: tuple[ir.Statement, ...]) -> Iterator[tuple[ir.Statement, ...]]:
    yield statements
    for statement in ir.walk(statements):
        yield from ir.blocks(statement)


def _address(load: ir.Load, made: _Made) -> _Address | None:
    """Return the slots (common, step) if a load's index is (common + step) >> 2, with step a
    multiple of 4; otherwise None.
    """
    index = load.address.index
    if index is None or load.address.stride != 1 or load.address.offset < 0:
        return None
    shifted = producer(index, made, "ishr")
    if shifted is None or shifted.operands[1] != WORD_SHIFT:
        return None
    added = producer(shifted.operands[0], made, "iadd")
    if added is None:
        return None
    common, step = added.operands
    stepped = producer(step, made, "imul")
    if stepped is None or stepped.operands[1] != _WORD:
        return None
    if isinstance(common, ir.Slot) and isinstance(step, ir.Slot) and common.number in made:
        return common, step
    return None
