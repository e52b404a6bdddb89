"""Resources of Direct3D 10 and 11 that a program shares between its devices, by handle or name."""

from __future__ import annotations

from dp2emu.retrace.arguments import Arguments
from dp2emu.retrace.d3d11.objects import DEVICE, DEVICES, bind_new, device_of
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import Program, method
from dp2emu.runtime10.dxgi import DxgiResource
from dp2emu.runtime10.objects import Resource

_RESOURCES = "IDXGIResource"
_HANDLES, _NAMES = "shared handle", "shared name %s"
_UNKNOWN = "a resource that another process created"


def _share(program: Program, call: Arguments, kind: str, number: int) -> None:
    resource = call.thing("this", Resource)
    program.handles[kind, number] = DxgiResource(resource).get_shared_handle()


def _open(program: Program, call: Arguments, kind: str, number: int, place: str) -> None:
    handle = program.handles.get((kind, number))
    if not isinstance(handle, int):
        raise Inexpressible(_UNKNOWN)
    if call.has(place):
        bind_new(call, place, device_of(call).open_shared_resource(handle))


@method(_RESOURCES, "GetSharedHandle")
def get_shared_handle(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the handle means the resource, unless it is NULL."""
    handle = call.address(call.placed(1))
    if handle:
        _share(program, call, _HANDLES, handle)


@method(_RESOURCES, "CreateSharedHandle")
def create_shared_handle(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the handle and the name mean the resource."""
    _share(program, call, _HANDLES, call.address(call.placed(4)))
    if call.has(call.placed(3)):
        _share(program, call, _NAMES % call.value(call.placed(3)), 0)


@method(DEVICES, "OpenSharedResource")
@method(DEVICE, "OpenSharedResource1")
def open_shared_resource(program: Program, call: Arguments) -> None:
    """Opens a resource that a device of the program shares; a loss for one of another process."""
    _open(program, call, _HANDLES, call.address(call.placed(1)), call.placed(3))


@method(DEVICE, "OpenSharedResourceByName")
def open_shared_resource_by_name(program: Program, call: Arguments) -> None:
    """Opens a resource that a device of the program shares; a loss for one of another process."""
    _open(program, call, _NAMES % call.value(call.placed(1)), 0, call.placed(4))
