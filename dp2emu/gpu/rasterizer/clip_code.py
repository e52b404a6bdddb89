"""LLVM text of projection, clip tests, gathering and clipping (``gpu.rasterizer.clip``).

    void place(ptr words, i64 lanes)        project vertices to the screen and test them
    i64 choose(ptr words)                   visible primitives -> count | count to clip << 32
    i64 screened(ptr words, i64 lanes)      both for vertices that are transformed already
    void emit(ptr words, i64 taken)         gather the corners of primitives that need no clipping
    i64 emit_cut(ptr words, i64 taken)      clip and gather -> primitives, -1 for a full buffer

Distances, crossings and projection are the reference's formulas.  Visibility is written a second
time, with bit masks instead of reductions of bool arrays, and clipping goes polygon by polygon
instead of plane by plane over all.

A corner of a polygon is a row of words: clip-space x, y, z and w, the varyings, the distances to
the user's planes, all doubles, and 1 if the edge that begins there belongs to the primitive.
"""

from __future__ import annotations

import math
from functools import partial

from dp2emu.gpu.code.vertex_arguments import (
    FLAT,
    PLANE,
    SMOOTH,
    VARYING,
    VERTEX_WORDS,
    WHOLE,
    WRAPPED,
    ArgumentWords,
)
from dp2emu.gpu.rasterizer import clip
from dp2emu.gpu.rasterizer.clip import DEPTH_PLANES, FIXED_PLANES
from dp2emu.shader.jit.scalars import Code, Value
from dp2emu.shader.jit.writer import Writer, module

_FINITE_BIT, _IN_FRONT_BIT, _NAN_BIT = 62, 61, 60
_FINITE, _IN_FRONT = 1 << _FINITE_BIT, 1 << _IN_FRONT_BIT
"""Bits of a vertex for a finite position and for w > 0; lower bits tell the planes that it is
inside of.  A vertex with a NaN distance from a strict plane counts as not finite."""
_VIEW = ("view_x", "half_width", "view_y", "half_height", "min_z", "z_range", "centre")
CUT = 1 << 31
"""Bit that marks, in the list ``chosen`` of visible primitives, those that need clipping."""
NAME = "emit_cut"
_PLACE = 4
"""Number of position components (x, y, z and w) at the start of a corner's stored doubles."""


def projection_functions() -> list[tuple[str, Writer]]:
    """Write the functions ``place``, which projects and tests vertices, ``choose``, which lists
    visible primitives, and ``screened``, which does both for transformed vertices.
    """
    return [_distances(), _place(), _choose(), _screened()]


def gather_functions() -> list[tuple[str, Writer]]:
    """Write ``emit``, which gathers the corners of visible primitives, and its callees."""
    return [_joined(), _edge(), _edges(), _column(), _varyings(), _screen(), _numbers(), _emit()]


def clip_text() -> str:
    """LLVM module of the function ``emit_cut``, which clips and gathers visible primitives."""
    return module(
        _joined(), _edge(), _away(), _copied(), _between(), _plane(), _corner(),
        _planes(), _vertex(), _piece(), _pieces(), _cut(), _emit_cut(),
    )  # fmt: skip


# Projection and clip tests


