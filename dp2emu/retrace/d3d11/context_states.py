"""Objects of Direct3D 11.1 that hold the whole state of a context."""

from __future__ import annotations

from dp2emu.retrace.arguments import Arguments
from dp2emu.retrace.d3d11.objects import CONTEXT, DEVICE, bind_new, context_of, device_of
from dp2emu.retrace.program import Program, method
from dp2emu.runtime10.context_state import DeviceContextState
from dp2emu.runtime10.deferred import ImmediateContext


@method(DEVICE, "CreateDeviceContextState")
def create_device_context_state(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means a default state.

    Its feature level is the device's, which has all that a lower one has.
    """
    place = call.call.function.arguments[-1]
    if call.has(place):
        made, _level = device_of(call).create_device_context_state()
        bind_new(call, place, made)


@method(CONTEXT, "SwapDeviceContextState")
def swap_device_context_state(program: Program, call: Arguments) -> None:
    """Sets the state of the object where it differs; the address means the state until now.
    Without an object it has no effect.
    """
    context, state = context_of(call), call.optional(call.placed(1), DeviceContextState)
    if state is None or not isinstance(context, ImmediateContext):
        return
    previous = context.swap_device_context_state(state)
    place = call.placed(2)
    if call.has(place):
        bind_new(call, place, previous)
    else:
        previous.release()
