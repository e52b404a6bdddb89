"""Resolved pipeline state: frozen, hashable records a draw carries by value.

A front end resolves its raw API state into these once per change; they are the memo key of
whatever is derived from them and, with a compiled engine, the key of the compiled kernel.  A
field belongs here if it changes the program that draws; what only feeds it (buffers, constants,
rectangles) is a binding and travels in the packet.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import msgspec

from dp2emu.d3d.enums import CmpFunc, Cull, FillMode, StencilOp
from dp2emu.d3d.formats import AnyFormat
from dp2emu.d3d.vertices import Element
from dp2emu.d3d.vertices import VertexLayout as VertexLayout
from dp2emu.gpu.command.raster_operations import COPY
from dp2emu.shader.fixed.blend import BlendEquation as BlendEquation
from dp2emu.shader.fixed.blend import BlendState as BlendState
from dp2emu.shader.ir import Kill, Program, walk
from dp2emu.shader.texture.records import SamplerKey

if TYPE_CHECKING:
    # Imported for types only: draws without such shaders must not load these modules.
    from dp2emu.shader.resources import MemoryOperation, Unit

from dp2emu.shader.ir import Derivative, Lod, Sample
from dp2emu.shader.ports import CONSTANT
from dp2emu.shader.texture.sampler import needs_detail

DEPTH_PORT = "depth.x"
"""The output of a pixel program that takes the place of the depth of its fragment."""


COVERAGE_PORT = "coverage.x"
"""The I32 output that says, bit by bit, which samples of its pixel are drawn; and the input that
says which are covered, of those that the sample mask lets through."""

Samplers = tuple[tuple[int, SamplerKey], ...]
"""How the samplers of a program that have a texture read it, by number."""


class RasterState(msgspec.Struct, frozen=True):
    """How primitives become fragments.

    ``clip``: D3DRS_CLIPPING; when set, fragments with z outside 0..1 are dropped, when clear
    their depth is clamped.  ``last_pixel``: D3DRS_LASTPIXEL, lines own their end pixel.
    ``clip_planes``: bit n is set if plane n clips, which needs ``clip`` and a vertex program.
    ``fill``: what becomes of triangles.  ``point_sprites``: D3DRS_POINTSPRITEENABLE, every texture
    coordinate set runs from 0, 0 to 1, 1 across a point.  ``smooth_lines``: lines, also those of a
    wireframe, are antialiased: alpha is multiplied by coverage, unless targets are multisampled.
    ``multisample``:
    D3DRS_MULTISAMPLEANTIALIAS, without it every sample has what the pixel's centre has.  ``wrap``:
    D3DRS_WRAP0 and so on, bit c of number n is set if component c of texture coordinate n goes the
    shortest way around.  ``perspective``: texture coordinates are in perspective, as all else is;
    without it they are linear on the screen.  ``half_centres``: the centre of pixel 0 is at 0.5,
    as Direct3D 10 has it, not at 0.  ``targetless``: without a target, all of the scissor
    rectangle is drawn to, and what passes counts; else nothing is drawn then.  ``turned``: what is
    counterclockwise on the screen is the front, for all but ``cull``.  ``clip_distances`` says how
    many distances, ``clip0.x`` and so on, the vertex program writes to planes of no equation, that
    cut off whatever ``clip`` says; ``cull_distances``, ``cull0.x`` and so on, drop a primitive
    all of whose corners are negative in one.  Not ``enabled``: primitives go nowhere, not even to
    be clipped.
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
    units of the 0..1 depth range.  ``w_buffer``: what is tested is w of the eye, taken from the
    draw's ``w_range`` to 0..1, instead of z.  ``bias_all``: not only triangles are biased.

    Direct3D 10 has more.  ``bias_of_float``: ``bias`` counts in units of the last place of a
    triangle's greatest z.  ``bias_clamp`` bounds the sum of bias and slope, from above if it is
    positive and from below if it is negative.  ``in_viewport``: depth is clamped to the range of
    the draw's viewport.
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
    """The stencil test of a face, and what becomes of the value: where the test fails, where it
    passes and depth fails, and where both pass.
    """

    func: CmpFunc = CmpFunc.ALWAYS
    fail: StencilOp = StencilOp.KEEP
    depth_fail: StencilOp = StencilOp.KEEP
    passed: StencilOp = StencilOp.KEEP

    @property
    def writes(self) -> bool:
        """Whether it can change a value."""
        return {self.fail, self.depth_fail, self.passed} != {StencilOp.KEEP}


class StencilState(msgspec.Struct, frozen=True):
    """The stencil test; ``back`` is for triangles that are counterclockwise on the screen, None
    means the same as ``front``, which lines and points always have.
    """

    front: StencilFace
    back: StencilFace | None = None


