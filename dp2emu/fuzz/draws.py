"""The target of hostile draws of DirectX 6 to 9: any state, any numbers, through the driver."""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cache
from random import Random
from typing import Any

import msgspec
from msgspec.structs import replace

from dp2emu.capture.records import (
    Called,
    ContextCreated,
    ContextDestroyed,
    MemoryWritten,
    Record,
    SurfaceCreated,
    SurfaceDestroyed,
)
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import (
    Blend,
    CmpFunc,
    Cull,
    FillMode,
    Format,
    PrimitiveType,
    RenderState,
    ShadeMode,
    StencilOp,
    TextureAddress,
    TextureOp,
)
from dp2emu.d3d.flags import Dp2Flags
from dp2emu.d3d.formats import FORMATS, Use
from dp2emu.d3d.fvf import fvf_size
from dp2emu.d3d.wirenames import WireTextureStageState as Tss
from dp2emu.dp2.call import Call
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.dp2.parsers import WALK
from dp2emu.errors import Dp2Error
from dp2emu.fuzz import hostile, mutations
from dp2emu.fuzz.hostile import near, often, real
from dp2emu.fuzz.target import Target, cases_of
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind, layout_of
from dp2emu.limits import FUZZING, GENEROUS, NAMES
from dp2emu.runtime.commands import CommandBuffer
from dp2emu.shader.engines import JIT
from dp2emu.shader.sm import assemble

