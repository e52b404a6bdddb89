"""The capabilities that a conformance case needs, read from its calls and surfaces.

A token, state or surface format that a runtime uses only on drivers which announce a capability
needs that capability.  States that every case sets are no needs: a driver without them could not
be tested at all.  Sources: the documentation of D3DCAPS9 and D3DPRIMCAPS; D3DFORMAT operations.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping

from dp2emu.capture.records import Called, SurfaceCreated
from dp2emu.conform.case import Case
from dp2emu.conform.needs import LeastNeed, Need, flag, format_need, query_need
from dp2emu.d3d.capabilities import TARGETS, Capabilities
from dp2emu.d3d.capflags import (
    AddressCaps,
    BlendCaps,
    CompareCaps,
    DevCaps,
    DevCaps2,
    DeviceCaps2,
    FilterCaps,
    FormatOp,
    MiscCaps,
    RasterCaps,
    StencilCaps,
    TextureCaps,
    TextureOpCaps,
)
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import (
    Blend,
    BlendOp,
    Cull,
    RenderState,
    TextureAddress,
    TextureFilter,
    TextureOp,
    TextureStageState,
)
from dp2emu.d3d.formats import DEPTH
from dp2emu.d3d.legacy import TextureStageState8
from dp2emu.d3d.sdk import SdkFlag
from dp2emu.dp2.call import Call
from dp2emu.dp2.queries import KINDS
from dp2emu.dp2.walk import scan
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind


def lacking(case: Case, capabilities: Capabilities) -> tuple[str, ...]:
    """Return the names of a case's needs that a driver tells about and does not announce."""
    return _unmet(needs_of(case), capabilities)


def lacking_of(call: Call, capabilities: Capabilities) -> tuple[str, ...]:
    """Return the names of the needs of a call's tokens, as ``lacking``."""
    return _unmet(tuple(dict.fromkeys(_of_call(call))), capabilities)


def _unmet(needs: tuple[Need, ...], capabilities: Capabilities) -> tuple[str, ...]:
    return tuple(
        need.name for need in needs if need.told(capabilities) and not need.promised(capabilities)
    )


def needs_of(case: Case) -> tuple[Need, ...]:
    """Return the needs of a case, each once: declared needs, then needs of its records."""
    found = list(case.needs)
    for record in case.records:
        if isinstance(record, SurfaceCreated):
            found += _of_surface(record.desc)
        elif isinstance(record, Called):
            found += _of_call(record.call)
    return tuple(dict.fromkeys(found))


# Surfaces

_KINDS = {
    SurfaceKind.TEXTURE: FormatOp.TEXTURE,
    SurfaceKind.CUBETEXTURE: FormatOp.CUBETEXTURE,
    SurfaceKind.VOLUMETEXTURE: FormatOp.VOLUMETEXTURE,
}
_DEPTHS = FormatOp.ZSTENCIL | FormatOp.ZSTENCIL_WITH_ARBITRARY_COLOR_DEPTH
_MANAGED = flag(DeviceCaps2.CANMANAGERESOURCE, "Caps2")


def _of_surface(desc: SurfaceDesc) -> Iterator[Need]:
    if desc.managed:
        return  # that is for tokens of managed textures, which have needs of their own
    if desc.kind in _KINDS:
        yield format_need(desc.format, _KINDS[desc.kind])
    elif desc.kind == SurfaceKind.SURFACE and not desc.parent:
        yield format_need(desc.format, _DEPTHS if desc.format in DEPTH else TARGETS)


# States


def _numbered(flags: type[SdkFlag], *words: str) -> Callable[[int], tuple[Need, ...]]:
    """Return a function of a state's value: the needs of the flag whose bit is that number less
    one, none if there is no such flag.
    """

    def needs(value: int) -> tuple[Need, ...]:
        bit = 1 << value - 1 if 0 < value <= 32 else 0
        known = {int(each): each for each in flags}
        return flag(known[bit], *words) if bit in known else ()

    return needs


def _listed(flags: Mapping[int, SdkFlag], *words: str) -> Callable[[int], tuple[Need, ...]]:
    """Return a function of a state's value: the needs of its flags, none if it has none."""
    return lambda value: flag(flags[value], *words) if value in flags else ()


def _unless(usual: int, bit: SdkFlag, *words: str) -> Callable[[int], tuple[Need, ...]]:
    """Return a function of a state's value: the needs of ``bit`` for all values but ``usual``."""
    return lambda value: () if value == usual else flag(bit, *words)