def _distances() -> tuple[str, Writer]:
    """Write the function ``user``: compute a vertex's distances to the user's planes and load its
    cull distances -> a bit for each of these that is 0 or greater, and a bit for a NaN.
    """
    k = Code("user", ("ptr words", "i64 n", "double x", "double y", "double z", "double w"), "i64")
    w = ArgumentWords.of(k, VERTEX_WORDS)
    bits, planes = k.variable("i64", 0), w.integer("plane_count")
    with k.loop(planes) as number:
        plane = ArgumentWords.of(k, PLANE, k.at(w.pointer("planes"), number * len(PLANE), "i64"))
        place, equation = (k[axis] for axis in "xyzw"), map(plane.double, "abcd")
        away = k.variable("double", *k.formula(clip.user_distance, None, *place, *equation))
        with k.when(plane.integer("row").differs(0)):
            away.set(k.load("float", plane.pointer("row"), k["n"]).wide())
        row = k.at(w.pointer("distances"), number * w.integer("room"), "double")
        k.store(away.get(), row, k["n"])
        inside = (away.get() >= 0).unsigned("i64")
        nan = away.get().differs(away.get()).unsigned("i64") & plane.integer("strict")
        bits.set(bits.get() | inside << number + FIXED_PLANES | nan << _NAN_BIT)
    with k.loop(w.integer("cull_count")) as number:
        row = k.load("ptr", w.pointer("culls"), number)
        inside = (k.load("float", row, k["n"]) >= 0).unsigned("i64")
        bits.set(bits.get() | inside << number + planes + FIXED_PLANES)
    k.give(bits.get())
    return k.text(internal=True)


def _place() -> tuple[str, Writer]:
    k = Code("place", ("ptr words", "i64 lanes"))
    w = ArgumentWords.of(k, VERTEX_WORDS)
    rows, depth = w.pointers("x", "y", "z", "w"), w.integer("depth")
    some = (w.integer("plane_count") | w.integer("cull_count")) > 0
    inside = w.pointer("inside")
    outside_depth = depth.equals(0).choose(k.constant("i64", (1 << DEPTH_PLANES) - 1), 0)
    project = Projection(k, w)
    room, screen = w.integer("room"), w.pointer("screen")
    screens = [k.at(screen, room * row, "double") for row in range(4)]
    with k.loop(k["lanes"]) as n:
        point = [k.load("float", row, n).wide() for row in rows]
        bits = k.variable("i64", _bits(k, *point) | outside_depth)
        with k.when(some):
            found = k.call("@user", "i64", k["words"], n, *point)
            nan = (found.shifted(_NAN_BIT) & 1) << _FINITE_BIT
            bits.set((bits.get() | found) & (nan ^ -1))
        k.store(bits.get(), inside, n)
        for row, value in enumerate(project.of(*point)):
            k.store(value, screens[row], n)
    k.give()
    return k.text(internal=True)


def _bits(k: Code, x: Value, y: Value, z: Value, w: Value) -> Value:
    """Emit the clip bits of a vertex: one for each fixed plane that it is inside of, ``_FINITE``
    for a finite position, and ``_IN_FRONT`` for w > 0.
    """
    bits = (w > 0).unsigned("i64") << _IN_FRONT_BIT
    finite = k.constant("i1", 1)
    for value in (x, y, z, w):
        finite = finite & (k.intrinsic("fabs", value) < math.inf)
    bits = bits | finite.unsigned("i64") << _FINITE_BIT
    for number in range(FIXED_PLANES):
        (away,) = k.formula(clip.plane_distance, number, x, y, z, w)
        bits = bits | (away >= 0).unsigned("i64") << number
    return bits


class Projection:
    """Writer of the viewport transform; emits loads of the viewport's words once, when created."""

    def __init__(self, k: Code, w: ArgumentWords) -> None:
        self.code = k
        self.view = [w.double(name) for name in _VIEW]

    def of(self, x: Value, y: Value, z: Value, w: Value) -> list[Value]:
        """Screen x, y, z and 1 / w of a point in clip space."""
        return self.code.formula(clip.projected, None, x, y, z, w, *self.view)