VARIANTS = 1 << 7
"""Number of different sets of formats, states and shaders."""
LIMITS = replace(
    FUZZING, extent=hostile.LONGEST, call_pixels=1 << 16, call_vertices=1 << 12,
    **{name: getattr(GENEROUS, name) for name in NAMES if name.startswith("capture_")},
)  # fmt: skip
"""Low limits, so that each draw ends quickly; one driver plays any number of inputs."""
_CONTEXT = 1
COLOR, DEPTH, COMMANDS, VERTICES, INDICES, FIRST_TEXTURE = range(1, 7)
"""Handles of the surfaces."""
_ROOM = 4096
_DRAWS_OF_A_CALL = (1, 2, 4), (4, 16, 32)
"""Numbers of draws of a call, before DirectX 8 and later: an index beyond the vertices makes
earlier versions end the call."""
_MOST_WRITTEN = 4096
"""Bytes of the largest textures that are filled; others are zero."""
_KIND = SurfaceKind
_KINDS = (_KIND.TEXTURE, _KIND.TEXTURE, _KIND.CUBETEXTURE, _KIND.VOLUMETEXTURE)
_VS, _PS, _DECLARATION = 1, 1, 3
_TRANSFORMED, _SPACE, _NORMAL, _SIZE, _DIFFUSE, _TEXTURED = 0x004, 0x002, 0x10, 0x20, 0x40, 0x200
_FVFS = (
    _TRANSFORMED | _DIFFUSE, _TRANSFORMED | _DIFFUSE | _TEXTURED, _TRANSFORMED | _SIZE | _DIFFUSE,
    _SPACE | _DIFFUSE | _TEXTURED, _SPACE | _NORMAL | _TEXTURED, _SPACE | _SIZE | _TEXTURED,
)  # fmt: skip
_TARGETS, _DEPTHS, _TEXTURES = (
    [format for format, row in FORMATS.items() if use in row.uses and isinstance(format, Format)]
    for use in (Use.TARGET, Use.DEPTH, Use.TEXTURE)
)
_ELEMENTS = b"".join(
    struct.pack("<HH4B", 0, offset, type, 0, usage, 0)
    for offset, type, usage in ((0, 2, 0), (12, 4, 10), (16, 1, 5))
)
"""D3DVERTEXELEMENT9 of a position, a colour and texture coordinates."""
_DECLARED_BYTES = 24
_VERTEX_SHADERS = (
    "vs_1_1\ndcl_position v0\ndcl_color v1\ndcl_texcoord v2\nmov a0.x, v0.x\n"
    "add r0, v0, c[a0.x + 90]\nmov oPos, r0\nmov oD0, v1\nmov oT0, v2",
    "vs_2_0\ndcl_position v0\ndcl_color v1\ndcl_texcoord v2\nmova a0.x, v2.y\n"
    "m4x4 r0, v0, c0\nmad oPos, v0, c4, r0\nmov oD0, v1\nmul oT0, v2, c[a0.x + 200]",
    "vs_3_0\ndcl_position v0\ndcl_color v1\ndcl_texcoord v2\ndcl_2d s0\ndcl_position o0\n"
    "dcl_color o1\ndcl_texcoord o2\ndcl_psize o3\nmova a0.x, v2.x\nmul r1, v2, c5\n"
    "texldl r0, r1, s0\nadd o0, v0, r0\nmov o1, v1\nmul o2, v2, c[a0.x]\nmov o3, c6",
)
_PIXEL_SHADERS = (
    "ps_1_1\ntex t0\nmul r0, t0, v0",
    "ps_1_4\ntexld r0, t0\nphase\ntexld r1, r0\nmul r0, r1, c0",
    "ps_2_0\ndcl t0\ndcl_2d s0\nmul r0, t0, c0\ntexld r1, r0, s0\nadd r0, r1, c1\nmov oC0, r0",
    "ps_3_0\ndcl_texcoord v0\ndcl_2d s0\nmul r0, v0, c0\ndsx r1, r0\nmul r2, r1, c1\n"
    "texldd r3, r0, s0, r1, r2\nmul r0, r0, c2\ntexldl r1, r0, s0\nadd oC0, r3, r1",
)
_STATES: dict[RenderState, Sequence[int]] = {
    RenderState.ZENABLE: (0, 1, 1, 2),
    RenderState.ZWRITEENABLE: (0, 1),
    RenderState.ZFUNC: (CmpFunc.ALWAYS, *CmpFunc),
    RenderState.STENCILENABLE: (0, 1),
    RenderState.STENCILFUNC: tuple(CmpFunc),
    RenderState.STENCILPASS: tuple(StencilOp),
    RenderState.ALPHATESTENABLE: (0, 1),
    RenderState.ALPHAFUNC: tuple(CmpFunc),
    RenderState.ALPHABLENDENABLE: (0, 1),
    RenderState.SRCBLEND: tuple(Blend),
    RenderState.DESTBLEND: tuple(Blend),
    RenderState.CULLMODE: (Cull.NONE, Cull.NONE, Cull.CCW),
    RenderState.FILLMODE: (*FillMode, FillMode.SOLID, FillMode.SOLID),
    RenderState.SHADEMODE: tuple(ShadeMode),
    RenderState.DITHERENABLE: (0, 1),
    RenderState.FOGENABLE: (0, 0, 1),
    RenderState.LIGHTING: (0, 0, 1),
    RenderState.CLIPPING: (0, 1, 1),
    RenderState.POINTSPRITEENABLE: (0, 1),
    RenderState.POINTSCALEENABLE: (0, 1),
    RenderState.SCISSORTESTENABLE: (0, 1),
    RenderState.LASTPIXEL: (0, 1),
    RenderState.TEXTUREFACTOR: (0, 0x80FF40C0),
}
"""States that compiled code depends on, with their values."""
_NUMBERS = (
    RenderState.POINTSIZE, RenderState.POINTSIZE_MIN, RenderState.POINTSIZE_MAX,
    RenderState.POINTSCALE_A, RenderState.FOGSTART, RenderState.FOGEND, RenderState.FOGDENSITY,
    RenderState.DEPTHBIAS, RenderState.SLOPESCALEDEPTHBIAS,
)  # fmt: skip
"""States with a float, of which some are set for each draw."""
_ADDRESSES = tuple(TextureAddress)
_LEGACY = {
    PrimitiveType.POINTLIST: Op.POINTS,
    PrimitiveType.LINELIST: Op.LINELIST,
    PrimitiveType.LINESTRIP: Op.LINESTRIP,
    PrimitiveType.TRIANGLELIST: Op.TRIANGLELIST,
    PrimitiveType.TRIANGLESTRIP: Op.TRIANGLESTRIP,
    PrimitiveType.TRIANGLEFAN: Op.TRIANGLEFAN,
}


