"""What became of each primitive at each sample, from what memory looks like after drawing it.

A primitive is drawn alone, over a target of zeros and again over one of ones: the samples in which
both leave an equal bit are written.  At first every test is off, then one after the other is put
in force; the first with which a sample is no longer written is the reason.  Nothing here observes
a stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.enums import CmpFunc, Cull
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.pipeline import COVERAGE_PORT, DepthState
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.command.raster_operations import COPY
from dp2emu.gpu.draw import draw_stages
from dp2emu.gpu.draw.draw_stages import DrawSetup, execute_draw, geometry_names
from dp2emu.gpu.draw.post_vertex import meshes, on_screen
from dp2emu.gpu.input_assembler.vertex_fetch import instanced, uncut
from dp2emu.gpu.patches.patch_draws import tessellated
from dp2emu.gpu.pixel_shader.pixel_stage import targets_of
from dp2emu.gpu.rasterizer.clip import Geometry
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.shader_resources.textures import samples_targets
from dp2emu.gpu.vertex_shader.vertex_stage import StageRun
from dp2emu.shader import reference
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Kill, Program, Stage, walk

EVERY = 0xFFFFFFFF
Key = tuple[int, int, int]
"""Number of the part of a draw, number of a primitive in it before clipping, and in the draw."""


def can_tell(draw: Draw, number: int) -> bool:
    """Whether the reasons for colour target ``number`` show in memory."""
    pipeline = draw.pipeline
    return (
        pipeline.raster.enabled
        # No interface has an alpha test beside these, which tests in another order then.
        and not (pipeline.alpha_test and (pipeline.early or _gives_coverage(pipeline.pixel)))
        and not samples_targets(draw)
        and not pipeline.memory_operations
        and bool(targets_of(pipeline.pixel))
        and draw.output.colors[number] is not None
        and not (draw.post_vertex and draw.post_vertex.layers)
    )


def _gives_coverage(program: Program) -> bool:
    return any(port.name == COVERAGE_PORT for port in program.outputs)


@dataclass
class Outcome:
    """A primitive: the reasons by row, column and sample, and the target before and after it."""

    key: Key
    verdicts: NDArray[Any]
    before: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    after: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))


def outcomes(draw: Draw, number: int) -> list[Outcome]:
    """What becomes of each primitive of a draw in colour target ``number``; draws it for good."""
    target = draw.output.colors[number]
    assert target is not None
    found = []
    for instance in instanced(draw):
        for key in _keys(_untested(instance, number, set())):
            outcome = Outcome(key, _reasons(instance, number, key))
            outcome.before = pixels_of(target)
            _draw_alone(instance, key)
            outcome.after = pixels_of(target)
            found.append(outcome)
    return found


def pixels_of(target: Surface) -> NDArray[np.uint8]:
    """The bytes of samples, by row, column, sample and byte."""
    size, rows = ROWS[target.format].size, target.data[: target.pitch * target.height]
    whole = rows.reshape(target.height, target.pitch)[:, : target.width * target.samples * size]
    return whole.reshape(target.height, target.width, target.samples, size).copy()


# The draw with some of its tests


def _steps(draw: Draw) -> list[tuple[str, str]]:
    """Tests in the order of the pipeline, with the verdict of each."""
    clip, kills = ("clip", "clipped"), any(
        isinstance(each, Kill) for each in walk(draw.pipeline.pixel.statements)
    )  # fmt: skip
    first = [("cull", "culled"), ("scissor", "scissor"), ("mask", "sample_mask")]
    first = [*first, clip] if draw.pipeline.vertex is None else [clip, *first]
    program = [("program", "killed" if kills else "coverage"), ("alpha", "alpha_test"),
               ("samples", "coverage")]  # fmt: skip
    depth = [("stencil", "stencil"), ("depth", "depth")]
    rest = depth + program if draw.pipeline.early else program + depth
    if draw.pipeline.early and not DrawSetup.of(draw, None, reference.run, 1).targets.colors:
        rest = depth  # The program is not run.
    return [*first, ("stipple", "coverage"), *rest]


def _untested(draw: Draw, number: int, tests: set[str], own: bool = False) -> Draw:
    """The draw with ``tests`` alone, on target ``number`` alone; writing as it does with
    ``own``, else replacing all bits.
    """
    pipeline, output = draw.pipeline, draw.output
    target = output.colors[number]
    written = targets_of(pipeline.pixel)
    place = number if number in written or own else written[0]
    changes: dict[str, Any] = {"blend": None, "blends": (), "raster_op": COPY}
    if not own:
        changes["write_masks"] = (15,) * 8
    raster = pipeline.raster
    if "clip" not in tests:
        raster = replace(raster, clip=False, clip_distances=0)
    if "cull" not in tests:
        raster = replace(raster, cull=Cull.NONE, cull_distances=0)
    if "program" not in tests:
        changes |= {"pixel": _constant(written), "memory_operations": (), "by_sample": False}
    if "alpha" not in tests:
        changes["alpha_test"] = None
    if "samples" not in tests:
        changes["alpha_to_coverage"] = False
    depth = pipeline.depth
    if "depth" not in tests:
        depth = replace(depth, func=CmpFunc.ALWAYS, write=False)
    if "stencil" not in tests:
        changes["stencil"], depth = None, DepthState()
    merge = output.merge
    if "mask" not in tests:
        merge = replace(merge, sample_mask=EVERY)
    if not own:
        merge = replace(merge, plane_mask=EVERY)
    scissor = Rect(0, 0, target.width, target.height)
    if "scissor" in tests:
        scissor = draw.scissor
        tested = pipeline.depth.enable or pipeline.stencil is not None
        for each in (*output.colors, output.depth if tested else None):
            if each is not None:
                scissor = scissor.intersect(Rect(0, 0, each.width, each.height))
    later = draw.post_vertex
    if later is not None and later.views:
        views = [replace(v, scissor=scissor if "scissor" not in tests else v.scissor)
                 for v in later.views]  # fmt: skip
        later = replace(later, views=tuple(views))
    colors = (*(None,) * place, target)
    return replace(
        draw,
        pipeline=replace(pipeline, raster=raster, depth=depth, **changes),
        output=replace(output, colors=colors, merge=merge),
        raster=draw.raster if "stipple" in tests else replace(draw.raster, stipple=()),
        scissor=scissor,
        post_vertex=later,
    )


def _constant(written: tuple[int, ...]) -> Program:
    b = Builder(Stage.PIXEL)
    for number in written:
        for component in "xyzw":
            b.output(f"target{number}.{component}", 1.0)
    return b.program()


# Reasons

GEOMETRIC = ("clip", "cull", "scissor", "mask")
"""Tests of a primitive, before there are fragments."""


def _reasons(draw: Draw, number: int, key: Key) -> NDArray[Any]:
    """The reason of each sample: the test that takes it away."""
    whole = _written(_untested(draw, number, set()), number, key)
    # Clipping rounds the corners it makes, so that what is left of a primitive may cover more.
    cut = _written(_untested(draw, number, {*GEOMETRIC}), number, key) & ~whole
    reasons = np.full(whole.shape, "coverage", object)
    _note_reasons(reasons, draw, number, key, whole, set())
    _note_reasons(reasons, draw, number, key, cut, {*GEOMETRIC})
    return reasons


def _note_reasons(
    reasons: NDArray[Any],
    draw: Draw,
    number: int,
    key: Key,
    covered: NDArray[Any],
    tests: set[str],
) -> None:
    """Set the reasons of the covered samples; ``tests`` are in force from the start."""
    present = covered.copy()
    for test, verdict in _steps(draw):
        if not present.any():
            return
        tests.add(test)
        left = _written(_untested(draw, number, tests), number, key)
        reasons[present & ~left] = verdict
        present &= left
    own = _written(_untested(draw, number, tests, own=True), number, key)
    reasons[present & own] = "written"
    gives = number in targets_of(draw.pipeline.pixel)
    gives &= number < len(draw.pipeline.write_masks)
    reasons[present & ~own] = "masked" if gives else "discarded_target"


def _written(draw: Draw, number: int, key: Key) -> NDArray[np.bool_]:
    """The samples that a primitive alone writes, by row, column and sample."""
    target = next(each for each in draw.output.colors if each is not None)
    results = []
    for content in (0x00, 0xFF):
        saved = [(each, each.data.copy()) for each in _surfaces(draw)]
        target.data[:] = content
        _draw_alone(draw, key)
        results.append(pixels_of(target))
        for surface, data in saved:
            surface.data[:] = data
    return (results[0] ^ results[1] != 0xFF).any(axis=-1)


def _surfaces(draw: Draw) -> Iterator[Surface]:
    for surface in (*draw.output.colors, draw.output.depth):
        if surface is not None:
            yield surface


# One primitive of a draw


def _parts(draw: Draw) -> Iterator[tuple[Draw, Geometry, Callable[[Geometry], Any]]]:
    """The parts of a draw, their primitives on the screen, and what draws these."""
    names = geometry_names(draw.pipeline.pixel)
    if draw.post_vertex is not None:
        later = replace(draw.post_vertex, output=replace(draw.post_vertex.output, layouts={}))
        draw = replace(draw, post_vertex=later)
        running = StageRun(reference.run)
        for mesh, _ in meshes(draw, running):
            for shown, geometry in on_screen(draw, mesh, names):
                yield shown, geometry, _drawing(shown)
        return
    for part in tessellated(uncut(draw)):
        setup = DrawSetup.of(part, None, reference.run, 1)
        for start in range(0, part.input.count, draw_stages.CHUNK):
            stop = min(start + draw_stages.CHUNK, part.input.count)
            geometry = draw_stages.assembled_chunk(part, setup.texturing, start, stop)
            yield part, geometry, _drawing(part)


def _drawing(draw: Draw) -> Callable[[Geometry], Any]:
    setup = DrawSetup.of(draw, None, reference.run, 1)
    return lambda part: draw_stages.draw_chunk(setup.targets, setup.texturing, None, draw, part)


def _own_numbers(geometry: Geometry) -> NDArray[np.int64]:
    return geometry.numbers if geometry.sources is None else geometry.sources


def _keys(draw: Draw) -> list[Key]:
    """All primitives that are in front of the eye, in order."""
    keys: dict[Key, None] = {}
    with np.errstate(all="ignore"):
        for place, (_, geometry, _) in enumerate(_parts(draw)):
            both = zip(_own_numbers(geometry).tolist(), geometry.numbers.tolist(), strict=True)
            keys |= {(place, source, number): None for source, number in both}
    return list(keys)


def _draw_alone(draw: Draw, key: Key) -> None:
    with np.errstate(all="ignore"):
        for place, (_, geometry, drawing) in enumerate(_parts(draw)):
            chosen = np.flatnonzero(_own_numbers(geometry) == key[1])
            if place == key[0] and len(chosen):
                drawing(geometry.part(chosen))


def drawn_by(draw: Draw, run: reference.Run) -> None:
    """Draw as an engine does."""
    execute_draw(draw, Counters(), run=run)