def _choose() -> tuple[str, Writer]:
    k = Code("choose", ("ptr words",), "i64")
    w = ArgumentWords.of(k, VERTEX_WORDS)
    count, planes, culls = w.integers("count", "plane_count", "cull_count")
    inside, places, chosen = w.pointers("inside", "places", "chosen")
    one = k.constant("i64", 1)
    every = ((one << culls + planes + FIXED_PLANES) - 1) | _FINITE
    whole = ((one << planes + FIXED_PLANES) - 1) | (_FINITE | _IN_FRONT)
    corners = [k.at(places, count * corner, "i32") for corner in range(3)]
    taken, cut = k.variable("i64", 0), k.variable("i64", 0)
    with k.loop(count) as n:
        a, b, c = (k.load("i64", inside, k.load("i32", row, n).signed("i64")) for row in corners)
        some, all_of = a | b | c, a & b & c
        # Invisible: all corners are outside of one plane, or one corner is not finite.
        seen = ((some & every) & ((all_of & _FINITE) | ~_FINITE)).equals(every)
        partly = (all_of & whole).differs(whole)
        with k.when(seen):
            mark = partly.choose(k.constant("i32", -CUT), 0)
            k.store(n.cut("i32") | mark, chosen, taken.get())
            taken.add(1)
            cut.add(partly.unsigned("i64"))
    k.give(taken.get() | cut.get() << 32)
    return k.text(internal=True)


def _screened() -> tuple[str, Writer]:
    k = Code("screened", ("ptr words", "i64 lanes"), "i64")
    w = ArgumentWords.of(k, VERTEX_WORDS)
    (room, count), (screen, chosen) = w.integers("room", "count"), w.pointers("screen", "chosen")
    rows = k.at(k["words"], VERTEX_WORDS.index("x"), "i64")
    with k.loop(k.constant("i64", 4)) as number:
        row, into = k.load("ptr", rows, number), k.at(screen, room * number, "double")
        with k.loop(k["lanes"]) as n:
            k.store(k.load("float", row, n).wide(), into, n)
    with k.loop(count) as n:
        k.store(n.cut("i32"), chosen, n)
    k.give(count)
    return k.text(internal=True)


# Gathering of primitives that need no clipping


def _emit() -> tuple[str, Writer]:
    k = Code("emit", ("ptr words", "i64 taken"))
    for part in ("screen", "varyings", "numbers"):
        k.call(f"@emit_{part}", "void", k["words"], k["taken"])
    k.give()
    return k.text(internal=True)


def _screen() -> tuple[str, Writer]:
    """Write the function ``emit_screen``: gather the screen positions of the visible primitives,
    corner by corner.
    """
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
    """Write the function ``emit_varying``: gather one varying of the visible primitives."""
    k = Code("emit_varying", ("ptr words", "ptr varying", "ptr into", "i64 taken"))
    w, v = ArgumentWords.of(k, VERTEX_WORDS), ArgumentWords.of(k, VARYING, k["varying"])
    capacity, count, single = w.integers("capacity", "count", "single")
    places, chosen = w.pointers("places", "chosen")
    row, mode = v.pointer("row"), v.integer("mode")
    with k.loop(k.constant("i64", 3)) as corner:
        lanes = k.at(places, count * corner, "i32")
        end = k.at(k["into"], capacity * corner, "double")
        joins = mode.differs(SMOOTH) & (corner > 0)
        with k.loop(k["taken"]) as n:
            number = k.load("i32", chosen, n).signed("i64")
            first, value = (
                k.load("float", row, k.load("i32", each, number).signed("i64"))
                for each in (places, lanes)
            )
            found = k.variable("double", _widened(k, mode, value))
            with k.when(joins):
                found.set(k.call("@joined", "double", mode, single, first, value))
            k.store(found.get(), end, n)
    k.give()
    return k.text(internal=True)


def _widened(k: Code, mode: Value, value: Value) -> Value:
    """A varying as a double: the value of a float, or the integer that its bits are."""
    found = k.variable("double", value.wide())
    with k.when(mode.equals(WHOLE)):
        found.set(value.bits("i32").signed("double"))
    return found.get()


