"""Resources that devices of an adapter share: their descriptions by the kernel's handle.

A driver opens a shared resource by the kernel's handle; the runtime keeps its description beside
it.

Source: the DXGI documentation of IDXGIResource::GetSharedHandle, the Direct3D 11 documentation of
OpenSharedResource.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from dp2emu.ddi10.resources.resource import CreateResource
from dp2emu.runtime10.codes import Refused, Result
from dp2emu.runtime10.driver_device import Adapter, DriverDevice
from dp2emu.runtime10.objects import Resource

Description = tuple[type[Resource], Any, CreateResource]
"""The class of a resource, its description, and the structure that created the driver's."""
_SHARED: WeakKeyDictionary[Any, dict[int, Description]] = WeakKeyDictionary()
"""The descriptions by handle, of each driver's adapter."""


def _of(adapter: Adapter) -> dict[int, Description]:
    """The descriptions of an adapter; DXGI's stands for the driver's."""
    return _SHARED.setdefault(getattr(adapter, "driver", adapter), {})


def share(driver: DriverDevice, resource: Resource) -> int:
    """Return the handle of a shared resource of a device, and keep its description."""
    handle = driver.kernel_handle(resource.memory)
    _of(driver.adapter)[handle] = type(resource), resource.desc, resource.ddi
    return handle


def described(driver: DriverDevice, handle: int) -> Description:
    """The description of a shared resource.

    Raises Refused (E_INVALIDARG) for a handle that GetSharedHandle has not returned.
    """
    found = _of(driver.adapter).get(handle)
    if found is None:
        raise Refused(Result.E_INVALIDARG, f"no shared resource {handle:#x}")
    return found
