"""Text that cuts primitives at the planes: ``gpu.rasterizer.clip``, polygon by polygon.

    i64 emit_cut(ptr words, i64 taken)      -> how many primitives, -1 if there is no room

A corner of a polygon is a row of words: x, y, z and w in clip space, the varyings, the distances
to the user's planes, all doubles, and 1 if the edge that begins there is one of the primitive.
"""

from __future__ import annotations

from functools import partial

from dp2emu.gpu.code.vertex_arguments import VARYING, VERTEX_WORDS, ArgumentWords
from dp2emu.gpu.rasterizer.corners_code import shared, widened
from dp2emu.gpu.rasterizer.viewport_code import DEPTH_PLANES, FIXED_PLANES, Projection, distance
from dp2emu.shader.jit.scalars import Code, Value
from dp2emu.shader.jit.writer import Writer

NAME = "emit_cut"
_PLACE = 4
"""Rows before the varyings."""


def functions() -> list[tuple[str, Writer]]:
    """The one, and what it calls."""
    return [
        *shared(), _away(), _copied(), _between(), _plane(), _corner(),
        _planes(), _vertex(), _piece(), _pieces(), _cut(), _emit(),
    ]  # fmt: skip


def _rows(w: ArgumentWords) -> Value:
    """Doubles of a corner."""
    return w.integer("varying_count") + w.integer("plane_count") + _PLACE


def _row(k: Code, w: ArgumentWords, polygon: Value, corner: Value | int) -> Value:
    """Where a corner is."""
    words = _rows(w) + 1
    return k.at(polygon, words * corner, "i64")


def _away() -> tuple[str, Writer]:
    """Distance of a corner from a plane."""
    k = Code("away", ("ptr words", "ptr corner", "i64 plane"), "double")
    w = ArgumentWords.of(k, VERTEX_WORDS)
    user = k["plane"] - FIXED_PLANES + w.integer("varying_count") + _PLACE
    k.give_if(k["plane"] >= FIXED_PLANES, lambda: k.load("double", k["corner"], user))
    x, y, z, far = (k.load("double", k["corner"], row) for row in range(_PLACE))
    *others, last = range(FIXED_PLANES)
    for number in others:
        k.give_if(k["plane"].equals(number), partial(distance, number, x, y, z, far))
    k.give(distance(last, x, y, z, far))
    return k.text(internal=True)


def _copied() -> tuple[str, Writer]:
    """A corner that stays."""
    k = Code("copied", ("ptr words", "ptr from", "ptr to", "i64 edge"))
    rows = _rows(ArgumentWords.of(k, VERTEX_WORDS))
    with k.loop(rows) as row:
        k.store(k.load("i64", k["from"], row), k["to"], row)
    k.store(k["edge"], k["to"], rows)
    k.give()
    return k.text(internal=True)


def _between() -> tuple[str, Writer]:
    """A new corner, on the way from one that is inside to one that is not."""
    k = Code("between", ("ptr words", "ptr begin", "ptr end", "double t", "ptr to", "i64 edge"))
    rows = _rows(ArgumentWords.of(k, VERTEX_WORDS))
    with k.loop(rows) as row:
        start = k.load("double", k["begin"], row)
        way = k.load("double", k["end"], row) - start
        k.store(start + k["t"] * way, k["to"], row)
    k.store(k["edge"], k["to"], rows)
    k.give()
    return k.text(internal=True)


def _plane() -> tuple[str, Writer]:
    """What a plane leaves of a polygon -> how many corners, -1 if they are too many."""
    k = Code("plane", ("ptr words", "ptr from", "ptr to", "i64 count", "i64 plane"), "i64")
    w = ArgumentWords.of(k, VERTEX_WORDS)
    ring, most, count = w.integer("corners").equals(3), w.integer("most"), k["count"]
    made = k.variable("i64", 0)
    with k.loop(count) as n:
        last = n.equals(count - 1)
        following = last.choose(ring.choose(k.constant("i64", 0), n), n + 1)
        here, there = (_row(k, w, k["from"], corner) for corner in (n, following))
        # A corner may stay, and one be made behind it.
        k.give_if(made.get() + 2 > most, -1)
        into = _row(k, w, k["to"], made.get())
        made.add(k.call("@corner", "i64", k["words"], here, there, k["plane"], into))
    k.give(made.get())
    return k.text(internal=True)


