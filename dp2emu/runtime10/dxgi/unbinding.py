"""Unbinding a resource from the pipeline, as a presentation of the flip model does.

Source: the DXGI documentation of IDXGISwapChain1::Present1.
"""

from __future__ import annotations

from typing import Any

from dp2emu.runtime10.context import Context
from dp2emu.runtime10.objects import Resource, View
from dp2emu.runtime10.pipeline_state import SLOTTED, memories

_TARGETS = "SetRenderTargets"


def unbind(context: Context, resource: Resource) -> None:
    """Unbind all views of a resource from a context."""

    def sees(memory: Any) -> bool:
        if not isinstance(memory, bytearray):
            return False
        found = context.owner.child(memory)
        return isinstance(found, View) and found.resource is resource

    for entry, arguments in context.state.calls():
        if not any(map(sees, memories(arguments))):
            continue
        if entry == _TARGETS:
            context.call(entry, *_without(arguments, sees))
        else:
            context.call(entry, arguments[0], *((value,) for value in SLOTTED[entry].unbound))


def _without(arguments: tuple[Any, ...], sees: Any) -> tuple[Any, ...]:
    """Arguments of SetRenderTargets with None for the views that ``sees`` is true of."""
    return tuple(
        tuple(None if sees(each) else each for each in value)
        if isinstance(value, (tuple, list))
        else None
        if sees(value)
        else value
        for value in arguments
    )
