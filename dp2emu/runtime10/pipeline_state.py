"""State of a context: the calls of the driver that set it, by function and slot.

Get... methods read it, command lists restore it, and ClearState resets it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
"""Functions whose last value of a slot acts once when it is set, and the value that acts not."""


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
    """The state of a context, by the functions that set it.  Mutable: calls change it."""

    def __init__(self) -> None:
        self._whole: dict[str, Row] = {}
        self._slots: dict[str, dict[int, Row]] = {}

    def note(self, entry: str, arguments: Row) -> None:
        """Keep the state that a call sets; other calls are ignored."""
        if entry in WHOLE:
            self._whole[entry] = arguments
        elif entry in SLOTTED:
            start, *columns = arguments
            bound = self._slots.setdefault(entry, {})
            for slot, row in enumerate(zip(*columns, strict=True), start):
                bound.pop(slot, None)
                if row[0] is not None:
                    bound[slot] = row

    def whole(self, entry: str) -> Row:
        """The arguments of the last call of ``entry``, or of the default state."""
        return self._whole.get(entry, WHOLE[entry])

    def row(self, entry: str, slot: int) -> Row:
        """The values in a slot that ``entry`` sets."""
        return self._slots.get(entry, {}).get(slot, SLOTTED[entry].unbound)

    def uses(self, memory: bytearray) -> bool:
        """Whether an object is bound."""
        rows = (row for bound in self._slots.values() for row in bound.values())
        return any(row[0] is memory for row in rows) or any(
            _holds(arguments, memory) for arguments in self._whole.values()
        )

    def calls(self) -> Iterator[Call]:
        """The calls that set this state on a driver in the default state."""
        for entry, arguments in self._whole.items():
            yield entry, _resumed(entry, arguments)
        for entry, bound in self._slots.items():
            for slot, row in sorted(bound.items()):
                kept = row if entry not in _KEPT else (*row[:-1], _KEPT[entry])
                yield entry, (slot, *((value,) for value in kept))

    def resets(self) -> Iterator[Call]:
        """The calls that set the default state where this state differs from it."""
        for entry, arguments in self._whole.items():
            if arguments != WHOLE[entry]:
                yield entry, WHOLE[entry]
        for entry, bound in self._slots.items():
            unbound = SLOTTED[entry].unbound
            for slot in sorted(bound):
                yield entry, (slot, *((value,) for value in unbound))


def _holds(arguments: Sequence[Any], memory: bytearray) -> bool:
    """Whether the memory of an object is among arguments or in a list of them."""
    return any(
        each is memory or (isinstance(each, (tuple, list)) and _holds(each, memory))
        for each in arguments
    )


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