def _corner() -> tuple[str, Writer]:
    """What a plane makes of a corner and the way to the next -> how many corners."""
    k = Code("corner", ("ptr words", "ptr here", "ptr there", "i64 plane", "ptr to"), "i64")
    w = ArgumentWords.of(k, VERTEX_WORDS)
    words, here, there = k["words"], k["here"], k["there"]
    edge = k.load("i64", here, _rows(w))
    d, ahead = (k.call("@away", "double", words, each, k["plane"]) for each in (here, there))
    made = k.variable("i64", 0)
    with k.when(d >= 0):
        along = d.equals(0) & (ahead < 0)
        stays = edge & (along ^ 1).unsigned("i64")
        k.call("@copied", "void", words, here, k["to"], stays)
        made.set(1)
    leaving, entering = (d > 0) & (ahead < 0), (d < 0) & (ahead > 0)
    with k.when(leaving | entering):
        begin, end = leaving.choose(here, there), leaving.choose(there, here)
        inner, outer = leaving.choose(d, ahead), leaving.choose(ahead, d)
        t, into = inner / (inner - outer), _row(k, w, k["to"], made.get())
        opens = edge & entering.unsigned("i64")
        k.call("@between", "void", words, begin, end, t, into, opens)
        made.add(1)
    k.give(made.get())
    return k.text(internal=True)


def _planes() -> tuple[str, Writer]:
    """What all planes leave of the first polygon -> its corners; -1 if they are too many.

    It is the first or the second polygon, as ``side`` says, which is 0 or 1.
    """
    k = Code("planes", ("ptr words", "ptr side"), "i64")
    w = ArgumentWords.of(k, VERTEX_WORDS)
    most, first = w.integer("most"), w.pointer("polygons")
    count = k.variable("i64", w.integer("corners"))
    begin = w.integer("depth").equals(0).choose(k.constant("i64", DEPTH_PLANES), 0)
    k.store(k.constant("i64", 0), k["side"])
    with k.loop(w.integer("plane_count") + FIXED_PLANES, begin) as plane:
        side = k.load("i64", k["side"])
        sides = [_row(k, w, first, most * each) for each in (side, side ^ 1)]
        count.set(k.call("@plane", "i64", k["words"], *sides, count.get(), plane))
        k.give_if(count.get() < 0, -1)
        k.store(side ^ 1, k["side"])
    k.give(count.get())
    return k.text(internal=True)


def _vertex() -> tuple[str, Writer]:
    """A corner of a primitive as one of a polygon."""
    k = Code("vertex", ("ptr words", "i64 number", "i64 corner", "ptr to"))
    w = ArgumentWords.of(k, VERTEX_WORDS)
    count, single, varyings, planes = w.integers("count", "single", "varying_count", "plane_count")
    places = w.pointer("places")
    own, first = (
        k.load("i32", places, k["number"] + count * corner).signed("i64")
        for corner in (k["corner"], k.constant("i64", 0))
    )
    for number, name in enumerate("xyzw"):
        k.store(k.load("float", w.pointer(name), own).wide(), k["to"], number)
    with k.loop(varyings) as n:
        v = ArgumentWords.of(k, VARYING, k.at(w.pointer("varyings"), n * len(VARYING), "i64"))
        begin, value = (k.load("float", v.pointer("row"), lane) for lane in (first, own))
        mode = v.integer("mode")
        joined = k.variable("double", widened(k, mode, value))
        with k.when(k["corner"] > 0):
            joined.set(k.call("@joined", "double", mode, single, begin, value))
        k.store(joined.get(), k["to"], n + _PLACE)
    with k.loop(planes) as n:
        row = k.at(w.pointer("distances"), n * w.integer("room"), "double")
        k.store(k.load("double", row, own), k["to"], n + varyings + _PLACE)
    edge = k.call("@edge", "i64", k["words"], k["number"], k["corner"])
    k.store(edge, k["to"], varyings + planes + _PLACE)
    k.give()
    return k.text(internal=True)


