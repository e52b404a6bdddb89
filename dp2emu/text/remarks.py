"""Remarks for numbers whose meaning depends on a sibling field: comments in a dump, by opcode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntFlag
from functools import lru_cache

from dp2emu.d3d import enums
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import RenderState, TextureStageState
from dp2emu.d3d.flags import ArgumentModifier, Clear, ColorWrite, Issue, PatchFlags
from dp2emu.d3d.legacy import (
    MagFilter7,
    MinFilter7,
    MipFilter7,
    TextureStageState7,
    TextureStageState8,
)
from dp2emu.d3d.names import sdk_constant
from dp2emu.d3d.sdk import SdkEnum, sdk_name, sdk_value
from dp2emu.d3d.wirenames import FLOAT_RENDER_STATES, WireRenderState, WireTextureStageState
from dp2emu.number_text import float_text

_RS, _TSS, _SAMPLER = RenderState, TextureStageState, TextureStageState8

_BLENDS = (_RS.SRCBLEND, _RS.DESTBLEND, _RS.SRCBLENDALPHA, _RS.DESTBLENDALPHA)
_FUNCTIONS = (_RS.ZFUNC, _RS.ALPHAFUNC, _RS.STENCILFUNC, _RS.CCW_STENCILFUNC)
_STENCIL_OPS = (
    _RS.STENCILFAIL, _RS.STENCILZFAIL, _RS.STENCILPASS,
    _RS.CCW_STENCILFAIL, _RS.CCW_STENCILZFAIL, _RS.CCW_STENCILPASS,
)  # fmt: skip
_MATERIAL_SOURCES = (
    _RS.DIFFUSEMATERIALSOURCE, _RS.SPECULARMATERIALSOURCE,
    _RS.AMBIENTMATERIALSOURCE, _RS.EMISSIVEMATERIALSOURCE,
)  # fmt: skip
STATE_ENUMS: dict[int, type[SdkEnum]] = {
    _RS.ZENABLE: enums.ZBufferType, _RS.FILLMODE: enums.FillMode, _RS.CULLMODE: enums.Cull,
    _RS.SHADEMODE: enums.ShadeMode, _RS.VERTEXBLEND: enums.VertexBlend,
    _RS.PATCHEDGESTYLE: enums.PatchEdgeStyle,
    _RS.POSITIONDEGREE: enums.Degree, _RS.NORMALDEGREE: enums.Degree,
    _RS.BLENDOP: enums.BlendOp, _RS.BLENDOPALPHA: enums.BlendOp,
    _RS.FOGTABLEMODE: enums.FogMode, _RS.FOGVERTEXMODE: enums.FogMode,
    **dict.fromkeys(_BLENDS, enums.Blend), **dict.fromkeys(_FUNCTIONS, enums.CmpFunc),
    **dict.fromkeys(_STENCIL_OPS, enums.StencilOp),
    **dict.fromkeys(_MATERIAL_SOURCES, enums.MaterialColorSource),
}  # fmt: skip
_COLOR_WRITES = (
    _RS.COLORWRITEENABLE, _RS.COLORWRITEENABLE1, _RS.COLORWRITEENABLE2, _RS.COLORWRITEENABLE3,
)  # fmt: skip

_STAGE_ENUMS: dict[int, type[SdkEnum]] = dict.fromkeys(
    (_TSS.COLOROP, _TSS.ALPHAOP), enums.TextureOp
)
_ARGUMENTS = (
    _TSS.COLORARG0, _TSS.COLORARG1, _TSS.COLORARG2, _TSS.ALPHAARG0, _TSS.ALPHAARG1,
    _TSS.ALPHAARG2, _TSS.RESULTARG,
)  # fmt: skip
_MODIFIERS = {int(flag): f"D3DTA_{flag.name}" for flag in ArgumentModifier}
_Transform = enums.TextureTransformFlags
_ADDRESSES: dict[int, type[SdkEnum]] = dict.fromkeys(
    (
        TextureStageState7.ADDRESS, _SAMPLER.ADDRESSU, _SAMPLER.ADDRESSV, _SAMPLER.ADDRESSW
    ), enums.TextureAddress
)  # fmt: skip
_FILTERS: dict[int, type[SdkEnum]] = dict.fromkeys(
    (_SAMPLER.MAGFILTER, _SAMPLER.MINFILTER, _SAMPLER.MIPFILTER), enums.TextureFilter
)
_FILTERS_7: dict[int, type[SdkEnum]] = {
    _SAMPLER.MAGFILTER: MagFilter7, _SAMPLER.MINFILTER: MinFilter7,
    _SAMPLER.MIPFILTER: MipFilter7,
}  # fmt: skip
_STAGE_FLOATS = {
    _TSS.BUMPENVMAT00, _TSS.BUMPENVMAT01, _TSS.BUMPENVMAT10, _TSS.BUMPENVMAT11,
    _TSS.BUMPENVLSCALE, _TSS.BUMPENVLOFFSET,
}  # fmt: skip


_FVF_POSITIONS = ("XYZRHW", "XYZW", "XYZ", "XYZB1", "XYZB2", "XYZB3", "XYZB4", "XYZB5")
_FVF_REST = ("NORMAL", "PSIZE", "DIFFUSE", "SPECULAR")
_FVF_POSITION, _FVF_COUNT = 0x400E, 0xF00

Values = tuple[int, ...]


def remark(op: int, values: Values, *, head: bool = False) -> str | None:
    """A comment on the values of a token's item, or of its head if ``head``; None without one."""
    say = (_ON_HEADS if head else _ON_ITEMS).get(op)
    return say(values) if say else None


