"""Objects of Direct3D 10 and 11 that traced addresses mean, readers of the arguments of traced
calls, and registration of methods of contexts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from operator import methodcaller
from typing import Any, Protocol, TypeVar, cast

from dp2emu.argument_check import trusted_function
from dp2emu.capture.apitrace.values import Struct
from dp2emu.capture.records import DROPPED, Annotation
from dp2emu.errors import Dp2Error
from dp2emu.retrace.arguments import Arguments, array, flattened, integer, real, structure
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import Program, add, said_by
from dp2emu.runtime10.context import Context
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.dxgi.objects import DxgiObject
from dp2emu.runtime10.objects import DeviceChild
from dp2emu.runtime10.views import Span, ViewDesc, ViewDimension

_T = TypeVar("_T")
_Child = TypeVar("_Child", bound=DeviceChild)
Read = Callable[[Arguments], Any]
"""A function that reads an argument of a traced call."""
ContextAction = Callable[[Context, Arguments], object]
"""An action on the context whose method a traced call is."""

CONTEXT = "ID3D11DeviceContext"
CONTEXTS = f"{CONTEXT} ID3D10Device"
DEVICE = "ID3D11Device"
DEVICES = f"{DEVICE} ID3D10Device"


def _of(version: int, names: str) -> str:
    return " ".join(f"ID3D{version}{name}" for name in names.split())


_RESOURCES = "Buffer Texture1D Texture2D Texture3D Resource"
_VIEWS = "ShaderResourceView RenderTargetView DepthStencilView View"
_STATES = "BlendState DepthStencilState RasterizerState SamplerState"
_REST = (
    "InputLayout VertexShader GeometryShader PixelShader Query Predicate Asynchronous DeviceChild"
)
QUERIES10 = _of(10, "Query Predicate Asynchronous")
RESOURCES = f"{_of(10, _RESOURCES)} {_of(11, _RESOURCES)}"
VIEWS = f"{_of(10, _VIEWS)} {_of(11, _VIEWS)} ID3D11UnorderedAccessView"
STATES = f"{_of(10, _STATES)} {_of(11, _STATES)}"
CHILDREN = " ".join(
    [
        RESOURCES,
        VIEWS,
        STATES,
        _of(10, _REST),
        _of(11, _REST),
        _of(11, "HullShader DomainShader ComputeShader CommandList ClassLinkage ClassInstance"),
        "ID3DDeviceContextState",
    ]
)
"""Interfaces of objects that a device makes."""
MARKS = "ID3DUserDefinedAnnotation"
FURTHER = (
    "ID3D10Multithread ID3D11Multithread ID3D10Debug ID3D11Debug ID3D10InfoQueue ID3D11InfoQueue "
    "ID3D10SwitchToRef ID3D11SwitchToRef ID3D11VideoDevice ID3D11VideoContext "
    f"ID3DDestructionNotifier {MARKS}"
)
"""Further interfaces of devices, contexts and objects."""


class _Null(Dp2Error):
    """Raised for a NULL where a method without a result needs an object: it has no effect."""


# Objects of a call


def this_of(call: Arguments) -> Any:
    """The object whose method the call is, of any type."""
    address = call.address("this")
    found = call.objects.get(address)
    if found is None:
        raise Inexpressible(f"{address:#x} is nothing known")
    return found


def context_of(call: Arguments) -> Context:
    """The context whose method the call is; a device of Direct3D 10 is its own context."""
    found: object = this_of(call)
    if isinstance(found, Context):
        return found
    if isinstance(found, Device):
        return found.context
    raise Inexpressible(f"this is a {type(found).__name__}, not a context")


def device_of(call: Arguments) -> Device:
    """The device whose method the call is."""
    return call.thing("this", Device)


def owner_of(thing: DeviceChild) -> Device:
    """The device of an object."""
    assert isinstance(thing.owner, Device)
    return thing.owner


def number_of(program: Program, memory: bytearray) -> int:
    """The number of a driver's object in the capture, 0 if it has none."""
    return program.recorder.memories.number(memory) or 0


def bind_new(call: Arguments, name: str, thing: object) -> None:
    """Bind the address that the call returned to an object that it created.

    An object that still has the address was released by another thread, in a call that the trace
    has not left yet.
    """
    before = call.objects.get(call.address(name))
    call.bind(name, thing)
    if before is not thing and not call.objects.addresses(before):
        let_go(before)


def bind_found(call: Arguments, name: str, found: Sequence[object]) -> None:
    """Bind the addresses that the call returned in an argument to the objects found, unless they
    are known.
    """
    if not call.has(name):
        return
    leaves = flattened(call.value(name))
    for leaf, thing in zip(leaves, found, strict=False):
        if thing is not None and call.objects.get(integer(leaf)) is None:
            call.objects.bind(integer(leaf), thing, call.number)


