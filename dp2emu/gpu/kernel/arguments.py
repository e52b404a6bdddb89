"""What a kernel is given: its arguments and records, and what its programs read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.enums import Cull
from dp2emu.gpu.arrays import F32, F64
from dp2emu.gpu.color import ColorTarget
from dp2emu.gpu.depth import DepthPlanes, depth_range
from dp2emu.gpu.geometry import Geometry
from dp2emu.gpu.kernel.key import Key
from dp2emu.gpu.kernel.layout import (
    CLIPPED,
    DEPTH,
    DIVIDED,
    DIVISOR,
    FLAGS,
    FRONT,
    NUMBER,
    RHW,
    SLOPE,
    TOGETHER,
    X0,
    Y0,
    Layout,
)
from dp2emu.gpu.kernel.writing import WIDTH
from dp2emu.gpu.merge import DepthTarget
from dp2emu.gpu.packets import Draw, Rect
from dp2emu.gpu.planes import Plane
from dp2emu.gpu.setup import Primitives
from dp2emu.gpu.shade import Shading
from dp2emu.gpu.spans import Spans
from dp2emu.shader.fixed.output import output_program
from dp2emu.shader.jit.bindings import Bindings, address
from dp2emu.shader.jit.compiling import host
from dp2emu.shader.jit.writer import Target
from dp2emu.shader.reference import Sampler

U64 = NDArray[np.uint64]


@dataclass(slots=True)
class Arguments:
    """Words of arguments by name.  Mutable; it keeps what they point to."""

    layout: Layout
    words: U64
    kept: list[Any]

    @classmethod
    def of(cls, layout: Layout) -> Arguments:
        return cls(layout, np.zeros(len(layout.arguments), np.uint64), [])

    def region(self, region: Rect) -> None:
        """The rectangle that is drawn to."""
        for side in ("left", "top", "right", "bottom"):
            self.number(side, getattr(region, side))

    def copy(self) -> Arguments:
        """Others, for another thread."""
        return Arguments(self.layout, self.words.copy(), [*self.kept])

    def number(self, name: str, value: int) -> None:
        """An integer of 64 bits, or the low bits of one."""
        self.words[self.layout.arguments[name]] = value & 0xFFFFFFFFFFFFFFFF

    def double(self, name: str, value: float) -> None:
        """A double."""
        self.words.view(np.float64)[self.layout.arguments[name]] = value

    def array(self, name: str, value: NDArray[Any]) -> None:
        """The address of an array, which has to be in one piece."""
        self.kept.append(value)
        self.number(name, address(value))


def of_draw(
    draw: Draw,
    key: Key,
    layout: Layout,
    colors: tuple[ColorTarget, ...],
    depth: DepthTarget | None,
    bias: float,
) -> Arguments:
    """The arguments of a draw, without its programs and primitives."""
    given = Arguments.of(layout)
    numbers = draw.merge
    near, far = draw.w_range
    given.double("bias", bias)
    for end, value in zip(("low", "high"), depth_range(draw), strict=True):
        given.double(f"depth.{end}", value)
    given.double("near", near)
    given.double("range", far - near)
    given.number("alpha.reference", numbers.alpha_reference * 257)
    given.number("sample.mask", numbers.sample_mask)
    if key.stippled:
        given.array("stipple", np.array(draw.stipple, np.uint32))
        given.number("stipple.rows", len(draw.stipple))
    if depth is not None:
        _of_depth(given, depth)
    for color in colors:
        _of_color(given, color)
    return given


_CULLED = {Cull.NONE: 0, Cull.CW: 1, Cull.CCW: -1}
"""Sign of the area that is culled."""


def with_triangles(given: Arguments, key: Key, draw: Draw, geometry: Geometry) -> None:
    """Add what triangles are set up from, and room for their records."""
    vertices, state = geometry.vertices, draw.pipeline.depth
    count = len(geometry.numbers)
    given.number("count", count)
    given.number("culled", _CULLED[draw.pipeline.raster.cull])
    given.double("front", -1.0 if draw.pipeline.raster.turned else 1.0)
    given.double("slope", state.slope)
    given.double("clamp", state.bias_clamp)
    position, varyings = (_doubles(each) for each in (vertices.position, vertices.varyings))
    given.array("in.numbers", np.ascontiguousarray(geometry.numbers))
    given.number("in.corner", position.strides[1])
    for name, lane in zip(("x", "y", "z", "rhw"), position, strict=True):
        given.array(f"in.{name}", lane)
    read = dict(zip(vertices.names, varyings, strict=True))
    for name in (*key.plain, *key.perspective):
        given.array(f"in.{name}", read[name])
    groups = -(-count // TOGETHER)
    given.array("records", np.empty((groups, given.layout.size, TOGETHER)))


def _doubles(lanes: F32 | F64) -> F64:
    """In one piece, so that a corner is as far from the next one in all of them."""
    return np.ascontiguousarray(lanes, np.float64)


def _of_depth(given: Arguments, depth: DepthTarget) -> None:
    given.array("depth.base", depth.words)
    given.number("depth.pitch", depth.pitch * depth.row.size)
    if depth.stencil is not None:
        given.number("stencil.reference", int(depth.stencil.reference))
        given.number("stencil.mask", int(depth.stencil.mask))
        given.number("stencil.write", int(depth.stencil.write_mask))


def _of_color(given: Arguments, color: ColorTarget) -> None:
    name = f"color{color.number}"
    given.array(f"{name}.base", color.words)
    given.number(f"{name}.pitch", color.pitch * color.row.size)
    for part in range(max(1, color.row.size // 4)):
        given.number(f"{name}.bits{part}", color.bits >> 32 * part & 0xFFFFFFFF)


def with_programs(
    given: Arguments,
    key: Key,
    uniforms: Mapping[str, NDArray[Any]],
    colors: tuple[ColorTarget, ...],
    sampler: Sampler | None,
) -> Arguments:
    """With what programs read, of which a part is a thread's own."""
    own = given.copy()
    bindings = Bindings(Target(WIDTH, host().fused), sampler, None)
    own.kept.append(bindings)
    own.array("program", bindings.of(key.program, uniforms))
    for color in colors:
        if not color.output.plain:
            words = bindings.of(output_program(color.output), color.uniforms)
            own.array(f"color{color.number}.program", words)
    return own


