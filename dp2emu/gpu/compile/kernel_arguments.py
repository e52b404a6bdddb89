"""Arguments and records of kernels, and the bindings of their programs."""

from __future__ import annotations

import struct
import threading
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from dp2emu import allocation
from dp2emu.d3d.enums import Cull
from dp2emu.gpu.arrays import F64, I64
from dp2emu.gpu.code import kernel_layout
from dp2emu.gpu.code.kernel_key import Key
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.compile.kernel_code import target_of
from dp2emu.gpu.output_merger.alpha_test import REFERENCE_STEP
from dp2emu.gpu.output_merger.color_target import ColorTarget
from dp2emu.gpu.output_merger.depth_test import DepthPlanes, DepthTarget, depth_range
from dp2emu.gpu.pixel_shader.pixel_stage import Shading
from dp2emu.gpu.rasterizer.clip import Geometry
from dp2emu.gpu.rasterizer.planes import Plane
from dp2emu.gpu.rasterizer.primitive_setup import Primitives
from dp2emu.gpu.rasterizer.spans import HALF, Spans
from dp2emu.gpu.rasterizer.triangles_code import AHEAD
from dp2emu.shader.fixed.output import output_program
from dp2emu.shader.jit.bindings import Bindings, address
from dp2emu.shader.jit.tiering import TieredFunction
from dp2emu.shader.reference import Fetcher, Sampler

U64 = NDArray[np.uint64]


class Arguments(msgspec.Struct):
    """The argument words of a kernel, by name.  Mutable; it keeps alive what they point to.

    ``depth`` is the depth buffer's base and pitch, and the stencil's reference, mask and write
    mask.  ``bindings`` are the programs' and collect errors of callbacks; ``program`` are the
    binding words of the pixel program.
    """

    layout: kernel_layout.Layout
    words: U64
    kept: list[Any]
    depth: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)
    bindings: Bindings | None = None
    program: U64 | None = None

    def with_programs_of(self, other: Arguments) -> Arguments:
        """A copy for another thread, with the program bindings of ``other``."""
        words = self.words.copy()
        words[self.layout.programs] = other.words[self.layout.programs]
        return Arguments(self.layout, words, [self, other], self.depth, other.bindings)

    def set_up_from(self, corners: SetupInput) -> None:
        """Set the arguments to the corners from which triangles are set up."""
        first = self.layout.arguments["records"]
        self.words[first : first + len(corners.words)] = corners.words
        self.kept.append(corners)

    def set_number(self, name: str, value: int) -> None:
        """Set the argument word ``name`` to an integer."""
        self.words[self.layout.arguments[name]] = value

    def set_array(self, name: str, value: NDArray[Any]) -> None:
        """Set the argument word ``name`` to the address of a contiguous array, and keep the array
        alive.
        """
        self.kept.append(value)
        self.set_number(name, address(value))


class SetupInput(msgspec.Struct, frozen=True):
    """Corners that triangles are set up from, and memory for their records."""

    position: F64
    varyings: F64
    numbers: I64
    records: F64

    @classmethod
    def of(cls, geometry: Geometry, layout: kernel_layout.Layout) -> SetupInput:
        """The corners of a geometry as contiguous arrays, whose rows are all equally far apart."""
        vertices = geometry.vertices
        position, varyings = (np.ascontiguousarray(each, np.float64)
                              for each in (vertices.position, vertices.varyings))  # fmt: skip
        room = _room(record_capacity(len(geometry.numbers)) * layout.size)
        return cls(position, varyings, np.ascontiguousarray(geometry.numbers), room)

    @property
    def words(self) -> tuple[int, ...]:
        """Values of the kernel arguments from ``records`` to ``in.numbers``."""
        return (
            address(self.records), len(self.numbers), address(self.position),
            address(self.varyings), self.position.strides[0], self.position.strides[1],
            address(self.numbers),
        )  # fmt: skip


