"""References, interfaces, names and relations of objects of Direct3D 10 and 11, and the rows of
methods that only read."""

from __future__ import annotations

from dp2emu.capture.records import RESOURCE_LABEL, Annotation
from dp2emu.retrace.arguments import Arguments, flattened, integer
from dp2emu.retrace.d3d11.objects import (
    CHILDREN,
    CONTEXT,
    DEVICE,
    DEVICES,
    FURTHER,
    RESOURCES,
    STATES,
    VIEWS,
    bind_found,
    context_of,
    device_of,
    let_go,
    number_of,
    this_of,
)
from dp2emu.retrace.program import NO_EFFECT, Program, inert, method
from dp2emu.runtime10.class_linkage import ClassInstance
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.objects import DeviceChild, View

_ALL = f"{CHILDREN} {DEVICES} {CONTEXT} {FURTHER}"
_OWN = "The program's own data."

inert(_ALL, "AddRef", "Adds a reference; Release tells which is the last.")


@method(_ALL, "QueryInterface")
def query_interface(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the new address means the same object."""
    place = call.call.function.arguments[-1]
    if call.has(place):
        call.bind(place, this_of(call))


@method(_ALL, "Release")
def release(program: Program, call: Arguments) -> None:
    """Destroys the object with the last reference, once it is not bound."""
    if call.result or _reused(call):
        return
    thing = this_of(call)
    call.objects.forget_all(thing)
    if isinstance(thing, Device):
        _close(program, thing)
    else:
        let_go(thing)


def _reused(call: Arguments) -> bool:
    """Whether the address already means an object of another thread, which was given it before the
    tracer noted that this Release ended.
    """
    return call.objects.since(call.address("this")) > call.number


def _close(program: Program, device: Device) -> None:
    if device in program.devices:
        program.devices.remove(device)
        device.close()


# Names

_NAME = (0x429B8C22, 0x9188, 0x4B0C, 0x87, 0x42, 0xAC, 0xB0, 0xBF, 0x85, 0xC2, 0x00)
"""WKPDID_D3DDebugObjectName."""
_WIDE_NAME = (0x4CCA5FD8, 0x921F, 0x42C8, 0x85, 0x66, 0x70, 0xCA, 0xF2, 0xA9, 0xB7, 0x41)
"""WKPDID_D3DDebugObjectNameW."""
_ENCODINGS = {_NAME: "latin-1", _WIDE_NAME: "utf-16-le"}


@method(CHILDREN, "SetPrivateData")
def set_private_data(program: Program, call: Arguments) -> None:
    """Labels the object, if the data is its name for tools."""
    thing = call.thing("this", DeviceChild)
    key = tuple(integer(leaf) for leaf in flattened(call.value(call.placed(1))))
    number = number_of(program, thing.memory)
    if key in _ENCODINGS and number and call.has("pData"):
        text = call.blob("pData").decode(_ENCODINGS[key], "replace").rstrip("\0")
        program.recorder.put(Annotation(f"{RESOURCE_LABEL}{number}", text))


inert(CHILDREN, "GetPrivateData SetPrivateDataInterface", _OWN)
inert(f"{DEVICES} {CONTEXT}", "SetPrivateData GetPrivateData SetPrivateDataInterface", _OWN)

# Relations


@method(CHILDREN, "GetDevice")
def get_device(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means the device."""
    bind_found(call, "ppDevice", [call.thing("this", DeviceChild).owner])


@method(CONTEXT, "GetDevice")
def get_device_of_context(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means the device."""
    bind_found(call, "ppDevice", [context_of(call).owner])


_CONTEXTS = " ".join(f"GetImmediateContext{version}" for version in ("", 1, 2, 3))


@method(DEVICE, _CONTEXTS)
def get_immediate_context(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means the immediate context."""
    bind_found(call, "ppImmediateContext", [device_of(call).context])


@method(VIEWS, "GetResource")
def get_resource(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means the resource of the view."""
    bind_found(call, "ppResource", [call.thing("this", View).resource])


@method("ID3D11ClassInstance", "GetClassLinkage")
def get_class_linkage(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means the linkage of the instance."""
    bind_found(call, call.placed(1), [call.thing("this", ClassInstance).linkage])


# Methods that only read

inert(f"{RESOURCES} {VIEWS} {STATES}", "GetDesc GetDesc1 GetDesc2", NO_EFFECT)
inert(RESOURCES, "GetType GetEvictionPriority", NO_EFFECT)
inert("ID3D11CommandList", "GetContextFlags", NO_EFFECT)
inert("ID3D11ClassInstance", "GetDesc GetInstanceName GetTypeName", NO_EFFECT)
inert(
    DEVICES,
    "CheckFormatSupport CheckMultisampleQualityLevels CheckMultisampleQualityLevels1 "
    "CheckCounterInfo CheckCounter CheckFeatureSupport GetCreationFlags GetFeatureLevel "
    "GetDeviceRemovedReason SetExceptionMode GetExceptionMode",
    NO_EFFECT,
)
inert("ID3D10Device", "SetTextFilterSize GetTextFilterSize", "Text is drawn by the program.")
inert(
    DEVICE,
    "RegisterDeviceRemovedEvent UnregisterDeviceRemoved",
    "The emulated device is not removed.",
)
inert(CONTEXT, "GetType GetContextFlags GetResourceMinLOD", NO_EFFECT)
