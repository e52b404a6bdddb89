"""Draws and dispatches of Direct3D 10/11 that do nothing, with the reason."""

from __future__ import annotations

from dp2emu.capture.records import EntryCalled
from dp2emu.ddi10.device import Device
from dp2emu.explain.events import EventKind

DRAWING = {
    **dict.fromkeys(
        ("Draw", "DrawIndexed", "DrawInstanced", "DrawIndexedInstanced", "DrawAuto",
         "DrawInstancedIndirect", "DrawIndexedInstancedIndirect"),
        EventKind.DRAW,
    ),
    **dict.fromkeys(("Dispatch", "DispatchIndirect"), EventKind.DISPATCH),
}  # fmt: skip
"""Functions of the DDI that draw or dispatch, and the kind of their event."""

_INSTANCES = {"DrawInstanced": 1, "DrawIndexedInstanced": 1}
"""Number of the argument that counts instances."""


def idle_reason(device: Device, call: EntryCalled) -> str:
    """Return why a ``call`` of a function in ``DRAWING`` did nothing, in the device's state after
    it.
    """
    if DRAWING[call.entry] is EventKind.DISPATCH:
        shader = device.parts.stages.compute.shader
        return "no compute shader is set" if shader is None else "there are no threads"
    lacking = device.parts.draws.lacking("Indexed" in call.entry)
    if lacking:
        return lacking
    if call.entry == "DrawAuto":
        return "no vertices of stream output are bound"
    at = _INSTANCES.get(call.entry)
    if at is not None and call.arguments[at] == 0:
        return "there are no instances"
    return "there are too few vertices for a primitive"
