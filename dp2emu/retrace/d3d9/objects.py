"""Objects of Direct3D 9 and 8 that traced addresses mean, and functions that read the arguments of
traced calls."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import msgspec

from dp2emu.capture.apitrace.values import Struct
from dp2emu.capture.records import PictureKind
from dp2emu.d3d.enums import Format, Pool
from dp2emu.d3d.sdk import SdkEnum
from dp2emu.gpu.resource.heap import SurfaceDesc
from dp2emu.retrace.arguments import Arguments, integer, members
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import Program
from dp2emu.runtime.application import Application
from dp2emu.runtime.device9 import Device9
from dp2emu.runtime.objects import PROGRAMS
from dp2emu.runtime.resources import Resource

T = TypeVar("T")
E = TypeVar("E", bound=SdkEnum)
Box = tuple[int, int, int, int]

DEVICES = "IDirect3DDevice9 IDirect3DDevice9Ex"
EVERY_DEVICE = f"{DEVICES} IDirect3DDevice8"
_MANAGED_EX = 6


class DeviceObject(msgspec.Struct, frozen=True):
    """An object, such as a resource, shader or query, and the device that it belongs to."""

    app: Application
    thing: Any


class Direct3D:
    """IDirect3D9 and IDirect3D8, which only create devices."""


def application(call: Arguments) -> Application:
    """The device whose method the call is."""
    return call.thing("this", Application)


def device_of(call: Arguments) -> Device9:
    """The runtime's device (``Device9``) whose method the call is."""
    return application(call).device


def object_of(call: Arguments, kind: type[T], name: str = "this") -> tuple[Application, T]:
    """(device, object) for the object that an argument points to."""
    found = call.thing(name, DeviceObject)
    if not isinstance(found.thing, kind):
        what = type(found.thing).__name__
        raise Inexpressible(f"{name} is a {what}, not a {kind.__name__}")
    return found.app, found.thing


def optional(call: Arguments, kind: type[T], name: str) -> T | None:
    """The object that an argument points to, None for NULL."""
    return object_of(call, kind, name)[1] if call.address(name) else None


def resources_of(call: Arguments, *names: str) -> list[Resource]:
    """The resources that arguments point to."""
    return [object_of(call, Resource, name)[1] for name in names]


def described(resource: Resource) -> SurfaceDesc:
    """The description of the driver's surface that holds a resource.  Raises Inexpressible if the
    driver has none.
    """
    if resource.desc is None:
        raise Inexpressible("a surface without memory at the driver")
    return resource.desc


def hand_out(program: Program, call: Arguments, name: str, app: Application, thing: Any) -> None:
    """Bind ``thing`` to the address that the call returned through an argument, and cancel its
    release if it was released before.
    """
    address = call.address(name) if call.has(name) else 0
    if not address or thing is None:
        return
    program.objects.bind(address, DeviceObject(app, thing))
    if isinstance(thing, (Resource, *PROGRAMS)):
        app.revive(thing)


def picture(
    call: Arguments, app: Application, kind: PictureKind, resource: Resource, index: int = 0
) -> None:
    """Record that at this call the program saw subresource ``index`` of a resource: ``kind`` says
    whether it was presented or read back.
    """
    desc = resource.root.desc
    if desc is not None:
        app.session.picture(call.number, kind, desc.handle, resource.index + index)


def enumerator(enum: type[E], value: int) -> E:
    """The member of ``enum`` with a value.  Raises Inexpressible for an unknown value."""
    member = enum._value2member_map_.get(value)
    if member is None:
        raise Inexpressible(f"{enum.__name__} {value:#x}")
    return cast(E, member)


def format_of(call: Arguments, name: str = "Format") -> Format:
    """An argument as a D3DFORMAT."""
    return enumerator(Format, call.integer(name))


def pool_of(call: Arguments) -> Pool:
    """The argument Pool as a D3DPOOL; D3DPOOL_MANAGED_EX counts as D3DPOOL_MANAGED."""
    value = call.integer("Pool")
    return Pool.MANAGED if value == _MANAGED_EX else enumerator(Pool, value)


def rect_of(found: Struct) -> Box:
    """A RECT or D3DRECT as left, top, right, bottom; its members are taken by position, not by
    name.
    """
    if len(found.members) < 4:
        raise Inexpressible(f"{found.signature.name} has {len(found.members)} members")
    left, top, right, bottom = map(integer, found.members[:4])
    return left, top, right, bottom


def rect(call: Arguments, name: str) -> Box | None:
    """The rectangle that a RECT pointer argument points to, None for NULL."""
    return rect_of(call.struct(name)) if call.has(name) else None


def point_of(found: Struct) -> tuple[int, int]:
    """The (x, y) of a POINT."""
    x, y = members(found, ("x", "y"), integer)
    return x, y