class Variant(msgspec.Struct, frozen=True):
    """What compiled code depends on: version, formats, vertex format (0: vertex shaders), tokens
    of states, shaders, and kinds of textures.
    """

    version: int
    color: Format
    depth: Format | None
    samples: int
    fvf: int
    states: tuple[tuple[int, int], ...]
    stages: tuple[tuple[int, int, int], ...]
    vertex: str
    pixel: str
    topology: PrimitiveType
    textures: tuple[tuple[SurfaceKind, Format], ...]

    @property
    def vertex_size(self) -> int:
        """Bytes of a vertex."""
        return fvf_size(self.fvf) if self.fvf else _DECLARED_BYTES

    @classmethod
    def of(cls, rng: Random) -> Variant:
        """Choose a variant."""
        version = rng.choice((6, 7, 8, 9, 9))
        shaded = version == 9 and rng.random() < 0.5
        states = rng.sample(sorted(_STATES), 8)
        chosen = [(state, int(rng.choice(_STATES[state]))) for state in states]
        return cls(
            version=version,
            color=often(rng, Format.X8R8G8B8, _TARGETS, 0.6),
            depth=rng.choice((None, Format.D24S8, Format.D16, rng.choice(_DEPTHS))),
            samples=often(rng, 1, (2, 4, 8), 0.15),
            fvf=0 if shaded else rng.choice(_FVFS),
            states=((RenderState.LIGHTING, 0), *chosen),
            stages=tuple(_stages(rng)),
            vertex=rng.choice(_VERTEX_SHADERS) if shaded else "",
            pixel=rng.choice(_PIXEL_SHADERS) if version == 9 and rng.random() < 0.5 else "",
            topology=often(rng, PrimitiveType.TRIANGLELIST, list(_LEGACY), 0.6),
            textures=tuple(
                (rng.choice(_KINDS if version > 7 else _KINDS[:2]), rng.choice(_TEXTURES))
                for _ in range(2)
            ),
        )  # fmt: skip


def _stages(rng: Random) -> Iterator[tuple[int, int, int]]:
    """TEXTURESTAGESTATE items: operations, addresses and filters of two stages."""
    for stage in range(2):
        for state in (Tss.D3DTSS_COLOROP, Tss.D3DTSS_ALPHAOP):  # type: ignore[attr-defined]
            operations = [TextureOp.MODULATE, TextureOp.SELECTARG1, *TextureOp]
            yield stage, state, int(rng.choice(operations))
        for state in (13, 14, 25):
            yield stage, state, int(rng.choice(_ADDRESSES))
        for state in (16, 17, 18):
            yield stage, state, rng.choice((1, 2, 3))
        yield stage, 21, rng.choice((1, 2, 16))


# The records of an input


