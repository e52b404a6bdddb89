"""What a kernel is compiled for, and what none is compiled for."""

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
from dp2emu.shader.fixed.output import TargetOutput
from dp2emu.shader.ir import (
    Assign,
    Derivative,
    Fetch,
    If,
    Input,
    Load,
    Lod,
    Loop,
    Program,
    Sample,
    Slot,
    Statement,
    Store,
    operands,
    walk,
    written,
)
from dp2emu.shader.jit.layout import SampleCallee
from dp2emu.shader.ports import CENTROID

Samplers = tuple[tuple[SampleCallee, Program], ...]
"""How a program samples, and the programs that do it."""


class ColorKey(msgspec.Struct, frozen=True):
    """A colour target: ``whole`` if all bits of its pixels are written."""

    number: int
    format: AnyFormat
    output: TargetOutput
    operation: int
    whole: bool


class DepthKey(msgspec.Struct, frozen=True):
    """A depth-stencil buffer: how depth is tested, whether it is ``written``, and the stencil;
    ``stores`` if anything in the buffer can change.
    """

    format: AnyFormat
    func: CmpFunc
    written: bool
    stencil: StencilState | None
    stores: bool


class Key(msgspec.Struct, frozen=True):
    """All that changes the text of a kernel.

    ``triangles``: it sets up and covers triangles itself; otherwise it is given spans.
    ``by_sample``: each sample of a pixel is covered for itself.  ``smooth``: spans have coverage.
    ``clipped``: some fragments go for their z.  ``plain`` varyings are planes, ``perspective``
    ones quotients of planes.  ``biased`` and ``sloped`` are the two depth biases.
    ``unclamped``: programs read z as it is.  ``width`` is how many lanes work together.

    ``ahead``: of what is ``late``, only what depth does not hide runs the program.

    ``samplers`` are programs that sample, which become part of the kernel.

    ``each``: the program runs for each sample; ``moved``: samples lie beside the centre.
    ``drops``: of what passed the tests before it, the program or its alpha drops some.
    ``quads``: the program looks at its neighbours.

    Triangles that are set up come with ``lanes`` of varyings, of which ``flat`` ones are level,
    are ``tilted`` if the slope counts, and have the depth bias of Direct3D 10:
    ``bias_of_float``, and ``clamp``, its sign.
    """

    program: Program
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
    alpha_to_coverage: bool = False
    w_buffer: bool = False
    biased: bool = False
    sloped: bool = False
    unclamped: bool = False
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
        """Inputs of the program by name."""
        return frozenset(port.name for port in self.program.inputs)

    @property
    def runs(self) -> bool:
        """Whether the program ever runs."""
        return self.late or bool(self.colors)


class SetupKey(msgspec.Struct, frozen=True):
    """What the code that sets triangles up depends on, which is the same for nearly all kernels:
    what ``Key`` says of biases.
    """

    sloped: bool
    tilted: bool
    bias_of_float: bool
    clamp: int

    @property
    def offset(self) -> bool:
        """Whether depth is offset as Direct3D 10 does."""
        return self.bias_of_float or self.clamp != 0


def draws_lines(draw: Draw) -> bool:
    """Whether what is covered are lines, be they edges of triangles."""
    fill = draw.pipeline.raster.fill
    return CORNERS[draw.input.topology] == 2 or (is_triangles(draw) and fill is FillMode.WIREFRAME)


def fills_triangles(draw: Draw) -> bool:
    """Whether a kernel sets up and covers the primitives itself."""
    return is_triangles(draw) and draw.pipeline.raster.fill is FillMode.SOLID


def is_triangles(draw: Draw) -> bool:
    """Whether primitives are triangles, filled or not."""
    return CORNERS[draw.input.topology] == 3


def _differences(pipeline: Pipeline) -> bool:
    """Whether a program takes differences of what depends on which samples are covered.

    What its helpers have there depends on which of a quad's pixels are shaded together.
    """
    if not in_quads(pipeline.pixel, pipeline.samplers):
        return False
    return _differs(pipeline.pixel, pipeline.samples > 1)


def _evaluates(pipeline: Pipeline) -> bool:
    return any(port.name == LANE_PORT for port in pipeline.pixel.inputs)


def _acts(pipeline: Pipeline) -> bool:
    return bool(pipeline.memory_operations)


REASONS: dict[str, Callable[[Pipeline], bool]] = {
    "accesses to memory": _acts,
    "inputs evaluated where the program says": _evaluates,
    "differences of what is taken at centroids, or of coverage": _differences,
}
"""What no kernel is compiled for: the stages of ``gpu.draw.draw_stages`` draw it, around
compiled programs."""


@lru_cache(maxsize=1 << 10)
def reason(pipeline: Pipeline) -> str | None:
    """Why no kernel is compiled for a pipeline; None if one is."""
    return next((name for name, holds in REASONS.items() if holds(pipeline)), None)


@lru_cache(maxsize=1 << 10)
def _differs(program: Program, multisampled: bool) -> bool:
    """Whether differences in a quad may depend on coverage, or on colours or centroids.

    What is assigned in blocks counts as dependent if any condition does.
    """
    names = [port.name for port in program.inputs]
    central = {name for name in names if name == COVERAGE_PORT}
    if multisampled:
        central |= {name for name in names if name.startswith(CENTROID) or is_color(name)}
    statements = [*walk(program.statements)]
    tainted = {s.slot for s in statements if isinstance(s, Input) and s.port in central}
    files: set[str] = set()
    size = -1
    while len(tainted) + len(files) > size:
        size = len(tainted) + len(files)
        if any(isinstance(s, If | Loop) and _reads(s, tainted) for s in statements):
            return True
        for statement in statements:
            _spread(statement, tainted, files)
    return any(_asks(s) and _reads(s, tainted) for s in statements)


def _spread(statement: Statement, tainted: set[int], files: set[str]) -> None:
    """What a statement makes of dependent values depends too."""
    dependent = _reads(statement, tainted)
    if isinstance(statement, Store) and dependent:
        files.add(statement.file)
    dependent |= isinstance(statement, Load) and statement.file in files
    if dependent and isinstance(statement, Assign | Load | Derivative | Sample | Fetch):
        tainted.update(written(statement))


def _reads(statement: Statement, slots: set[int]) -> bool:
    return any(isinstance(each, Slot) and each.number in slots for each in operands(statement))


def _asks(statement: Statement) -> bool:
    """Whether a statement looks at the neighbours of a lane."""
    found = isinstance(statement, Sample) and statement.lod in (Lod.IMPLICIT, Lod.BIAS)
    return found or isinstance(statement, Derivative)
