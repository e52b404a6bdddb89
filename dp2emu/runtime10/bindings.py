"""Bindings of a context to the driver's slots, and the methods of each shader stage.

Source: the Direct3D 11 documentation of ID3D11DeviceContext.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from dp2emu.ddi10.shaders.stages import CONSTANT_BUFFERS, RESOURCES, SAMPLERS
from dp2emu.errors import ContractError, Unsupported
from dp2emu.runtime10.codes import Refused, Result
from dp2emu.runtime10.hazards import HazardTracker
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
from dp2emu.runtime10.pipeline_state import PipelineState

MESSAGES = 1024
"""Number of messages that a context keeps."""

_Child = TypeVar("_Child", bound=DeviceChild)
_Shader = TypeVar("_Shader", bound=Shader)


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

    def call(self, entry: str, *arguments: Any) -> Any:
        """Call the DDI function ``entry``, after unbinding inputs that would also be outputs.

        Raises Refused with the driver's error, and ContractError.
        """
        found = None
        for name, given in self._hazards.resolved(entry, arguments):
            found = self._sender.send(name, *given)
            self.state.note(name, given)
        return found

    def do(self, entry: str, *arguments: Any) -> None:
        """Call a DDI function for a method without a result: a call that breaks a rule, or that
        fails on the driver, has no effect but a message.
        """
        try:
            self.call(entry, *arguments)
        except (ContractError, Refused, Unsupported) as error:
            self.messages.append(str(error))

    def given(self, memory: bytearray | None) -> Any:
        """The application's object of a driver's object, with a reference more."""
        if memory is None:
            return None
        found = self.owner.child(memory)
        found.add_ref()
        return found

    def given_slots(self, entry: str, start: int, count: int, slots: int) -> list[Any]:
        """The objects in ``count`` of the ``slots`` that ``entry`` sets, with a reference more.

        Raises Refused (E_INVALIDARG) for slots that do not exist.
        """
        _check_slots(start, count, slots)
        rows = (self.state.row(entry, slot) for slot in range(start, start + count))
        return [self.given(row[0]) for row in rows]


def _check_slots(start: int, count: int, slots: int) -> None:
    if not 0 <= start <= start + count <= slots:
        raise Refused(Result.E_INVALIDARG, f"{count} slots from {start} on, of {slots}")


_Set = Callable[[Bindings, int, Sequence[_Child | None]], None]
_Get = Callable[[Bindings, int, int], "list[_Child | None]"]


def _slots(entry: str, kind: type[_Child], slots: int) -> tuple[_Set[_Child], _Get[_Child]]:
    """The methods that set and get the slots of ``entry``, which hold objects of one ``kind``."""

    def set_slots(self: Bindings, start_slot: int, objects: Sequence[_Child | None]) -> None:
        self.do(entry, start_slot, memories_of(objects))

    def get_slots(self: Bindings, start_slot: int, count: int) -> list[_Child | None]:
        return self.given_slots(entry, start_slot, count, slots)

    set_slots.__doc__ = f"{entry.upper()[:2]}{entry[2:]}: bind objects from a slot on."
    get_slots.__doc__ = f"{entry.upper()[:2]}Get{entry[5:]}: the objects in slots."
    return set_slots, get_slots


def _constants(prefix: str) -> tuple[_Set[Buffer], _Get[Buffer]]:
    return _slots(f"{prefix}SetConstantBuffers", Buffer, CONSTANT_BUFFERS)


def _resources(prefix: str) -> tuple[_Set[ShaderResourceView], _Get[ShaderResourceView]]:
    return _slots(f"{prefix}SetShaderResources", ShaderResourceView, RESOURCES)


def _samplers(prefix: str) -> tuple[_Set[SamplerState], _Get[SamplerState]]:
    return _slots(f"{prefix}SetSamplers", SamplerState, SAMPLERS)


def _shader(
    prefix: str, kind: type[_Shader]
) -> tuple[Callable[[Bindings, _Shader | None], None], Callable[[Bindings], _Shader | None]]:
    """The methods that set and get the shader of a stage."""
    entry = f"{prefix}SetShader"

    def set_shader(self: Bindings, shader: _Shader | None) -> None:
        self.do(entry, memory_of(shader))

    def get_shader(self: Bindings) -> _Shader | None:
        found: _Shader | None = self.given(self.state.whole(entry)[0])
        return found

    set_shader.__doc__ = f"{prefix.upper()}SetShader."
    get_shader.__doc__ = f"{prefix.upper()}GetShader."
    return set_shader, get_shader


class StageBindings(Bindings):
    """The methods of a context for each shader stage: ``vs_set_shader`` binds a shader or None,
    ``vs_set_constant_buffers``, ``vs_set_shader_resources`` and ``vs_set_samplers`` bind a
    sequence of objects or None from a slot on, and ``vs_get_...`` return them, each with a
    reference more.
    """

    vs_set_shader, vs_get_shader = _shader("Vs", VertexShader)
    vs_set_constant_buffers, vs_get_constant_buffers = _constants("Vs")
    vs_set_shader_resources, vs_get_shader_resources = _resources("Vs")
    vs_set_samplers, vs_get_samplers = _samplers("Vs")
    hs_set_shader, hs_get_shader = _shader("Hs", HullShader)
    hs_set_constant_buffers, hs_get_constant_buffers = _constants("Hs")
    hs_set_shader_resources, hs_get_shader_resources = _resources("Hs")
    hs_set_samplers, hs_get_samplers = _samplers("Hs")
    ds_set_shader, ds_get_shader = _shader("Ds", DomainShader)
    ds_set_constant_buffers, ds_get_constant_buffers = _constants("Ds")
    ds_set_shader_resources, ds_get_shader_resources = _resources("Ds")
    ds_set_samplers, ds_get_samplers = _samplers("Ds")
    gs_set_shader, gs_get_shader = _shader("Gs", GeometryShader)
    gs_set_constant_buffers, gs_get_constant_buffers = _constants("Gs")
    gs_set_shader_resources, gs_get_shader_resources = _resources("Gs")
    gs_set_samplers, gs_get_samplers = _samplers("Gs")
    ps_set_shader, ps_get_shader = _shader("Ps", PixelShader)
    ps_set_constant_buffers, ps_get_constant_buffers = _constants("Ps")
    ps_set_shader_resources, ps_get_shader_resources = _resources("Ps")
    ps_set_samplers, ps_get_samplers = _samplers("Ps")
    cs_set_shader, cs_get_shader = _shader("Cs", ComputeShader)
    cs_set_constant_buffers, cs_get_constant_buffers = _constants("Cs")
    cs_set_shader_resources, cs_get_shader_resources = _resources("Cs")
    cs_set_samplers, cs_get_samplers = _samplers("Cs")
