"""Deferred contexts and their command lists.

A command list holds the driver's calls of a deferred context.  It is executed on the immediate
context in the default state.

Source: the Direct3D 11 documentation of FinishCommandList and ExecuteCommandList.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Any

import msgspec

from dp2emu.argument_check import checked
from dp2emu.ddi10.resources.maps import Map, MappedSubresource
from dp2emu.runtime10.bindings import Sender, void
from dp2emu.runtime10.codes import Refused, Result
from dp2emu.runtime10.context import Context
from dp2emu.runtime10.context_state import DeviceContextState
from dp2emu.runtime10.hazards import Call, HazardTracker
from dp2emu.runtime10.mapping import mapping, unmapping
from dp2emu.runtime10.objects import DeviceChild, Query, Resource
from dp2emu.runtime10.pipeline_state import memories
from dp2emu.runtime10.query import Data
from dp2emu.runtime10.textures import Part, parts_of


class DriverCall(msgspec.Struct, frozen=True):
    """A step of a command list: a call of a DDI function."""

    call: Call

    def play(self, sender: Sender) -> None:
        """Make the call; raises as the driver does."""
        entry, arguments = self.call
        sender.send(entry, *arguments)

    def memories(self) -> Iterator[bytearray]:
        """The driver's objects that the step needs."""
        return memories(self.call[1])


class MappedWrite(msgspec.Struct, frozen=True):
    """A step of a command list: a map, and the bytes that the application wrote; rows have no
    padding.
    """

    resource: Resource
    index: int
    kind: Map
    data: bytes

    def play(self, sender: Sender) -> None:
        """Map the resource, write the bytes and unmap it; raises as the driver does."""
        memory, index = self.resource.memory, self.index
        entry = mapping(self.resource, index, self.kind)
        mapped = sender.send(entry, memory, index, int(self.kind), 0)
        if mapped is not None:
            part = parts_of(self.resource.ddi)[index]
            write_rows(mapped, part, self.data, part.row_bytes, part.slice_bytes)
            sender.send(unmapping(self.resource), memory, index)

    def memories(self) -> Iterator[bytearray]:
        """The driver's objects that the step needs."""
        yield self.resource.memory


Step = DriverCall | MappedWrite


class ContextType(IntEnum):
    """D3D11_DEVICE_CONTEXT_TYPE."""

    IMMEDIATE = 0
    DEFERRED = 1


def write_rows(
    mapped: MappedSubresource, part: Part, data: bytes, row_pitch: int, slice_pitch: int
) -> None:
    """Write rows of texels to mapped memory; pitches are the distances of rows and slices in
    ``data``, in bytes.

    Rows that ``data`` has not wholly are written as far as they go.
    """
    view = mapped.pData
    if (row_pitch, slice_pitch) == mapped[1:] or part.rows == part.depth == 1:
        count = min(len(data), len(view))
        view[:count] = data[:count]
        return
    for slice in range(part.depth):
        for row in range(part.rows):
            start = slice * slice_pitch + row * row_pitch
            given = data[start : start + part.row_bytes]
            place = slice * mapped.DepthPitch + row * mapped.RowPitch
            view[place : place + len(given)] = given


@checked
class CommandList(DeviceChild):
    """ID3D11CommandList: ``steps`` to execute in the default state, and ``resets``, the calls that
    set the default state after them.
    """

    def __init__(
        self, owner: Any, steps: Sequence[Step], resets: Sequence[Call], *uses: DeviceChild
    ) -> None:
        super().__init__(owner, bytearray(), *uses)
        self.steps = tuple(steps)
        self.resets = tuple(resets)


class _Recording:
    """The driver's calls that a deferred context makes, with the objects that they use.  Mutable:
    calls are added.
    """

    def __init__(self, owner: Any) -> None:
        self.steps: list[Step] = []
        self._owner = owner
        self._uses: dict[int, DeviceChild] = {}

    def send(self, entry: str, *arguments: Any) -> None:
        """Keep a call."""
        self.add(DriverCall((entry, arguments)))

    def add(self, step: Step) -> None:
        """Keep a step, and the objects that it uses alive."""
        for memory in step.memories():
            if id(memory) not in self._uses:
                used = self._uses[id(memory)] = self._owner.child(memory)
                used.users += 1
        self.steps.append(step)

    def finished(self, resets: Sequence[Call]) -> CommandList:
        """The command list of the steps, which uses their objects from now on."""
        made = CommandList(self._owner, self.steps, resets, *self._uses.values())
        for used in self._uses.values():
            used.drop()
        return made


@checked
class ListContext(Context):
    """A context that executes command lists.  Mutable."""

    def execute_command_list(self, commands: CommandList, restore: bool) -> None:
        """ExecuteCommandList; with ``restore`` the state is as before, else it is the default
        state.
        """
        kept = self.state.calls() if restore else []
        held = [self.owner.child(each) for _, values in kept for each in memories(values)]
        for each in held:
            each.users += 1
        self.clear_state()
        for step in (*commands.steps, *map(DriverCall, commands.resets)):
            self._take(step)
        for entry, arguments in kept:
            self._do(entry, *arguments)
        for each in held:
            each.drop()

    @void
    def _take(self, step: Step) -> None:
        """Execute a step of a command list, and note a query that it begins or ends."""
        step.play(self._sender)
        if isinstance(step, DriverCall) and step.call[0] in _QUERY_CALLS:
            entry, (memory, *_) = step.call
            self.owner.child(memory).driver.reached(entry)


