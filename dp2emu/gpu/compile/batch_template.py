"""Batches of small draws, executed by one call of compiled code.

What draws of a state share is a template; a batched draw is a row of a few words.  The tuples name
64-bit words in their order, addresses unless stated otherwise.
"""

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

from dp2emu.cancellation import CURRENT
from dp2emu.gpu.arrays import I64
from dp2emu.gpu.code.kernel_layout import ARGUMENTS, RESULTS, SETUP_RESULTS, TOGETHER
from dp2emu.gpu.code.vertex_arguments import DRAW, SOURCE, VERTEX_WORDS, ArgumentWords
from dp2emu.gpu.command.bindings import Uniforms
from dp2emu.gpu.command.packets import Draw, Stream
from dp2emu.gpu.command.topology import CORNERS, vertex_count
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.compile.band_workers import WORTH, level
from dp2emu.gpu.compile.kernel_arguments import Arguments, all_triangles, draw_arguments
from dp2emu.gpu.compile.kernel_draw import Drawing
from dp2emu.gpu.compile.kernel_plan import Plan
from dp2emu.gpu.compile.point_setup import points, set_points
from dp2emu.gpu.input_assembler.vertex_fetch import vertex_bytes
from dp2emu.gpu.rasterizer.clip import FIXED_PLANES, planes_used
from dp2emu.gpu.vertex_shader.vertex_frame import Frame, Memory, VertexPlan, capacity_of, plan_of
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
"""Names of the argument words of vertex stages whose values differ between draws of a batch."""

ROW = ("template", "sources", "program", *OWN)
"""Names of the words that describe a batched draw.  ``template`` is the address of its
``TEMPLATE`` words, ``sources`` the address of its ``vertex_arguments.SOURCE`` words, ``program``
the address of the binding words of its pixel program."""

LEVELS = ("kernel", "setup", "arguments", "size")
COUNTS = ("draws", "primitives", "extra", "clipped", "triangles", *RESULTS)

TEMPLATE = (
    "words", "into", "source_words", "pieces", "lanes", "shaded", "top", "bottom", "samples",
    *(f"{name}{level}" for level in range(2) for name in LEVELS), *COUNTS,
)  # fmt: skip
"""Names of the words of a template.  ``words`` are those of the vertex stages; ``into`` is the
address to copy a draw's ``source_words`` words of sources to; a clipped primitive becomes at most
``pieces``.  ``lanes`` is the number of varyings; ``shaded`` is 1 if 1 / w is not checked for
perspective.  ``kernel0`` is for primitives with perspective, ``kernel1`` for triangles without, 0
if not chosen yet; ``size`` is the words of a record.  ``COUNTS`` accumulate."""

ROOM = (
    "vertices", "cutting",
    "lanes", "lane_room", "numbers", "number_room", "records", "record_room",
)  # fmt: skip
"""Names of the words that all draws of a batch share: addresses of the functions ``vertices`` and
``cutting`` (clipping; 0 until it is compiled); and memory for doubles, i64 and records, each with
its size in words."""

DONE, ALONE, PLANNED = 0, 1, 2
"""Results of a batched draw: it is drawn; it has to be drawn outside of the batch; or, PLANNED
plus 0 or 1, the template lacks the kernel ``kernel0`` or ``kernel1`` that it needs."""

# The compiled function:
#
# i64 draw_batch(ptr rows, i64 first, i64 end, ptr room, ptr why)
#
# It draws rows from ``first`` on and returns where it stopped: ``end``, or a draw of which nothing
# was drawn or counted, with the result in ``why``.

NAME = "draw_batch"
_WORD = 8
_POSITION, _CORNERS = 4, 3
"""Number of rows of vertex data before those of the varyings (x, y, z, 1 / w), and of corners of a
primitive, each of which has its own double in every row."""


@lru_cache(maxsize=1)
def batch_function() -> TieredFunction:
    """Compiled ``draw_batch``, called without the GIL.  Raises ImportError without llvmlite."""
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    kind = ctypes.CFUNCTYPE(number, pointer, number, number, pointer, pointer)
    return TieredFunction(CodeSource(NAME, text, NAME), kind)


def text() -> str:
    """The LLVM module of ``draw_batch``."""
    return module(_copied(), level(), _gathered(), _painted(), _drawn(), _sequence())


def _copied() -> tuple[str, Writer]:
    """Write the LLVM function ``copied``, which copies 64-bit words."""
    k = Code("copied", ("ptr from", "ptr to", "i64 count"))
    with k.loop(k["count"]) as n:
        k.store(k.load("i64", k["from"], n), k["to"], n)
    k.give()
    return k.text(internal=True)


