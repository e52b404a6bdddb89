"""IDXGISurface and IDXGIResource: textures and back buffers as DXGI sees them.

Source: the DXGI documentation of IDXGISurface, IDXGIResource and DXGI_USAGE.
"""

from __future__ import annotations

from typing import Any

from dp2emu.argument_check import checked
from dp2emu.ddi10.resources.maps import Map
from dp2emu.ddi10.resources.resource import BindFlag, ResourceMisc
from dp2emu.errors import Unsupported
from dp2emu.runtime10.codes import Refused, Result
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.dxgi.descriptions import BufferUsage, MapFlag, MappedRect, SurfaceDesc
from dp2emu.runtime10.objects import Resource, Texture2D
from dp2emu.runtime10.sharing import share
from dp2emu.runtime10.textures import parts_of

_USAGES = {
    BindFlag.SHADER_RESOURCE: BufferUsage.SHADER_INPUT,
    BindFlag.RENDER_TARGET: BufferUsage.RENDER_TARGET_OUTPUT,
    BindFlag.UNORDERED_ACCESS: BufferUsage.UNORDERED_ACCESS,
    BindFlag.PRESENT: BufferUsage.BACK_BUFFER,
}
"""DXGI_USAGE by the bind flag of the DDI."""

_MAPS = {
    MapFlag.READ: Map.READ,
    MapFlag.WRITE: Map.WRITE,
    MapFlag.READ | MapFlag.WRITE: Map.READWRITE,
    MapFlag.WRITE | MapFlag.DISCARD: Map.WRITE_DISCARD,
}
"""The map of a texture by DXGI_MAP."""


def bind_flags_of(usage: int) -> int:
    """D3D11_BIND_* flags of a surface of a DXGI_USAGE."""
    unordered = 0x80 if usage & BufferUsage.UNORDERED_ACCESS else 0
    pairs = [pair for pair in _USAGES.items() if pair[0] < BindFlag.PRESENT]
    return unordered | sum(int(bind) for bind, named in pairs if usage & named)


def map_kind(flags: int) -> Map:
    """The map of a texture that ``MapFlag`` flags ask for.  Raises Refused (E_INVALIDARG)."""
    kind = _MAPS.get(MapFlag(flags))
    if kind is None:
        raise Refused(Result.E_INVALIDARG, f"DXGI_MAP {flags:#x}")
    return kind


def device_of(resource: Resource) -> Device:
    """The device of a resource."""
    assert isinstance(resource.owner, Device)
    return resource.owner


@checked
class DxgiResource:
    """IDXGIResource: ``resource`` as an object of DXGI, with its reference count."""

    def __init__(self, resource: Resource) -> None:
        self.resource = resource
        self.device = device_of(resource)

    def add_ref(self) -> int:
        """AddRef of the resource."""
        return self.resource.add_ref()

    def release(self) -> int:
        """Release of the resource."""
        return self.resource.release()

    def get_device(self) -> Device:
        """GetDevice; unlike in C++, without a reference more."""
        return self.device

    def get_usage(self) -> int:
        """GetUsage: DXGI_USAGE flags."""
        bind = self.resource.ddi.BindFlags
        read_only = int(BufferUsage.READ_ONLY) if self.resource.read_only else 0
        return read_only | sum(int(usage) for flag, usage in _USAGES.items() if bind & flag)

    def get_shared_handle(self) -> int:
        """GetSharedHandle, for ``Device.open_shared_resource`` of any device of the adapter.

        Raises Refused (DXGI_ERROR_INVALID_CALL) for a resource that is not shared.
        """
        if self.resource.ddi.MiscFlags & ResourceMisc.SHARED:
            return share(self.device.driver, self.resource)
        raise Refused(Result.DXGI_ERROR_INVALID_CALL, "the resource is not shared")

    def set_eviction_priority(self, priority: int) -> None:
        """SetEvictionPriority: resources with a low ``priority``, such as a
        DXGI_RESOURCE_PRIORITY, leave video memory first.
        """
        self.resource.set_eviction_priority(priority)

    def get_eviction_priority(self) -> int:
        """GetEvictionPriority."""
        return self.resource.get_eviction_priority()


@checked
class Surface(DxgiResource):
    """IDXGISurface: a two-dimensional texture with one subresource, such as a back buffer.

    Raises Refused (E_NOINTERFACE) for other resources.
    """

    def __init__(self, resource: Resource) -> None:
        if not isinstance(resource, Texture2D) or len(parts_of(resource.ddi)) != 1:
            raise Refused(Result.E_NOINTERFACE, "a surface is a texture with one subresource")
        super().__init__(resource)
        self.texture = resource

    def get_desc(self) -> SurfaceDesc:
        """GetDesc."""
        desc = self.texture.desc
        return SurfaceDesc(desc.Width, desc.Height, desc.Format, desc.SampleDesc)

    def map(self, flags: int) -> MappedRect:
        """Map: the memory of the surface, for ``MapFlag`` flags.

        Raises Refused: E_INVALIDARG for flags that name no map, DXGI_ERROR_INVALID_CALL for a map
        that the texture's usage and access flags do not allow.
        """
        kind = map_kind(flags)
        try:
            found = self.device.context.map(self.texture, 0, kind)
        except Refused as error:
            raise Refused(Result.DXGI_ERROR_INVALID_CALL, error.what) from None
        return MappedRect(found.RowPitch, found.pData)

    def unmap(self) -> None:
        """Unmap."""
        self.device.context.unmap(self.texture, 0)

    def get_dc(self, discard: bool) -> Any:
        """GetDC, with ``discard`` of the contents.  Raises Unsupported: there is no GDI."""
        raise Unsupported("GetDC of a surface: there is no GDI")

    def release_dc(self) -> None:
        """ReleaseDC.  Raises Unsupported: there is no GDI."""
        raise Unsupported("ReleaseDC of a surface: there is no GDI")
