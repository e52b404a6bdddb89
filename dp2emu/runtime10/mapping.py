"""The rules by which resources are mapped, and the functions of the driver that map them.

Source: the Direct3D 11 documentation of ID3D11DeviceContext::Map.
"""

from __future__ import annotations

from dp2emu.ddi10.resources.maps import Map
from dp2emu.ddi10.resources.resource import BindFlag, Usage
from dp2emu.runtime10.codes import Api, Refused, Result
from dp2emu.runtime10.objects import Resource
from dp2emu.runtime10.textures import CpuAccess, part_count

_INPUT = int(BindFlag.VERTEX_BUFFER | BindFlag.INDEX_BUFFER)
_CONSTANTS = int(BindFlag.CONSTANT_BUFFER)

_ACCESS: dict[Map, int] = {
    Map.READ: int(CpuAccess.READ),
    Map.WRITE: int(CpuAccess.WRITE),
    Map.READWRITE: int(CpuAccess.READ | CpuAccess.WRITE),
    Map.WRITE_DISCARD: int(CpuAccess.WRITE),
    Map.WRITE_NOOVERWRITE: int(CpuAccess.WRITE),
}
"""The access flags that a map needs."""
_DISCARDING = (Map.WRITE_DISCARD, Map.WRITE_NOOVERWRITE)
"""The values of D3D11_MAP that dynamic resources are mapped with, and no others."""


def mapping(resource: Resource, index: int, kind: Map) -> str:
    """The DDI function that maps a resource.  Raises Refused (E_INVALIDARG)."""
    needed = _ACCESS.get(kind)
    access = int(resource.desc.CPUAccessFlags)
    dynamic = resource.usage is Usage.DYNAMIC
    allowed = needed is not None and access & needed == needed
    if not allowed or dynamic != (kind in _DISCARDING):
        raise Refused(Result.E_INVALIDARG, f"map {kind} of a resource of usage {resource.usage}")
    if not 0 <= index < part_count(resource.ddi):
        raise Refused(Result.E_INVALIDARG, f"map of subresource {index}")
    if kind == Map.WRITE_NOOVERWRITE and not _keeps(resource):
        raise Refused(Result.E_INVALIDARG, "map of this resource without overwriting it")
    if resource.usage is Usage.STAGING:
        return "StagingResourceMap"
    if not dynamic:
        return "ResourceMap"
    if kind == Map.WRITE_DISCARD:
        return f"Dynamic{_noun(resource)}MapDiscard"
    return "DynamicIABufferMapNoOverwrite" if _noun(resource) == "IABuffer" else "ResourceMap"


def _keeps(resource: Resource) -> bool:
    """Whether a dynamic resource is mapped without overwriting it: a buffer, which in Direct3D 10
    is one of vertices or indices.
    """
    old = getattr(resource.owner, "api", Api.D3D11) < Api.D3D11
    return _noun(resource) == "IABuffer" if old else resource.is_buffer


def unmapping(resource: Resource) -> str:
    """The DDI function that unmaps a resource."""
    if resource.usage is Usage.STAGING:
        return "StagingResourceUnmap"
    dynamic = resource.usage is Usage.DYNAMIC
    return f"Dynamic{_noun(resource)}Unmap" if dynamic else "ResourceUnmap"


def _noun(resource: Resource) -> str:
    """The noun in the names of the functions that map a dynamic resource."""
    bind = int(resource.ddi.BindFlags)
    if bind & _INPUT:
        return "IABuffer"
    return "ConstantBuffer" if bind & _CONSTANTS else "Resource"
