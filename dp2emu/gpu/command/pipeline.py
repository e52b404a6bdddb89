"""Resolved pipeline state: frozen, hashable records of a draw.

A front end resolves API state into these once per change; they are cache keys of what is derived
from them, compiled kernels included.  A field belongs here if it changes the program that draws;
its data (buffers, constants, rectangles) are bindings of the packet.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import msgspec

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.enums import CmpFunc, Cull, FillMode, StencilOp
from dp2emu.d3d.formats import AnyFormat
from dp2emu.d3d.vertices import Element, VertexLayout
from dp2emu.gpu.command.raster_operations import COPY
from dp2emu.shader.fixed.blend import BlendState
from dp2emu.shader.ir import Derivative, Kill, Lod, Program, Sample, walk
from dp2emu.shader.ports import CONSTANT
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.texture.sampler import needs_detail

if TYPE_CHECKING:
    # Imported for types only: draws without such shaders must not load these modules.
    from dp2emu.shader.resources import MemoryOperation, Unit

DEPTH_PORT = "depth.x"
"""Name of the pixel program's output that replaces the depth of its fragment."""
COVERAGE_PORT = "coverage.x"
"""Name of an I32 port of pixel programs with a bit for each sample of a pixel.  As an output the
bits are the samples to draw; as an input those that are covered and in the sample mask."""

Samplers = tuple[tuple[int, SamplerKey], ...]
"""Pairs of sampler number and ``SamplerKey`` of the samplers of a program that have a texture."""


class RasterState(msgspec.Struct, frozen=True):
    """How primitives become fragments.

    ``clip``: D3DRS_CLIPPING; fragments with z outside 0..1 are dropped, without it depth is
    clamped.  ``last_pixel``: D3DRS_LASTPIXEL, lines own their end pixel.  ``clip_planes``: bit n
    enables plane n, if ``clip`` and with a vertex program.  ``fill``: fill mode of triangles.
    ``point_sprites``: D3DRS_POINTSPRITEENABLE, texture coordinates run from 0, 0 to 1, 1 across a
    point.  ``smooth_lines``: lines and wireframe edges are antialiased by alpha, unless targets
    are multisampled.  ``multisample``: D3DRS_MULTISAMPLEANTIALIAS, without it all samples have the
    coverage of the pixel centre.  ``wrap``: D3DRS_WRAP0 and so on, bit c of number n makes
    component c of texture coordinate n wrap.  ``perspective``: texture coordinates are perspective
    correct, as other varyings are, else linear on the screen.  ``half_centres``: the centre of
    pixel 0 is at 0.5 (Direct3D 10), not at 0.  ``targetless``: without targets the scissor
    rectangle is rasterized and passes are counted; else nothing is drawn then.  ``turned``:
    counterclockwise triangles are front faces, except for ``cull``.  ``clip_distances``: the
    number of distances ``clip0.x`` and so on that the vertex program writes, which clip even
    without ``clip``; ``cull_distances``: the number of distances ``cull0.x`` and so on; a
    primitive whose corners are all negative in one of them is dropped.  Not ``enabled``:
    primitives are discarded before clipping.
    """

    cull: Cull = Cull.NONE
    flat: bool = False
    clip: bool = True
    last_pixel: bool = True
    clip_planes: int = 0
    fill: FillMode = FillMode.SOLID
    point_sprites: bool = False
    smooth_lines: bool = False
    multisample: bool = True
    wrap: tuple[int, ...] = ()
    perspective: bool = True
    half_centres: bool = False
    targetless: bool = False
    turned: bool = False
    clip_distances: int = 0
    cull_distances: int = 0
    enabled: bool = True