class _Calls:
    """Collects the calls of an input.  Mutable."""

    def __init__(self, variant: Variant, rng: Random) -> None:
        self.records: list[Record] = []
        self._variant, self._rng = variant, rng
        self._tokens = CommandBuffer(_ROOM, self._call, max(variant.version, 7))
        self.emit = self._tokens.emit

    def emit_floats(self, op: Op, item: Any, values: Sequence[float]) -> None:
        """Append a token of an item and float32 values."""
        self._tokens.emit_tailed(op, item, hostile.words(values))

    def emit_bytes(self, op: Op, item: Any, data: bytes) -> None:
        """Append a token of an item and bytes."""
        self._tokens.emit_tailed(op, item, data)

    def flush(self) -> None:
        """End a call."""
        self._tokens.flush()

    def _call(self, commands: bytes) -> None:
        rng, variant = self._rng, self._variant
        size, memory = variant.vertex_size, None
        if rng.random() < 0.7:
            memory = _vertex_bytes(
                variant, rng, often(rng, size * 40, (1, 33, size, size * 12), 0.2)
            )
        length = often(rng, len(memory or b"") // size or 40, (0, 1, 1 << 16), 0.1)
        self.records.append(Called(Call(
            _CONTEXT, COMMANDS, dwCommandLength=len(commands), commands=commands,
            dwFlags=int(Dp2Flags.USERMEMVERTICES) if memory is not None else 0,
            lpDDVertex=VERTICES if memory is None else 0,
            dwVertexType=variant.fvf, dwVertexLength=length,
            dwVertexSize=often(rng, size, (0, 1, 3, 24, 4096), 0.1),
            dwVertexOffset=often(rng, 0, (1, 7, 64), 0.1), vertices=memory,
        )))  # fmt: skip


def records_of(
    data: bytes, variants: int = VARIANTS, scenes: int = hostile.SCENES
) -> list[Record]:
    """Return the records of an input: for each scene surfaces, a context and calls that draw."""
    chosen, rng = hostile.parts(data, variants)
    variant = Variant.of(chosen)
    return [record for _ in range(scenes) for record in _scene(variant, rng)]


def _scene(variant: Variant, rng: Random) -> list[Record]:
    """Return the records of surfaces, a context and its draws, at whose end there is nothing."""
    calls = _Calls(variant, rng)
    calls.records += _surfaces(variant, rng)
    made = [each.desc for each in calls.records if isinstance(each, SurfaceCreated)]
    calls.records.append(
        ContextCreated(_CONTEXT, variant.version, COLOR, DEPTH if variant.depth else 0)
    )
    _set_up(calls, variant, rng)
    sizes = {desc.handle: desc.width for desc in made}
    for _ in range(hostile.CALLS):
        calls.records += _contents(variant, rng, sizes)
        _numbers(calls, variant, rng)
        for number in range(rng.choice(_DRAWS_OF_A_CALL[variant.version >= 8])):
            _draw(calls, variant, rng, number)
        calls.flush()
    calls.records.append(ContextDestroyed(_CONTEXT))
    calls.records += [SurfaceDestroyed(desc.handle) for desc in reversed(made)]
    return calls.records


def _surfaces(variant: Variant, rng: Random) -> Iterator[Record]:
    width, height = hostile.sides(rng)
    size = often(rng, variant.vertex_size * 40, (1, 17, 24, 100, 333), 0.3)
    indices = often(rng, 128, (1, 2, 6, 31), 0.3)
    descs = [
        SurfaceDesc(COLOR, _KIND.SURFACE, width, height, variant.color, samples=variant.samples),
        SurfaceDesc(COMMANDS, _KIND.MEMORY, _ROOM),
        SurfaceDesc(VERTICES, _KIND.VERTEXBUFFER, size),
        SurfaceDesc(INDICES, _KIND.INDEXBUFFER, indices),
    ]
    if variant.depth:
        descs.append(SurfaceDesc(
            DEPTH, _KIND.SURFACE, width, height, variant.depth, samples=variant.samples
        ))  # fmt: skip
    for number, (kind, format) in enumerate(variant.textures):
        descs.append(_texture(FIRST_TEXTURE + number, kind, format, rng))
    for desc in descs:
        yield SurfaceCreated(desc)
    yield MemoryWritten(VERTICES, 0, _vertex_bytes(variant, rng, size))
    yield MemoryWritten(INDICES, 0, _index_bytes(rng, indices))
    for desc in descs[-len(variant.textures) :]:
        if (whole := sum(level.size for level in layout_of(desc))) < _MOST_WRITTEN:
            yield MemoryWritten(desc.handle, 0, rng.randbytes(whole))


def _contents(variant: Variant, rng: Random, sizes: dict[int, int]) -> Iterator[Record]:
    """Other contents of the vertex or index buffer, of ``sizes`` in bytes, of some calls."""
    if rng.random() < 0.2:
        yield MemoryWritten(VERTICES, 0, _vertex_bytes(variant, rng, sizes[VERTICES]))
    if rng.random() < 0.3:
        yield MemoryWritten(INDICES, 0, _index_bytes(rng, sizes[INDICES]))


def _index_bytes(rng: Random, size: int) -> bytes:
    numbers = [often(rng, rng.randrange(12), (13, 40, 41, 0xFFFF), 0.1) for _ in range(64)]
    return struct.pack("<64H", *numbers)[:size]


def _vertex_bytes(variant: Variant, rng: Random, size: int) -> bytes:
    edge = 20.0 if variant.fvf & _TRANSFORMED else 1.0
    return hostile.vertices(rng, size, variant.vertex_size, edge)


def _texture(handle: int, kind: SurfaceKind, format: Format, rng: Random) -> SurfaceDesc:
    width, height = hostile.sides(rng)
    depth = rng.choice((1, 2, 3, 5)) if kind is _KIND.VOLUMETEXTURE else 1
    if kind is not _KIND.TEXTURE:
        width = min(width, 16)
        height = width if kind is _KIND.CUBETEXTURE else min(height, 16)
    chain = max(width, height, depth).bit_length()
    levels = rng.choice((1, chain, rng.randint(1, chain)))
    return SurfaceDesc(handle, kind, width, height, format, depth=depth, levels=levels)


_assembled = cache(assemble)


def _set_up(calls: _Calls, variant: Variant, rng: Random) -> None:
    """Emit states, shaders and bindings."""
    calls.emit(Op.RENDERSTATE, list(variant.states))
    bound = [(stage, 0, FIRST_TEXTURE + stage) for stage in range(len(variant.textures))]
    calls.emit(Op.TEXTURESTAGESTATE, [*bound, *variant.stages])
    if variant.version >= 8:
        op = Op.SETVERTEXSHADER if variant.version == 8 else Op.SETVERTEXSHADERDECL
        if variant.fvf:
            calls.emit(op, [(variant.fvf,)])
        calls.emit(Op.SETINDICES, [(INDICES, rng.choice((2, 4)))])
    if variant.vertex:
        calls.emit_bytes(Op.CREATEVERTEXSHADERDECL, (_DECLARATION, 3), _ELEMENTS)
        calls.emit(Op.SETVERTEXSHADERDECL, [(_DECLARATION,)])
        code = _assembled(variant.vertex)
        calls.emit_bytes(Op.CREATEVERTEXSHADERFUNC, (_VS, len(code)), code)
        calls.emit(Op.SETVERTEXSHADERFUNC, [(_VS,)])
    if variant.pixel:
        code = _assembled(variant.pixel)
        calls.emit_bytes(Op.CREATEPIXELSHADER, (_PS, len(code)), code)
        calls.emit(Op.SETPIXELSHADER, [(_PS,)])
    calls.flush()


def _numbers(calls: _Calls, variant: Variant, rng: Random) -> None:
    """Emit some of the numbers that a draw reads."""
    states = [(each, _bits(real(rng))) for each in rng.sample(_NUMBERS, 2)]
    if rng.random() < 0.3:
        calls.emit(Op.RENDERSTATE, states)
    if rng.random() < 0.5:
        stage = rng.randrange(2)
        calls.emit(Op.TEXTURESTAGESTATE, [
            (stage, 19, _bits(real(rng, -20.0, 20.0, 0.4))), (stage, 20, near(rng, 5)),
        ])  # fmt: skip
    if rng.random() < 0.4:
        usual = (0, 0, 32, 32), (3, 2, 9, 30), (0, 0, hostile.LONGEST, 1)
        odd = tuple(often(rng, near(rng, 16), (hostile.LONGEST, 0x7FFFFFFF)) for _ in range(4))
        calls.emit(Op.VIEWPORTINFO, [often(rng, rng.choice(usual), (odd,))])
    if rng.random() < 0.1:
        calls.emit(Op.ZRANGE, [(real(rng, 0.0, 1.0), real(rng, 0.0, 1.0))])
    if rng.random() < 0.05:
        matrix = tuple(real(rng, -2.0, 2.0, 0.1) for _ in range(16))
        calls.emit(Op.SETTRANSFORM, [(rng.choice((1, 2, 3, 16, 17)), matrix)])
    if variant.version == 9 and rng.random() < 0.3:
        calls.emit(Op.SETSCISSORRECT, [tuple(rng.choice((-5, 0, 3, 40, 1 << 20)) for _ in "ltrb")])
    for op, first in ((Op.SETVERTEXSHADERCONST, 4), (Op.SETPIXELSHADERCONST, 0)):
        if variant.vertex and rng.random() < 0.6:
            values = [real(rng, -9.0, 9.0, 0.3) for _ in range(12)]
            calls.emit_floats(op, (first, 3), values)


def _bits(value: float) -> int:
    found: int = struct.unpack("<I", struct.pack("<f", value))[0]
    return found


def _draw(calls: _Calls, variant: Variant, rng: Random, number: int) -> None:
    """Emit draw ``number`` of a call."""
    if variant.version < 8:
        _legacy_draw(calls, variant, rng)
        return
    stride = often(rng, variant.vertex_size, (0, 1, 3, 20, 24, 28, 32, 255), 0.3)
    if number == 0 or rng.random() < 0.5:
        _source(calls, variant, rng, stride)
    start, count = _small(rng), rng.choice((1, 1, 2, 3, 9, 40))
    kind = rng.random()
    if kind < 0.3:
        calls.emit(Op.DRAWPRIMITIVE, [(variant.topology, start, count)])
    elif kind < 0.45:
        calls.emit(Op.DRAWPRIMITIVE2, [(variant.topology, start, count)])
    elif kind < 0.55 and number == 0:
        calls.emit(Op.SETSTREAMSOURCEUM, [(0, stride)])
        calls.emit(Op.DRAWPRIMITIVE, [(variant.topology, start, count)])
    elif kind < 0.62 and variant.version == 9 and number == 0:
        _patch(calls, rng)
    else:
        op = Op.DRAWINDEXEDPRIMITIVE if kind < 0.85 else Op.DRAWINDEXEDPRIMITIVE2
        base = often(rng, rng.randrange(-3, 9), (-(1 << 31), (1 << 31) - 1), 0.1)
        calls.emit(op, [(variant.topology, base, near(rng, 4), near(rng, 40), start, count)])


def _source(calls: _Calls, variant: Variant, rng: Random, stride: int) -> None:
    """Emit the vertex buffer, offset and frequency of the next draws."""
    if variant.version == 8:
        calls.emit(Op.SETSTREAMSOURCE, [(0, VERTICES, stride)])
    else:
        offset = often(rng, 0, (1, 4, 23, 99, 1023), 0.25)
        calls.emit(Op.SETSTREAMSOURCE2, [(0, VERTICES, offset, stride)])
    if variant.version == 9 and rng.random() < 0.2:
        calls.emit(Op.SETSTREAMSOURCEFREQ, [(0, rng.choice((0x40000003, 1, 2)))])


def _small(rng: Random) -> int:
    return often(rng, rng.randrange(12), (13, 41, 0x7FFF, 0xFFFFFF, 0x7FFFFFFF), 0.15)


def _patch(calls: _Calls, rng: Random) -> None:
    segments = [real(rng, 0.5, 4.0) for _ in range(4)]
    info = [rng.choice((0, 1, 3, 4, 7)) for _ in range(2)] + [4, 4, rng.choice((0, 4, 5))]
    basis = rng.choice((0, 1, 2)), rng.choice((1, 2, 3, 5))
    data = hostile.words(segments) + struct.pack("<7I", *info, *basis)
    calls.emit_bytes(Op.DRAWRECTPATCH, (0, 3), data)


def _legacy_draw(calls: _Calls, variant: Variant, rng: Random) -> None:
    op, count = _LEGACY[variant.topology], rng.choice((1, 1, 2, 3, 9))
    start, *others = (rng.randrange(6) for _ in range(1 + 3 * count))
    if rng.random() < 0.2:
        start = _small(rng) & 0xFFFF
    if variant.topology is PrimitiveType.POINTLIST:
        calls.emit(op, [(count, start)])
    elif rng.random() < 0.5:
        calls._tokens.emit_counted(op, count, (start,))
    else:
        if rng.random() < 0.2:
            others[rng.randrange(len(others))] = _small(rng) & 0xFFFF
        items = [*zip(*[iter(others)] * 3, strict=True)]
        calls.emit(Op.INDEXEDTRIANGLELIST2, items, head=(start,))


# The trial


class _Played:
    """A driver that plays inputs one after the other.  Mutable.

    ``cases`` is the number of draws that the GPU has executed; tokens that fail are none.
    """

    def __init__(self, variants: int, scenes: int) -> None:
        self._variants, self._scenes = variants, scenes
        self._driver = Driver(options=Options(engine=JIT, threads=1, parser=WALK), limits=LIMITS)

    @property
    def cases(self) -> int:
        """Return the number of draws executed."""
        return self._driver.gpu.executed_draws

    def __call__(self, data: bytes) -> Hashable:
        """Draw what an input says; the features are results and the amounts of work."""
        before = self._amounts()
        records = records_of(data, self._variants, self._scenes)
        seen = frozenset(map(self._perform, records))
        self._driver.finish()
        done = (new - old for old, new in zip(before, self._amounts(), strict=True))
        return seen | {(place, amount.bit_length()) for place, amount in enumerate(done)}

    def _amounts(self) -> tuple[int, ...]:
        counters = self._driver.gpu.counters
        return counters.vertices, counters.fragments, counters.samples

    def _perform(self, record: Record) -> Hashable:
        try:
            return perform(self._driver, record)
        except Dp2Error as error:
            return type(error).__name__


def perform(driver: Driver, record: Record) -> Hashable:
    """Perform a record of an input; returns its result.  Raises Dp2Error if the driver does."""
    return _PERFORM[type(record)](driver, record)


_PERFORM: dict[type[Any], Callable[[Driver, Any], Hashable]] = {
    SurfaceCreated: lambda driver, record: driver.create_surface(record.desc),
    SurfaceDestroyed: lambda driver, record: driver.destroy_surface(record.handle),
    MemoryWritten: lambda driver, record: driver.write(record.handle, record.offset, record.data),
    ContextCreated: lambda driver, record: driver.create_context(
        record.context, interface=record.interface, color=record.color, depth=record.depth
    ),
    ContextDestroyed: lambda driver, record: driver.destroy_context(record.context),
    Called: lambda driver, record: driver.submit(record.call).ddrval,
}


def target(name: str, variants: int = VARIANTS, scenes: int = hostile.SCENES) -> Target:
    """Return the target of hostile draws of a number of variants, in so many scenes an input."""
    return Target(
        name, "hostile draws of DirectX 6 to 9 end", lambda: _Played(variants, scenes),
        hostile.seed, mutations.mutate, 64, ("dp2emu.gpu", "dp2emu.dp2"),
        lambda data: records_of(data, variants, scenes),
        cost=hostile.COST, cases=cases_of,
    )  # fmt: skip


TARGETS = (target("draws"),)