def _joined() -> tuple[str, Writer]:
    """Write the function ``joined`` -> a corner's varying after flat shading and texture wrapping
    (``clip.flatten_and_wrap``).
    """
    k = Code("joined", ("i64 mode", "i64 single", "float first", "float value"), "double")
    first, value = k["first"], k["value"]
    k.give_if(k["mode"].equals(FLAT), lambda: first.wide())
    k.give_if(k["mode"].equals(WHOLE), lambda: _widened(k, k["mode"], first))
    k.give_if(k["mode"].differs(WRAPPED), lambda: value.wide())
    k.give_if(
        k["single"].differs(0), lambda: k.formula(clip.shortest_way, None, first, value)[0].wide()
    )
    k.give(k.formula(clip.shortest_way, None, first.wide(), value.wide())[0])
    return k.text(internal=True)


def _numbers() -> tuple[str, Writer]:
    """Write the function ``emit_numbers``: gather numbers and edge flags of the visible
    primitives.
    """
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
    """Write the function ``emit_edges``: gather the edge flags of a primitive."""
    k = Code("emit_edges", ("ptr words", "i64 number", "i64 n"))
    w = ArgumentWords.of(k, VERTEX_WORDS)
    into, capacity = w.pointer("edges_taken"), w.integer("capacity")
    for corner in range(3):
        edge = k.call("@edge", "i64", k["words"], k["number"], k.constant("i64", corner))
        k.store(edge.cut("i8"), into, capacity * corner + k["n"])
    k.give()
    return k.text(internal=True)


def _edge() -> tuple[str, Writer]:
    """Write the function ``edge`` -> 1 if the edge from a corner of a primitive to the next is
    drawn.
    """
    k = Code("edge", ("ptr words", "i64 number", "i64 corner"), "i64")
    w = ArgumentWords.of(k, VERTEX_WORDS)
    k.give_if(w.integer("edges").equals(0), 1)
    at = k["corner"] * w.integer("edge_pitch") + k["number"]
    k.give(k.load("i8", w.pointer("edges"), at).unsigned("i64"))
    return k.text(internal=True)


# Clipping


def _rows(w: ArgumentWords) -> Value:
    """Number of doubles of a corner: x, y, z, w, varyings and distances to the user's planes."""
    return w.integer("varying_count") + w.integer("plane_count") + _PLACE


def _row(k: Code, w: ArgumentWords, polygon: Value, corner: Value | int) -> Value:
    """Emit the address of corner number ``corner`` of the polygon stored at ``polygon``."""
    words = _rows(w) + 1
    return k.at(polygon, words * corner, "i64")


def _away() -> tuple[str, Writer]:
    """Write the function ``away`` -> the distance of a corner from a plane."""
    k = Code("away", ("ptr words", "ptr corner", "i64 plane"), "double")
    w = ArgumentWords.of(k, VERTEX_WORDS)
    user = k["plane"] - FIXED_PLANES + w.integer("varying_count") + _PLACE
    k.give_if(k["plane"] >= FIXED_PLANES, lambda: k.load("double", k["corner"], user))
    place = [k.load("double", k["corner"], row) for row in range(_PLACE)]

    def distance(number: int) -> Value:
        return k.formula(clip.plane_distance, number, *place)[0]

    *others, last = range(FIXED_PLANES)
    for number in others:
        k.give_if(k["plane"].equals(number), partial(distance, number))
    k.give(distance(last))
    return k.text(internal=True)


def _copied() -> tuple[str, Writer]:
    """Write the function ``copied``: copy a polygon corner; ``edge`` is the new flag of the edge
    that begins there.
    """
    k = Code("copied", ("ptr words", "ptr from", "ptr to", "i64 edge"))
    rows = _rows(ArgumentWords.of(k, VERTEX_WORDS))
    with k.loop(rows) as row:
        k.store(k.load("i64", k["from"], row), k["to"], row)
    k.store(k["edge"], k["to"], rows)
    k.give()
    return k.text(internal=True)


