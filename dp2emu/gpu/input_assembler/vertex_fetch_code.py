"""LLVM text of vertex fetch: distinct vertex numbers of a chunk, and their elements.

    i64 numbers(ptr words)      vertex numbers of all corners -> number of distinct ones
    void element(ptr words, ptr numbers, i64 count)     one element component of each vertex

Conversions are a twin of ``input_assembler.vertex_fetch``, not formulas: one compiled function
serves every layout, since it reads element types from a table at run time.
"""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.gpu.code.vertex_arguments import (
    CORNER,
    FRACTION,
    HALF,
    LANE,
    RAW,
    SIGNED,
    SMALL,
    SOURCE,
    UNSIGNED,
    VERTEX_WORDS,
    WHOLE_SIGNED,
    WHOLE_UNSIGNED,
    ArgumentWords,
)
from dp2emu.shader.jit.scalars import Code, Value
from dp2emu.shader.jit.writer import Writer
from dp2emu.shader.types import NAN_BITS

_SCATTER = 0x9E3779B97F4A7C15 - (1 << 64)
"""Multiplier of the hash of vertex numbers: 2**64 over the golden ratio (Fibonacci hashing)."""
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


def functions() -> list[tuple[str, Writer]]:
    """Functions ``numbers`` and ``element`` with their callees."""
    return [_byte(), _loose_word(), _numbers(), _by_table(), _half(), _element()]


def _byte() -> tuple[str, Writer]:
    """Write the function ``byte_of`` -> a byte of a buffer, 0 if out of bounds."""
    k = Code("byte_of", ("ptr data", "i64 end", "i64 at"), "i32")
    k.give_if(k["at"].below(k["end"]) ^ 1, 0)
    k.give(k.load("i8", k["data"], k["at"]).unsigned("i32"))
    return k.text(internal=True)


def _loose_word() -> tuple[str, Writer]:
    """Write the function ``loose_word`` -> the little-endian word at a byte address; bytes out of
    bounds are 0.
    """
    k = Code("loose_word", ("ptr data", "i64 end", "i64 at"), "i32")
    total = k.constant("i32", 0)
    for byte in range(4):
        found = k.call("@byte_of", "i32", k["data"], k["end"], k["at"] + byte)
        total = (found << 8 * byte) | total
    k.give(total)
    return k.text(internal=True)


def _numbers() -> tuple[str, Writer]:
    k = Code("numbers", ("ptr words",), "i64")
    w = ArgumentWords.of(k, VERTEX_WORDS)
    count, start, first = w.integers("count", "start", "first")
    numbers, indexed = w.pointer("numbers"), w.integer("indices").differs(0)
    index = _index(k, w)
    least, most = k.variable("i64", _MOST), k.variable("i64", _LEAST)
    steps = k.at(k["words"], VERTEX_WORDS.index("step0"), "i64")
    with k.loop(k.constant("i64", 3)) as corner:
        own = ArgumentWords.of(k, CORNER, k.at(steps, corner * len(CORNER), "i64"))
        step, odd, offset = own.integers(*CORNER)
        row = k.at(numbers, count * corner, "i64")
        with k.loop(count) as n:
            i = n + start
            number = k.variable("i64", first + step * i + odd * (i & 1) + offset)
            with k.when(indexed):
                number.set(index(number.get()))
            found = number.get()
            k.store(found, row, n)
            least.set((found < least.get()).choose(found, least.get()))
            most.set((found > most.get()).choose(found, most.get()))
    total, low = count * 3, least.get()
    spread = most.get() - low
    k.give_if(spread.below(total) ^ 1, lambda: k.call("@by_table", "i64", k["words"], total))
    places, distinct = w.pointers("places", "distinct")
    with k.loop(total) as n:
        k.store((k.load("i64", numbers, n) - low).cut("i32"), places, n)
    with k.loop(spread + 1) as n:
        k.store(low + n, distinct, n)
    k.give(spread + 1)
    return k.text(internal=True)


def _index(k: Code, w: ArgumentWords) -> Callable[[Value], Value]:
    """Return a function that emits an index buffer lookup: position in it -> vertex number."""
    size, end, at, base = w.integers("index_size", "index_bytes", "index_at", "base")
    low, high = w.integers("index_low", "index_high")
    data = w.pointer("indices")
    mask = size.equals(2).choose(k.constant("i32", 0xFFFF), -1)

    def index(place: Value) -> Value:
        address = at + _between(place, low, high) * size
        word = k.variable("i32", 0)
        inside = (address >= 0) & (address + 4 <= end)
        with k.when(inside):
            word.set(k.load("i32", k.at(data, address)))
        with k.unless(inside):
            word.set(k.call("@loose_word", "i32", data, end, address))
        return (word.get() & mask).unsigned("i64") + base

    return index


def _between(value: Value, low: Value, high: Value) -> Value:
    raised = (value < low).choose(low, value)
    return (raised > high).choose(high, raised)


