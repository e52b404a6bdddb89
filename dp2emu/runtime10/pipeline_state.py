"""State of a context: the calls of the driver that set it, by function and slot.

Get... methods read it, command lists restore it, and ClearState resets it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import is_
from typing import Any

import msgspec

from dp2emu.ddi10.resources.unordered_access import KEEP
from dp2emu.ddi10.resources.unordered_access import SLOTS as UNORDERED_SLOTS
from dp2emu.ddi10.shaders.stages import CONSTANT_BUFFERS, PREFIXES, RESOURCES, SAMPLERS
from dp2emu.ddi10.states.bindings import APPEND, VIEWPORTS
from dp2emu.ddi10.states.input_layout import SLOTS as VERTEX_SLOTS
from dp2emu.ddi10.states.state_objects import TARGETS
from dp2emu.gpu.command.stream_targets import STREAM_TARGETS
from dp2emu.runtime10.codes import Refused, Result
from dp2emu.runtime10.hazards import Call

Row = tuple[Any, ...]
"""The values of a slot: an object's memory, and numbers such as a stride."""

_KEPT = {"CsSetUnorderedAccessViews": KEEP}
"""Functions whose last value of a slot acts once when it is set -> the value without effect."""


class Slots(msgspec.Struct, frozen=True):
    """A function that binds to ``count`` slots from a first one on; ``unbound`` are an empty
    slot's values.
    """

    count: int
    unbound: Row = (None,)


SLOTTED: dict[str, Slots] = {
    **{
        f"{prefix}Set{noun}": Slots(count)
        for prefix in PREFIXES
        for noun, count in (
            ("ConstantBuffers", CONSTANT_BUFFERS),
            ("ShaderResources", RESOURCES),
            ("Samplers", SAMPLERS),
        )
    },
    "IaSetVertexBuffers": Slots(VERTEX_SLOTS, (None, 0, 0)),
    "CsSetUnorderedAccessViews": Slots(UNORDERED_SLOTS, (None, KEEP)),
}
"""The functions that bind to slots, by name."""

WHOLE: dict[str, Row] = {
    "IaSetInputLayout": (None,),
    "IaSetIndexBuffer": (None, 0, 0),
    "IaSetTopology": (0,),
    **{f"{prefix}SetShader": (None,) for prefix in PREFIXES},
    "SetRasterizerState": (None,),
    "SetViewports": (VIEWPORTS, ()),
    "SetScissorRects": (VIEWPORTS, ()),
    "SetBlendState": (None, (1.0, 1.0, 1.0, 1.0), 0xFFFFFFFF),
    "SetDepthStencilState": (None, 0),
    "SetRenderTargets": ((), TARGETS, None),
    "SoSetTargets": ((), STREAM_TARGETS, ()),
    "SetPredication": (None, 0),
}
"""The arguments of the default state, by function, of functions that set all of a state."""

STATES = frozenset({*SLOTTED, *WHOLE})
"""The functions that set a state."""

_FREE = {"SetViewports": 0, "SetScissorRects": 0, "SetRenderTargets": 1, "SoSetTargets": 1}
"""Functions that set several of a state, and the place of the number that they leave unset."""
_LINKED = frozenset(f"{prefix}SetShader" for prefix in PREFIXES)


def driver_call(entry: str, arguments: Row) -> Row:
    """The function and the arguments of the driver for a call that sets a state: a shader with
    class instances is bound by a function of its own.
    """
    if entry in _LINKED and len(arguments) > 1:
        shader, tables, data, _ = arguments
        return f"{entry}WithIfaces", shader, tables, data
    return entry, *arguments


def check_span(start: int, count: int, slots: int) -> None:
    """Raise Refused (E_INVALIDARG) unless ``slots`` has ``count`` slots from ``start`` on."""
    if not 0 <= start <= start + count <= slots:
        raise Refused(Result.E_INVALIDARG, f"{count} slots from {start} on, of {slots}")


