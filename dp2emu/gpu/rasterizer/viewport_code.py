"""Text of what follows the vertex program: places on the screen, and who has to be clipped.

    void place(ptr words, i64 lanes)    of each vertex: the screen, and on which sides it is
    i64 choose(ptr words)   primitives that are seen -> how many, plus those to be cut << 32
    i64 screened(ptr words, i64 lanes)      the two for vertices that are on the screen already

What is on which side of which plane is that of ``gpu.rasterizer.clip``, in its order.
"""

from __future__ import annotations

import math

from dp2emu.gpu.code.vertex_arguments import PLANE, VERTEX_WORDS, ArgumentWords
from dp2emu.gpu.rasterizer.clip import GUARD
from dp2emu.shader.jit.scalars import Code, Value
from dp2emu.shader.jit.writer import Writer

DEPTH_PLANES, BAND_PLANES = 2, 4
FIXED_PLANES = DEPTH_PLANES + BAND_PLANES
"""Planes before the user's, whose bits follow."""
_FINITE_BIT, _IN_FRONT_BIT, _NOWHERE_BIT = 62, 61, 60
_FINITE, _IN_FRONT = 1 << _FINITE_BIT, 1 << _IN_FRONT_BIT
"""Bits of a vertex beside those of the planes it is inside of.  With a distance that is no number
it is nowhere, which counts as not finite."""
_VIEW = ("view_x", "half_width", "view_y", "half_height", "min_z", "z_range", "centre")
CUT = 1 << 31
"""The bit of a primitive that has to be cut."""


def functions() -> list[tuple[str, Writer]]:
    """The three, and what they call."""
    return [_distances(), _place(), _choose(), _screened()]


def distance(number: int, x: Value, y: Value, z: Value, w: Value) -> Value:
    """From a point in clip space to one of the fixed planes."""
    rows = (
        lambda: z,
        lambda: w - z,
        lambda: w * GUARD + x,
        lambda: w * GUARD - x,
        lambda: w * GUARD + y,
        lambda: w * GUARD - y,
    )
    return rows[number]()


def _distances() -> tuple[str, Writer]:
    """Distances of a vertex to the user's planes, and those that cull -> bits."""
    k = Code("user", ("ptr words", "i64 n", "double x", "double y", "double z", "double w"), "i64")
    w = ArgumentWords.of(k, VERTEX_WORDS)
    bits, planes = k.variable("i64", 0), w.integer("plane_count")
    with k.loop(planes) as number:
        plane = ArgumentWords.of(k, PLANE, k.at(w.pointer("planes"), number * len(PLANE), "i64"))
        a, b, c, d = (plane.double(name) for name in "abcd")
        away = k.variable("double", ((a * k["x"] + b * k["y"]) + c * k["z"]) + d * k["w"])
        with k.when(plane.integer("row").differs(0)):
            away.set(k.load("float", plane.pointer("row"), k["n"]).wide())
        row = k.at(w.pointer("distances"), number * w.integer("room"), "double")
        k.store(away.get(), row, k["n"])
        inside = (away.get() >= 0).unsigned("i64")
        nowhere = away.get().differs(away.get()).unsigned("i64") & plane.integer("strict")
        bits.set(bits.get() | inside << number + FIXED_PLANES | nowhere << _NOWHERE_BIT)
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
            nowhere = (found.shifted(_NOWHERE_BIT) & 1) << _FINITE_BIT
            bits.set((bits.get() | found) & (nowhere ^ -1))
        k.store(bits.get(), inside, n)
        for row, value in enumerate(project.of(*point)):
            k.store(value, screens[row], n)
    k.give()
    return k.text(internal=True)


def _bits(k: Code, x: Value, y: Value, z: Value, w: Value) -> Value:
    """Bits of the fixed planes, and of a place that is finite and in front of the eye."""
    bits = (w > 0).unsigned("i64") << _IN_FRONT_BIT
    finite = k.constant("i1", 1)
    for value in (x, y, z, w):
        finite = finite & (k.intrinsic("fabs", value) < math.inf)
    bits = bits | finite.unsigned("i64") << _FINITE_BIT
    for number in range(FIXED_PLANES):
        inside = (distance(number, x, y, z, w) >= 0).unsigned("i64")
        bits = bits | inside << number
    return bits


class Projection:
    """What writes places on the screen: ``gpu.rasterizer.clip``, each operation as it is there."""

    def __init__(self, k: Code, w: ArgumentWords) -> None:
        self.one = k.constant("double", 1.0)
        self.view_x, self.width, self.view_y, self.height, self.near, self.depth, self.centre = (
            w.double(name) for name in _VIEW
        )

    def of(self, x: Value, y: Value, z: Value, w: Value) -> tuple[Value, Value, Value, Value]:
        """Screen x, y, z and 1 / w of a point in clip space."""
        return (
            self.view_x + (self.one + x / w) * self.width - self.centre,
            self.view_y + (self.one - y / w) * self.height - self.centre,
            self.near + (z / w) * self.depth,
            self.one / w,
        )


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
        # A plane that no corner is inside of, or a corner that is nowhere, and nothing is seen.
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
