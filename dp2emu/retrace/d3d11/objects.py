"""Objects of Direct3D 10 and 11 that traced addresses mean, and functions that read the arguments
of traced calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from dp2emu.capture.apitrace.values import Struct
from dp2emu.retrace.arguments import Arguments, array, integer, real, structure
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import Program
from dp2emu.runtime10.context import Context
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.objects import DeviceChild
from dp2emu.runtime10.views import Span, ViewDesc, ViewDimension

_T = TypeVar("_T")
_Child = TypeVar("_Child", bound=DeviceChild)

CONTEXTS = "ID3D11DeviceContext ID3D10Device"
DEVICES = "ID3D11Device ID3D10Device"
_CHILDREN = (
    "Buffer Texture1D Texture2D Texture3D Resource ShaderResourceView RenderTargetView "
    "DepthStencilView UnorderedAccessView View BlendState DepthStencilState RasterizerState "
    "SamplerState InputLayout VertexShader HullShader DomainShader GeometryShader PixelShader "
    "ComputeShader Query Predicate Counter Asynchronous DeviceChild CommandList ClassLinkage "
    "ClassInstance"
)
RESOURCES = " ".join(
    f"ID3D{version}{name}"
    for version in (10, 11)
    for name in ("Buffer", "Texture1D", "Texture2D", "Texture3D", "Resource")
)
CHILDREN = " ".join(f"ID3D{version}{name}" for version in (10, 11) for name in _CHILDREN.split())


def context_of(call: Arguments) -> Context:
    """The context whose method the call is; a device of Direct3D 10 is its own context."""
    found = call.thing("this", object)
    if isinstance(found, Device):
        return found.context
    if isinstance(found, Context):
        return found
    raise Inexpressible(f"this is a {type(found).__name__}, not a context")


def device_of(call: Arguments) -> Device:
    """The device whose method the call is."""
    return call.thing("this", Device)


def owner_of(thing: DeviceChild) -> Device:
    """The device of an object."""
    assert isinstance(thing.owner, Device)
    return thing.owner


def things(call: Arguments, name: str, kind: type[_Child]) -> list[_Child | None]:
    """The objects in an array argument, None for each NULL; an array that is NULL is empty."""
    if not call.has(name):
        return []
    return [
        None if integer(each) == 0 else call.objects.find(integer(each), kind)
        for each in array(call.value(name))
    ]


def integers(call: Arguments, name: str) -> list[int] | None:
    """The numbers in an array argument, None for NULL."""
    return call.integers(name) if call.has(name) else None


def record(value: object, kind: type[_T]) -> _T:
    """A structure as a description of type ``kind``, a NamedTuple: members by their names, other
    members of the description by default.
    """
    given = structure(value)
    defaults: dict[str, Any] = getattr(kind, "_field_defaults")  # noqa: B009  (typed as any type)
    fields: tuple[str, ...] = getattr(kind, "_fields")  # noqa: B009
    names = given.signature.members
    return kind(
        **{
            field: _converted(given[field], defaults.get(field))
            for field in fields
            if field in names
        }
    )


def _converted(value: Any, default: Any) -> Any:
    """A member's value as the type of its default value."""
    if isinstance(value, Struct):
        return record(value, type(default))
    if isinstance(value, tuple):
        inner = default[0] if isinstance(default, tuple) and default else 0
        return tuple(_converted(each, inner) for each in value)
    if isinstance(value, str):
        return str(value)
    return real(value) if isinstance(default, float) else integer(value)


_FIRSTS = (
    ("levels", "MostDetailedMip", "MipLevels"),
    ("levels", "MipSlice", ""),
    ("slices", "FirstArraySlice", "ArraySize"),
    ("slices", "FirstWSlice", "WSize"),
    ("cubes", "First2DArrayFace", "NumCubes"),
    ("elements", "FirstElement", "NumElements"),
    ("elements", "ElementOffset", "ElementWidth"),
)
"""Member of ViewDesc, and names of the members of unions that are its first item and number."""


def view_desc(call: Arguments, noun: str) -> ViewDesc | None:
    """The argument pDesc as the description of a view, None for NULL."""
    if not call.has("pDesc"):
        return None
    given = call.struct("pDesc")
    number = integer(given["ViewDimension"]) + (noun == "DepthStencilView")
    if number not in ViewDimension._value2member_map_:
        raise Inexpressible(f"ViewDimension {number}")
    members = {name: found for part in _structs(given) for name, found in _union(part).items()}
    format = integer(given["Format"]) or None
    return ViewDesc(format, ViewDimension(number), **members)


def _structs(given: Struct) -> Iterator[Struct]:
    """A structure and the structures in it, in order."""
    yield given
    for value in given.members:
        if isinstance(value, Struct):
            yield from _structs(value)


def _union(part: Struct) -> dict[str, Any]:
    """The members of a view's description that a structure has."""
    names = part.signature.members
    members: dict[str, Any] = {}
    for member, first, number in _FIRSTS:
        count = integer(part[number]) if number and number in names else None
        if first in names:
            members[member] = Span(integer(part[first]), count)
        elif count is not None and member not in members:
            members[member] = Span(0, count)
    if "Flags" in names:
        members["flags"] = integer(part["Flags"])
    return members


def number_of(program: Program, memory: bytearray) -> int:
    """The number of a driver's object in the capture."""
    return program.recorder.memories.number(memory) or 0
