"""Buffers as an application describes them, translated to the structure of the DDI.

Source: the Direct3D 11 documentation of D3D11_BUFFER_DESC and D3D11_RESOURCE_MISC_FLAG.
"""

from __future__ import annotations

from enum import IntFlag

from dp2emu.ddi10.resources.resource import BindFlag, CreateResource, MipInfo, ResourceType, Usage
from dp2emu.runtime10.codes import Api, Refused, Result
from dp2emu.runtime10.descriptions import BufferDesc, SubresourceData
from dp2emu.runtime10.textures import CpuAccess, bind_flags, map_flags


class BufferMiscFlag(IntFlag):
    """D3D11_RESOURCE_MISC_FLAG of buffers."""

    SHARED = 0x2
    DRAWINDIRECT_ARGS = 0x10
    BUFFER_ALLOW_RAW_VIEWS = 0x20
    BUFFER_STRUCTURED = 0x40
    RESOURCE_CLAMP = 0x80


_CONSTANTS = 16 * 4096
"""Most bytes of a constant buffer."""
_STRIDE = 2048
"""Largest stride of a structured buffer, in bytes."""
_VIEWED = int(BindFlag.SHADER_RESOURCE) | 0x80
"""D3D11_BIND_SHADER_RESOURCE and D3D11_BIND_UNORDERED_ACCESS, one of which raw and structured
buffers need."""


def buffer_resource(
    api: Api, desc: BufferDesc, initial_data: SubresourceData | None
) -> CreateResource:
    """The DDI structure that creates a buffer.

    Raises Refused (E_INVALIDARG) for a description that Direct3D rejects.
    """
    structured = bool(desc.MiscFlags & BufferMiscFlag.BUFFER_STRUCTURED)
    wrong = (
        desc.ByteWidth < 1,
        _wrong_usage(desc, initial_data),
        desc.BindFlags & BindFlag.DEPTH_STENCIL,
        desc.BindFlags & BindFlag.CONSTANT_BUFFER and _wrong_constants(desc),
        structured and _wrong_structure(api, desc),
    )
    if any(wrong):
        raise Refused(Result.E_INVALIDARG, "the description of a buffer")
    size = desc.ByteWidth
    given = None
    if initial_data is not None:
        given = (initial_data._replace(SysMemPitch=size, SysMemSlicePitch=size),)
        if len(initial_data.pSysMem) < size:
            raise Refused(Result.E_INVALIDARG, f"{len(initial_data.pSysMem)} bytes for {size}")
    return CreateResource(
        (MipInfo(size),), given, ResourceType.BUFFER, desc.Usage, bind_flags(desc.BindFlags),
        map_flags(desc.CPUAccessFlags), ByteStride=desc.StructureByteStride if structured else 0,
    )  # fmt: skip


_WRITE, _READ = int(CpuAccess.WRITE), int(CpuAccess.READ)
_ACCESSES: dict[int, tuple[int, ...]] = {
    Usage.DEFAULT: (0,),
    Usage.IMMUTABLE: (0,),
    Usage.DYNAMIC: (_WRITE,),
    Usage.STAGING: (_WRITE, _READ, _WRITE | _READ),
}
"""The CPU access flags that each usage allows."""


def _wrong_usage(desc: BufferDesc, initial_data: SubresourceData | None) -> bool:
    """Whether usage, access flags, bind flags and initial data do not go together."""
    usage = desc.Usage
    bound = bool(desc.BindFlags) or usage == Usage.DEFAULT
    return (
        desc.CPUAccessFlags not in _ACCESSES.get(usage, ())
        or (usage == Usage.IMMUTABLE and initial_data is None)
        or (usage == Usage.STAGING) == bound
    )


def _wrong_constants(desc: BufferDesc) -> bool:
    alone = desc.BindFlags == BindFlag.CONSTANT_BUFFER
    return not alone or bool(desc.ByteWidth % 16) or desc.ByteWidth > _CONSTANTS


def _wrong_structure(api: Api, desc: BufferDesc) -> bool:
    stride = desc.StructureByteStride
    fits = 0 < stride <= _STRIDE and stride % 4 == 0 and desc.ByteWidth % stride == 0
    raw = desc.MiscFlags & BufferMiscFlag.BUFFER_ALLOW_RAW_VIEWS
    return api < Api.D3D11 or not fits or bool(raw)