class PipelineState:
    """The state of a context, by the functions that set it.  Mutable: calls change it.

    ``bound`` and ``unbound`` are called with the memory of each object that a call binds and
    unbinds.
    """

    def __init__(
        self, bound: Callable[[bytearray], None], unbound: Callable[[bytearray], None]
    ) -> None:
        self._bound = bound
        self._unbound = unbound
        self._whole: dict[str, Row] = {}
        self._slots: dict[str, dict[int, Row]] = {entry: {} for entry in SLOTTED}

    def check(self, entry: str, arguments: Row) -> None:
        """Raise Refused (E_INVALIDARG) for a call that sets slots which do not exist, or for
        values that are not one for each slot.
        """
        if entry in SLOTTED:
            start, *columns = arguments
            counts = {len(each) for each in columns if each is not None}
            if len(counts) > 1:
                raise Refused(Result.E_INVALIDARG, f"{entry} of {sorted(counts)} values")
            self.check_slots(entry, start, *counts or (0,))
        elif entry in _FREE and arguments[_FREE[entry]] < 0:
            raise Refused(Result.E_INVALIDARG, f"{entry} of too many")

    def check_slots(self, entry: str, start: int, count: int) -> None:
        """Raise Refused (E_INVALIDARG) for slots that ``entry`` does not set."""
        check_span(start, count, SLOTTED[entry].count)

    def note(self, entry: str, arguments: Row) -> None:
        """Keep the state that a call sets; other calls are ignored."""
        if entry in WHOLE:
            whole = self.whole(entry)
            self._whole[entry] = arguments
            self._exchange(whole, arguments)
        elif entry in SLOTTED:
            start, *columns = arguments
            slots, after = self._slots[entry], tuple(zip(*columns, strict=True))
            before = [slots.pop(slot, None) for slot in range(start, start + len(after))]
            for slot, row in enumerate(after, start):
                if row[0] is not None:
                    slots[slot] = row
            self._exchange(before, after)

    def _exchange(self, before: Sequence[Any], after: Row) -> None:
        """Count the objects that arguments bind, then those that earlier ones had bound."""
        bound, unbound = [*memories(after)], [*memories(before)]
        if len(bound) == len(unbound) and all(map(is_, bound, unbound)):
            return
        for memory in bound:
            self._bound(memory)
        for memory in unbound:
            self._unbound(memory)

    def whole(self, entry: str) -> Row:
        """The arguments of the last call of ``entry``, or of the default state."""
        return self._whole.get(entry, WHOLE[entry])

    def row(self, entry: str, slot: int) -> Row:
        """The values in a slot that ``entry`` sets."""
        return self._slots[entry].get(slot, SLOTTED[entry].unbound)

    def calls(self) -> list[Call]:
        """The calls that set this state on a driver in the default state."""
        whole = [(entry, _resumed(entry, given)) for entry, given in self._whole.items()]
        return [*whole, *self._slot_calls()]

    def _slot_calls(self) -> Iterator[Call]:
        for entry, slots in self._slots.items():
            for slot, row in sorted(slots.items(), key=_first):
                kept = row if entry not in _KEPT else (*row[:-1], _KEPT[entry])
                yield entry, (slot, *((value,) for value in kept))

    def resets(self) -> list[Call]:
        """The calls that set the default state where this state differs from it."""
        whole = [(entry, WHOLE[entry]) for entry in self._whole]
        return [*whole, *self._slot_resets()]

    def _slot_resets(self) -> Iterator[Call]:
        for entry, slots in self._slots.items():
            unbound = SLOTTED[entry].unbound
            for slot in sorted(slots):
                yield entry, (slot, *((value,) for value in unbound))


def _first(pair: tuple[int, Row]) -> int:
    return pair[0]


def memories(values: Sequence[Any]) -> Iterator[bytearray]:
    """The memory of each object among values and in the sequences among them."""
    for each in values:
        if type(each) is int or each is None:
            continue
        if isinstance(each, bytearray):
            yield each
        elif isinstance(each, (tuple, list)):
            yield from memories(each)


def _resumed(entry: str, arguments: Row) -> Row:
    """The arguments that set a state again; stream output goes on where it stopped, and counters
    of unordered access views keep their values.
    """
    if entry == "SoSetTargets":
        targets, clear, _ = arguments
        return targets, clear, (APPEND,) * len(targets)
    if entry == "SetRenderTargets" and len(arguments) > 4:
        targets, clear, depth, views, _, *rest = arguments
        return targets, clear, depth, views, (KEEP,) * len(views), *rest
    return arguments
