"""Direct3DCreate9, IDirect3D9 and the life of devices."""

from __future__ import annotations

from dp2emu.capture.apitrace.values import Struct
from dp2emu.d3d.enums import Format
from dp2emu.retrace.arguments import Arguments, integer, member
from dp2emu.retrace.d3d9.held import Direct3D, Held, application, format_of, hand_out, on, silent
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import Program, method
from dp2emu.runtime.application import PROGRAMS, Application
from dp2emu.runtime.chains import Presentation, samples_of
from dp2emu.runtime.resources import Resource

ROOTS = "IDirect3D9 IDirect3D9Ex IDirect3D8"
DEVICES = "IDirect3DDevice9 IDirect3DDevice9Ex"
EVERY_DEVICE = f"{DEVICES} IDirect3DDevice8"
_CLASSES = (
    "Texture CubeTexture VolumeTexture BaseTexture Surface Volume VertexBuffer IndexBuffer "
    "SwapChain Resource"
)
_CLASSES9 = f"{_CLASSES} VertexDeclaration VertexShader PixelShader StateBlock Query"
OBJECTS = " ".join(
    [f"IDirect3D{name}9" for name in _CLASSES9.split()]
    + [f"IDirect3D{name}8" for name in _CLASSES.split()]
    + ["IDirect3DSwapChain9Ex"]
)
_BACK_BUFFERS = 30
"""D3DPRESENT_BACK_BUFFERS_MAX_EX."""
_ASK = "A question; the driver is not told."
_NONE = "Nothing for the driver."

silent(
    "IDirect3D9 IDirect3D9Ex", "GetAdapterModeCount EnumAdapterModes GetAdapterDisplayMode", _ASK
)
silent("IDirect3D9 IDirect3D9Ex", "CheckDeviceFormatConversion CheckDeviceMultiSampleType", _ASK)
silent("IDirect3D8", "GetAdapterModeCount EnumAdapterModes GetAdapterDisplayMode", _ASK)
silent("IDirect3D8", "CheckDeviceMultiSampleType", _ASK)
silent(ROOTS, "GetAdapterCount GetAdapterIdentifier CheckDeviceType CheckDeviceFormat", _ASK)
silent(ROOTS, "CheckDepthStencilMatch GetDeviceCaps GetAdapterMonitor AddRef", _ASK)
silent(ROOTS, "RegisterSoftwareDevice", _NONE)
silent("IDirect3D9Ex", "GetAdapterModeCountEx EnumAdapterModesEx GetAdapterDisplayModeEx", _ASK)
silent("IDirect3D9Ex", "GetAdapterLUID", _ASK)
silent(f"{EVERY_DEVICE} {OBJECTS}", "AddRef", "The program's own count.")
silent("", "Direct3DShaderValidatorCreate9 ValidatePixelShader ValidateVertexShader", _ASK)
silent("", "PSGPError PSGPSampleTexture", _NONE)


@method("Direct3DCreate9", "Direct3DCreate8")
def create(program: Program, call: Arguments) -> None:
    """Nothing for the driver; devices come of it."""
    program.objects.bind(call.result, Direct3D())


@method("Direct3DCreate9Ex")
def create_ex(program: Program, call: Arguments) -> None:
    """Nothing for the driver; devices come of it."""
    call.bind("ppD3D", Direct3D())


def presentation(found: Struct, depth_member: str = "AutoDepthStencilFormat") -> Presentation:
    """D3DPRESENT_PARAMETERS as they stand after the call."""
    width, height = (integer(member(found, f"BackBuffer{side}")) for side in ("Width", "Height"))
    number = integer(member(found, "BackBufferFormat"))
    back_buffers = max(integer(member(found, "BackBufferCount")), 1)
    if back_buffers > _BACK_BUFFERS:
        raise Inexpressible(f"{back_buffers} back buffers")
    quality = "MultiSampleQuality" in found.signature.members
    automatic = integer(member(found, "EnableAutoDepthStencil"))
    return Presentation(
        width=width,
        height=height,
        format=format_of(number) if number else Format.X8R8G8B8,
        back_buffers=back_buffers,
        samples=samples_of(
            integer(member(found, "MultiSampleType")),
            integer(member(found, "MultiSampleQuality")) if quality else 0,
        ),
        depth=format_of(integer(member(found, depth_member))) if automatic else None,
    )


