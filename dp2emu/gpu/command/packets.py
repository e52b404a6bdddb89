"""Packets: commands of front ends to the GPU, executed in the order of the FIFO.

A packet names the memory it touches by ``Surface`` object, so it survives the destruction of a
handle, and holds copies (``bytes``) of whatever came from a buffer that dies with the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.enums import ComposeRectsOp
from dp2emu.gpu.command.bindings import NO_VIEWPORT
from dp2emu.gpu.command.bindings import ConstantBuffers as ConstantBuffers
from dp2emu.gpu.command.bindings import FloatViewport as FloatViewport
from dp2emu.gpu.command.bindings import Plane as Plane
from dp2emu.gpu.command.bindings import Rect as Rect
from dp2emu.gpu.command.bindings import TextureBinding as TextureBinding
from dp2emu.gpu.command.bindings import Textures as Textures
from dp2emu.gpu.command.bindings import Topology as Topology
from dp2emu.gpu.command.bindings import Uniforms as Uniforms
from dp2emu.gpu.command.bindings import Viewport as Viewport
from dp2emu.gpu.command.patches import NPatch, Patch
from dp2emu.gpu.command.pipeline import Pipeline
from dp2emu.gpu.command.post_vertex_stages import Component as Component
from dp2emu.gpu.command.post_vertex_stages import ConstantsProgram as ConstantsProgram
from dp2emu.gpu.command.post_vertex_stages import EmittedStream as EmittedStream
from dp2emu.gpu.command.post_vertex_stages import GeometryStage as GeometryStage
from dp2emu.gpu.command.post_vertex_stages import HullStage as HullStage
from dp2emu.gpu.command.post_vertex_stages import Layer as Layer
from dp2emu.gpu.command.post_vertex_stages import PostVertexStages as PostVertexStages
from dp2emu.gpu.command.post_vertex_stages import StageProgram as StageProgram
from dp2emu.gpu.command.post_vertex_stages import TessellationStage as TessellationStage
from dp2emu.gpu.command.post_vertex_stages import View as View
from dp2emu.gpu.command.queries import QuerySlot
from dp2emu.gpu.command.stream_targets import Filled
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.pixel_format import Color as Color

if TYPE_CHECKING:
    # Imported for types only: draws without such shaders must not load these modules.
    from dp2emu.shader.resources import Dimension, MemoryOperation, SharedMemory
from dp2emu.gpu.resource.subresources import Box

RECT_BYTES = 256
"""The approximate size of a rectangle in a queued packet."""


class Stream(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """Vertex data: element k of a stream starts at byte ``offset + k * stride``.

    Vertex n reads element ``first`` // ``divider`` + (n - ``first``) // ``divider``.  Bytes beyond
    the end of ``data`` read as zero, so that no index can reach foreign memory.
    """

    data: Surface | bytes
    offset: int
    stride: int
    divider: int = 1
    first: int = 0


class Indices(msgspec.Struct, frozen=True, eq=False):
    """Vertex numbers: a uint32 array (``size`` 4, ``offset`` 0), or a buffer read when drawn.

    ``size`` is 2 or 4 bytes, ``offset`` in bytes; ``base`` is added to each index.  Indices
    beyond the end of a buffer read as zero.
    """

    data: NDArray[np.uint32] | Surface
    size: int = 4
    offset: int = 0
    base: int = 0


class PointSize(msgspec.Struct, frozen=True):
    """Point size where a vertex has none, and the clamp for all, in pixels (float32 values)."""

    size: float = 1.0
    min: float = 1.0
    max: float = 64.0


class MergeNumbers(msgspec.Struct, frozen=True):
    """Values of the output merger that do not change its program.

    ``blend_factor`` is A8R8G8B8, or float32 values; ``alpha_reference`` 0 to 255; the stencil
    numbers are DWORDs, of which a format uses the low bits.  Of a multisampled target only the
    samples whose bits are set in ``sample_mask`` are drawn to, and of the first 32 bits of a pixel
    only those set in ``plane_mask``.
    """

    blend_factor: int | Color = 0xFFFFFFFF
    sample_mask: int = 0xFFFFFFFF
    alpha_reference: int = 0
    stencil_reference: int = 0
    stencil_mask: int = 0xFFFFFFFF
    stencil_write_mask: int = 0xFFFFFFFF
    plane_mask: int = 0xFFFFFFFF


class LinePattern(msgspec.Struct, frozen=True):
    """D3DLINEPATTERN: pixels along a line for each of the 16 bits, from the lowest; 0 is solid."""

    repeat: int = 0
    bits: int = 0


SOLID = LinePattern()


class Instances(msgspec.Struct, frozen=True):
    """The primitives of a draw ``count`` times, with a number each from 0 on.

    ``streams`` are those that have an element for an instance, with their rates: of instance i of
    those from ``first`` on, i counted from 0, they have element ``first`` + i // rate, or the
    first alone if the rate is 0.  ``file`` is the uniform file of the vertex program that has the
    number, if it reads it.
    """

    count: int
    first: int = 0
    streams: tuple[tuple[int, int], ...] = ()
    file: str = ""


class Unordered(msgspec.Struct, frozen=True, eq=False):
    """A view for unordered access: a buffer, or slices of a level of a texture.

    ``stride`` is the bytes of a structure, 0 of what is none; ``counter`` four bytes of memory
    with the number the view hides, if it does.
    """

    surface: Surface
    dimension: Dimension
    stride: int = 0
    counter: Surface | None = None


UnorderedViews = Mapping[int, Unordered]
"""Views by the number of their u#."""