class DepthState(msgspec.Struct, frozen=True):
    """Depth test; ``enable`` False means every fragment passes and nothing is written.

    ``bias`` and ``slope`` are D3DRS_DEPTHBIAS and D3DRS_SLOPESCALEDEPTHBIAS as float32 values in
    units of the 0..1 depth range.  ``w_buffer``: eye space w, mapped from the draw's ``w_range``
    to 0..1, is tested instead of z.  ``bias_all``: lines and points are biased too.

    Direct3D 10: ``bias_of_float``: ``bias`` is in units of the last place of a triangle's greatest
    z.  ``bias_clamp`` is the maximum of bias plus slope if positive, the minimum if negative.
    ``in_viewport``: depth is clamped to the depth range of the viewport.
    """

    enable: bool = False
    write: bool = False
    func: CmpFunc = CmpFunc.LESSEQUAL
    bias: float = 0.0
    slope: float = 0.0
    w_buffer: bool = False
    bias_all: bool = False
    bias_of_float: bool = False
    bias_clamp: float = 0.0
    in_viewport: bool = False


class StencilFace(msgspec.Struct, frozen=True):
    """The stencil test of a face, and its operations for: test fails, test passes and depth fails,
    both pass.
    """

    func: CmpFunc = CmpFunc.ALWAYS
    fail: StencilOp = StencilOp.KEEP
    depth_fail: StencilOp = StencilOp.KEEP
    passed: StencilOp = StencilOp.KEEP

    @property
    def writes(self) -> bool:
        """Whether any stencil operation of this face can change the stencil buffer."""
        return {self.fail, self.depth_fail, self.passed} != {StencilOp.KEEP}


class StencilState(msgspec.Struct, frozen=True):
    """The stencil test; ``back`` is for counterclockwise triangles, None means as ``front``, which
    lines and points always use.
    """

    front: StencilFace
    back: StencilFace | None = None


class Attribute(msgspec.Struct, frozen=True):
    """The name by which a vertex program reads a vertex element; the element is None if the
    vertices lack it.
    """

    name: str
    element: Element | None


