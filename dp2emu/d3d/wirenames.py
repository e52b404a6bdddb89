"""Names of state numbers in command streams, merged from all DirectX versions.

A stream does not name the DirectX version that wrote it, so a dump takes the newest name of a
number: DirectX 9, else 8, else 7, else the DDI's (wire format, "Render states" and "Texture stages
and samplers").  Members have full SDK names; ``sdk_name`` and ``sdk_value`` accept them.
"""

from __future__ import annotations

from typing import Any, cast

from dp2emu.d3d.enums import RenderState, TextureStageState, TransformState
from dp2emu.d3d.legacy import (
    RenderState7,
    RenderState8,
    TextureStageState7,
    TextureStageState8,
    TransformState7,
)
from dp2emu.d3d.sdk import SdkEnum

_DDI_RENDER_STATES = {
    "D3DRENDERSTATE_EVICTMANAGEDTEXTURES": 61,
    "D3DRENDERSTATE_SCENECAPTURE": 62,
    "D3DRS_DELETERTPATCH": 169,
    "D3DRS_MAXVERTEXSHADERINST": 196,
    "D3DRS_MAXPIXELSHADERINST": 197,
}

_DDI_STAGE_STATES = {
    "D3DTSS_TEXTUREMAP": 0,
    "D3DTSS_SRGBTEXTURE": 29,
    "D3DTSS_ELEMENTINDEX": 30,
    "D3DTSS_DMAPOFFSET": 31,
}

_WORLD_TRANSFORMS = {f"D3DTS_WORLD{index or ''}": 256 + index for index in range(4)}


def _merged(name: str, versions: list[type[SdkEnum]], ddi: dict[str, int]) -> type[SdkEnum]:
    """An enumeration of full SDK names; a number has its name in the first version that has it."""
    names = {value: sdk for sdk, value in ddi.items()}
    for version in reversed(versions):
        names |= {int(member): member.sdk for member in version}
    make = cast(Any, SdkEnum)
    return cast(type[SdkEnum], make(name, {names[value]: value for value in sorted(names)}))


WireRenderState = _merged(
    "WireRenderState", [RenderState, RenderState8, RenderState7], _DDI_RENDER_STATES
)
"""Enumeration of the RenderState numbers in D3DDP2OP_RENDERSTATE tokens, with full SDK names."""

_RS = RenderState
FLOAT_RENDER_STATES = frozenset(
    {
        _RS.FOGSTART, _RS.FOGEND, _RS.FOGDENSITY, _RS.POINTSIZE, _RS.POINTSIZE_MIN,
        _RS.POINTSIZE_MAX, _RS.POINTSCALE_A, _RS.POINTSCALE_B, _RS.POINTSCALE_C, _RS.TWEENFACTOR,
        _RS.SLOPESCALEDEPTHBIAS, _RS.DEPTHBIAS, RenderState8.PATCHSEGMENTS,
        _RS.MINTESSELLATIONLEVEL, _RS.MAXTESSELLATIONLEVEL,
        _RS.ADAPTIVETESS_X, _RS.ADAPTIVETESS_Y, _RS.ADAPTIVETESS_Z, _RS.ADAPTIVETESS_W,
    }
)  # fmt: skip
"""Render states whose DWORD is a float32."""

WireTextureStageState = _merged(
    "WireTextureStageState",
    [TextureStageState, TextureStageState8, TextureStageState7],
    _DDI_STAGE_STATES,
)
"""Enumeration of the TSState numbers in D3DDP2OP_TEXTURESTAGESTATE tokens; sampler states have
their DirectX 8 numbers."""

WireTransformState = _merged(
    "WireTransformState", [TransformState, TransformState7], _WORLD_TRANSFORMS
)
"""Enumeration of the xfrmType numbers in D3DDP2OP_SETTRANSFORM tokens: world matrices are 1, 4..6
before DirectX 8, else 256 + i."""