class InputAssembly(msgspec.Struct, frozen=True, eq=False):
    """The input assembler's part of a draw: ``count`` primitives of ``topology``, starting at
    vertex (or index) number ``first``.

    ``edge_flags``, shape (3, count), are the edges drawn in wireframe, from corner i of a triangle
    (``topology.corners``) to the next; None means all.  With a ``patch`` the vertex program's
    input comes from the tessellator: vertices of a surface, whatever topology and count say, or of
    each triangle.  With ``cuts`` an index of all ones ends a strip and the next one begins;
    ``count`` is then the number of primitives without cuts.  ``vertices`` is the number of
    vertices read, where topology and count do not tell.  With ``filled`` the number of vertices is
    found at execution, from the bytes that stream output has stored behind the beginning of the
    first stream; ``count`` is the most.
    """

    topology: Topology
    first: int
    count: int
    streams: tuple[Stream | None, ...]
    indices: Indices | None = None
    edge_flags: NDArray[np.bool_] | None = None
    patch: Patch | NPatch | None = None
    instances: Instances | None = None
    cuts: bool = False
    vertices: int | None = None
    filled: Filled | None = None


class ShaderBindings(msgspec.Struct, frozen=True, eq=False):
    """Resources of a shader stage: uniform files, textures by sampler or unit, and ``buffers``,
    which become uniform files when the draw executes.
    """

    uniforms: Uniforms = msgspec.field(default_factory=dict)
    textures: Textures = msgspec.field(default_factory=dict)
    buffers: ConstantBuffers = msgspec.field(default_factory=dict)


class RasterBindings(msgspec.Struct, frozen=True, eq=False):
    """Numbers of the rasterizer, and of the clipper before it.

    With a vertex program ``viewport`` maps clip space to the screen, and ``clip_planes`` are the
    application's, in clip space.  ``w_range`` is the w of depth 0 and of depth 1 in a w-buffer.
    """

    viewport: Viewport | FloatViewport = NO_VIEWPORT
    point: PointSize = PointSize()
    clip_planes: tuple[Plane, ...] = ()
    w_range: tuple[float, float] = (0.0, 1.0)
    line_pattern: LinePattern = SOLID
    stipple: tuple[int, ...] = ()