class Attribute(msgspec.Struct, frozen=True):
    """What a vertex program calls an element; None if the vertices have no such thing."""

    name: str
    element: Element | None


# A pipeline is the key of what is looked up for every draw, so it is hashed once.
class Pipeline(msgspec.Struct, frozen=True, cache_hash=True, weakref=True, dict=True):
    """Everything about a draw that changes the program that executes it.

    Without a ``vertex`` program the layout's vertices are on the screen already, and
    ``attributes`` name their elements if it is not usages that do.  Otherwise it
    reads ``attributes`` by name and component (``v0.x``) and writes ``position0.x`` to
    ``position0.w`` in clip space, ``psize0.x``, ``clip0.x`` and so on (distances to the user's
    planes) and varyings.

    ``pixel`` reads varyings by name (``color0.x``, ``texcoord3.z``), ``vpos.x`` and ``vpos.y``
    (the pixel), ``vface.x`` (+1 in front, -1 behind), ``depth.x`` (z of the fragment) and ``w.x``
    (w of the eye); it writes ``target0.x`` and so on.  It samples with ``samplers``, the vertex
    program with ``vertex_samplers``, numbered from 0; one that is not there gives 0, 0, 0, 1.
    Without ``blend`` what it writes takes the place of what a target has.  All targets have
    ``samples`` per pixel.

    ``alpha_test`` drops fragments whose first alpha does not pass; None lets all pass.
    ``alpha_to_coverage`` drops samples of multisampled targets by the first alpha.
    ``counts_pixels``: False if ``pixel`` only stands for there being none, so that it never counts
    as run.
    ``raster_op`` combines what is stored with what was there (``gpu.command.raster_operations``).
    ``srgb_write`` and ``dither`` concern the targets whose formats they are for
    (``gpu.output_merger.color_target``).

    Programs of Direct3D 10 sample and fetch by ``units`` and ``vertex_units``, whose numbers
    those of the samplers are; a unit without a sampler key answers 0.  ``blends``, if there are
    any, are the blend states of the targets by number, in the place of ``blend``.  ``early``:
    depth and stencil are tested and counted before the program, whatever it does.  ``by_sample``:
    the program runs for each sample.  ``deeds`` are what ``pixel`` does to memory, by number.
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
    deeds: tuple[MemoryOperation, ...] = ()

    def blend_of(self, target: int) -> BlendState | None:
        """How a target is blended."""
        if not self.blends:
            return self.blend
        return self.blends[target] if target < len(self.blends) else None

    @cached_property
    def blending(self) -> bool:
        """Whether any target is blended."""
        return self.blend is not None or any(each is not None for each in self.blends)

    @cached_property
    def tests_late(self) -> bool:
        """Whether depth and stencil must wait for the pixel program, which has a say in coverage
        or in depth, or acts on memory, or for what becomes of its alpha.
        """
        if self.early:
            return False
        if self.deeds:
            return True
        by_alpha = self.alpha_test is not None or self.alpha_to_coverage
        return by_alpha or decides_coverage(self.pixel)

    @cached_property
    def hides_early(self) -> bool:
        """Whether a program that tests wait for changes nothing about which fragments are hidden:
        it gives no depth, and there is no stencil that counts what it drops.  Depth is read for
        all fragments then.
        """
        gives = any(port.name == DEPTH_PORT for port in self.pixel.outputs)
        return self.tests_late and self.stencil is None and not gives


@lru_cache(maxsize=1 << 10)
def decides_coverage(program: Program) -> bool:
    """Whether a pixel program has a say in which fragments pass."""
    decided = any(port.name in (DEPTH_PORT, COVERAGE_PORT) for port in program.outputs)
    return decided or any(isinstance(s, Kill) for s in walk(program.statements))


def is_color(name: str) -> bool:
    """Whether a varying is one of the two colours, which flat shading does not interpolate."""
    return name.startswith(("color0.", "color1."))


@lru_cache(maxsize=1 << 12)
def is_flat(name: str, shading: bool) -> bool:
    """Whether a varying is the first corner's; ``shading`` is whether colours are."""
    return name.startswith(CONSTANT) or (shading and is_color(name))


@lru_cache(maxsize=1 << 10)
def in_quads(program: Program, samplers: Samplers = ()) -> bool:
    """Whether a program looks at neighbours: derivatives, or a level of detail found from them
    that its samplers care about.
    """
    caring = {number for number, key in samplers if needs_detail(key)}
    return any(
        isinstance(s, Derivative)
        or (isinstance(s, Sample) and s.lod in (Lod.IMPLICIT, Lod.BIAS) and s.sampler in caring)
        for s in walk(program.statements)
    )


LANE_PORT = "lane.x"
"""An I32 input: which of the fragments that run together it is."""
