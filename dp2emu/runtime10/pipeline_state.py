"""State of a context: the calls of the driver that set it, by function and slot.

Get... methods read it, command lists restore it, and ClearState resets it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from dp2emu.ddi10.resources.unordered_access import KEEP
from dp2emu.ddi10.shaders.stages import PREFIXES
from dp2emu.ddi10.states.bindings import APPEND, VIEWPORTS
from dp2emu.ddi10.states.state_objects import TARGETS
from dp2emu.gpu.command.stream_targets import STREAM_TARGETS
from dp2emu.runtime10.hazards import Call

Row = tuple[Any, ...]
"""The values of a slot: an object's memory, and numbers such as a stride."""

_KEPT = {"CsSetUnorderedAccessViews": KEEP}
"""Functions whose last value of a slot acts once when it is set -> the value without effect."""


class Slots(msgspec.Struct, frozen=True):
    """A function that binds to slots from a first one on; ``unbound`` are an empty slot's
    values.
    """

    unbound: Row = (None,)


SLOTTED: dict[str, Slots] = {
    **{
        f"{prefix}Set{noun}": Slots()
        for prefix in PREFIXES
        for noun in ("ConstantBuffers", "ShaderResources", "Samplers")
    },
    "IaSetVertexBuffers": Slots((None, 0, 0)),
    "CsSetUnorderedAccessViews": Slots((None, KEEP)),
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

    def note(self, entry: str, arguments: Row) -> None:
        """Keep the state that a call sets; other calls are ignored."""
        if entry in WHOLE:
            before = self.whole(entry)
            self._whole[entry] = arguments
            self._exchange(before, arguments)
        elif entry in SLOTTED:
            start, *columns = arguments
            slots, after = self._slots[entry], tuple(zip(*columns, strict=True))
            before = tuple(slots.pop(slot, None) for slot in range(start, start + len(after)))
            slots.update(
                (slot, row) for slot, row in enumerate(after, start) if row[0] is not None
            )
            self._exchange(before, after)

    def _exchange(self, before: Row, after: Row) -> None:
        """Count the objects that arguments bind, then those that earlier ones had bound."""
        for memory in memories(after):
            self._bound(memory)
        for memory in memories(before):
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
