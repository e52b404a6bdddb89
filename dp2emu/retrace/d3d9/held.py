"""What the addresses of a Direct3D 9 or 8 program mean, and how calls name it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from dp2emu.capture.apitrace.values import Struct
from dp2emu.capture.records import PictureKind
from dp2emu.d3d.enums import Format, Pool
from dp2emu.d3d.sdk import SdkEnum
from dp2emu.retrace.arguments import Arguments, integer, members
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import Action, Program, inert, method
from dp2emu.runtime.application import PROGRAMS, Application
from dp2emu.runtime.resources import Resource

T = TypeVar("T")
E = TypeVar("E", bound=SdkEnum)
_MANAGED_EX = 6

Box = tuple[int, int, int, int]


class Held(msgspec.Struct, frozen=True):
    """An object of a device."""

    app: Application
    thing: Any


class Direct3D:
    """IDirect3D9 and IDirect3D8: nothing but devices comes of it."""


def on(interfaces: str, names: str, *, failures: bool = False) -> Callable[[Action], Action]:
    """A row for each of the methods of each of the interfaces."""
    every = [f"{interface}::{name}" for interface in interfaces.split() for name in names.split()]
    return method(*every, failures=failures)


def silent(interfaces: str, names: str, says: str) -> None:
    """Rows of methods that nothing reaches the driver of."""
    for interface in interfaces.split():
        inert(interface, names, says)


def application(call: Arguments, name: str = "this") -> Application:
    """The device an argument names."""
    return call.thing(name, Application)


def held(call: Arguments, kind: type[T], name: str = "this") -> tuple[Application, T]:
    """The object an argument names, and its device."""
    found = call.thing(name, Held)
    if not isinstance(found.thing, kind):
        what = type(found.thing).__name__
        raise Inexpressible(f"{name} is a {what}, not a {kind.__name__}")
    return found.app, found.thing


def optional(call: Arguments, kind: type[T], name: str) -> T | None:
    """The same without the device, None for NULL."""
    return held(call, kind, name)[1] if call.address(name) else None


def hand_out(program: Program, call: Arguments, name: str, app: Application, thing: Any) -> None:
    """What a getter or creation gave; what was to go stays if it is given again."""
    address = call.address(name) if call.has(name) else 0
    if not address or thing is None:
        return
    program.objects.bind(address, Held(app, thing))
    if isinstance(thing, (Resource, *PROGRAMS)):
        app.revive(thing)


def picture(
    call: Arguments, app: Application, kind: PictureKind, resource: Resource, index: int = 0
) -> None:
    """What a subresource holds now is what the call shows or reads."""
    desc = resource.root.desc
    if desc is not None:
        app.session.picture(call.number, kind, desc.handle, resource.index + index)


def enumerator(enum: type[E], value: int) -> E:
    """A value of an enumeration.  Raises Inexpressible for one it has not."""
    try:
        return enum(value)
    except ValueError:
        raise Inexpressible(f"{enum.__name__} {value:#x}") from None


def format_of(value: int) -> Format:
    """A D3DFORMAT."""
    return enumerator(Format, value)


def pool_of(value: int) -> Pool:
    """A D3DPOOL; managed resources of Direct3D 9Ex are as others."""
    return Pool.MANAGED if value == _MANAGED_EX else enumerator(Pool, value)


def rect_of(found: Struct) -> Box:
    """A RECT or D3DRECT, by the order of its members."""
    left, top, right, bottom = (integer(each) for each in _first(found, 4))
    return left, top, right, bottom


def _first(found: Struct, count: int) -> tuple[Any, ...]:
    if len(found.members) < count:
        raise Inexpressible(f"{found.signature.name} has {len(found.members)} members")
    return found.members[:count]


def rect(call: Arguments, name: str) -> Box | None:
    """A pointer to a RECT, None for NULL."""
    return rect_of(call.struct(name)) if call.has(name) else None


def point_of(found: Struct) -> tuple[int, int]:
    """A POINT."""
    x, y = members(found, ("x", "y"), integer)
    return x, y