_QUERY_CALLS = ("QueryBegin", "QueryEnd")


@checked
class ImmediateContext(ListContext):
    """ID3D11DeviceContext of a device, whose calls reach the driver at once.  Mutable."""

    _active: DeviceContextState | None = None

    def get_type(self) -> ContextType:
        """GetType."""
        return ContextType.IMMEDIATE

    def swap_device_context_state(self, state: DeviceContextState) -> DeviceContextState:
        """SwapDeviceContextState: the context gets the state that ``state`` has kept; returns the
        object that keeps the state until now, with a reference more.

        Raises Refused (E_INVALIDARG) for a state of another device.
        """
        owner: Any = self.owner
        if state.owner != owner:
            raise Refused(Result.E_INVALIDARG, "a context state of another device")
        previous = self._active or DeviceContextState(owner)
        previous.references += previous is self._active
        if state is not previous:
            kept = self.state.calls()
            bound = [owner.child(each) for _, values in kept for each in memories(values)]
            previous.take(kept, bound)
            self.clear_state()
            calls, used = state.give()
            for entry, arguments in calls:
                self.do(entry, *arguments)
            for each in used:
                each.drop()
        self._active = state
        owner.keep(previous)
        return previous


@checked
class DeferredContext(ListContext):
    """ID3D11DeviceContext that records its calls in command lists.  Mutable.

    ``index`` numbers subresources, ``flags`` are D3D11_MAP_FLAG_* or D3D11_ASYNC_GETDATA_*,
    ``size`` is in bytes.
    """

    def get_type(self) -> ContextType:
        """GetType."""
        return ContextType.DEFERRED

    def swap_device_context_state(self, state: DeviceContextState) -> None:
        """SwapDeviceContextState, which has no effect on a deferred context."""
        self.messages.append("SwapDeviceContextState of a deferred context")

    def __init__(self, owner: Any, hazards: HazardTracker) -> None:
        self._recording = _Recording(owner)
        self._sharing = hazards
        self._written: dict[tuple[int, int], bytearray] = {}
        self._open: dict[tuple[int, int], tuple[Map, MappedSubresource]] = {}
        super().__init__(self._recording, HazardTracker(hazards), owner)

    def finish_command_list(self, restore: bool) -> CommandList:
        """FinishCommandList: the calls since the last one; with ``restore`` the state is kept for
        the next list, else the context is in the default state.
        """
        resets, kept = self.state.resets(), self.state.calls()
        made = self._recording.finished(resets)
        self._hazards = HazardTracker(self._sharing)
        self._written.clear()
        self._open.clear()
        self._sender = self._recording = _Recording(self.owner)
        held = [self.owner.child(each) for _, values in kept for each in memories(values)]
        for each in held:
            each.users += 1
        for entry, arguments in resets:
            self.state.note(entry, arguments)
        if restore:
            for entry, arguments in kept:
                self._do(entry, *arguments)
        for each in held:
            each.drop()
        return made

    def _take(self, step: Step) -> None:
        """Keep a step of another command list in this one."""
        self._recording.add(step)

    def map(self, resource: Resource, index: int, kind: Map, flags: int = 0) -> MappedSubresource:
        """Map: memory whose bytes the command list writes.

        Raises Refused (E_INVALIDARG) for other maps than WRITE_DISCARD, and WRITE_NOOVERWRITE
        after one in the same command list.
        """
        mapping(resource, index, kind)
        key = id(resource), index
        part = parts_of(resource.ddi)[index]
        if kind == Map.WRITE_DISCARD:
            self._written[key] = bytearray(part.size)
        if kind not in (Map.WRITE_DISCARD, Map.WRITE_NOOVERWRITE) or key not in self._written:
            raise Refused(Result.E_INVALIDARG, f"map {kind} on a deferred context")
        view = memoryview(self._written[key])
        found = MappedSubresource(view, part.row_bytes, part.slice_bytes)
        self._open[key] = kind, found
        return found

    def unmap(self, resource: Resource, index: int) -> None:
        """Unmap: the command list writes the bytes."""
        key = id(resource), index
        if key not in self._open:
            self.messages.append("Unmap of a resource that is not mapped")
            return
        kind, _ = self._open.pop(key)
        data = bytes(self._written[key])
        self._recording.add(MappedWrite(resource, index, kind, data))

    def begin(self, query: Query) -> None:
        """Begin, when the command list is executed."""
        if query.driver.kind.begins:
            self._made("QueryBegin", query.memory)

    def end(self, query: Query) -> None:
        """End, when the command list is executed."""
        self._made("QueryEnd", query.memory)

    def get_data(self, query: Query, size: int | None = None, flags: int = 0) -> Data:
        """GetData, which a deferred context does not have: DXGI_ERROR_INVALID_CALL."""
        return Data(Result.DXGI_ERROR_INVALID_CALL)

    def flush(self) -> None:
        """Flush, which does nothing on a deferred context."""
