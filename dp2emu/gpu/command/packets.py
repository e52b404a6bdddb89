"""Packets: commands of front ends to the GPU, executed in the order of the FIFO.

A packet refers to memory by ``Surface`` object, so that it survives the destruction of a handle,
and to buffers that end with the call by copies (``bytes``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.enums import ComposeRectsOp
from dp2emu.gpu.command import bindings
from dp2emu.gpu.command.patches import NPatch, Patch
from dp2emu.gpu.command.pipeline import Pipeline
from dp2emu.gpu.command.post_vertex_stages import PostVertexStages, StageProgram
from dp2emu.gpu.command.queries import QuerySlot
from dp2emu.gpu.command.stream_targets import Filled
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.pixel_format import Color
from dp2emu.gpu.resource.subresources import Box

if TYPE_CHECKING:
    # Imported for types only: draws without such shaders must not load these modules.
    from dp2emu.shader.resources import Dimension, MemoryOperation, SharedMemory

RECT_BYTES = 256
"""Approximate size in bytes of a rectangle in a queued packet."""


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

    ``blend_factor`` is A8R8G8B8, or the words of four float32 values, of which those of 0.0 and
    -0.0 differ; ``alpha_reference`` 0 to 255; the stencil numbers are DWORDs, of which a format
    uses the low bits.  Of a multisampled target only the samples whose bits are set in
    ``sample_mask`` are drawn to, and of the first 32 bits of a pixel only those set in
    ``plane_mask``.
    """

    blend_factor: int | tuple[int, ...] = 0xFFFFFFFF
    sample_mask: int = 0xFFFFFFFF
    alpha_reference: int = 0
    stencil_reference: int = 0
    stencil_mask: int = 0xFFFFFFFF
    stencil_write_mask: int = 0xFFFFFFFF
    plane_mask: int = 0xFFFFFFFF


class LinePattern(msgspec.Struct, frozen=True):
    """D3DLINEPATTERN: bit n of ``bits`` tells whether the n-th ``repeat`` pixels of a line are
    drawn; lines are solid if ``repeat`` is 0.
    """

    repeat: int = 0
    bits: int = 0


SOLID = LinePattern()


class Instances(msgspec.Struct, frozen=True):
    """Instancing: ``count`` instances numbered from 0.

    ``streams`` are the numbers and rates of per-instance streams: instance i reads element
    ``first`` + i // rate, or always ``first`` if the rate is 0.  ``file`` is the uniform file that
    receives the instance number, if the vertex program reads it.
    """

    count: int
    first: int = 0
    streams: tuple[tuple[int, int], ...] = ()
    file: str = ""


class Unordered(msgspec.Struct, frozen=True, eq=False):
    """An unordered access view of a buffer, or of slices of a texture level.

    ``stride`` is the bytes of a structure, 0 for unstructured views; ``counter`` has the four
    bytes of the hidden counter, if there is one.
    """

    surface: Surface
    dimension: Dimension
    stride: int = 0
    counter: Surface | None = None


UnorderedViews = Mapping[int, Unordered]
"""Unordered access views by register number."""


class InputAssembly(msgspec.Struct, frozen=True, eq=False):
    """The input assembler's part of a draw: ``count`` primitives of ``topology``, starting at
    vertex (or index) number ``first``.

    ``edge_flags``, shape (3, count), are the edges drawn in wireframe, from corner i of a triangle
    (``topology.corners``) to the next; None means all.  With a ``patch`` the vertex program's
    input comes from the tessellator: vertices of a surface, regardless of topology and count, or
    of each triangle.  With ``cuts`` an index of all ones ends a strip; ``count`` is then the
    number of primitives without cuts.  ``vertices`` is the number of vertices read if it does not
    follow from topology and count.  With ``filled`` the number of vertices follows at execution
    from the bytes of stream output in the first stream; ``count`` is the maximum.
    """

    topology: bindings.Topology
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

    uniforms: bindings.Uniforms = msgspec.field(default_factory=dict)
    textures: bindings.Textures = msgspec.field(default_factory=dict)
    buffers: bindings.ConstantBuffers = msgspec.field(default_factory=dict)


