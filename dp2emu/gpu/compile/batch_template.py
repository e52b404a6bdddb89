"""What a sequence of small draws is described by: 64-bit words by name, addresses unless said."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu.gpu.arrays import I64
from dp2emu.gpu.code.kernel_layout import ARGUMENTS, RESULTS, SETUP_RESULTS, TOGETHER
from dp2emu.gpu.code.vertex_arguments import DRAW, SOURCE, VERTEX_WORDS, ArgumentWords
from dp2emu.gpu.command.bindings import Uniforms
from dp2emu.gpu.command.packets import Draw, Stream
from dp2emu.gpu.command.topology import CORNERS, vertex_count
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.compile.band_workers import level
from dp2emu.gpu.compile.kernel_arguments import Arguments, all_triangles, of_draw
from dp2emu.gpu.compile.kernel_draw import Drawing
from dp2emu.gpu.compile.kernel_plan import Plan
from dp2emu.gpu.compile.point_setup import points, with_points
from dp2emu.gpu.compile.thread_pool import WORTH
from dp2emu.gpu.input_assembler.vertex_fetch import vertex_bytes
from dp2emu.gpu.rasterizer.clip import FIXED_PLANES, planes_used
from dp2emu.gpu.vertex_shader.vertex_frame import Frame, Memory, capacity_of, plan_of
from dp2emu.gpu.vertex_shader.vertex_frame import VertexPlan as VertexPlan
from dp2emu.gpu.vertex_shader.vertex_kernel import (
    ASSEMBLE,
    bound_uniforms,
    cutting,
    own_words,
    packed_sources,
    set_view,
    vertices,
)
from dp2emu.identity_cache import IdentityCache
from dp2emu.shader.jit.bindings import Words, address
from dp2emu.shader.jit.code import CodeSource
from dp2emu.shader.jit.layout import layout_of
from dp2emu.shader.jit.scalars import Code, Value
from dp2emu.shader.jit.tiering import TieredFunction
from dp2emu.shader.jit.writer import Writer, module

OWN = DRAW[: DRAW.index("bindings") + 1]
"""What draws of a recipe have for themselves of the words of the vertex stages."""

ROW = ("recipe", "sources", "program", *OWN)
"""A draw.  ``sources`` are ``vertex_words.SOURCE`` words of its elements, ``program`` is what its
pixel program reads."""

LEVELS = ("kernel", "setup", "arguments", "size")
COUNTS = ("draws", "primitives", "extra", "clipped", "triangles", *RESULTS)

RECIPE = (
    "words", "into", "source_words", "pieces", "lanes", "shaded", "top", "bottom", "samples",
    *(f"{name}{level}" for level in range(2) for name in LEVELS), *COUNTS,
)  # fmt: skip
"""How draws of a state are drawn.  ``words`` are those of the vertex stages, ``into`` is where
their ``source_words`` words of sources go; cutting a primitive leaves no more than ``pieces``.
``lanes`` are varyings, ``shaded`` is 1 if nobody looks whether they have perspective.  Kernels are
for primitives with it, and, if they have a 1, for triangles without; 0 if they are not known yet.
``size`` is the words of a record.  What is counted adds up."""

ROOM = (
    "vertices", "cutting",
    "lanes", "lane_room", "numbers", "number_room", "records", "record_room",
)  # fmt: skip
"""The functions of the vertex stages, of which the one that cuts is 0 if it is not compiled yet,
and memory for doubles, i64 and records, in words."""

DONE, ALONE, PLANNED = 0, 1, 2
"""What became of a draw: it is drawn, has to be drawn by itself, or waits for a kernel, of which
the number follows."""


# A sequence of small draws as one function in memory.
#
# i64 sequence(ptr rows, i64 first, i64 end, ptr room, ptr why)
#
# It draws rows from ``first`` on and says where it stopped: at ``end``, or at a draw that it
# leaves alone, and ``why`` (``sequence_words``).  Of that draw nothing is drawn or counted.

NAME = "sequence"
_WORD = 8
_POSITION, _CORNERS = 4, 3
"""Rows of a vertex before its varyings, each of a double for every corner."""


@lru_cache(maxsize=1)
def sequence() -> TieredFunction:
    """The function.  It runs without Python's lock.  Raises ImportError without llvmlite."""
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    kind = ctypes.CFUNCTYPE(number, pointer, number, number, pointer, pointer)
    return TieredFunction(CodeSource(NAME, text, NAME), kind)


