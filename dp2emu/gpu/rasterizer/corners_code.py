"""Text that gathers the corners of primitives, as ``gpu.rasterizer.clip.Geometry`` has them.

void emit(ptr words, i64 taken)     those that are taken whole, which is what happens to most
"""

from __future__ import annotations

from dp2emu.gpu.code.vertex_arguments import (
    FLAT,
    SMOOTH,
    VARYING,
    VERTEX_WORDS,
    WHOLE,
    WRAPPED,
    ArgumentWords,
)
from dp2emu.gpu.rasterizer.clip import shortest_way
from dp2emu.shader.jit.scalars import Code, Value
from dp2emu.shader.jit.writer import Writer


def functions() -> list[tuple[str, Writer]]:
    """The one, and what it calls."""
    return [*shared(), _edges(), _column(), _varyings(), _screen(), _numbers(), _emit()]


def shared() -> list[tuple[str, Writer]]:
    """What cutting calls as well."""
    return [_joined(), _edge()]


def _emit() -> tuple[str, Writer]:
    k = Code("emit", ("ptr words", "i64 taken"))
    for part in ("screen", "varyings", "numbers"):
        k.call(f"@emit_{part}", "void", k["words"], k["taken"])
    k.give()
    return k.text(internal=True)


def _screen() -> tuple[str, Writer]:
    """Rows of the screen, corner by corner."""
    k = Code("emit_screen", ("ptr words", "i64 taken"))
    w = ArgumentWords.of(k, VERTEX_WORDS)
    capacity, room, count = w.integers("capacity", "room", "count")
    taken, screen, places, chosen = w.pointers("taken", "screen", "places", "chosen")
    into = [k.at(taken, capacity * (3 * row), "double") for row in range(4)]
    rows = [k.at(screen, room * row, "double") for row in range(4)]
    with k.loop(k.constant("i64", 3)) as corner:
        lanes = k.at(places, count * corner, "i32")
        ends = [k.at(row, capacity * corner, "double") for row in into]
        with k.loop(k["taken"]) as n:
            number = k.load("i32", chosen, n).signed("i64")
            lane = k.load("i32", lanes, number).signed("i64")
            for row, end in zip(rows, ends, strict=True):
                k.store(k.load("double", row, lane), end, n)
    k.give()
    return k.text(internal=True)


def _varyings() -> tuple[str, Writer]:
    k = Code("emit_varyings", ("ptr words", "i64 taken"))
    w = ArgumentWords.of(k, VERTEX_WORDS)
    capacity = w.integer("capacity")
    start = k.at(w.pointer("taken"), capacity * 12, "double")
    with k.loop(w.integer("varying_count")) as number:
        varying = k.at(w.pointer("varyings"), number * len(VARYING), "i64")
        into = k.at(start, number * capacity * 3, "double")
        k.call("@emit_varying", "void", k["words"], varying, into, k["taken"])
    k.give()
    return k.text(internal=True)


def _column() -> tuple[str, Writer]:
    """One varying of all that is taken."""
    k = Code("emit_varying", ("ptr words", "ptr varying", "ptr into", "i64 taken"))
    w, v = ArgumentWords.of(k, VERTEX_WORDS), ArgumentWords.of(k, VARYING, k["varying"])
    capacity, count, single = w.integers("capacity", "count", "single")
    places, chosen = w.pointers("places", "chosen")
    row, mode = v.pointer("row"), v.integer("mode")
    with k.loop(k.constant("i64", 3)) as corner:
        lanes, end = (
            k.at(places, count * corner, "i32"),
            k.at(k["into"], capacity * corner, "double"),
        )
        joins = mode.differs(SMOOTH) & (corner > 0)
        with k.loop(k["taken"]) as n:
            number = k.load("i32", chosen, n).signed("i64")
            first, value = (
                k.load("float", row, k.load("i32", each, number).signed("i64"))
                for each in (places, lanes)
            )
            found = k.variable("double", widened(k, mode, value))
            with k.when(joins):
                found.set(k.call("@joined", "double", mode, single, first, value))
            k.store(found.get(), end, n)
    k.give()
    return k.text(internal=True)


def widened(k: Code, mode: Value, value: Value) -> Value:
    """A corner's varying by itself: a float, or the integer whose bits it has."""
    found = k.variable("double", value.wide())
    with k.when(mode.equals(WHOLE)):
        found.set(value.bits("i32").signed("double"))
    return found.get()


def _joined() -> tuple[str, Writer]:
    """What a corner's varying becomes beside the first corner's."""
    k = Code("joined", ("i64 mode", "i64 single", "float first", "float value"), "double")
    first, value = k["first"], k["value"]
    k.give_if(k["mode"].equals(FLAT), lambda: first.wide())
    k.give_if(k["mode"].equals(WHOLE), lambda: widened(k, k["mode"], first))
    k.give_if(k["mode"].differs(WRAPPED), lambda: value.wide())
    k.give_if(
        k["single"].differs(0), lambda: k.formula(shortest_way, None, first, value)[0].wide()
    )
    k.give(k.formula(shortest_way, None, first.wide(), value.wide())[0])
    return k.text(internal=True)


def _numbers() -> tuple[str, Writer]:
    """Which primitives were taken, and their edges."""
    k = Code("emit_numbers", ("ptr words", "i64 taken"))
    w = ArgumentWords.of(k, VERTEX_WORDS)
    into, chosen, start = w.pointer("numbers_taken"), w.pointer("chosen"), w.integer("start")
    edged = w.integer("edges_taken").differs(0)
    with k.loop(k["taken"]) as n:
        number = k.load("i32", chosen, n).signed("i64")
        k.store(number + start, into, n)
        with k.when(edged):
            k.call("@emit_edges", "void", k["words"], number, n)
    k.give()
    return k.text(internal=True)


def _edges() -> tuple[str, Writer]:
    """The edges of a primitive that is taken whole."""
    k = Code("emit_edges", ("ptr words", "i64 number", "i64 n"))
    w = ArgumentWords.of(k, VERTEX_WORDS)
    into, capacity = w.pointer("edges_taken"), w.integer("capacity")
    for corner in range(3):
        edge = k.call("@edge", "i64", k["words"], k["number"], k.constant("i64", corner))
        k.store(edge.cut("i8"), into, capacity * corner + k["n"])
    k.give()
    return k.text(internal=True)


def _edge() -> tuple[str, Writer]:
    """1 if the edge from a corner of a primitive to the next is there."""
    k = Code("edge", ("ptr words", "i64 number", "i64 corner"), "i64")
    w = ArgumentWords.of(k, VERTEX_WORDS)
    k.give_if(w.integer("edges").equals(0), 1)
    at = k["corner"] * w.integer("edge_pitch") + k["number"]
    k.give(k.load("i8", w.pointer("edges"), at).unsigned("i64"))
    return k.text(internal=True)