def _by_table() -> tuple[str, Writer]:
    """Write the function ``by_table``: number distinct vertices in order of first occurrence, with
    a hash table.
    """
    k = Code("by_table", ("ptr words", "i64 total"), "i64")
    w = ArgumentWords.of(k, VERTEX_WORDS)
    table, slots, numbers, distinct, places = w.pointers(
        "table", "slots", "numbers", "distinct", "places"
    )
    size = w.integer("table_size")
    with k.loop(size) as n:
        k.store(k.constant("i32", -1), slots, n)
    found = k.variable("i64", 0)
    with k.loop(k["total"]) as n:
        number = k.load("i64", numbers, n)
        here = _slot(k, number, table, slots, size - 1)
        with k.when(k.load("i32", slots, here) < 0):
            k.store(found.get().cut("i32"), slots, here)
            k.store(number, table, here)
            k.store(number, distinct, found.get())
            found.add(1)
        k.store(k.load("i32", slots, here), places, n)
    k.give(found.get())
    return k.text(internal=True)


def _slot(k: Code, number: Value, table: Value, slots: Value, last: Value) -> Value:
    """Slot of a number in the hash table, or the free slot for it; linear probing."""
    at = k.variable("i64", (number * _SCATTER).shifted(32) & last)

    def collides() -> Value:
        taken = k.load("i32", slots, at.get()) >= 0
        return taken & k.load("i64", table, at.get()).differs(number)

    with k.while_(collides):
        at.set((at.get() + 1) & last)
    return at.get()


def _half() -> tuple[str, Writer]:
    """Write the function ``widened`` -> float16 bits as a float32; a NaN becomes quiet and keeps
    its payload.
    """
    k = Code("widened", ("i32 half",), "float")
    sign, rest = (k["half"] & 0x8000) << 16, k["half"] & 0x7FFF
    normal, special = (rest << 13) + ((127 - 15) << 23), (rest << 13) | 0x7F800000
    quiet = (rest > 0x7C00).choose(special | 0x00400000, special)
    small = (rest.signed("float") * 2.0**-24).bits("i32")
    bits = (rest >= 0x7C00).choose(quiet, (rest >= 0x0400).choose(normal, small))
    k.give((bits | sign).bits("float"))
    return k.text(internal=True)


def _element() -> tuple[str, Writer]:
    k = Code("element", ("ptr words", "ptr numbers", "i64 count"))
    w = ArgumentWords.of(k, LANE)
    source = ArgumentWords.of(k, SOURCE, w.pointer("source"))
    (first, divider), row = source.integers("first", "divider"), w.pointer("row")
    fixed = source.integer("stride").equals(0)
    word_of, value_of = _word(k, source, w.integer("word") * 4), _value(k, w)
    with k.loop(k["count"]) as n:
        number = k.variable("i64", k.load("i64", k["numbers"], n))
        with k.when(divider > 1):
            number.set(_floor(first, divider) + _floor(number.get() - first, divider))
        shared = fixed.choose(k.constant("i64", 0), number.get())
        k.store(value_of(word_of(shared)), row, n)
    k.give()
    return k.text(internal=True)


def _word(k: Code, w: ArgumentWords, behind: Value) -> Callable[[Value], Value]:
    """Return a function that emits a load: vertex number -> word at byte ``behind`` of its
    element, 0 beyond the stream's data.
    """
    data = w.pointer("data")
    end, at, stride, whole = w.integers("end", "at", "stride", "whole")
    low, high = w.integers("low", "high")
    start = k.at(data, at + behind)

    def word_of(number: Value) -> Value:
        word = k.variable("i32", 0)
        inside = number.below(whole)
        with k.when(inside):
            word.set(k.load("i32", k.at(start, number * stride)))
        with k.unless(inside):
            byte = at + _between(number, low, high) * stride + behind
            word.set(k.call("@loose_word", "i32", data, end, byte))
        return word.get()

    return word_of


def _value(k: Code, w: ArgumentWords) -> Callable[[Value], Value]:
    """Return a function that emits a vertex component's conversion: 32-bit word -> float."""
    left, right = (w.integer(name).cut("i32") for name in ("left", "right"))
    mode, scale = w.integer("mode"), w.double("scale").narrow()
    # Floats of 10 and 11 bits are float16 without the low mantissa bits.
    spare = (right > 32 - 15).choose(right - (32 - 15), 0)

    def value_of(word: Value) -> Value:
        value = k.variable("float", word.bits("float"))
        with k.when(mode.differs(RAW)):
            raised = word << left
            plain, signed = raised.shifted(right), raised >> right
            with k.when(mode.equals(SIGNED) | mode.equals(FRACTION)):
                found = signed.signed("float") / scale
                low = mode.equals(FRACTION) & (found < -1.0)
                value.set(low.choose(k.constant("float", -1.0), found))
            with k.when(mode.equals(UNSIGNED)):
                value.set(plain.signed("float") / scale)
            with k.when(mode.equals(HALF)):
                value.set(k.call("@widened", "float", plain))
            with k.when(mode.equals(SMALL)):
                found = k.call("@widened", "float", plain << spare)
                nan = k.constant("i32", NAN_BITS).bits("float")
                value.set(found.equals(found).choose(found, nan))
            with k.when(mode.equals(WHOLE_SIGNED)):
                value.set(signed.bits("float"))
            with k.when(mode.equals(WHOLE_UNSIGNED)):
                value.set(plain.bits("float"))
        return value.get()

    return value_of


def _floor(value: Value, divisor: Value) -> Value:
    """Integer quotient rounded down, for a positive divisor."""
    quotient = value // divisor
    return quotient - ((value - quotient * divisor) < 0).unsigned("i64")
