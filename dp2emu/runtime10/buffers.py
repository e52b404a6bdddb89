"""Buffers as an application describes them, translated to the structure of the DDI.

Source: the Direct3D 11 documentation of D3D11_BUFFER_DESC and D3D11_RESOURCE_MISC_FLAG.
"""

from __future__ import annotations

from enum import IntFlag

from dp2emu.ddi10.resources.resource import (
    BindFlag,
    CreateResource,
    MipInfo,
    ResourceMisc,
    ResourceType,
    Usage,
)
from dp2emu.runtime10.codes import Api, Refused, Result
from dp2emu.runtime10.descriptions import BufferDesc, SubresourceData
from dp2emu.runtime10.enums import BindFlag as FLAG
from dp2emu.runtime10.textures import CpuAccess, bind_flags, map_flags
from dp2emu.runtime10.validation import check_sharing, wrong_usage


class BufferMiscFlag(IntFlag):
    """D3D11_RESOURCE_MISC_FLAG of buffers."""

    SHARED = 0x2
    DRAWINDIRECT_ARGS = 0x10
    BUFFER_ALLOW_RAW_VIEWS = 0x20
    BUFFER_STRUCTURED = 0x40
    RESOURCE_CLAMP = 0x80
    SHARED_KEYEDMUTEX = 0x100


_SHARED = int(BufferMiscFlag.SHARED | BufferMiscFlag.SHARED_KEYEDMUTEX)
_CONSTANTS = 16 * 4096
"""Most bytes of a constant buffer."""
_STRIDE = 2048
"""Largest stride of a structured buffer, in bytes."""
_VIEWED = int(BindFlag.SHADER_RESOURCE) | 0x80
"""D3D11_BIND_SHADER_RESOURCE and D3D11_BIND_UNORDERED_ACCESS, one of which raw and structured
buffers need."""
_MAPPED = (int(BindFlag.SHADER_RESOURCE), 0x80)
"""The bind flags of buffers of usage DEFAULT that may be mapped."""
_BOTH = int(CpuAccess.READ | CpuAccess.WRITE)


def buffer_resource(
    api: Api, desc: BufferDesc, initial_data: SubresourceData | None
) -> CreateResource:
    """The DDI structure that creates a buffer.

    Raises Refused (E_INVALIDARG) for a description that Direct3D rejects.
    """
    structured = bool(desc.MiscFlags & BufferMiscFlag.BUFFER_STRUCTURED)
    wrong = (
        desc.ByteWidth < 1,
        wrong_usage(desc.Usage, desc.BindFlags, _access(api, desc), initial_data is not None),
        desc.BindFlags & BindFlag.DEPTH_STENCIL,
        desc.BindFlags & BindFlag.CONSTANT_BUFFER and _wrong_constants(api, desc),
        structured and _wrong_structure(api, desc),
        _wrong_misc(api, desc),
    )
    if any(wrong):
        raise Refused(Result.E_INVALIDARG, "the description of a buffer")
    check_sharing(desc.MiscFlags, desc.Usage)
    size = desc.ByteWidth
    given = None
    if initial_data is not None:
        given = (initial_data._replace(SysMemPitch=size, SysMemSlicePitch=size),)
        if len(initial_data.pSysMem) < size:
            raise Refused(Result.E_INVALIDARG, f"{len(initial_data.pSysMem)} bytes for {size}")
    return CreateResource(
        (MipInfo(size),), given, ResourceType.BUFFER, desc.Usage, bind_flags(desc.BindFlags),
        map_flags(desc.CPUAccessFlags),
        int(ResourceMisc.SHARED) if desc.MiscFlags & _SHARED else 0,
        ByteStride=desc.StructureByteStride if structured else 0,
    )  # fmt: skip


def _access(api: Api, desc: BufferDesc) -> int:
    """The access flags that the usage has to allow: none of a buffer that Direct3D 11.2 maps
    although its usage is DEFAULT, for shader resources or for unordered access alone.
    """
    viewed = desc.BindFlags in _MAPPED
    free = api >= Api.D3D11 and desc.Usage == Usage.DEFAULT and viewed
    return desc.CPUAccessFlags & ~_BOTH if free else desc.CPUAccessFlags


def _wrong_constants(api: Api, desc: BufferDesc) -> bool:
    """Whether a constant buffer has other uses, or a size that the interface does not have;
    Direct3D 11.1 binds ranges of larger ones.
    """
    alone = desc.BindFlags == BindFlag.CONSTANT_BUFFER
    large = api < Api.D3D11 and desc.ByteWidth > _CONSTANTS
    return not alone or bool(desc.ByteWidth % 16) or large


def _wrong_misc(api: Api, desc: BufferDesc) -> bool:
    """Whether miscellaneous flags do not fit a buffer."""
    misc, viewed = desc.MiscFlags, desc.BindFlags & _VIEWED
    known = sum(BufferMiscFlag) if api >= Api.D3D11 else int(BufferMiscFlag.SHARED)
    raw = misc & BufferMiscFlag.BUFFER_ALLOW_RAW_VIEWS
    indirect = misc & BufferMiscFlag.DRAWINDIRECT_ARGS
    unordered = desc.BindFlags & int(FLAG.UNORDERED_ACCESS) and api < Api.D3D11
    return bool(
        misc & ~known
        or unordered
        or (raw and not viewed)
        or (indirect and desc.Usage != Usage.DEFAULT)
    )


def _wrong_structure(api: Api, desc: BufferDesc) -> bool:
    stride = desc.StructureByteStride
    fits = 0 < stride <= _STRIDE and stride % 4 == 0 and desc.ByteWidth % stride == 0
    raw = desc.MiscFlags & BufferMiscFlag.BUFFER_ALLOW_RAW_VIEWS
    input = desc.BindFlags & ~_VIEWED
    return api < Api.D3D11 or not fits or bool(raw) or bool(input)
