"""Kernel plans: the key, layout and code for a pipeline and its targets, cached."""

from __future__ import annotations

from functools import lru_cache

import msgspec
from msgspec.structs import replace

from dp2emu.d3d.formats import FormatRow
from dp2emu.gpu.code.kernel_key import ColorKey, DepthKey, Key, Samplers
from dp2emu.gpu.code.kernel_layout import Layout, layout_of, setup_key
from dp2emu.gpu.command.pipeline import Pipeline, decides_coverage, in_quads, is_flat
from dp2emu.gpu.compile.kernel_code import front_of, kernel, setup
from dp2emu.gpu.output_merger.color_target import ColorTarget, output_of
from dp2emu.gpu.output_merger.depth_test import DepthTarget, depth_used
from dp2emu.gpu.pixel_shader.pixel_stage import COLOR_PORTS, linear_varyings, varyings_of
from dp2emu.shader.ir import Program, walk
from dp2emu.shader.jit.code import Effort
from dp2emu.shader.jit.layout import SampleCallee
from dp2emu.shader.jit.layout import layout_of as body_layout
from dp2emu.shader.jit.ranges import clamped
from dp2emu.shader.jit.tiering import TieredFunction
from dp2emu.shader.reference import Sampler

NARROW, WIDE = 8, 16
"""Number of vector lanes of a kernel: 8 fit small triangles better, 16 hide latency."""
LONG = 48
"""Minimum number of statements of a pixel program for which a kernel that does not blend has 16
vector lanes."""

_Color = tuple[int, FormatRow, bool]
"""A colour target: its number, its format, and whether all bits are written."""


class Writes(msgspec.Struct, frozen=True):
    """Properties of a draw's targets that kernels depend on: ``colors``, and of ``depth`` the
    format and whether depth or stencil may change.
    """

    colors: tuple[_Color, ...]
    depth: tuple[FormatRow, bool] | None

    @classmethod
    def of(cls, colors: tuple[ColorTarget, ...], depth: DepthTarget | None) -> Writes:
        """The properties of the targets ``colors`` and ``depth``."""
        found = tuple((color.number, color.row, color.whole) for color in colors)
        return cls(found, None if depth is None else (depth.row, depth.writes))


SHORT, FEW = 400, 2
"""Maximum number of statements of a sampler program, and of sampler programs, for which kernels
include them; otherwise they stay separate functions, compiled once for all kernels."""


def samplers_of(program: Program, sampler: Sampler) -> Samplers:
    """Pairs of sample callee and sampler program that become part of a program's kernel: those of
    at most ``SHORT`` statements; none if the program has more than ``FEW`` callees.
    """
    asked = _sampled(program)
    bind = getattr(sampler, "bound", None)
    if not asked or bind is None:
        return ()
    found = [(each, bind(each.sampler, each.kind, each.lod).program) for each in asked]
    return tuple(each for each in found if len(each[1].statements) <= SHORT)


@lru_cache(maxsize=1 << 10)
def _sampled(program: Program) -> tuple[SampleCallee, ...]:
    """The sample callees of a program; none if there are more than ``FEW``."""
    asked = tuple(each for each in body_layout(program).callees if isinstance(each, SampleCallee))
    return asked if len(asked) <= FEW else ()


class Plan(msgspec.Struct, frozen=True):
    """A compiled kernel, its key and data layout, and the triangle ``setup`` for its records."""

    key: Key
    layout: Layout
    kernel: TieredFunction
    setup: TieredFunction

    def front(self) -> TieredFunction | None:
        """The compiled coverage part (front) of a kernel; optimised kernels have none: None."""
        if self.kernel.good:
            return None
        found = front_of(self.key.samples, self.key.by_sample)
        found.ready(Effort.GOOD)
        return found