def text() -> str:
    """Its module."""
    return module(_copied(), level(), _gathered(), _painted(), _drawn(), _sequence())


def _copied() -> tuple[str, Writer]:
    """Words from one place to another."""
    k = Code("copied", ("ptr from", "ptr to", "i64 count"))
    with k.loop(k["count"]) as n:
        k.store(k.load("i64", k["from"], n), k["to"], n)
    k.give()
    return k.text(internal=True)


def _gathered() -> tuple[str, Writer]:
    """Assemble, and gather what is seen -> how many triangles, -1 if that cannot be done here.

    ``capacity`` takes how far a row is from the next one.
    """
    k = Code("gathered", ("ptr recipe", "ptr room", "ptr capacity"), "i64")
    b, m = ArgumentWords.of(k, RECIPE, k["recipe"]), ArgumentWords.of(k, ROOM, k["room"])
    words, (vertices, cutting) = b.pointer("words"), m.pointers("vertices", "cutting")
    found = k.call(vertices.name, "i64", words, k.constant("i64", ASSEMBLE))
    taken, cut = found & 0xFFFFFFFF, found.shifted(32)
    k.give_if((cut > 0) & m.integer("cutting").equals(0), -1)
    capacity = taken + cut * b.integer("pieces")
    wanted = capacity * (b.integer("lanes") + _POSITION) * _CORNERS
    k.give_if((wanted > m.integer("lane_room")) | (capacity > m.integer("number_room")), -1)
    v = ArgumentWords.of(k, VERTEX_WORDS, words)
    v.set("taken", m.integer("lanes"))
    v.set("capacity", capacity)
    v.set("numbers_taken", m.integer("numbers"))
    # What is cut says where its edges are, which nobody wants: records come later.
    nowhere = k.constant("i64", 0)
    v.set("edges_taken", (cut > 0).choose(m.integer("records"), nowhere))
    for name in ("lanes", "extra"):
        v.set(name, nowhere)
    k.store(capacity, k["capacity"])
    k.give(k.call((cut > 0).choose(cutting, vertices).name, "i64", words, taken))
    return k.text(internal=True)


