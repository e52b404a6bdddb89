"""Combinations of usage, bind, access and miscellaneous flags that resources can have.

Source: the Direct3D 11 documentation of D3D11_USAGE, D3D11_BIND_FLAG, D3D11_CPU_ACCESS_FLAG and
D3D11_RESOURCE_MISC_FLAG, and of the descriptions of buffers and textures.
"""

from __future__ import annotations

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.codes import format_of
from dp2emu.ddi10.resources.resource import BindFlag as DdiBindFlag
from dp2emu.ddi10.resources.resource import CreateResource, ResourceType, Usage
from dp2emu.runtime10.codes import Api, Refused, Result
from dp2emu.runtime10.enums import BindFlag
from dp2emu.runtime10.textures import CpuAccess, MiscFlag, TextureDesc

_WRITE, _READ = int(CpuAccess.WRITE), int(CpuAccess.READ)
ACCESSES: dict[int, tuple[int, ...]] = {
    Usage.DEFAULT: (0,),
    Usage.IMMUTABLE: (0,),
    Usage.DYNAMIC: (_WRITE,),
    Usage.STAGING: (_WRITE, _READ, _WRITE | _READ),
}
"""The CPU access flags that each usage allows."""

WRITTEN = int(
    BindFlag.STREAM_OUTPUT
    | BindFlag.RENDER_TARGET
    | BindFlag.DEPTH_STENCIL
    | BindFlag.UNORDERED_ACCESS
)
"""Bind flags of outputs, which only resources of usage DEFAULT have."""
_BUFFERS = int(
    BindFlag.VERTEX_BUFFER
    | BindFlag.INDEX_BUFFER
    | BindFlag.CONSTANT_BUFFER
    | BindFlag.STREAM_OUTPUT
)
"""Bind flags of buffers alone."""
_ALL = (1 << 8) - 1


def wrong_usage(usage: int, bind: int, access: int, data: bool) -> bool:
    """Whether usage, bind flags, access flags and initial data do not go together."""
    bound = bool(bind) or usage == Usage.DEFAULT
    return (
        access not in ACCESSES.get(usage, ())
        or (usage == Usage.IMMUTABLE and not data)
        or (usage == Usage.STAGING) == bound
        or (usage != Usage.DEFAULT and bool(bind & WRITTEN))
        or bool(bind & ~_ALL)
    )


_OLD_MISC = {
    0x1: MiscFlag.GENERATE_MIPS,
    0x2: MiscFlag.SHARED,
    0x4: MiscFlag.TEXTURECUBE,
    0x10: MiscFlag.SHARED_KEYEDMUTEX,
    0x20: MiscFlag.GDI_COMPATIBLE,
}
"""D3D10_RESOURCE_MISC_FLAG, whose numbers differ -> D3D11_RESOURCE_MISC_FLAG."""


def misc_flags(api: Api, misc: int) -> int:
    """``misc``, flags of the interface, as flags of D3D11_RESOURCE_MISC_FLAG.

    Raises Refused (E_INVALIDARG) for flags that Direct3D 10 does not have.
    """
    if api >= Api.D3D11:
        return misc
    if misc & ~sum(_OLD_MISC):
        raise Refused(Result.E_INVALIDARG, f"MiscFlags {misc:#x}")
    return sum(int(flag) for old, flag in _OLD_MISC.items() if misc & old)


def check_sharing(misc: int, usage: int) -> None:
    """Raise Refused (E_INVALIDARG) for sharing of a usage that cannot be shared, in two ways, or
    by a handle of the system alone.
    """
    both = int(MiscFlag.SHARED | MiscFlag.SHARED_KEYEDMUTEX)
    sharing, handle = misc & both, misc & int(MiscFlag.SHARED_NTHANDLE)
    if (sharing and (usage != Usage.DEFAULT or sharing == both)) or (handle and not sharing):
        raise Refused(Result.E_INVALIDARG, f"MiscFlags {misc:#x} of usage {usage}")


def check_texture(desc: TextureDesc, data: bool) -> None:
    """Raise Refused (E_INVALIDARG) for flags of a texture that do not go together, and
    Unsupported.
    """
    several = desc.level_count > 1 or desc.slices > 1
    targets = desc.bind & int(BindFlag.RENDER_TARGET | BindFlag.DEPTH_STENCIL)
    depth = desc.bind & BindFlag.DEPTH_STENCIL
    written = desc.bind & int(BindFlag.RENDER_TARGET | BindFlag.UNORDERED_ACCESS)
    wrong = (
        wrong_usage(desc.usage, desc.bind, desc.access, data),
        desc.bind & _BUFFERS,
        desc.usage == Usage.DYNAMIC and several,
        depth and (written or desc.kind is ResourceType.TEXTURE3D),
        desc.samples > 1 and (not targets or desc.bind & BindFlag.UNORDERED_ACCESS),
        desc.samples > 1 and (desc.usage != Usage.DEFAULT or data),
        _wrong_misc(desc),
    )
    if any(wrong):
        raise Refused(Result.E_INVALIDARG, "usage and flags of a texture")
    check_sharing(desc.misc, desc.usage)


_GDI = frozenset(
    {DxgiFormat.B8G8R8A8_UNORM, DxgiFormat.B8G8R8A8_TYPELESS, DxgiFormat.B8G8R8A8_UNORM_SRGB}
)
"""Formats of textures that GDI can draw to."""


def _wrong_misc(desc: TextureDesc) -> bool:
    """Whether miscellaneous flags do not fit a texture."""
    misc, format = desc.misc, format_of(desc.format)
    both = int(BindFlag.RENDER_TARGET | BindFlag.SHADER_RESOURCE)
    single = desc.level_count == desc.slices == desc.samples == 1
    flat = single and desc.kind is ResourceType.TEXTURE2D
    return bool(
        (misc & MiscFlag.GENERATE_MIPS and desc.bind & both != both)
        or (misc & MiscFlag.RESOURCE_CLAMP and desc.usage == Usage.STAGING)
        or (misc & MiscFlag.SHARED and not single)
        or (misc & MiscFlag.GDI_COMPATIBLE and not (flat and format in _GDI))
        or (misc & MiscFlag.GDI_COMPATIBLE and not desc.bind & BindFlag.RENDER_TARGET)
    )


_VIEWED = {
    "ShaderResourceView": DdiBindFlag.SHADER_RESOURCE,
    "RenderTargetView": DdiBindFlag.RENDER_TARGET,
    "DepthStencilView": DdiBindFlag.DEPTH_STENCIL,
    "UnorderedAccessView": DdiBindFlag.UNORDERED_ACCESS,
}
"""The bind flag of a resource that a kind of view needs."""


def check_viewed(noun: str, resource: CreateResource) -> None:
    """Raise Refused (E_INVALIDARG) for a resource that was not created for a kind of view."""
    if not resource.BindFlags & _VIEWED[noun]:
        raise Refused(Result.E_INVALIDARG, f"{noun} of a resource without its bind flag")