def let_go(thing: object) -> None:
    """Release the program's last reference to an object of a device or of DXGI."""
    if isinstance(thing, (DeviceChild, DxgiObject)):
        thing.references = 1
        thing.release()


# Readers


def number(name: str) -> Read:
    """Reads an argument as an integer."""
    return methodcaller("integer", name)


def placed(position: int) -> Read:
    """Reads the argument at a position, 0 for the object, as an integer."""
    return lambda call: call.integer(call.placed(position))


def float_of(name: str) -> Read:
    """Reads an argument as a float."""
    return methodcaller("real", name)


def floats(name: str) -> Read:
    """Reads an array of floats, None for NULL."""
    return lambda call: call.reals(name) if call.has(name) else None


def numbers(name: str) -> Read:
    """Reads an array of integers, None for NULL."""
    return lambda call: call.integers(name) if call.has(name) else None


def optional(name: str, kind: type[object]) -> Read:
    """Reads an object, None for NULL."""
    return methodcaller("optional", name, kind)


def optional_at(position: int, kind: type[object]) -> Read:
    """Reads the object in the argument at a position, None for NULL."""
    return lambda call: call.optional(call.placed(position), kind)


def needed(name: str, kind: type[object]) -> Read:
    """Reads an object, without which the method has no effect."""

    def read(call: Arguments) -> object:
        found = call.optional(name, kind)
        if found is None:
            raise _Null(f"{name} is NULL")
        return found

    return read


def blob(name: str) -> Read:
    """Reads an argument as bytes."""
    return methodcaller("blob", name)


def described(name: str, kind: type[Any]) -> Read:
    """Reads a structure as a description of type ``kind``, None for NULL."""
    return lambda call: record(call.value(name), kind) if call.has(name) else None


def things(call: Arguments, name: str, kind: type[_Child]) -> list[_Child | None]:
    """The objects in an array argument, None for each NULL; an array that is NULL is empty."""
    if not call.has(name):
        return []
    addresses = map(integer, array(call.value(name)))
    return [call.objects.find(each, kind) if each else None for each in addresses]


def rows_of(call: Arguments, name: str) -> tuple[object, ...]:
    """The elements of an array argument; one that is NULL is empty."""
    return array(call.value(name)) if call.has(name) else ()


class _Description(Protocol):
    """The type of a description: a NamedTuple."""

    _fields: tuple[str, ...]
    _field_defaults: dict[str, Any]


def record(value: object, kind: type[_T]) -> _T:
    """A structure as a description of type ``kind``, a NamedTuple: members by their names, other
    members of the description by default.
    """
    given, description = structure(value), cast(_Description, kind)
    fields, defaults = description._fields, description._field_defaults
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


def view_desc(call: Arguments, name: str, *, depth: bool) -> ViewDesc | None:
    """An argument as the description of a view, None for NULL; ``depth`` for D3D11_DSV_DIMENSION,
    which has no buffers.
    """
    if not call.has(name):
        return None
    given = call.struct(name)
    number = integer(given["ViewDimension"]) + depth
    if number not in ViewDimension._value2member_map_:
        raise Inexpressible(f"ViewDimension {number}")
    members = {key: found for part in _structs(given) for key, found in _union(part).items()}
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


# Methods of contexts


def on_context(
    interfaces: str, names: str, *, says: str = ""
) -> Callable[[ContextAction], ContextAction]:
    """Decorator that registers the action of methods of contexts, with its docstring or ``says``
    as description.  A call that has no effect becomes an annotation.
    """

    def register(act: ContextAction) -> ContextAction:
        def acting(program: Program, call: Arguments) -> None:
            perform(program, call, context_of(call), act)

        add(interfaces, names, acting, says or said_by(act))
        return act

    return register


def perform(program: Program, call: Arguments, context: Context, act: ContextAction) -> None:
    """Perform an action on a context, with an annotation for each reason for which a call of it
    had no effect.
    """
    try:
        act(context, call)
    except _Null as error:
        context.messages.append(str(error))
    finally:
        if context.messages:
            _note_dropped(program, call, context)


def _note_dropped(program: Program, call: Arguments, context: Context) -> None:
    for each in context.messages:
        text = f"call {call.number} {call.call.name}: {each}"
        program.recorder.put(Annotation(DROPPED, text))
    context.messages.clear()


def context_row(
    interfaces: str, names: str, says: str, called: Callable[..., object], *readers: Read
) -> None:
    """Register methods of contexts whose action calls the method ``called`` of the context, which
    deferred contexts may override, with the arguments that ``readers`` read.
    """
    name = next(each for each in dir(Context) if getattr(Context, each) is called)

    methods = cache(partial(_trusted, name))

    @on_context(interfaces, names, says=says)
    def act(context: Context, call: Arguments) -> None:
        kind: Any = type(context)
        methods(kind)(context, *[read(call) for read in readers])


def _trusted(name: str, kind: type) -> Callable[..., Any]:
    return trusted_function(kind, name)