def record_capacity(count: int) -> int:
    """The number of records to allocate for ``count`` triangles, which compiled setup writes in
    groups of ``TOGETHER``.
    """
    return -(-count // kernel_layout.TOGETHER) * kernel_layout.TOGETHER + kernel_layout.TOGETHER


_thread = threading.local()
_NO_RECORDS: F64 = np.empty(0)


def _room(size: int) -> F64:
    """At least ``size`` doubles of memory that belongs to the calling thread."""
    held: F64 | None = getattr(_thread, "records", None)
    grown = allocation.current.grown(_NO_RECORDS if held is None else held, size)
    _thread.records = grown
    return grown


_CULLED = {Cull.NONE: 0, Cull.CW: 1, Cull.CCW: -1}
"""Sign of the area of the triangles that each cull mode drops; 0 for none."""
_NUMBERS = struct.Struct(f"={len(kernel_layout.INTEGERS)}q{len(kernel_layout.DOUBLES)}d")


def draw_arguments(
    draw: Draw, template: Arguments, region: Rect, bias: float, corners: SetupInput | None = None
) -> Arguments:
    """The arguments of a draw, without its spans; ``template`` has its targets and programs."""
    words = template.words.copy()
    numbers, state, raster = draw.output.merge, draw.pipeline.depth, draw.pipeline.raster
    stipple = np.array(draw.raster.stipple, np.uint32) if draw.raster.stipple else None
    near, far = draw.raster.w_range
    base, pitch, *stencil = template.depth
    _NUMBERS.pack_into(
        words.data, 0, region.left, region.top, region.right, region.bottom, base, pitch,
        numbers.alpha_reference * REFERENCE_STEP, numbers.sample_mask,
        *((0, 1) if stipple is None else (address(stipple), len(stipple))), *stencil,
        *((0,) * 7 if corners is None else corners.words), _CULLED[raster.cull],
        bias, near, far - near, *depth_range(draw), -1.0 if raster.turned else 1.0,
        state.slope, state.bias_clamp,
    )  # fmt: skip
    kept = [stipple, corners, template]
    return Arguments(template.layout, words, kept, template.depth, template.bindings)


def set_targets(
    given: Arguments, colors: tuple[ColorTarget, ...], depth: DepthTarget | None
) -> None:
    """Set the argument words of colour targets; store those of the depth buffer in ``depth``."""
    if depth is not None:
        given.kept.append(depth.words)
        test = depth.stencil
        stencil = (0, 0, 0)
        if test is not None:
            stencil = int(test.reference), int(test.mask), int(test.write_mask)
        given.depth = address(depth.words), depth.pitch * depth.row.size, *stencil
    for color in colors:
        size, bits = color.row.size, color.bits
        parts = [bits >> 32 * part & 0xFFFFFFFF for part in range(max(1, size // 4))]
        given.kept.append(color.words)
        at = given.layout.arguments[f"color{color.number}.base"]
        given.words[at : at + 2 + len(parts)] = address(color.words), color.pitch * size, *parts


def set_programs(
    given: Arguments,
    key: Key,
    uniforms: Mapping[str, NDArray[Any]],
    colors: tuple[ColorTarget, ...],
    sampler: Sampler,
    fetcher: Fetcher | None,
) -> None:
    """Set the bindings of the programs; their local files and callbacks serve one thread only."""
    direct = frozenset(asked for asked, _ in key.samplers)
    given.bindings = bindings = Bindings(target_of(key), sampler, fetcher, direct=direct)
    given.program = bindings.of(key.program, uniforms)
    given.set_array("program", given.program)
    for color, own in zip(colors, key.colors, strict=True):
        if not own.output.plain:
            words = bindings.of(output_program(own.output), color.uniforms)
            given.set_array(f"color{color.number}.program", words)


def set_triangles(given: Arguments, key: Key, front: TieredFunction | None) -> None:
    """Set the argument words of triangle setup; ``front`` is the kernel's separate coverage
    part.
    """
    layout = given.layout
    words = {name: word for name, word in layout.planes.items() if name != kernel_layout.DEPTH}
    table = kernel_layout.table_of(words, key.lanes, key.flat, key.perspective)
    code = None if front is None else front.best()
    place = 0 if code is None else code.code.address
    given.kept += table, code
    given.set_array("setup", np.array((
        HALF if key.by_sample else 0, kernel_layout.CLIPPED if key.clipped else 0,
        layout.size, layout.corners, layout.planes.get(kernel_layout.DIVISOR, 0),
        address(table), len(table), place,
    ), np.int64))  # fmt: skip


def set_spans(given: Arguments, spans: Spans) -> None:
    """Set the argument words that describe spans."""
    runs = spans if spans.runs is None else spans.runs
    given.set_array("span.owner", np.ascontiguousarray(spans.primitive))
    given.set_array("span.y", np.ascontiguousarray(spans.y))
    given.set_array("span.left", np.ascontiguousarray(runs.left))
    given.set_array("span.right", np.ascontiguousarray(runs.right))
    if spans.coverage is not None:
        given.set_array("span.coverage", spans.coverage)
    given.set_number("span.spans", len(spans))


def records(
    layout: kernel_layout.Layout, primitives: Primitives, depth: DepthPlanes, shader: Shading
) -> F64:
    """Records of primitives that the reference stages set up, shape (count, words)."""
    frame = primitives.frame
    count = len(frame.x0)
    found = np.zeros((layout.size, count))
    found[kernel_layout.X0], found[kernel_layout.Y0] = frame.x0, frame.y0
    found[kernel_layout.FRONT] = primitives.front
    integers = found.view(np.int64)
    integers[kernel_layout.NUMBER] = primitives.numbers
    divided = kernel_layout.DIVIDED if shader.divisor is not None else 0
    integers[kernel_layout.FLAGS] = depth.clipped * kernel_layout.CLIPPED + divided
    if depth.slope is not None:
        found[kernel_layout.SLOPE] = depth.slope
    planes: dict[str, Plane | None] = {
        kernel_layout.DEPTH: depth.plane,
        kernel_layout.RHW: depth.rhw or shader.rhw,
        kernel_layout.DIVISOR: shader.divisor,
        **shader.plain,
        **shader.divided,
    }
    for name, word in layout.planes.items():
        plane = planes[name]
        assert plane is not None
        found[word], found[word + 1], found[word + 2] = plane.value, plane.ddx, plane.ddy
    return np.ascontiguousarray(found.T)


@lru_cache(maxsize=32)
def _counted(size: int) -> NDArray[np.int32]:
    return np.arange(size + AHEAD, dtype=np.int32)


def all_triangles(count: int) -> NDArray[np.int32]:
    """An array of the numbers from 0 to at least ``count``: a list of all triangles."""
    return _counted(max(1 << 14, 1 << count.bit_length()))