def with_spans(given: Arguments, spans: Spans) -> Arguments:
    """With what spans cover."""
    own = given.copy()
    runs = spans if spans.runs is None else spans.runs
    own.array("span.owner", np.ascontiguousarray(spans.primitive))
    own.array("span.y", np.ascontiguousarray(spans.y))
    own.array("span.left", np.ascontiguousarray(runs.left))
    own.array("span.right", np.ascontiguousarray(runs.right))
    if spans.coverage is not None:
        own.array("span.coverage", spans.coverage)
    own.number("span.spans", len(spans))
    return own


def records(
    layout: Layout, key: Key, primitives: Primitives, depth: DepthPlanes, shader: Shading
) -> F64:
    """Records of primitives that were set up, shape (groups, words, ``TOGETHER``)."""
    frame = primitives.frame
    count = len(frame.x0)
    groups = -(-count // TOGETHER)
    words = np.zeros((layout.size, groups * TOGETHER))
    found = words[:, :count]
    found[X0], found[Y0], found[FRONT] = frame.x0, frame.y0, primitives.front
    integers = words.view(np.int64)[:, :count]
    integers[NUMBER] = primitives.numbers
    divided = DIVIDED if shader.divisor is not None else 0
    integers[FLAGS] = depth.clipped * CLIPPED + divided
    if depth.slope is not None:
        found[SLOPE] = depth.slope
    planes: dict[str, Plane | None] = {DEPTH: depth.plane, RHW: depth.rhw or shader.rhw,
                                       DIVISOR: shader.divisor}  # fmt: skip
    planes |= shader.plain | shader.divided
    for name, word in layout.planes.items():
        plane = planes[name]
        assert plane is not None
        found[word], found[word + 1], found[word + 2] = plane.value, plane.ddx, plane.ddy
    grouped = words.reshape(layout.size, groups, TOGETHER).transpose(1, 0, 2)
    return np.ascontiguousarray(grouped)