@on("IDirect3D9 IDirect3D9Ex", "CreateDevice CreateDeviceEx")
def create_device(program: Program, call: Arguments) -> None:
    """A context with its first back buffer and the automatic depth surface."""
    make_device(program, call, 9)


@on("IDirect3D8", "CreateDevice")
def create_device8(program: Program, call: Arguments) -> None:
    """A context of Direct3D 8 with its first back buffer and the automatic depth surface."""
    make_device(program, call, 8)


def make_device(program: Program, call: Arguments, interface: int) -> None:
    """A device under the address the call gave."""
    app = Application(
        program.rig,
        presentation(call.struct("pPresentationParameters")),
        interface=interface,
        numbers=program.numbers,
        record=program.record,
    )
    program.endings.append(app.session.flush)
    call.bind("ppReturnedDeviceInterface", app)


@on(EVERY_DEVICE, "Reset ResetEx")
def reset(program: Program, call: Arguments) -> None:
    """New swap chains and all state as on a new device."""
    app = application(call)
    app.reset(presentation(call.struct("pPresentationParameters")))


@on(EVERY_DEVICE, "Release")
def release_device(program: Program, call: Arguments) -> None:
    """With the last reference the context goes, and all it made."""
    if call.result == 0:
        address = call.address("this")
        app = application(call)
        program.objects.forget(address)
        app.close()


@on(ROOTS, "Release")
def release_root(program: Program, call: Arguments) -> None:
    """The program's own count."""
    if call.result == 0:
        program.objects.forget(call.address("this"))


@on(OBJECTS, "Release")
def release(program: Program, call: Arguments) -> None:
    """With the last reference, and once the device does not use it either, it is destroyed."""
    if call.result != 0:
        return
    address = call.address("this")
    found = program.objects.get(address)
    program.objects.forget(address)
    if isinstance(found, Held):
        let_go(found)


def let_go(found: Held) -> None:
    """The program has no reference left."""
    if isinstance(found.thing, (Resource, *PROGRAMS)):
        found.app.release(found.thing)
    elif found.thing in found.app.blocks:
        found.app.blocks.remove(found.thing)
    elif hasattr(found.thing, "release"):
        found.thing.release()


@on(f"{ROOTS} {EVERY_DEVICE} {OBJECTS}", "QueryInterface")
def query_interface(program: Program, call: Arguments) -> None:
    """Another address of the same object."""
    if call.has("ppvObj"):
        call.bind("ppvObj", program.objects.get(call.address("this")))


@on(OBJECTS, "GetDevice")
def get_device(program: Program, call: Arguments) -> None:
    """The address of the device again."""
    found = program.objects.get(call.address("this"))
    if isinstance(found, Held):
        call.bind("ppDevice", found.app)


@on(EVERY_DEVICE, "GetDirect3D")
def get_direct3d(program: Program, call: Arguments) -> None:
    """The address of what made the device."""
    name = "ppD3D9" if call.has("ppD3D9") else "ppD3D8"
    if call.has(name) and program.objects.get(call.address(name)) is None:
        call.bind(name, Direct3D())


@on(OBJECTS, "GetContainer")
def get_container(program: Program, call: Arguments) -> None:
    """The address of the texture, or of the device, that a surface belongs to."""
    found = program.objects.get(call.address("this"))
    if not isinstance(found, Held) or not isinstance(found.thing, Resource):
        raise Inexpressible("no surface")
    name = "ppContainer"
    if found.thing.owner is not None:
        hand_out(program, call, name, found.app, found.thing.owner)
    elif program.objects.get(call.address(name)) is None:
        call.bind(name, found.app)
