"""Bindings of a context to the driver's slots, and the methods of each shader stage.

Source: the Direct3D 11 documentation of ID3D11DeviceContext.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Protocol, TypeVar, cast

from dp2emu.argument_check import checked, checked_on_failure
from dp2emu.ddi10.shaders.stages import MOST_CONSTANTS
from dp2emu.errors import ContractError, Unsupported
from dp2emu.runtime10.class_linkage import ClassInstance, pointers
from dp2emu.runtime10.codes import Refused, Result
from dp2emu.runtime10.enums import FeatureLevel
from dp2emu.runtime10.hazards import RULES, HazardTracker
from dp2emu.runtime10.levels_9 import check_call
from dp2emu.runtime10.objects import (
    Buffer,
    ComputeShader,
    DeviceChild,
    DomainShader,
    GeometryShader,
    HullShader,
    PixelShader,
    SamplerState,
    Shader,
    ShaderResourceView,
    VertexShader,
)
from dp2emu.runtime10.pipeline_state import STATES, PipelineState, driver_call

MESSAGES = 1024
"""Number of messages that a context keeps."""

FAILURES = ContractError, Refused, Unsupported
"""Exceptions of a call that breaks a rule, or that fails on the driver."""

_FOLLOWED = frozenset({*STATES, *RULES})
"""The functions that set a state, or change what hazards are."""

_Child = TypeVar("_Child", bound=DeviceChild)
_Shader = TypeVar("_Shader", bound=Shader)
_Void = TypeVar("_Void", bound=Callable[..., None])


def void(method: _Void) -> _Void:
    """``method`` of a context, which returns nothing: what breaks a rule, or fails on the driver,
    has no effect but a message.
    """

    @wraps(method)
    def attempt(self: Bindings, *arguments: Any, **named: Any) -> None:
        try:
            method(self, *arguments, **named)
        except FAILURES as error:
            self.messages.append(str(error))

    return cast(_Void, attempt)


class Sender(Protocol):
    """Receives the calls of the driver that a context makes."""

    def send(self, entry: str, *arguments: Any) -> Any:
        """Call the DDI function ``entry``, or keep the call for later."""


class Children(Protocol):
    """The objects of a device by their memory, as contexts use them."""

    def bound(self, memory: bytearray) -> None:
        """Count a slot in which an object is bound."""

    def unbound(self, memory: bytearray) -> None:
        """Count a slot less in which an object is bound."""

    def child(self, memory: bytearray) -> Any:
        """The application's object of a driver's object."""


def memory_of(thing: DeviceChild | None) -> bytearray | None:
    """The driver's object of an application's object, None for None."""
    return None if thing is None else thing.memory


def memories_of(things: Sequence[DeviceChild | None]) -> tuple[bytearray | None, ...]:
    """The driver's objects of an application's objects."""
    return tuple(map(memory_of, things))


@checked
class Bindings:
    """The part of a context that makes the driver's calls and knows the state they set.
    Mutable.

    ``messages`` are the latest reasons for which calls without a result had no effect, as an
    information queue of Direct3D has them.
    """

    def __init__(self, sender: Sender, hazards: HazardTracker, children: Children) -> None:
        self._sender = sender
        self._hazards = hazards
        self.owner = children
        self.state = PipelineState(children.bound, children.unbound)
        self.messages: deque[str] = deque(maxlen=MESSAGES)
        level = getattr(children, "feature_level", FeatureLevel.LEVEL_11_0)
        self._level_9 = level if level < FeatureLevel.LEVEL_10_0 else None

    @checked_on_failure
    def call(self, entry: str, *arguments: Any) -> Any:
        """Call the DDI function ``entry``, after unbinding inputs that would also be outputs.

        Raises Refused with the driver's error and for slots that do not exist, and ContractError.
        """
        return self._made(entry, *arguments)

    def _made(self, entry: str, *arguments: Any) -> Any:
        """``call`` for the methods of contexts, whose arguments were looked at."""
        if self._level_9 is not None:
            check_call(self._level_9, entry, arguments, self.state, self.owner.child)
        if entry not in _FOLLOWED:
            return self._sender.send(entry, *arguments)
        self.state.check(entry, arguments)
        if entry not in RULES:
            found = self._sender.send(*driver_call(entry, arguments))
            self.state.note(entry, arguments)
            return found
        found, before = None, self._hazards.bound()
        try:
            for name, given in self._hazards.resolved(entry, arguments):
                found = self._sender.send(*driver_call(name, given))
                self.state.note(name, given)
        except FAILURES:
            self._hazards.restore(before)
            raise
        return found

    @checked_on_failure
    def do(self, entry: str, *arguments: Any) -> None:
        """Call the DDI function ``entry`` for a method without a result: a call that breaks a
        rule, or that fails on the driver, has no effect but a message.
        """
        self._do(entry, *arguments)

    def _do(self, entry: str, *arguments: Any) -> None:
        """``do`` for the methods of contexts, whose arguments were looked at."""
        try:
            self._made(entry, *arguments)
        except FAILURES as error:
            self.messages.append(str(error))

    def _given(self, memory: bytearray | None) -> Any:
        """The application's object of a driver's object, with a reference more."""
        if memory is None:
            return None
        found = self.owner.child(memory)
        found.add_ref()
        return found

    def _rows(self, entry: str, start: int, count: int) -> list[tuple[Any, ...]]:
        """The values in ``count`` of the slots that ``entry`` sets.

        Raises Refused (E_INVALIDARG) for slots that do not exist.
        """
        self.state.check_slots(entry, start, count)
        return [self.state.row(entry, slot) for slot in range(start, start + count)]

    def _given_slots(self, entry: str, start: int, count: int) -> list[Any]:
        """The objects in ``count`` of the slots that ``entry`` sets, with a reference more."""
        return [self._given(row[0]) for row in self._rows(entry, start, count)]


_Set = Callable[[Bindings, int, Sequence[_Child | None]], None]
_Get = Callable[[Bindings, int, int], "list[_Child | None]"]
_Ranges = Sequence[int] | None


class _SetsRanges(Protocol):
    def __call__(
        self,
        start_slot: int,
        buffers: Sequence[Buffer | None],
        first_constant: Sequence[int] | None = None,
        num_constants: Sequence[int] | None = None,
    ) -> None:
        """Bind ranges of constant buffers."""


class _SetRangesMethod(Protocol):
    def __get__(self, context: object, kind: type | None = None) -> _SetsRanges:
        """The method of a context."""


_GetRanges = Callable[[Bindings, int, int], "list[tuple[Buffer | None, int, int]]"]


_Bound = TypeVar("_Bound", bound=Shader, contravariant=True)


class _SetsShader(Protocol[_Bound]):
    def __call__(
        self, shader: _Bound | None, instances: Sequence[ClassInstance | None] = ()
    ) -> None:
        """Bind a shader with class instances."""


class _SetShaderMethod(Protocol[_Bound]):
    def __get__(self, context: object, kind: type | None = None) -> _SetsShader[_Bound]:
        """The method of a context."""


_GetShader = Callable[[Bindings], "_Shader | None"]
_GetInstances = Callable[[Bindings], "list[ClassInstance | None]"]


def _method(function: Any, name: str, **kinds: str) -> Any:
    """``function`` as a public method of this name; ``kinds`` are annotations of parameters that
    depend on the stage.
    """
    function.__name__, function.__qualname__ = name, f"Context.{name}"
    function.__annotations__ = {**function.__annotations__, **kinds}
    return checked(function)


def _slots(
    prefix: str, noun: str, name: str, kind: type[_Child]
) -> tuple[_Set[_Child], _Get[_Child]]:
    """The methods that set and get slots of a stage, which hold objects of one ``kind``."""
    entry = f"{prefix}Set{noun}"

    def set_slots(self: Bindings, start_slot: int, objects: Any) -> None:
        self._do(entry, start_slot, memories_of(objects))

    def get_slots(self: Bindings, start_slot: int, count: int) -> list[_Child | None]:
        return self._given_slots(entry, start_slot, count)

    stage = prefix.lower()
    set_slots.__doc__ = f"{prefix.upper()}Set{noun}: bind objects, or None, from a slot on."
    get_slots.__doc__ = f"{prefix.upper()}Get{noun}: the objects in slots, with references more."
    objects = f"Sequence[{kind.__name__} | None]"
    return (
        _method(set_slots, f"{stage}_set_{name}", objects=objects),
        _method(get_slots, f"{stage}_get_{name}"),
    )


def _constants(prefix: str) -> tuple[_Set[Buffer], _Get[Buffer]]:
    return _slots(prefix, "ConstantBuffers", "constant_buffers", Buffer)


def _resources(prefix: str) -> tuple[_Set[ShaderResourceView], _Get[ShaderResourceView]]:
    return _slots(prefix, "ShaderResources", "shader_resources", ShaderResourceView)


def _samplers(prefix: str) -> tuple[_Set[SamplerState], _Get[SamplerState]]:
    return _slots(prefix, "Samplers", "samplers", SamplerState)


def _constant_ranges(prefix: str) -> tuple[_SetRangesMethod, _GetRanges]:
    """The methods of ID3D11DeviceContext1 that set and get ranges of constant buffers."""
    entry = f"{prefix}SetConstantBuffers"

    def set_ranges(
        self: Bindings,
        start_slot: int,
        buffers: Sequence[Buffer | None],
        first_constant: _Ranges = None,
        num_constants: _Ranges = None,
    ) -> None:
        given = [each for each in (first_constant, num_constants) if each is not None]
        if len(given) == 1 or not all(each % 16 == 0 for numbers in given for each in numbers):
            raise Refused(Result.E_INVALIDARG, f"{entry} of ranges of {given}")
        self._made(entry, start_slot, memories_of(buffers), *map(tuple, given))

    def get_ranges(
        self: Bindings, start_slot: int, count: int
    ) -> list[tuple[Buffer | None, int, int]]:
        rows = self._rows(entry, start_slot, count)
        whole = 0, MOST_CONSTANTS
        return [(self._given(memory), *(part or whole)) for memory, *part in rows]

    stage, noun = prefix.lower(), f"{prefix.upper()}%sConstantBuffers1"
    set_ranges.__doc__ = (
        f"{noun % 'Set'}: bind ranges of buffers, in constants of 16 bytes; both numbers are "
        "multiples of 16.  Without them as ``..._set_constant_buffers``."
    )
    get_ranges.__doc__ = (
        f"{noun % 'Get'}: each slot's buffer, with a reference more, first constant and number."
    )
    return (
        _method(void(set_ranges), f"{stage}_set_constant_buffers1"),
        _method(get_ranges, f"{stage}_get_constant_buffers1"),
    )


def _shader(
    prefix: str, kind: type[_Shader]
) -> tuple[_SetShaderMethod[_Shader], _GetShader[_Shader], _GetInstances]:
    """The methods that set and get the shader of a stage and its class instances."""
    entry = f"{prefix}SetShader"

    def set_shader(
        self: Bindings, shader: Any, instances: Sequence[ClassInstance | None] = ()
    ) -> None:
        linked: tuple[Any, ...] = ()
        if instances:
            linked = (*pointers(shader, instances), memories_of(instances))
        self._made(entry, memory_of(shader), *linked)

    def get_shader(self: Bindings) -> Any:
        return self._given(self.state.whole(entry)[0])

    def get_instances(self: Bindings) -> list[ClassInstance | None]:
        _, *linked = self.state.whole(entry)
        return [self._given(memory) for memory in linked[-1]] if linked else []

    stage, upper = prefix.lower(), prefix.upper()
    set_shader.__doc__ = (
        f"{upper}SetShader, with a class instance, or None, for each interface of the shader."
    )
    get_shader.__doc__ = f"{upper}GetShader: the shader, with a reference more."
    get_instances.__doc__ = f"The class instances of {upper}GetShader, each with a reference more."
    return (
        _method(void(set_shader), f"{stage}_set_shader", shader=f"{kind.__name__} | None"),
        _method(get_shader, f"{stage}_get_shader"),
        _method(get_instances, f"{stage}_get_class_instances"),
    )


class StageBindings(Bindings):
    """The methods of a context for each shader stage.

    ``vs_set_shader`` binds a shader or None, with class instances, ``vs_set_constant_buffers``,
    ``vs_set_shader_resources`` and ``vs_set_samplers`` bind a sequence of objects or None from a
    slot on, ``vs_set_constant_buffers1`` ranges of buffers.  ``vs_get_...`` return them, each with
    a reference more.
    """

    vs_set_shader, vs_get_shader, vs_get_class_instances = _shader("Vs", VertexShader)
    vs_set_constant_buffers, vs_get_constant_buffers = _constants("Vs")
    vs_set_constant_buffers1, vs_get_constant_buffers1 = _constant_ranges("Vs")
    vs_set_shader_resources, vs_get_shader_resources = _resources("Vs")
    vs_set_samplers, vs_get_samplers = _samplers("Vs")
    hs_set_shader, hs_get_shader, hs_get_class_instances = _shader("Hs", HullShader)
    hs_set_constant_buffers, hs_get_constant_buffers = _constants("Hs")
    hs_set_constant_buffers1, hs_get_constant_buffers1 = _constant_ranges("Hs")
    hs_set_shader_resources, hs_get_shader_resources = _resources("Hs")
    hs_set_samplers, hs_get_samplers = _samplers("Hs")
    ds_set_shader, ds_get_shader, ds_get_class_instances = _shader("Ds", DomainShader)
    ds_set_constant_buffers, ds_get_constant_buffers = _constants("Ds")
    ds_set_constant_buffers1, ds_get_constant_buffers1 = _constant_ranges("Ds")
    ds_set_shader_resources, ds_get_shader_resources = _resources("Ds")
    ds_set_samplers, ds_get_samplers = _samplers("Ds")
    gs_set_shader, gs_get_shader, gs_get_class_instances = _shader("Gs", GeometryShader)
    gs_set_constant_buffers, gs_get_constant_buffers = _constants("Gs")
    gs_set_constant_buffers1, gs_get_constant_buffers1 = _constant_ranges("Gs")
    gs_set_shader_resources, gs_get_shader_resources = _resources("Gs")
    gs_set_samplers, gs_get_samplers = _samplers("Gs")
    ps_set_shader, ps_get_shader, ps_get_class_instances = _shader("Ps", PixelShader)
    ps_set_constant_buffers, ps_get_constant_buffers = _constants("Ps")
    ps_set_constant_buffers1, ps_get_constant_buffers1 = _constant_ranges("Ps")
    ps_set_shader_resources, ps_get_shader_resources = _resources("Ps")
    ps_set_samplers, ps_get_samplers = _samplers("Ps")
    cs_set_shader, cs_get_shader, cs_get_class_instances = _shader("Cs", ComputeShader)
    cs_set_constant_buffers, cs_get_constant_buffers = _constants("Cs")
    cs_set_constant_buffers1, cs_get_constant_buffers1 = _constant_ranges("Cs")
    cs_set_shader_resources, cs_get_shader_resources = _resources("Cs")
    cs_set_samplers, cs_get_samplers = _samplers("Cs")