def _gathered() -> tuple[str, Writer]:
    """Write the function ``gathered``: assemble and clip a draw -> the number of its triangles on
    the screen, or -1 if memory or clipping code is missing, so that it must leave the batch.

    ``capacity`` receives the distance between rows of corners, in doubles.
    """
    k = Code("gathered", ("ptr template", "ptr room", "ptr capacity"), "i64")
    b, m = ArgumentWords.of(k, TEMPLATE, k["template"]), ArgumentWords.of(k, ROOM, k["room"])
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
    # Clipping writes edge flags, which are not needed: the record memory is still free for them.
    nowhere = k.constant("i64", 0)
    v.set("edges_taken", (cut > 0).choose(m.integer("records"), nowhere))
    for name in ("lanes", "extra"):
        v.set(name, nowhere)
    k.store(capacity, k["capacity"])
    k.give(k.call((cut > 0).choose(cutting, vertices).name, "i64", words, taken))
    return k.text(internal=True)


def _painted() -> tuple[str, Writer]:
    """Write the function ``painted``: set up and draw triangles by a kernel -> DONE, or ALONE if
    one is too large, or all cover so much that threads should share them.
    """
    k = Code(
        "painted", ("ptr template", "ptr room", "ptr level", "i64 count", "i64 capacity"), "i64"
    )
    b, m, at = (ArgumentWords.of(k, names, k[base]) for names, base in
                ((TEMPLATE, "template"), (ROOM, "room"), (LEVELS, "level")))  # fmt: skip
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
        counts = k.at(k["template"], TEMPLATE.index("fragments"), "i64")
        k.call(kernel, "void", words, counts, top.cut("i32"), bottom.cut("i32"))
    b.set("triangles", b.integer("triangles") + triangles)
    k.give(DONE)
    return k.text(internal=True)


def _drawn() -> tuple[str, Writer]:
    """Write the function ``drawn``: draw the draw that a row of ``ROW`` words describes -> DONE,
    ALONE, or PLANNED plus the number of the missing kernel.
    """
    k = Code("drawn", ("ptr row", "ptr room"), "i64")
    r = ArgumentWords.of(k, ROW, k["row"])
    template, capacity = r.pointer("template"), k.room("i64")
    b, m = ArgumentWords.of(k, TEMPLATE, template), ArgumentWords.of(k, ROOM, k["room"])
    k.call("@copied", "void", r.pointer("sources"), b.pointer("into"), b.integer("source_words"))
    own = k.at(k["row"], ROW.index(OWN[0]), "i64")
    k.call("@copied", "void", own, b.pointer("words"), k.constant("i64", len(OWN)))
    count = k.call("@gathered", "i64", template, k["room"], capacity)
    k.give_if(count < 0, ALONE)
    with k.when(count > 0):
        pitch = k.load("i64", capacity)
        level = k.variable("i64", 0)
        with k.when(b.integer("shaded").equals(0)):
            rhw = k.at(m.pointer("lanes"), pitch * ((_POSITION - 1) * _CORNERS), "double")
            level.set(k.call("@level", "i64", rhw, count, pitch))
        start = level.get() * len(LEVELS) + TEMPLATE.index("kernel0")
        at = k.at(template, start, "i64")
        k.give_if(k.load("i64", at).equals(0), lambda: level.get() + PLANNED)
        arguments = ArgumentWords.of(
            k, ARGUMENTS, ArgumentWords.of(k, LEVELS, at).pointer("arguments")
        )
        arguments.set("program", r.integer("program"))
        found = k.call("@painted", "i64", template, k["room"], at, count, pitch)
        k.give_if(found.differs(DONE), lambda: found)
    _count(b, r, ArgumentWords.of(k, VERTEX_WORDS, b.pointer("words")), count)
    k.give(DONE)
    return k.text(internal=True)


def _count(
    template: ArgumentWords, row: ArgumentWords, vertices: ArgumentWords, clipped: Value
) -> None:
    """Add a draw to those counts of its template that its kernel does not count: draws,
    primitives, triangles added by clipping, and primitives left by clipping (``clipped``).
    """
    one = template.code.constant("i64", 1)
    added = one, row.integer("count"), vertices.integer("extra"), clipped
    for name, value in zip(COUNTS, added, strict=False):
        template.set(name, template.integer(name) + value)


def _sequence() -> tuple[str, Writer]:
    k = Code(NAME, ("ptr rows", "i64 first", "i64 end", "ptr room", "ptr why"), "i64")
    with k.loop(k["end"], k["first"]) as n:
        row = k.at(k["rows"], n * len(ROW), "i64")
        why = k.call("@drawn", "i64", row, k["room"])
        k.store(why, k["why"])
        k.give_if(why.differs(DONE), lambda: n)
    k.give(k["end"])
    return k.text()