def _between() -> tuple[str, Writer]:
    """Write the function ``between``: interpolate a new corner at ``t`` between corner ``begin``,
    inside, and ``end``, outside.
    """
    k = Code("between", ("ptr words", "ptr begin", "ptr end", "double t", "ptr to", "i64 edge"))
    rows = _rows(ArgumentWords.of(k, VERTEX_WORDS))
    with k.loop(rows) as row:
        ends = (k.load("double", k[end], row) for end in ("begin", "end"))
        (value,) = k.formula(clip.between, None, k["t"], *ends)
        k.store(value, k["to"], row)
    k.store(k["edge"], k["to"], rows)
    k.give()
    return k.text(internal=True)


def _plane() -> tuple[str, Writer]:
    """Write the function ``plane``: clip a polygon at a plane -> its number of corners, -1 if
    there is no room for them.
    """
    k = Code("plane", ("ptr words", "ptr from", "ptr to", "i64 count", "i64 plane"), "i64")
    w = ArgumentWords.of(k, VERTEX_WORDS)
    ring, most, count = w.integer("corners").equals(3), w.integer("most"), k["count"]
    made = k.variable("i64", 0)
    with k.loop(count) as n:
        last = n.equals(count - 1)
        following = last.choose(ring.choose(k.constant("i64", 0), n), n + 1)
        here, there = (_row(k, w, k["from"], corner) for corner in (n, following))
        # A corner yields two at most: itself, and one on the edge that begins there.
        k.give_if(made.get() + 2 > most, -1)
        into = _row(k, w, k["to"], made.get())
        made.add(k.call("@corner", "i64", k["words"], here, there, k["plane"], into))
    k.give(made.get())
    return k.text(internal=True)


def _corner() -> tuple[str, Writer]:
    """Write the function ``corner``: clip a corner and the edge to the next at a plane -> number
    of corners stored, 0 to 2.
    """
    k = Code("corner", ("ptr words", "ptr here", "ptr there", "i64 plane", "ptr to"), "i64")
    w = ArgumentWords.of(k, VERTEX_WORDS)
    words, here, there = k["words"], k["here"], k["there"]
    edge = k.load("i64", here, _rows(w))
    d, ahead = (k.call("@away", "double", words, each, k["plane"]) for each in (here, there))
    made = k.variable("i64", 0)
    inside, leaving, entering, outward = k.formula(clip.passing, None, d, ahead)
    with k.when(inside):
        stays = edge & (outward ^ 1).unsigned("i64")
        k.call("@copied", "void", words, here, k["to"], stays)
        made.set(1)
    with k.when(leaving | entering):
        begin, end = leaving.choose(here, there), leaving.choose(there, here)
        inner, outer = leaving.choose(d, ahead), leaving.choose(ahead, d)
        (t,), into = k.formula(clip.crossing, None, inner, outer), _row(k, w, k["to"], made.get())
        opens = edge & entering.unsigned("i64")
        k.call("@between", "void", words, begin, end, t, into, opens)
        made.add(1)
    k.give(made.get())
    return k.text(internal=True)


def _planes() -> tuple[str, Writer]:
    """Write the function ``planes``: clip the polygon in polygon buffer 0 at all planes -> its
    number of corners, -1 if a buffer is too small.

    ``side`` receives the number of the buffer, 0 or 1, that has the result.
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
    """Write the function ``vertex``: load a corner of a primitive into a polygon."""
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
        joined = k.variable("double", _widened(k, mode, value))
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
    """Write the function ``piece``: project a polygon corner and store it as corner ``at`` of
    output primitive ``n``.
    """
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
    """Write the function ``pieces``: store a clipped polygon as a fan of triangles, or a line or
    point, as output primitives from ``at`` on -> the next free number, -1 if the output is full.
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
    """Write the function ``cut``: store a primitive, clipped unless ``whole`` is true, as output
    primitives from number ``at`` on -> the next free number, -1 if a buffer is full.
    """
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


def _emit_cut() -> tuple[str, Writer]:
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