def _blend(word: str) -> Callable[[int], tuple[Need, ...]]:
    known: dict[int, SdkFlag] = {
        Blend.BLENDFACTOR: BlendCaps.BLENDFACTOR, Blend.INVBLENDFACTOR: BlendCaps.BLENDFACTOR,
        Blend.SRCCOLOR2: BlendCaps.SRCCOLOR2, Blend.INVSRCCOLOR2: BlendCaps.INVSRCCOLOR2,
    }  # fmt: skip
    known |= {factor: BlendCaps(1 << factor - 1) for factor in Blend if factor not in known}
    return _listed(known, word)


_MISC = "PrimitiveMiscCaps"
_STENCILS = _numbered(StencilCaps, "StencilCaps")
_RENDER_STATES: dict[int, Callable[[int], tuple[Need, ...]]] = {
    RenderState.ZFUNC: _numbered(CompareCaps, "ZCmpCaps"),
    RenderState.ALPHAFUNC: _numbered(CompareCaps, "AlphaCmpCaps"),
    RenderState.SRCBLEND: _blend("SrcBlendCaps"),
    RenderState.DESTBLEND: _blend("DestBlendCaps"),
    RenderState.BLENDOP: _unless(BlendOp.ADD, MiscCaps.BLENDOP, _MISC),
    RenderState.CULLMODE: _listed({Cull.CW: MiscCaps.CULLCW, Cull.CCW: MiscCaps.CULLCCW}, _MISC),
    RenderState.COLORWRITEENABLE: _unless(0xF, MiscCaps.COLORWRITEENABLE, _MISC),
    RenderState.SEPARATEALPHABLENDENABLE: _unless(0, MiscCaps.SEPARATEALPHABLEND, _MISC),
    RenderState.SCISSORTESTENABLE: _unless(0, RasterCaps.SCISSORTEST, "RasterCaps"),
    RenderState.DEPTHBIAS: _unless(0, RasterCaps.DEPTHBIAS, "RasterCaps"),
    RenderState.SLOPESCALEDEPTHBIAS: _unless(0, RasterCaps.SLOPESCALEDEPTHBIAS, "RasterCaps"),
    RenderState.TWOSIDEDSTENCILMODE: _unless(0, StencilCaps.TWOSIDED, "StencilCaps"),
    RenderState.STENCILFAIL: _STENCILS,
    RenderState.STENCILZFAIL: _STENCILS,
    RenderState.STENCILPASS: _STENCILS,
}
"""Render state -> function of its value that returns the needs."""


def _operation(value: int) -> tuple[Need, ...]:
    """Return the needs of a D3DTOP; SELECTARG1 is in every case."""
    if value == TextureOp.SELECTARG1:
        return ()
    return _numbered(TextureOpCaps, "TextureOpCaps")(value)


_ADDRESS = _listed(
    {
        TextureAddress.WRAP: AddressCaps.WRAP,
        TextureAddress.MIRROR: AddressCaps.MIRROR,
        TextureAddress.CLAMP: AddressCaps.CLAMP,
        TextureAddress.BORDER: AddressCaps.BORDER,
        TextureAddress.MIRRORONCE: AddressCaps.MIRRORONCE,
    },
    "TextureAddressCaps",
)
_FILTERED = "TextureFilterCaps"
_STAGE_STATES: dict[int, Callable[[int], tuple[Need, ...]]] = {
    TextureStageState.COLOROP: _operation,
    TextureStageState.ALPHAOP: _operation,
    TextureStageState8.ADDRESSU: _ADDRESS,
    TextureStageState8.ADDRESSV: _ADDRESS,
    TextureStageState8.MAGFILTER: _listed(
        {
            TextureFilter.POINT: FilterCaps.MAGFPOINT | FilterCaps.NEAREST,
            TextureFilter.LINEAR: FilterCaps.MAGFLINEAR | FilterCaps.LINEAR,
        },
        _FILTERED,
    ),
    TextureStageState8.MINFILTER: _listed(
        {
            TextureFilter.POINT: FilterCaps.MINFPOINT | FilterCaps.NEAREST,
            TextureFilter.LINEAR: FilterCaps.MINFLINEAR | FilterCaps.LINEAR,
        },
        _FILTERED,
    ),
}
"""Texture stage state -> function of its value that returns the needs."""


# Tokens


def _version(word: str, least: int) -> tuple[Need, ...]:
    name = f"{word} {least >> 8}.{least & 0xFF}"
    return (LeastNeed(name, word, least, 0xFFFF),)