ROWS = 1 << 10
"""Maximum number of draws in a batch."""
PROGRAMS = 64
"""Maximum number of different uniforms of the pixel program whose binding words are kept for the
batched draws of a state."""

_ROW = struct.Struct(f"={len(ROW)}q")
_COUNTS_AT = TEMPLATE.index(COUNTS[0])
_LANE_ROOM, _NUMBER_ROOM, _RECORD_ROOM = 1 << 18, 1 << 14, 1 << 17


class BatchTemplate(msgspec.Struct, eq=False):
    """What the batched draws of one state share.  Mutable: kernels are added and replaced.

    ``like`` is a draw of that state without vertices, ``base`` a kernel plan of that state;
    ``arguments`` have program bindings that serve all its kernels.  ``words`` are those of
    ``TEMPLATE``, at address ``place``; ``levels`` has plan and arguments of kernel 0 and 1.
    """

    like: Draw
    drawing: Drawing
    plan: VertexPlan
    base: Plan
    arguments: Arguments
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
        """The template of a draw with varyings ``names``; None if its programs call back, or if no
        kernel has drawn such a draw yet.
        """
        plan, draws_points = plan_of(draw.pipeline, names), CORNERS[draw.input.topology] == 1
        base = (drawing.point_plan if draws_points else drawing.some_triangle_plan)(
            draw, plan.names
        )
        if base is None or (plan.program is not None and layout_of(plan.program).callees):
            return None
        arguments = drawing.argument_template(base, draw.pixel.uniforms)
        if arguments.bindings is None or arguments.bindings.called:
            return None
        capacity = capacity_of(draw.input.count)
        frame = memory.frame(plan, draw.input.topology, capacity, planes_used(draw))
        set_view(frame, draw, own_words(draw, 0, 0, 0, []))
        # A copy of the output record: templates are dropped with the record they were made for.
        bare = replace(draw.input, streams=(), indices=None, edge_flags=None)
        like = replace(draw, input=bare, output=replace(draw.output))
        words = np.zeros(len(TEMPLATE), np.int64)
        made = cls(like, drawing, plan, base, arguments, frame, words, address(words))
        made._set(
            words=frame.start,
            into=address(np.frombuffer(frame.sources, np.uint8)),
            source_words=len(frame.elements) * len(SOURCE),
            pieces=len(frame.planes) + CORNERS[draw.input.topology] + FIXED_PLANES,
            lanes=len(plan.names),
            shaded=int(draws_points or plan.program is not None),
            top=drawing.region.top,
            bottom=drawing.region.bottom,
            samples=draw.pipeline.samples,
        )
        return made

    @property
    def draws_points(self) -> bool:
        """Whether the primitives are points."""
        return CORNERS[self.like.input.topology] == 1

    def _set(self, **values: int) -> None:
        for name, value in values.items():
            self.words[TEMPLATE.index(name)] = value

    def learn(self, level: int) -> None:
        """Add the kernel for primitives with perspective or, if ``level`` is 1, for those without,
        so that batched draws can use it.
        """
        plan = self.base
        if not self.draws_points:
            plan = self.drawing.triangle_plan(self.like, self.plan.names, bool(level))
        arguments = self.drawing.argument_template(plan, self.like.pixel.uniforms)
        region, bias = self.drawing.region, self.like.pipeline.depth.bias
        given = draw_arguments(self.like, arguments, region, bias)
        given.set_array("list", all_triangles(_NUMBER_ROOM))
        if self.draws_points:
            set_points(given, self.like, self.plan.names)
        self._set(**{f"arguments{level}": address(given.words), f"size{level}": plan.layout.size})
        self.levels[level] = plan, given
        self.refresh()

    def refresh(self) -> None:
        """Store the addresses of the best compiled code so far in the template's words."""
        self.frame.refresh()
        for flatness, (plan, _) in self.levels.items():
            best = plan.kernel.best(), (points() if self.draws_points else plan.setup).best()
            if self.kernels.get(flatness) != best:
                kernel, setup = (each.code.address for each in best)
                # The kernel last: code that finds one uses all that is set before.
                self._set(**{f"setup{flatness}": setup, f"kernel{flatness}": kernel})
                self.kernels[flatness] = best

    def row(self, draw: Draw, kept: list[Any]) -> tuple[int, ...]:
        """The words (``ROW``) that describe a draw to compiled code; objects whose memory they
        point to are appended to ``kept``, which must live as long.
        """
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
        """The address of the pixel program's binding words for ``uniforms``; the object that holds
        them is appended to ``kept``.
        """
        found = self.programs.of((uniforms,), lambda: _placed(self._bound(uniforms)))
        kept.append(found)
        return found.place

    def _bound(self, uniforms: Uniforms) -> Words:
        given = self.arguments
        assert given.bindings is not None
        assert given.program is not None
        return given.bindings.with_uniforms(self.base.key.program, given.program, uniforms)

    def _sources(self, streams: tuple[Stream | None, ...], kept: list[Any]) -> int:
        """The address of the ``SOURCE`` words of vertex streams; the object that holds them is
        appended to ``kept``.
        """
        used = [streams[n] if n < len(streams) else None for n in self.frame.streams]
        found = self.sources.of(used, lambda: _placed(
            np.frombuffer(packed_sources(self.frame, streams), np.int64).copy()
        ))  # fmt: skip
        kept.append(found)
        return found.place

    def take(self) -> tuple[Work, int]:
        """Reset the template's counts -> the work that they describe, and its number of draws."""
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
    """An array of 64-bit words and the address of its data."""

    words: NDArray[Any]
    place: int


