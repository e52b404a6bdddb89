"""Keys of kernels: the state that their text depends on, and the state that has no kernels."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import msgspec

from dp2emu.d3d.enums import CmpFunc, FillMode
from dp2emu.d3d.formats import AnyFormat
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.pipeline import (
    COVERAGE_PORT,
    LANE_PORT,
    Pipeline,
    StencilState,
    in_quads,
    is_color,
)
from dp2emu.gpu.command.topology import CORNERS
from dp2emu.shader import ir
from dp2emu.shader.fixed.output import TargetOutput
from dp2emu.shader.jit.layout import SampleCallee
from dp2emu.shader.ports import CENTROID, varying

Samplers = tuple[tuple[SampleCallee, ir.Program], ...]
"""Pairs of the callee of a Sample statement and the sampler program that is compiled into the
kernel for it."""


class ColorKey(msgspec.Struct, frozen=True):
    """Properties of a colour target that a kernel's text depends on; ``whole``: all bits of its
    pixels are written.
    """

    number: int
    format: AnyFormat
    output: TargetOutput
    operation: int
    whole: bool


class DepthKey(msgspec.Struct, frozen=True):
    """Properties of a depth-stencil buffer that a kernel's text depends on; ``written``: depth is
    written, ``stores``: depth or stencil may change.
    """

    format: AnyFormat
    func: CmpFunc
    written: bool
    stencil: StencilState | None
    stores: bool


class Key(msgspec.Struct, frozen=True):
    """All state that the text of a kernel depends on.

    ``triangles``: the kernel computes the coverage of triangles; otherwise it reads spans.
    ``by_sample``: each sample of a pixel has its own coverage.  ``smooth``: spans have a coverage
    that scales alpha.  ``clipped``: fragments with z outside of 0..1 may have to be dropped.
    ``plain`` varyings are planes, ``perspective`` ones quotients of planes.  ``biased``: all
    depths have one bias; ``sloped``: each primitive has a depth bias in its record.
    ``width``: lanes of a vector.

    ``late``: depth is tested after the program.  ``ahead``: this test is computed before the
    program instead, to skip blocks without visible fragments; depth is stored after it.

    ``each``: the program runs for each sample; ``moved``: samples are off the pixel centre.
    ``alpha_unclamped``: the alpha test does not clamp alpha, for a float target.
    ``drops``: the program or alpha to coverage drops fragments that passed the tests, which run
    before it.  ``quads``: the program takes differences within quads.

    Triangle setup: ``lanes`` are the varyings of corners, of which ``flat`` ones are constant;
    ``tilted``: the depth bias depends on the slope; ``bias_of_float`` and ``clamp`` (its sign) are
    those of Direct3D 10's depth bias.
    """

    program: ir.Program
    colors: tuple[ColorKey, ...]
    depth: DepthKey | None
    plain: tuple[str, ...]
    perspective: tuple[str, ...]
    triangles: bool = False
    samples: int = 1
    by_sample: bool = False
    smooth: bool = False
    clipped: bool = False
    stippled: bool = False
    late: bool = False
    ahead: bool = False
    alpha_test: CmpFunc | None = None
    alpha_unclamped: bool = False
    alpha_to_coverage: bool = False
    w_buffer: bool = False
    biased: bool = False
    sloped: bool = False
    width: int = 8
    samplers: Samplers = ()
    each: bool = False
    moved: bool = False
    drops: bool = False
    quads: bool = True
    lanes: tuple[str, ...] = ()
    flat: tuple[str, ...] = ()
    tilted: bool = False
    bias_of_float: bool = False
    clamp: int = 0

    @property
    def reads(self) -> frozenset[str]:
        """Names of the input ports of the pixel program, without interpolation prefixes."""
        return frozenset(varying(port.name) for port in self.program.inputs)

    @property
    def runs(self) -> bool:
        """Whether the kernel runs its pixel program; it need not if there is no colour target and
        depth is tested without the program.
        """
        return self.late or bool(self.colors)


class SetupKey(msgspec.Struct, frozen=True):
    """The depth bias state of a ``Key``: the code of triangle setup depends on nothing else."""

    sloped: bool
    tilted: bool
    bias_of_float: bool
    clamp: int

    @property
    def offset(self) -> bool:
        """Whether the depth bias is computed by the rules of Direct3D 10."""
        return self.bias_of_float or self.clamp != 0


def draws_lines(draw: Draw) -> bool:
    """Whether lines are drawn, edges of triangles included."""
    fill = draw.pipeline.raster.fill
    return CORNERS[draw.input.topology] == 2 or (is_triangles(draw) and fill is FillMode.WIREFRAME)


def fills_triangles(draw: Draw) -> bool:
    """Whether primitives are filled triangles, which kernels set up themselves."""
    return is_triangles(draw) and draw.pipeline.raster.fill is FillMode.SOLID


def is_triangles(draw: Draw) -> bool:
    """Whether primitives are triangles in any fill mode."""
    return CORNERS[draw.input.topology] == 3


def _differences(pipeline: Pipeline) -> bool:
    """Whether a pixel program takes differences within quads of values that depend on coverage,
    such as those at centroids: in helper lanes these depend on which pixels are shaded together.
    """
    quads = in_quads(pipeline.pixel, pipeline.samplers)
    return quads and _differs(pipeline.pixel, pipeline.samples > 1)


def _evaluates(pipeline: Pipeline) -> bool:
    return any(port.name == LANE_PORT for port in pipeline.pixel.inputs)


def _acts(pipeline: Pipeline) -> bool:
    return bool(pipeline.memory_operations)


REASONS: dict[str, Callable[[Pipeline], bool]] = {
    "accesses to memory": _acts,
    "inputs evaluated where the program says": _evaluates,
    "differences of what is taken at centroids, or of coverage": _differences,
}
"""Tests whether a pipeline cannot have a compiled kernel, by the reason as text.
``gpu.draw.draw_stages`` draws pipelines for which a test is true."""


@lru_cache(maxsize=1 << 10)
def reason(pipeline: Pipeline) -> str | None:
    """The first reason, as text, why no kernel is compiled for a pipeline; None if one is."""
    return next((name for name, holds in REASONS.items() if holds(pipeline)), None)


@lru_cache(maxsize=1 << 10)
def _differs(program: ir.Program, multisampled: bool) -> bool:
    """Whether a program takes differences within quads of a value that may depend on coverage or,
    if ``multisampled``, on centroids; or has an If or a Loop whose condition may.
    """
    names = [port.name for port in program.inputs]
    central = {name for name in names if name == COVERAGE_PORT}
    if multisampled:
        central |= {name for name in names if name.startswith(CENTROID) or is_color(name)}
    statements = [*ir.walk(program.statements)]
    tainted = {s.slot for s in statements if isinstance(s, ir.Input) and s.port in central}
    files: set[str] = set()
    size = -1
    while len(tainted) + len(files) > size:
        size = len(tainted) + len(files)
        if any(isinstance(s, ir.If | ir.Loop) and _reads(s, tainted) for s in statements):
            return True
        for statement in statements:
            _spread(statement, tainted, files)
    return any(_asks(s) and _reads(s, tainted) for s in statements)


def _spread(statement: ir.Statement, tainted: set[int], files: set[str]) -> None:
    """If a statement reads a slot in ``tainted`` or a file in ``files``, add the slots or the file
    that it writes to these sets.
    """
    dependent = _reads(statement, tainted)
    if isinstance(statement, ir.Store) and dependent:
        files.add(statement.file)
    dependent |= isinstance(statement, ir.Load) and statement.file in files
    if dependent and isinstance(
        statement, ir.Assign | ir.Load | ir.Derivative | ir.Sample | ir.Fetch
    ):
        tainted.update(ir.written(statement))


def _reads(statement: ir.Statement, slots: set[int]) -> bool:
    return any(
        isinstance(each, ir.Slot) and each.number in slots for each in ir.operands(statement)
    )


def _asks(statement: ir.Statement) -> bool:
    """Whether a statement takes differences between neighbouring lanes."""
    found = isinstance(statement, ir.Sample) and statement.lod in (ir.Lod.IMPLICIT, ir.Lod.BIAS)
    return found or isinstance(statement, ir.Derivative)