def _piece() -> tuple[str, Writer]:
    """A corner of what is left as corner ``at`` of a primitive, ``n`` being its place."""
    k = Code("piece", ("ptr words", "ptr corner", "i64 at", "i64 n", "i64 edge"))
    w = ArgumentWords.of(k, VERTEX_WORDS)
    capacity, taken = w.integer("capacity"), w.pointer("taken")
    start, pitch = k["at"] * capacity + k["n"], capacity * 3
    place = [k.load("double", k["corner"], row) for row in range(_PLACE)]
    for number, value in enumerate(Projection(k, w).of(*place)):
        k.store(value, taken, start + pitch * number)
    with k.loop(w.integer("varying_count") + _PLACE, _PLACE) as row:
        k.store(k.load("double", k["corner"], row), taken, start + pitch * row)
    k.store(k["edge"].cut("i8"), w.pointer("edges_taken"), start)
    k.give()
    return k.text(internal=True)


def _pieces() -> tuple[str, Writer]:
    """Primitives that a polygon consists of, from place ``at`` on -> the place behind them.

    A fan around the first corner, or a line or a point as it is.
    """
    k = Code("pieces", ("ptr words", "ptr polygon", "i64 count", "i64 number", "i64 at"), "i64")
    w = ArgumentWords.of(k, VERTEX_WORDS)
    corners, count = w.integer("corners"), k["count"]
    ring, zero = corners.equals(3), k.constant("i64", 0)
    pieces = count - corners + 1
    k.give_if(pieces <= 0, lambda: k["at"])
    k.give_if(k["at"] + pieces > w.integer("capacity"), -1)
    with k.loop(pieces) as step:
        n = k["at"] + step
        opening, closing = step.equals(0), step.equals(count - corners)
        ends = (zero, ring.choose(step + 1, corners - 1), ring.choose(step + 2, zero))
        shown = (opening, k.constant("i1", 1), closing)
        for at, (end, there) in enumerate(zip(ends, shown, strict=True)):
            corner = _row(k, w, k["polygon"], end)
            edge = k.load("i64", corner, _rows(w)) & there.unsigned("i64")
            k.call("@piece", "void", k["words"], corner, k.constant("i64", at), n, edge)
        k.store(k["number"] + w.integer("start"), w.pointer("numbers_taken"), n)
    w.set("extra", w.integer("extra") + pieces - 1)
    k.give(k["at"] + pieces)
    return k.text(internal=True)


def _cut() -> tuple[str, Writer]:
    """A primitive, cut unless it is ``whole`` -> the place behind what is left, -1 for no room."""
    k = Code("cut", ("ptr words", "i64 number", "i1 whole", "i64 at"), "i64")
    w = ArgumentWords.of(k, VERTEX_WORDS)
    polygons, corners, side = w.pointer("polygons"), w.integer("corners"), k.room("i64")
    with k.loop(corners) as corner:
        k.call("@vertex", "void", k["words"], k["number"], corner, _row(k, w, polygons, corner))
    count = k.variable("i64", corners)
    k.store(k.constant("i64", 0), side)
    with k.unless(k["whole"]):
        count.set(k.call("@planes", "i64", k["words"], side))
    k.give_if(count.get() < 0, -1)
    left = _row(k, w, polygons, k.load("i64", side) * w.integer("most"))
    k.give(k.call("@pieces", "i64", k["words"], left, count.get(), k["number"], k["at"]))
    return k.text(internal=True)


def _emit() -> tuple[str, Writer]:
    k = Code(NAME, ("ptr words", "i64 taken"), "i64")
    chosen = ArgumentWords.of(k, VERTEX_WORDS).pointer("chosen")
    at = k.variable("i64", 0)
    with k.loop(k["taken"]) as n:
        word = k.load("i32", chosen, n)
        number = (word & 0x7FFFFFFF).unsigned("i64")
        at.set(k.call("@cut", "i64", k["words"], number, word >= 0, at.get()))
        k.give_if(at.get() < 0, -1)
    k.give(at.get())
    return k.text()