class RasterBindings(msgspec.Struct, frozen=True, eq=False):
    """Values that clipper and rasterizer read.

    With a vertex program ``viewport`` maps clip space to the screen, and ``clip_planes`` are the
    application's, in clip space.  ``w_range`` is the w of depth 0 and of depth 1 in a w-buffer.
    """

    viewport: bindings.Viewport | bindings.FloatViewport = bindings.NO_VIEWPORT
    point: PointSize = PointSize()
    clip_planes: tuple[bindings.Plane, ...] = ()
    w_range: tuple[float, float] = (0.0, 1.0)
    line_pattern: LinePattern = SOLID
    stipple: tuple[int, ...] = ()


class OutputBindings(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """Surfaces and values of the output merger; ``unordered`` views are the pixel program's."""

    colors: tuple[Surface | None, ...]
    depth: Surface | None
    merge: MergeNumbers = MergeNumbers()
    unordered: UnorderedViews = msgspec.field(default_factory=dict)


class Draw(msgspec.Struct, frozen=True, eq=False):
    """A draw: primitives, and the state of each stage.

    Fragments must lie in ``scissor``: viewport, scissor rectangle and targets intersected.  With
    ``post_vertex`` stages the topology may be one of Direct3D 10, with adjacent vertices.
    """

    pipeline: Pipeline
    input: InputAssembly
    output: OutputBindings
    scissor: bindings.Rect
    raster: RasterBindings = msgspec.field(default_factory=RasterBindings)
    vertex: ShaderBindings = msgspec.field(default_factory=ShaderBindings)
    pixel: ShaderBindings = msgspec.field(default_factory=ShaderBindings)
    post_vertex: PostVertexStages | None = None


class IndirectDraw(msgspec.Struct, frozen=True, eq=False):
    """A draw with arguments in a buffer, read when the packet executes.

    The DWORDs at ``offset`` in ``arguments`` are: number of vertices or indices, instances, first
    vertex or index, with indices the base vertex, first instance.  All else is in ``draw``.
    """

    draw: Draw
    arguments: Surface
    offset: int


class Dispatch(msgspec.Struct, frozen=True, eq=False):
    """Run a compute program in ``groups`` of ``threads``, both by x, y and z.

    ``memory_operations`` are its accesses by number, to ``unordered`` views and to memory
    ``shared`` in a group.  With ``arguments``, a buffer and an offset in bytes, ``groups`` are
    three DWORDs there, read when the packet executes.
    """

    stage: StageProgram
    memory_operations: tuple[MemoryOperation, ...]
    shared: tuple[SharedMemory, ...]
    threads: tuple[int, int, int]
    groups: tuple[int, int, int]
    unordered: UnorderedViews = msgspec.field(default_factory=dict)
    arguments: tuple[Surface, int] | None = None


class ClearUnordered(msgspec.Struct, frozen=True, eq=False):
    """Fill a view with four DWORDs: floats, or integers for integer formats; with ``bits`` each
    channel stores the low bits of its DWORD.
    """

    view: Unordered
    values: tuple[int, int, int, int]
    bits: bool


class Clear(msgspec.Struct, frozen=True, eq=False):
    """Fill ``rects`` (already clipped) of the given surfaces; None leaves a part unchanged.

    ``color`` is A8R8G8B8 or float32 values, ``z`` 0..1; ``stencil`` is masked to its bits.
    ``srgb``: colours become sRGB codes in formats that hold them.
    """

    rects: tuple[bindings.Rect, ...]
    colors: tuple[Surface | None, ...]
    color: int | Color | None
    depth: Surface | None
    z: float | None
    stencil: int | None
    srgb: bool = False


class Part(msgspec.Struct, frozen=True, eq=False):
    """A ``box`` of texels in subresource ``index`` of a surface."""

    surface: Surface
    index: int
    box: Box


def whole_part(surface: Surface, index: int) -> Part:
    """The box of all texels of subresource ``index`` of a surface."""
    found = surface.subresources[index]
    return Part(surface, index, Box(0, 0, found.width, found.height, 0, found.depth))


class Copy(msgspec.Struct, frozen=True, eq=False):
    """Copy, convert, stretch or resolve the source, all of which is read before it is written.

    Parts of one format and size are copied unchanged, compressed ones in whole blocks; otherwise
    texels are converted, which needs a renderable target, and stretched, interpolated if
    ``linear``.  Samples are copied one to one, or one to all of a pixel's; a target of fewer
    samples receives the resolved source.
    """

    source: Part
    target: Part
    linear: bool = False


SOURCE_COPY = 0xCC
"""Index, 0 to 255, of the ternary raster operation SRCCOPY, which copies the source."""


class Blit(msgspec.Struct, frozen=True, eq=False):
    """A DirectDraw blit: fill the target, or copy the source to it by point sampling.

    ``fill`` is a pixel in the stored format; ``depth_only`` preserves stencil bits.  Colour keys
    are ranges of stored colours: source pixels in ``source_key`` are not copied, and only target
    pixels in ``target_key`` are written.  ``rop`` is the index of a ternary raster operation
    without pattern, 0xCC for a copy; the source is mirrored, then rotated clockwise by ``turns``
    quarters.  Compressed parts are whole blocks.
    """

    target: Part
    source: Part | None
    fill: int = 0
    depth_only: bool = False
    source_key: tuple[int, int] | None = None
    target_key: tuple[int, int] | None = None
    rop: int = SOURCE_COPY
    turns: int = 0
    mirror_x: bool = False
    mirror_y: bool = False


class CopyBytes(msgspec.Struct, frozen=True, eq=False):
    """Copy ``size`` bytes between buffers; both ranges are in bounds."""

    source: Surface
    source_offset: int
    target: Surface
    target_offset: int
    size: int


class Write(msgspec.Struct, frozen=True, eq=False):
    """Write ``data`` to a part: pixels or compressed blocks, no gaps between rows and slices."""

    target: Part
    data: bytes


class WriteBytes(msgspec.Struct, frozen=True, eq=False):
    """Write ``data`` at byte ``offset`` of a buffer; the range is in bounds."""

    target: Surface
    offset: int
    data: bytes


class Swap(msgspec.Struct, frozen=True, eq=False):
    """Exchange the bytes of two surfaces of equal size."""

    one: Surface
    other: Surface


class Compose(msgspec.Struct, frozen=True, eq=False):
    """Combine ``count`` rectangles of an A1 part with another part that does not overlap it.

    Each buffer has 8 bytes for a rectangle, read when the packet executes.  ``sources``: x, y,
    width and height (uint16).  ``places``: number of a source (uint16), two unused bytes, x and y
    (int16), to which ``offset`` is added.
    """

    source: Part
    target: Part
    sources: Surface
    places: Surface
    count: int
    operation: ComposeRectsOp
    offset: tuple[int, int]


class GenerateLevels(msgspec.Struct, frozen=True, eq=False):
    """Generate mipmap levels of each face from the level above, by linear filtering or by taking
    one texel (``point``).  The format is renderable.
    """

    surface: Surface
    point: bool = False


class BeginQuery(msgspec.Struct, frozen=True, eq=False):
    """Take a query's begin snapshot of the counters."""

    slot: QuerySlot
    generation: int


class EndQuery(msgspec.Struct, frozen=True, eq=False):
    """Take a query's end snapshot and report the difference to the matching BeginQuery."""

    slot: QuerySlot
    generation: int


class Observe(msgspec.Struct, frozen=True, eq=False):
    """Call ``sink(surface)`` when the packet executes, for example to save a picture."""

    surface: Surface
    sink: Callable[[Surface], Any]


class PageIn(msgspec.Struct, frozen=True, eq=False):
    """Make allocations resident; they are handles of ``Gpu.residency``."""

    allocations: tuple[int, ...]


Predicable = (
    Draw | IndirectDraw | Dispatch | Clear | ClearUnordered | Copy | CopyBytes | Write | WriteBytes
    | Swap | Compose | GenerateLevels | PageIn
)  # fmt: skip
"""Packets that a predicate can skip: those that change memory or its residency."""


class Predicated(msgspec.Struct, frozen=True, eq=False):
    """Execute ``packet`` unless the last outcome of the predicate ``slot`` is ``value``.

    The GPU waits for the outcome, or with a ``hint`` executes the packet if it is not visible yet.
    A predicate that never ended does not skip.
    """

    packet: Predicable
    slot: QuerySlot
    value: bool
    hint: bool

    def start(self, time: int) -> int:
        """The tick from which the packet can execute if earlier packets end at tick ``time``."""
        outcome = self.slot.outcome
        return time if self.hint or outcome is None else max(time, outcome.visible)

    def skips(self, time: int) -> bool:
        """Whether the packet is skipped if it starts at ``time``."""
        outcome = self.slot.outcome
        return outcome is not None and outcome.visible <= time and outcome.holds is self.value


Packet = Predicated | Predicable | Blit | BeginQuery | EndQuery | Observe