def _painted() -> tuple[str, Writer]:
    """Set up and draw so many triangles by a kernel, unless they are too large -> what became."""
    k = Code(
        "painted", ("ptr recipe", "ptr room", "ptr level", "i64 count", "i64 capacity"), "i64"
    )
    b, m, at = (ArgumentWords.of(k, names, k[base]) for names, base in
                ((RECIPE, "recipe"), (ROOM, "room"), (LEVELS, "level")))  # fmt: skip
    groups = (k["count"] + TOGETHER - 1) // TOGETHER
    k.give_if((groups + 1) * TOGETHER * at.integer("size") > m.integer("record_room"), ALONE)
    words, kernel = at.pointer("arguments"), at.pointer("kernel").name
    lanes, pitch = m.integer("lanes"), k["capacity"] * _WORD
    for name, value in {
        "records": m.integer("records"),
        "count": k["count"],
        "in.position": lanes,
        "in.varyings": lanes + pitch * (_POSITION * _CORNERS),
        "in.lane": pitch * _CORNERS,
        "in.corner": pitch,
        "in.numbers": m.integer("numbers"),
    }.items():
        ArgumentWords.of(k, ARGUMENTS, words).set(name, value)
    found = k.room("i64", len(SETUP_RESULTS))
    k.call(at.pointer("setup").name, "void", words, found)
    triangles, large, area, records = (k.load("i64", found, n) for n in range(len(SETUP_RESULTS)))
    ArgumentWords.of(k, ARGUMENTS, words).set("count", records)
    worth = (area // 2) * b.integer("samples") >= WORTH
    k.give_if(large.differs(0) | worth, ALONE)
    top, bottom = b.integer("top"), b.integer("bottom")
    with k.when(top < bottom):
        counts = k.at(k["recipe"], RECIPE.index("fragments"), "i64")
        k.call(kernel, "void", words, counts, top.cut("i32"), bottom.cut("i32"))
    b.set("triangles", b.integer("triangles") + triangles)
    k.give(DONE)
    return k.text(internal=True)


def _drawn() -> tuple[str, Writer]:
    """One row -> what became of it."""
    k = Code("drawn", ("ptr row", "ptr room"), "i64")
    r = ArgumentWords.of(k, ROW, k["row"])
    recipe, capacity = r.pointer("recipe"), k.room("i64")
    b, m = ArgumentWords.of(k, RECIPE, recipe), ArgumentWords.of(k, ROOM, k["room"])
    k.call("@copied", "void", r.pointer("sources"), b.pointer("into"), b.integer("source_words"))
    own = k.at(k["row"], ROW.index(OWN[0]), "i64")
    k.call("@copied", "void", own, b.pointer("words"), k.constant("i64", len(OWN)))
    count = k.call("@gathered", "i64", recipe, k["room"], capacity)
    k.give_if(count < 0, ALONE)
    with k.when(count > 0):
        pitch = k.load("i64", capacity)
        level = k.variable("i64", 0)
        with k.when(b.integer("shaded").equals(0)):
            rhw = k.at(m.pointer("lanes"), pitch * ((_POSITION - 1) * _CORNERS), "double")
            level.set(k.call("@level", "i64", rhw, count, pitch))
        start = level.get() * len(LEVELS) + RECIPE.index("kernel0")
        at = k.at(recipe, start, "i64")
        k.give_if(k.load("i64", at).equals(0), lambda: level.get() + PLANNED)
        arguments = ArgumentWords.of(
            k, ARGUMENTS, ArgumentWords.of(k, LEVELS, at).pointer("arguments")
        )
        arguments.set("program", r.integer("program"))
        found = k.call("@painted", "i64", recipe, k["room"], at, count, pitch)
        k.give_if(found.differs(DONE), lambda: found)
    _count(b, r, ArgumentWords.of(k, VERTEX_WORDS, b.pointer("words")), count)
    k.give(DONE)
    return k.text(internal=True)


def _count(
    recipe: ArgumentWords, row: ArgumentWords, vertices: ArgumentWords, clipped: Value
) -> None:
    """What kernels do not."""
    one = recipe.code.constant("i64", 1)
    added = one, row.integer("count"), vertices.integer("extra"), clipped
    for name, value in zip(COUNTS, added, strict=False):
        recipe.set(name, recipe.integer(name) + value)


def _sequence() -> tuple[str, Writer]:
    k = Code(NAME, ("ptr rows", "i64 first", "i64 end", "ptr room", "ptr why"), "i64")
    with k.loop(k["end"], k["first"]) as n:
        row = k.at(k["rows"], n * len(ROW), "i64")
        why = k.call("@drawn", "i64", row, k["room"])
        k.store(why, k["why"])
        k.give_if(why.differs(DONE), lambda: n)
    k.give(k["end"])
    return k.text()


# Small draws, put off and drawn together: by one call, with no Python between them.
#
# What draws of a state have in common is a recipe; a draw that has one is a row of a few words.

ROWS = 1 << 10
"""Draws that may be put off."""
MOST = 1 << 10
"""Primitives of a draw that may be: of larger ones the way there matters little."""
PROGRAMS = 64
"""Numbers for its pixel program that a recipe keeps; of more, it begins anew."""

_ROW = struct.Struct(f"={len(ROW)}q")
_COUNTS_AT = RECIPE.index(COUNTS[0])
_LANE_ROOM, _NUMBER_ROOM, _RECORD_ROOM = 1 << 18, 1 << 14, 1 << 17


class BatchTemplate(msgspec.Struct, eq=False):
    """How small draws of a state are drawn.  Mutable: it learns.

    ``like`` is one of them without its vertices, ``base`` the plan of one, and ``template`` has
    arguments with which the programs of any kernel are content; ``words`` are those of ``RECIPE``,
    at ``place``.
    """

    like: Draw
    drawing: Drawing
    plan: VertexPlan
    base: Plan
    template: Arguments
    frame: Frame
    words: I64
    place: int
    levels: dict[int, tuple[Plan, Arguments]] = msgspec.field(default_factory=dict)
    kernels: dict[int, Any] = msgspec.field(default_factory=dict)
    programs: IdentityCache[_Placed] = msgspec.field(
        default_factory=partial(IdentityCache, PROGRAMS)
    )
    sources: IdentityCache[_Placed] = msgspec.field(default_factory=IdentityCache)

    @classmethod
    def of(
        cls, draw: Draw, drawing: Drawing, names: tuple[str, ...], memory: Memory
    ) -> BatchTemplate | None:
        """That of a draw whose varyings are ``names``; None if its programs call back, or if no
        kernel has drawn one like it.
        """
        plan, dots = plan_of(draw.pipeline, names), CORNERS[draw.input.topology] == 1
        base = (drawing.point_plan if dots else drawing.some_triangle_plan)(draw, plan.names)
        if base is None or (plan.program is not None and layout_of(plan.program).callees):
            return None
        template = drawing.template(base, draw.pixel.uniforms)
        if template.bindings is None or template.bindings.called:
            return None
        planes = planes_used(draw)
        capacity = capacity_of(draw.input.count)
        frame = memory.frame(plan, draw.input.topology, capacity, planes)
        set_view(frame, draw, own_words(draw, 0, 0, 0, []))
        # A copy of the output record: templates are dropped with the record they were made for.
        bare = replace(draw.input, streams=(), indices=None, edge_flags=None)
        like = replace(draw, input=bare, output=replace(draw.output))
        words = np.zeros(len(RECIPE), np.int64)
        made = cls(like, drawing, plan, base, template, frame, words, address(words))
        made._set(
            words=frame.start,
            into=address(np.frombuffer(frame.sources, np.uint8)),
            source_words=len(frame.elements) * len(SOURCE),
            pieces=len(frame.planes) + CORNERS[draw.input.topology] + FIXED_PLANES,
            lanes=len(plan.names),
            shaded=int(dots or plan.program is not None),
            top=drawing.region.top,
            bottom=drawing.region.bottom,
            samples=draw.pipeline.samples,
        )
        return made

    @property
    def dots(self) -> bool:
        """Whether primitives are points."""
        return CORNERS[self.like.input.topology] == 1

    def _set(self, **values: int) -> None:
        for name, value in values.items():
            self.words[RECIPE.index(name)] = value

    def learn(self, level: int) -> None:
        """Have the kernel for triangles with perspective, or with level 1 for those without."""
        plan = self.base
        if not self.dots:
            plan = self.drawing.triangle_plan(self.like, self.plan.names, bool(level))
        template = self.drawing.template(plan, self.like.pixel.uniforms)
        region, bias = self.drawing.region, self.like.pipeline.depth.bias
        given = of_draw(self.like, template, region, bias)
        given.array("list", all_triangles(_NUMBER_ROOM))
        if self.dots:
            with_points(given, self.like, self.plan.names)
        self._set(**{
            f"arguments{level}": address(given.words),
            f"size{level}": plan.layout.size,
        })  # fmt: skip
        self.levels[level] = plan, given
        self.refresh()

    def refresh(self) -> None:
        """Have the best code that there is by now."""
        self.frame.refresh()
        for flatness, (plan, _) in self.levels.items():
            best = plan.kernel.best(), (points() if self.dots else plan.setup).best()
            if self.kernels.get(flatness) != best:
                kernel, setup = (each.code.address for each in best)
                # The kernel is last: who finds one calls it, with all that is set before.
                self._set(**{f"setup{flatness}": setup, f"kernel{flatness}": kernel})
                self.kernels[flatness] = best

    def row(self, draw: Draw, kept: list[Any]) -> tuple[int, ...]:
        """The words of ``ROW`` of a draw; what they point to is ``kept``."""
        program = self.plan.program
        bound = 0
        if program is not None:
            held = bound_uniforms(draw.vertex.uniforms, program)
            kept.append(held)
            bound = held[1]
        own = own_words(draw, 0, draw.input.count, bound, kept)
        sources = self._sources(draw.input.streams, kept) if self.frame.elements else 0
        return self.place, sources, self._program(draw.pixel.uniforms, kept), *own

    def _program(self, uniforms: Uniforms, kept: list[Any]) -> int:
        """Where what the pixel program reads is."""
        found = self.programs.of((uniforms,), lambda: _placed(self._bound(uniforms)))
        kept.append(found)
        return found.place

    def _bound(self, uniforms: Uniforms) -> Words:
        template = self.template
        assert template.bindings is not None
        assert template.program is not None
        return template.bindings.with_uniforms(self.base.key.program, template.program, uniforms)

    def _sources(self, streams: tuple[Stream | None, ...], kept: list[Any]) -> int:
        """Where ``SOURCE`` words are; streams stay where they are."""
        used = [streams[n] if n < len(streams) else None for n in self.frame.streams]
        found = self.sources.of(used, lambda: _placed(self._packed(streams)))
        kept.append(found)
        return found.place

    def _packed(self, streams: tuple[Stream | None, ...]) -> I64:
        return np.frombuffer(packed_sources(self.frame, streams), np.int64).copy()

    def take(self) -> tuple[Work, int]:
        """What was done since this was asked, and how many draws did it."""
        draws, primitives, extra, clipped, triangles, *results = self.words[_COUNTS_AT:].tolist()
        self.words[_COUNTS_AT:] = 0
        like = self.like
        read = vertex_count(like.input.topology, 1)
        more = vertex_count(like.input.topology, 2) - read
        count = draws * (read - more) + primitives * more
        work = Work(
            vertices=count,
            vertex_bytes=count * vertex_bytes(like.pipeline.layout),
            primitives=primitives,
            entered=primitives,
            triangles=triangles,
            clip_triangles=extra,
            clipped=clipped,
        )
        return self.drawing.counted(self.base.key, like, results, work), draws


class _Placed(msgspec.Struct, frozen=True):
    """Words, and their address."""

    words: NDArray[Any]
    place: int


def _placed(words: NDArray[Any]) -> _Placed:
    return _Placed(words, address(words))


class BatchRun:
    """Draws that were put off, at most ``ROWS``.  Mutable."""

    def __init__(self) -> None:
        self.memory = Memory()
        self.recipes: dict[int, BatchTemplate] = {}
        self._rows = np.zeros((ROWS, len(ROW)), np.int64)
        self._bytes = self._rows.data.cast("B")
        self._kept: list[Any] = []
        self._done = self._count = 0
        self._room, self._held = _room()
        self._why = np.zeros(1, np.int64)

    def __len__(self) -> int:
        """Draws that are not drawn yet."""
        return self._count - self._done

    @property
    def full(self) -> bool:
        """Whether no more can be put off."""
        return self._count == ROWS

    def add(self, recipe: BatchTemplate, draw: Draw, waiting: int) -> None:
        """Put a draw off behind those that are ``waiting``.  What they refer to has to stay until
        they are drawn; a row that an error left behind is nobody's.
        """
        if not waiting and self._count:
            self._begin()
        place = self._done + waiting
        _ROW.pack_into(self._bytes, _ROW.size * place, *recipe.row(draw, self._kept))
        self.recipes[recipe.place] = recipe
        self._count = place + 1

    def perform(self, waiting: int) -> int | None:
        """Draw those that are ``waiting``.  The number of one that has to be drawn by itself,
        after which this goes on; None if all are drawn.
        """
        self._count = min(self._count, self._done + waiting)
        rows, room, why = address(self._rows), address(self._room), address(self._why)
        # What has their addresses is run here.
        stages = vertices().best(), cutting().best() if cutting().has_code else None
        for name, function in zip(("vertices", "cutting"), stages, strict=True):
            self._room[ROOM.index(name)] = 0 if function is None else function.code.address
        for recipe in self.recipes.values():
            recipe.refresh()
        while self._done < self._count:
            self._done = sequence().run(rows, self._done, self._count, room, why)
            reason = int(self._why[0])
            if reason >= PLANNED:
                place = int(self._rows[self._done, 0])
                self.recipes[place].learn(reason - PLANNED)
            elif reason != DONE:
                self._done += 1
                return self._done - 1
        return None

    def clear(self) -> Iterator[tuple[Draw, Work, int]]:
        """What was done by draws of each recipe, like which draw, and by how many.

        None is left then, drawn or not.
        """
        recipes = [*self.recipes.values()]
        self.recipes.clear()
        self._begin()
        for recipe in recipes:
            yield recipe.like, *recipe.take()

    def _begin(self) -> None:
        """Nobody waits."""
        self._kept.clear()
        self._done = self._count = 0


def _room() -> tuple[I64, list[NDArray[Any]]]:
    """Words of ``ROOM``, and what they point to."""
    sizes = _LANE_ROOM, _NUMBER_ROOM, _RECORD_ROOM
    held = [np.empty(size, np.int64) for size in sizes]
    words = [0, 0]
    for array, size in zip(held, sizes, strict=True):
        words += [address(array), size]
    assert len(words) == len(ROOM)
    return np.array(words, np.int64), held