_LIT = flag(DevCaps.HWTRANSFORMANDLIGHT, "DevCaps")
_PATCHES = flag(DevCaps.RTPATCHES, "DevCaps")
_VERTEX1, _VERTEX2, _VERTEX3 = (_version("VertexShaderVersion", n << 8) for n in (1, 2, 3))
_PIXEL1, _PIXEL2 = (_version("PixelShaderVersion", n << 8) for n in (1, 2))
_TOKENS: dict[Op, tuple[Need, ...]] = (
    dict.fromkeys((Op.SETLIGHT, Op.CREATELIGHT, Op.SETMATERIAL, Op.SETTRANSFORM,
                   Op.MULTIPLYTRANSFORM), _LIT)
    | dict.fromkeys((Op.DRAWRECTPATCH, Op.DRAWTRIPATCH), _PATCHES)
    | dict.fromkeys((Op.CREATEVERTEXSHADERFUNC, Op.DELETEVERTEXSHADERFUNC, Op.SETVERTEXSHADERFUNC,
                     Op.SETVERTEXSHADERCONST), _VERTEX1)
    | dict.fromkeys((Op.SETVERTEXSHADERCONSTI, Op.SETVERTEXSHADERCONSTB), _VERTEX2)
    | dict.fromkeys((Op.CREATEPIXELSHADER, Op.DELETEPIXELSHADER, Op.SETPIXELSHADER,
                     Op.SETPIXELSHADERCONST), _PIXEL1)
    | dict.fromkeys((Op.SETPIXELSHADERCONSTI, Op.SETPIXELSHADERCONSTB), _PIXEL2)
    | dict.fromkeys((Op.SETPRIORITY, Op.SETTEXLOD, Op.ADDDIRTYRECT, Op.ADDDIRTYBOX, Op.BUFFERBLT),
                    _MANAGED)
    | {
        Op.SETSTREAMSOURCEFREQ: _VERTEX3,
        Op.SETSTREAMSOURCE2: flag(DevCaps2.STREAMOFFSET, "DevCaps2"),
        Op.SETSCISSORRECT: flag(RasterCaps.SCISSORTEST, "RasterCaps"),
        Op.VOLUMEBLT: flag(TextureCaps.VOLUMEMAP, "TextureCaps"),
        Op.GENERATEMIPSUBLEVELS: flag(DeviceCaps2.CANAUTOGENMIPMAP, "Caps2"),
        Op.SETCLIPPLANE: (LeastNeed("MaxUserClipPlanes 1", "MaxUserClipPlanes", 1),),
    }
)  # fmt: skip
"""Opcode -> the needs of every token with it."""


def _of_call(call: Call) -> Iterator[Need]:
    """Yield the needs of a call's tokens, up to the first that is malformed and with it."""
    buffer = bytes(call.dwCommandOffset) + (call.commands or b"")
    scanned = scan(buffer, call.dwCommandOffset, len(buffer), call.dwVertexSize)
    for _, token, _, start, stop in scanned.commands:
        yield from _TOKENS.get(token.op, ())
        if token.op in _ITEMS:
            yield from _ITEMS[token.op](buffer[start:stop])
    if scanned.wrong is not None and scanned.wrong[1] is not None:
        yield from _TOKENS.get(scanned.wrong[1].op, ())


def _render_states(payload: bytes) -> Iterator[Need]:
    for state, value in struct.iter_unpack("<II", payload):
        if state in _RENDER_STATES:
            yield from _RENDER_STATES[state](value)


def _stage_states(payload: bytes) -> Iterator[Need]:
    for _, state, value in struct.iter_unpack("<HHI", payload):
        if state in _STAGE_STATES:
            yield from _STAGE_STATES[state](value)


def _queries(payload: bytes) -> Iterator[Need]:
    yield from (
        query_need(kind) for _, kind in struct.iter_unpack("<II", payload) if kind in KINDS
    )


def _targets(payload: bytes) -> Iterator[Need]:
    for index, _ in struct.iter_unpack("<II", payload):
        if index:
            name = f"NumSimultaneousRTs {index + 1}"
            yield LeastNeed(name, "NumSimultaneousRTs", index + 1)


def _streams(words: int) -> Callable[[bytes], Iterator[Need]]:
    """Return a function of the payload of a token that names a stream in each item."""

    def needs(payload: bytes) -> Iterator[Need]:
        for number, *_ in struct.iter_unpack(f"<{words}I", payload):
            if number:
                yield LeastNeed(f"MaxStreams {number + 1}", "MaxStreams", number + 1)

    return needs


_ITEMS: dict[Op, Callable[[bytes], Iterator[Need]]] = {
    Op.RENDERSTATE: _render_states,
    Op.TEXTURESTAGESTATE: _stage_states,
    Op.CREATEQUERY: _queries,
    Op.SETRENDERTARGET2: _targets,
    Op.SETSTREAMSOURCE: _streams(3),
    Op.SETSTREAMSOURCE2: _streams(4),
}
"""Opcode -> function of a token's payload that yields the needs of its items."""