def fact_name(path: Sequence[str], value: int, interface: int = 9) -> str | None:
    """The SDK name of a number of the state of a context of DirectX ``interface``, whose keys are
    ``path``; None without one.

    >>> fact_name(("render_states", "D3DRS_ZFUNC"), 4)
    'D3DCMP_LESSEQUAL'
    >>> fact_name(("stages", "0", "D3DTSS_COLORARG1"), 0x12)
    'D3DTA_TEXTURE|D3DTA_COMPLEMENT'
    """
    if path[:1] == ("vertex_format",):
        return fvf_names(value)
    if path[:1] == ("render_states",):
        state = sdk_value(WireRenderState, path[-1])
        return None if state is None else _render_state((state, value))
    state = sdk_value(WireTextureStageState, path[-1]) if path[:1] == ("stages",) else None
    return None if state is None else _stage_fact(state, value, interface)


def _stage_fact(state: int, value: int, interface: int) -> str | None:
    """The name of a texture stage or sampler state's value; filters have other numbers before
    DirectX 8.
    """
    if state in _ARGUMENTS:
        return _union(enums.TextureArgument, value, _MODIFIERS)
    if state == _TSS.TEXTURETRANSFORMFLAGS:
        return _union(_Transform, value, {int(_Transform.PROJECTED): _Transform.PROJECTED.sdk})
    if state == _TSS.TEXCOORDINDEX and value >> 16:
        generated = sdk_name(enums.TexGen, value & ~0xFFFF)
        return None if generated is None else f"{generated}|{value & 0xFFFF}"
    if state in (*_STAGE_FLOATS, _SAMPLER.MIPMAPLODBIAS):
        return float_text(value)
    filters = _FILTERS_7 if interface < 8 else _FILTERS
    kind = _STAGE_ENUMS.get(state) or _ADDRESSES.get(state) or filters.get(state)
    return None if kind is None else sdk_name(kind, value)


def _union(kind: type[SdkEnum], value: int, flags: Mapping[int, str]) -> str | None:
    """The name of a number of ``kind`` and those of the ``flags`` set with it, joined by ``|``;
    None if the number has none.
    """
    name = sdk_name(kind, value & ~sum(flags))
    set_flags = (each for flag, each in flags.items() if value & flag)
    return None if name is None else "|".join((name, *set_flags))


@lru_cache(maxsize=256)
def fvf_names(fvf: int) -> str | None:
    """An FVF code as header names joined by ``|``, None unless they cover all bits."""
    names = [n for n in _FVF_POSITIONS if fvf & _FVF_POSITION == _fvf(n)][:1]
    names += [n for n in _FVF_REST if fvf & _fvf(n)]
    count = (fvf & _FVF_COUNT) >> 8
    names += [f"TEX{count}"] if 0 < count <= 8 else []
    if not names or sum(map(_fvf, names)) != fvf:
        return None
    return "|".join("D3DFVF_" + name for name in names)


def _fvf(name: str) -> int:
    return sdk_constant("D3DFVF_" + name) or 0


def _flags(enum: type[IntFlag], prefix: str, value: int) -> str | None:
    """The names of the set flags joined by ``|``, None unless they cover all bits."""
    flags = [flag for flag in enum if flag & value]
    if not flags or sum(flags) != value:
        return None
    return "|".join(prefix + str(flag.name) for flag in flags)


def _render_state(values: Values) -> str | None:
    state, value = values
    if state in FLOAT_RENDER_STATES:
        return float_text(value)
    if state in _COLOR_WRITES:
        return _flags(ColorWrite, "D3DCOLORWRITEENABLE_", value)
    return sdk_name(STATE_ENUMS[state], value) if state in STATE_ENUMS else None


def _stage_state(values: Values) -> str | None:
    _, state, value = values
    # The names of filters depend on the interface, which a token does not have.
    return None if state in _FILTERS else _stage_fact(state, value, 9)


_ON_ITEMS: dict[int, Callable[[Values], str | None]] = {
    Op.RENDERSTATE: _render_state,
    Op.TEXTURESTAGESTATE: _stage_state,
    Op.ISSUEQUERY: lambda values: _flags(Issue, "D3DISSUE_", values[1]),
    Op.SETVERTEXSHADER: lambda values: fvf_names(values[0]),
    Op.SETVERTEXSHADERDECL: lambda values: fvf_names(values[0]),
    Op.DRAWRECTPATCH: lambda values: _flags(PatchFlags, "RTPATCHFLAG_", values[1]),
    Op.DRAWTRIPATCH: lambda values: _flags(PatchFlags, "RTPATCHFLAG_", values[1]),
}
_ON_HEADS: dict[int, Callable[[Values], str | None]] = {
    Op.CLEAR: lambda values: _flags(Clear, "D3DCLEAR_", values[0])
}