class OutputBindings(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """Surfaces and numbers of the output merger; ``unordered`` views are the pixel program's."""

    colors: tuple[Surface | None, ...]
    depth: Surface | None
    merge: MergeNumbers = MergeNumbers()
    unordered: UnorderedViews = msgspec.field(default_factory=dict)


class Draw(msgspec.Struct, frozen=True, eq=False):
    """Primitives, and the state of each stage they pass through.

    Fragments must lie in ``scissor``: viewport, scissor rectangle and targets intersected.  With
    ``post_vertex`` stages the topology may be one of Direct3D 10, with adjacent vertices.
    """

    pipeline: Pipeline
    input: InputAssembly
    output: OutputBindings
    scissor: Rect
    raster: RasterBindings = msgspec.field(default_factory=RasterBindings)
    vertex: ShaderBindings = msgspec.field(default_factory=ShaderBindings)
    pixel: ShaderBindings = msgspec.field(default_factory=ShaderBindings)
    post_vertex: PostVertexStages | None = None


class IndirectDraw(msgspec.Struct, frozen=True, eq=False):
    """A draw whose numbers are in a buffer, read when the packet executes.

    ``offset`` bytes into ``arguments`` there are as many DWORDs as the functions of draws with
    instances take: vertices or indices, instances, the first of those, with indices what is added
    to each, the first instance.  ``draw`` has instances, and all else.
    """

    draw: Draw
    arguments: Surface
    offset: int


class Dispatch(msgspec.Struct, frozen=True, eq=False):
    """Run a compute program in ``groups``, by x, y and z, of ``threads``, likewise.

    ``memory_operations`` are its accesses by number, to ``unordered`` views and to memory that
    threads of a group have ``shared``.  With ``arguments``, a buffer and an offset in bytes, the
    numbers of groups are three DWORDs there, read when the packet executes.
    """

    stage: StageProgram
    memory_operations: tuple[MemoryOperation, ...]
    shared: tuple[SharedMemory, ...]
    threads: tuple[int, int, int]
    groups: tuple[int, int, int]
    unordered: UnorderedViews = msgspec.field(default_factory=dict)
    arguments: tuple[Surface, int] | None = None


class ClearUnordered(msgspec.Struct, frozen=True, eq=False):
    """Fill a view with four DWORDs: floats, or integers where the format has them; of ``bits``
    each channel has the low ones of its own.
    """

    view: Unordered
    values: tuple[int, int, int, int]
    bits: bool


class Clear(msgspec.Struct, frozen=True, eq=False):
    """Fill ``rects`` (already clipped) of the given surfaces; None leaves that part alone.

    ``color`` is A8R8G8B8, or float32 values, ``z`` 0..1, ``stencil`` is masked to the format's
    bits.
    """

    rects: tuple[Rect, ...]
    colors: tuple[Surface | None, ...]
    color: int | Color | None
    depth: Surface | None
    z: float | None
    stencil: int | None


class Part(msgspec.Struct, frozen=True, eq=False):
    """A box of one subresource of a surface with pixels, which lies inside it."""

    surface: Surface
    index: int
    box: Box


def whole_part(surface: Surface, index: int) -> Part:
    """A part that covers a whole subresource."""
    found = surface.subresources[index]
    return Part(surface, index, Box(0, 0, found.width, found.height, 0, found.depth))


class Copy(msgspec.Struct, frozen=True, eq=False):
    """Make the target look like the source.  All of the source is read before anything is written.

    Parts of one format and size are copied as they are, of compressed formats in whole blocks;
    otherwise texels are converted, which needs a target that can be rendered to, and stretched,
    between texel centres if ``linear``.  Samples are copied one to one, or one to all of a
    pixel's; a target of fewer samples than the source gets the resolved source.
    """

    source: Part
    target: Part
    linear: bool = False


class Blit(msgspec.Struct, frozen=True, eq=False):
    """Fill the target, or copy the source to it by points, as DirectDraw does.

    ``fill`` is a pixel as it is stored; ``depth_only`` leaves stencil bits as they are.
    ``source_key`` and ``target_key`` are ranges of colours as stored: of the source those are not
    copied, of the target those alone are written.  ``rop`` is the index of a ternary raster
    operation without pattern, 0xCC for a copy; the source is mirrored, then turned clockwise by
    ``turns`` quarters.  Compressed parts are whole blocks.
    """

    target: Part
    source: Part | None
    fill: int = 0
    depth_only: bool = False
    source_key: tuple[int, int] | None = None
    target_key: tuple[int, int] | None = None
    rop: int = 0xCC
    turns: int = 0
    mirror_x: bool = False
    mirror_y: bool = False


class CopyBytes(msgspec.Struct, frozen=True, eq=False):
    """Copy ``size`` bytes between buffers, which have them."""

    source: Surface
    source_offset: int
    target: Surface
    target_offset: int
    size: int


class Write(msgspec.Struct, frozen=True, eq=False):
    """Put ``data`` that came with the command into a part: its blocks without holes, row by row
    and slice by slice.
    """

    target: Part
    data: bytes


class WriteBytes(msgspec.Struct, frozen=True, eq=False):
    """Put ``data`` that came with the command into a buffer, in which it has its place."""

    target: Surface
    offset: int
    data: bytes


class Swap(msgspec.Struct, frozen=True, eq=False):
    """Exchange all bytes of two surfaces that have as many."""

    one: Surface
    other: Surface


class Compose(msgspec.Struct, frozen=True, eq=False):
    """Combine ``count`` rectangles of an A1 part with another one, which is no part of it.

    Each is told by 8 bytes in either buffer, read when the packet executes.  ``sources``: x, y,
    width and height (uint16).  ``places``: number of a source (uint16), two bytes that mean
    nothing, x and y (int16), to which ``offset`` is added.
    """

    source: Part
    target: Part
    sources: Surface
    places: Surface
    count: int
    operation: ComposeRectsOp
    offset: tuple[int, int]


class GenerateLevels(msgspec.Struct, frozen=True, eq=False):
    """Make every level of each face but the first from the one above: ``point`` takes one texel,
    otherwise it is filtered linearly.  The format can be rendered to.
    """

    surface: Surface
    point: bool = False


class BeginQuery(msgspec.Struct, frozen=True, eq=False):
    """Remember the counters as they are when the GPU gets here."""

    slot: QuerySlot
    generation: int


class EndQuery(msgspec.Struct, frozen=True, eq=False):
    """Report what changed since the matching BeginQuery."""

    slot: QuerySlot
    generation: int


class Observe(msgspec.Struct, frozen=True, eq=False):
    """Call ``sink(surface)`` when the GPU gets here: how pictures are taken without steering."""

    surface: Surface
    sink: Callable[[Surface], Any]


class PageIn(msgspec.Struct, frozen=True, eq=False):
    """Bring allocations, by their handles in ``Gpu.residency``, to where the GPU reaches them."""

    allocations: tuple[int, ...]


Predicable = (
    Draw
    | IndirectDraw
    | Dispatch
    | Clear
    | ClearUnordered
    | Copy
    | CopyBytes
    | Write
    | WriteBytes
    | Swap
    | Compose
    | GenerateLevels
    | PageIn
)
"""Packets that change memory or move it."""


class Predicated(msgspec.Struct, frozen=True, eq=False):
    """Execute ``packet`` unless what the predicate ``slot`` found last is ``value``.

    The GPU waits until that is known; with a ``hint`` it executes the packet then.  It also does
    if the predicate never ended.
    """

    packet: Predicable
    slot: QuerySlot
    value: bool
    hint: bool

    def start(self, time: int) -> int:
        """When this starts if the GPU gets here at ``time``; earlier packets are done."""
        outcome = self.slot.outcome
        return time if self.hint or outcome is None else max(time, outcome.visible)

    def skips(self, time: int) -> bool:
        """Whether nothing is executed, at the time of the start."""
        outcome = self.slot.outcome
        return outcome is not None and outcome.visible <= time and outcome.holds is self.value


Packet = Predicated | Predicable | Blit | BeginQuery | EndQuery | Observe