# Every draw looks caches up by its pipeline, so the hash is cached.
class Pipeline(msgspec.Struct, frozen=True, cache_hash=True, weakref=True, dict=True):
    """All state of a draw that changes the program that executes it.

    Without a ``vertex`` program vertices are pretransformed, and ``attributes`` name their
    elements unless usages do.  Otherwise it reads ``attributes`` by name and component (``v0.x``)
    and writes ``position0.x`` to ``position0.w`` in clip space, ``psize0.x``, ``clip0.x`` and so
    on (distances to user clip planes) and varyings.

    ``pixel`` reads varyings by name (``color0.x``, ``texcoord3.z``), ``vpos.x`` and ``vpos.y``
    (the pixel), ``vface.x`` (+1 front, -1 back face), ``depth.x`` (unclamped z of the fragment)
    and ``w.x`` (eye space w); it writes ``target0.x`` and so on.  It samples with ``samplers``,
    the vertex program with ``vertex_samplers``, numbered from 0; a missing one returns 0, 0, 0, 1.
    Without ``blend`` its colours replace those of the target.  All targets have ``samples`` per
    pixel.

    ``alpha_test`` drops fragments by the first alpha; None passes all.  ``alpha_to_coverage``
    drops samples of multisampled targets by the first alpha.  ``counts_pixels``: False if
    ``pixel`` stands for a missing program, whose runs are not counted.  ``raster_op`` combines
    source and destination (``gpu.command.raster_operations``).  ``srgb_write`` and ``dither``
    apply to targets of formats that support them (``gpu.output_merger.color_target``).

    Programs of Direct3D 10 sample and fetch by ``units`` and ``vertex_units``, numbered as the
    samplers; a unit without a sampler key returns 0.  ``blends``, if any, are the blend states by
    target and replace ``blend``.  ``early``: depth and stencil are tested and counted before the
    program.  ``by_sample``: the program runs for each sample.  ``memory_operations`` are
    those of ``pixel``, by number.
    """

    layout: VertexLayout
    raster: RasterState
    depth: DepthState
    pixel: Program
    write_masks: tuple[int, ...]
    color_formats: tuple[AnyFormat | None, ...]
    depth_format: AnyFormat | None
    samples: int = 1
    vertex: Program | None = None
    attributes: tuple[Attribute, ...] = ()
    samplers: Samplers = ()
    vertex_samplers: Samplers = ()
    blend: BlendState | None = None
    alpha_test: CmpFunc | None = None
    stencil: StencilState | None = None
    alpha_to_coverage: bool = False
    srgb_write: bool = False
    dither: bool = False
    raster_op: int = COPY
    counts_pixels: bool = True
    units: tuple[Unit, ...] = ()
    vertex_units: tuple[Unit, ...] = ()
    blends: tuple[BlendState | None, ...] = ()
    early: bool = False
    by_sample: bool = False
    memory_operations: tuple[MemoryOperation, ...] = ()

    @cached_property
    def textures(self) -> int:
        """The number of textures that the vertex and pixel programs sample or read."""
        sampled = len(self.samplers) + len(self.vertex_samplers)
        return sampled + len(self.units) + len(self.vertex_units)

    def blend_of(self, target: int) -> BlendState | None:
        """The blend state of a target, None if it is not blended."""
        if not self.blends:
            return self.blend
        return self.blends[target] if target < len(self.blends) else None

    @cached_property
    def blending(self) -> bool:
        """Whether any target is blended."""
        return self.blend is not None or any(each is not None for each in self.blends)

    @cached_property
    def alpha_unclamped(self) -> bool:
        """Whether an alpha test compares alphas outside of 0..1: the first target holds floats."""
        first = self.color_formats[0] if self.color_formats else None
        return self.alpha_test is not None and first is not None and ROWS[first].floating

    @cached_property
    def tests_late(self) -> bool:
        """Whether depth and stencil are tested after the pixel program, because it affects
        coverage or depth, has side effects on memory, or its alpha is tested.
        """
        if self.early:
            return False
        by_alpha = self.alpha_test is not None or self.alpha_to_coverage
        return bool(self.memory_operations) or by_alpha or decides_coverage(self.pixel)

    @cached_property
    def hides_early(self) -> bool:
        """Whether depth can tell which fragments are hidden before a pixel program that runs ahead
        of the tests: it writes no depth, and there is no stencil test.  Depth is then read for all
        fragments.
        """
        gives = any(port.name == DEPTH_PORT for port in self.pixel.outputs)
        return self.tests_late and self.stencil is None and not gives


@lru_cache(maxsize=1 << 10)
def decides_coverage(program: Program) -> bool:
    """Whether a pixel program kills fragments or writes depth or coverage."""
    decided = any(port.name in (DEPTH_PORT, COVERAGE_PORT) for port in program.outputs)
    return decided or any(isinstance(s, Kill) for s in walk(program.statements))


def is_color(name: str) -> bool:
    """Whether a varying is one of the two colours, which flat shading does not interpolate."""
    return name.startswith(("color0.", "color1."))


@lru_cache(maxsize=1 << 12)
def is_flat(name: str, shading: bool) -> bool:
    """Whether a varying is constant over a primitive; with flat ``shading`` colours are too."""
    return name.startswith(CONSTANT) or (shading and is_color(name))


@lru_cache(maxsize=1 << 10)
def in_quads(program: Program, samplers: Samplers = ()) -> bool:
    """Whether a program reads neighbouring lanes: by derivatives, or for a level of detail that
    its samplers need.
    """
    caring = {number for number, key in samplers if needs_detail(key)}
    return any(
        isinstance(s, Derivative)
        or (isinstance(s, Sample) and s.lod in (Lod.IMPLICIT, Lod.BIAS) and s.sampler in caring)
        for s in walk(program.statements)
    )


LANE_PORT = "lane.x"
"""Name of an I32 input of pixel programs: the index of the fragment among those that one run of
the program shades."""