@lru_cache(maxsize=1 << 10)
def triangle_plan(
    pipeline: Pipeline,
    writes: Writes,
    samplers: Samplers,
    lanes: tuple[str, ...],
    level: bool,
    stippled: bool,
) -> Plan:
    """The cached kernel plan for filled triangles with varyings ``lanes``, which have no
    perspective if ``level``.
    """
    raster, state = pipeline.raster, pipeline.depth
    names = [name for name in varyings_of(pipeline.pixel) if name in lanes]
    flat = frozenset(name for name in names if is_flat(name, raster.flat))
    plain = frozenset(names) if level else flat | linear_varyings(pipeline)
    offset = state.bias_of_float or bool(state.bias_clamp)
    return cached_plan(replace(
        common_key(pipeline, writes, samplers, stippled),
        plain=tuple(name for name in names if name in plain),
        perspective=tuple(name for name in names if name not in plain),
        lanes=lanes,
        triangles=True,
        flat=tuple(sorted(flat)),
        biased=bool(state.bias) and not offset,
        sloped=bool(state.slope) or offset,
        tilted=bool(state.slope),
        bias_of_float=state.bias_of_float,
        clamp=(state.bias_clamp > 0) - (state.bias_clamp < 0),
    ))  # fmt: skip


@lru_cache(maxsize=1 << 10)
def cached_plan(key: Key) -> Plan:
    """The kernel, layout and triangle setup for a key, cached."""
    return Plan(key, layout_of(key), kernel(key), setup(setup_key(key)))


@lru_cache(maxsize=1 << 10)
def common_key(pipeline: Pipeline, writes: Writes, samplers: Samplers, stippled: bool) -> Key:
    """The part of a kernel's key that does not depend on the kind of primitives; the rest is
    unset.
    """
    return Key(
        pipeline.pixel,
        tuple(_color_key(pipeline, *color) for color in writes.colors),
        writes.depth and _depth_key(pipeline, *writes.depth),
        (),
        (),
        samples=pipeline.samples,
        by_sample=pipeline.samples > 1 and pipeline.raster.multisample,
        clipped=pipeline.raster.clip and pipeline.vertex is None,
        stippled=stippled,
        late=pipeline.tests_late,
        ahead=pipeline.hides_early and writes.depth is not None,
        alpha_test=pipeline.alpha_test,
        alpha_unclamped=pipeline.alpha_unclamped,
        alpha_to_coverage=pipeline.alpha_to_coverage,
        w_buffer=pipeline.depth.w_buffer,
        samplers=samplers,
        each=pipeline.by_sample and pipeline.samples > 1,
        moved=pipeline.samples > 1 and pipeline.raster.multisample,
        drops=pipeline.early and (decides_coverage(pipeline.pixel) or pipeline.alpha_to_coverage),
        quads=in_quads(pipeline.pixel, pipeline.samplers),
        width=WIDE if _wants_wide(pipeline) else NARROW,
    )


def _wants_wide(pipeline: Pipeline) -> bool:
    """Whether a kernel gets wide vectors: its program is long, or it blends on targets with one
    sample per pixel, whose loads take long.
    """
    blends = pipeline.blending and pipeline.samples == 1
    return blends or sum(1 for _ in walk(pipeline.pixel.statements)) >= LONG


def _color_key(pipeline: Pipeline, number: int, row: FormatRow, whole: bool) -> ColorKey:
    output = output_of(pipeline, row, number)
    read = {number, 1} if output.blend is not None and output.blend.second else {number}
    if output.clamped and all(clamped(pipeline.pixel, COLOR_PORTS[each]) for each in read):
        output = replace(output, within=True)
    return ColorKey(number, row.format, output, pipeline.raster_op, whole)


def _depth_key(pipeline: Pipeline, row: FormatRow, writes: bool) -> DepthKey:
    used = depth_used(pipeline.depth, row)
    stencil = None if row.stencil is None else pipeline.stencil
    return DepthKey(row.format, used.func, used.write, stencil, writes)
