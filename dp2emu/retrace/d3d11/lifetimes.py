"""Releases of objects of Direct3D 10, 11 and DXGI, and their other interfaces."""

from __future__ import annotations

from dp2emu.retrace.arguments import Arguments
from dp2emu.retrace.program import Program
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.dxgi import SwapChain
from dp2emu.runtime10.objects import DeviceChild


def release_child(program: Program, call: Arguments) -> None:
    """Release of an object of a device: destroy it with the last reference, once it is not
    bound.
    """
    # Another thread may have been given the address before the tracer noted that Release ended,
    # and may even have released its object.
    if call.result == 0 and call.objects.since(call.address("this")) <= call.number:
        thing = call.thing("this", DeviceChild)
        call.objects.forget_all(thing)
        thing.references = 1
        thing.release()


def release_device(program: Program, call: Arguments) -> None:
    """Release of a device: destroy it with the last reference."""
    if call.result == 0:
        device = call.thing("this", Device)
        call.objects.forget_all(device)
        if device in program.devices:
            program.devices.remove(device)
            device.close()


def release_chain(program: Program, call: Arguments) -> None:
    """Release of a swap chain: release its buffers with the last reference."""
    if call.result == 0:
        chain = call.thing("this", SwapChain)
        call.objects.forget_all(chain)
        chain.references = 1
        chain.release()


_RELEASES = {DeviceChild: release_child, Device: release_device, SwapChain: release_chain}


def release_any(program: Program, call: Arguments) -> None:
    """Release of any object; nothing for factories, adapters and outputs."""
    thing = call.objects.get(call.address("this"))
    for kind, release in _RELEASES.items():
        if isinstance(thing, kind):
            release(program, call)


def same_object(call: Arguments) -> None:
    """QueryInterface: the new address means the same object."""
    if call.has("ppvObj"):
        call.bind("ppvObj", call.thing("this", object))