def _placed(words: NDArray[Any]) -> _Placed:
    return _Placed(words, address(words))


class BatchRun:
    """A batch of at most ``ROWS`` draws, the ``ROW`` words of each, and the templates and memory
    that they use.  Mutable: draws are added and drawn.
    """

    def __init__(self) -> None:
        self.memory = Memory()
        self.templates: dict[int, BatchTemplate] = {}
        self._rows = np.zeros((ROWS, len(ROW)), np.int64)
        self._bytes = self._rows.data.cast("B")
        self._kept: list[Any] = []
        self._done = self._count = 0
        self._room, self._held = _room()
        self._why = np.zeros(1, np.int64)

    def __len__(self) -> int:
        """The number of draws of the batch that are not drawn yet."""
        return self._count - self._done

    @property
    def full(self) -> bool:
        """Whether the batch has its maximum number of draws."""
        return self._count == ROWS

    def add(self, template: BatchTemplate, draw: Draw, waiting: int) -> None:
        """Add a draw to the batch, behind the ``waiting`` draws that are not executed yet.

        The caller keeps ``draw`` alive until it is drawn.  Words of later draws, which an error
        has left in the batch, are overwritten.
        """
        if not waiting and self._count:
            self._begin()
        place = self._done + waiting
        _ROW.pack_into(self._bytes, _ROW.size * place, *template.row(draw, self._kept))
        self.templates[template.place] = template
        self._count = place + 1

    def perform(self, waiting: int) -> int | None:
        """Draw the first ``waiting`` draws -> None if all are drawn; otherwise the number in the
        batch of one that the caller must draw before the next call.
        """
        self._count = min(self._count, self._done + waiting)
        rows, room, why = address(self._rows), address(self._room), address(self._why)
        # The locals keep the code alive while compiled code calls it by address.
        stages = vertices().best(), cutting().best() if cutting().has_code else None
        for name, function in zip(("vertices", "cutting"), stages, strict=True):
            self._room[ROOM.index(name)] = 0 if function is None else function.code.address
        for template in self.templates.values():
            template.refresh()
        while self._done < self._count:
            self._done = batch_function().run(rows, self._done, self._count, room, why)
            if CURRENT.token.word.value:
                CURRENT.token.check()
            reason = int(self._why[0])
            if reason >= PLANNED:
                place = int(self._rows[self._done, 0])
                self.templates[place].learn(reason - PLANNED)
            elif reason != DONE:
                self._done += 1
                return self._done - 1
        return None

    def clear(self) -> Iterator[tuple[Draw, Work, int]]:
        """Empty the batch; yields for each template a draw of its state, the work done, and the
        number of draws that did it.
        """
        templates = [*self.templates.values()]
        self.templates.clear()
        self._begin()
        for template in templates:
            yield template.like, *template.take()

    def _begin(self) -> None:
        """Forget all draws of the batch, drawn or not."""
        self._kept.clear()
        self._done = self._count = 0


def _room() -> tuple[I64, list[NDArray[Any]]]:
    """Allocate the working memory that all draws of a batch share; returns the words that ``ROOM``
    names, with function addresses 0, and the arrays, which must be kept alive.
    """
    held = [np.empty(size, np.int64) for size in (_LANE_ROOM, _NUMBER_ROOM, _RECORD_ROOM)]
    words = [0, 0, *(word for array in held for word in (address(array), len(array)))]
    return np.array(words, np.int64), held
