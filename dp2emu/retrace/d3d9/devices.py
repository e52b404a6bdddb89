"""Direct3D objects, devices, swap chains, frames and queries of Direct3D 9 and 8."""

from __future__ import annotations

from typing import TypeVar

from dp2emu.capture.apitrace.values import Struct
from dp2emu.capture.records import PictureKind
from dp2emu.d3d.enums import Format, QueryType
from dp2emu.d3d.flags import D3DGETDATA_FLUSH
from dp2emu.d3d.hresult import HResult
from dp2emu.retrace.arguments import Arguments, flattened, integer, member
from dp2emu.retrace.d3d9.objects import (
    DEVICES,
    EVERY_DEVICE,
    DeviceObject,
    Direct3D,
    application,
    described,
    enumerator,
    hand_out,
    object_of,
    picture,
    rect,
    resources_of,
)
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import NO_EFFECT, Program, forward, inert, method
from dp2emu.runtime.application import Application
from dp2emu.runtime.chains import Chain, Presentation, samples_of
from dp2emu.runtime.mirror import StateBlock
from dp2emu.runtime.objects import PROGRAMS
from dp2emu.runtime.query import Query, QueryState
from dp2emu.runtime.resources import Resource

T = TypeVar("T")

ROOTS = "IDirect3D9 IDirect3D9Ex IDirect3D8"
_CHAINS = "IDirect3DSwapChain9 IDirect3DSwapChain9Ex IDirect3DSwapChain8"
_QUERY = "IDirect3DQuery9"
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
"""D3DPRESENT_BACK_BUFFERS_MAX_EX: the largest number of back buffers of a swap chain."""
_SCREEN = "Affects the screen only; pictures are taken before it."

inert(ROOTS, "GetAdapterModeCount EnumAdapterModes GetAdapterDisplayMode", NO_EFFECT)
inert("IDirect3D9 IDirect3D9Ex", "CheckDeviceFormatConversion", NO_EFFECT)
inert(
    ROOTS,
    "CheckDeviceMultiSampleType GetAdapterCount GetAdapterIdentifier CheckDeviceType "
    "CheckDeviceFormat CheckDepthStencilMatch GetDeviceCaps GetAdapterMonitor AddRef",
    NO_EFFECT,
)
inert(ROOTS, "RegisterSoftwareDevice", NO_EFFECT)
inert(
    "IDirect3D9Ex",
    "GetAdapterModeCountEx EnumAdapterModesEx GetAdapterDisplayModeEx GetAdapterLUID",
    NO_EFFECT,
)
inert(f"{EVERY_DEVICE} {OBJECTS}", "AddRef", "Adds a reference, which only the program counts.")
inert("", "Direct3DShaderValidatorCreate9 ValidatePixelShader ValidateVertexShader", NO_EFFECT)
inert("", "PSGPError PSGPSampleTexture", NO_EFFECT)
inert(
    EVERY_DEVICE,
    "SetCursorProperties SetCursorPosition ShowCursor SetGammaRamp GetGammaRamp SetDialogBoxMode "
    "GetRasterStatus",
    _SCREEN,
)
inert(
    EVERY_DEVICE,
    "GetDisplayMode TestCooperativeLevel GetDeviceCaps GetNumberOfSwapChains "
    "GetAvailableTextureMem GetCreationParameters",
    NO_EFFECT,
)
inert("IDirect3DDevice9Ex", "GetDisplayModeEx CheckResourceResidency CheckDeviceState", NO_EFFECT)
inert(
    "IDirect3DDevice9Ex",
    "SetGPUThreadPriority GetGPUThreadPriority WaitForVBlank SetMaximumFrameLatency "
    "GetMaximumFrameLatency",
    _SCREEN,
)
inert(
    _CHAINS,
    "GetRasterStatus GetDisplayMode GetPresentParameters GetLastPresentCount GetPresentStats "
    "GetDisplayModeEx",
    NO_EFFECT,
)
inert(_QUERY, "GetType GetDataSize", NO_EFFECT)


@method("", "Direct3DCreate9 Direct3DCreate8")
def create(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the object only creates devices."""
    program.objects.bind(call.result, Direct3D())


@method("", "Direct3DCreate9Ex")
def create_ex(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the object only creates devices."""
    call.bind("ppD3D", Direct3D())


def presentation(call: Arguments) -> Presentation:
    """The D3DPRESENT_PARAMETERS that the call returned."""
    found = call.struct("pPresentationParameters")
    width, height = (integer(member(found, f"BackBuffer{side}")) for side in ("Width", "Height"))
    number = integer(member(found, "BackBufferFormat"))
    back_buffers = max(integer(member(found, "BackBufferCount")), 1)
    if back_buffers > _BACK_BUFFERS:
        raise Inexpressible(f"{back_buffers} back buffers")
    quality = "MultiSampleQuality" in found.signature.members
    depth = None
    if integer(member(found, "EnableAutoDepthStencil")):
        depth = enumerator(Format, integer(member(found, "AutoDepthStencilFormat")))
    return Presentation(
        width=width,
        height=height,
        format=enumerator(Format, number) if number else Format.X8R8G8B8,
        back_buffers=back_buffers,
        samples=samples_of(
            integer(member(found, "MultiSampleType")),
            integer(member(found, "MultiSampleQuality")) if quality else 0,
        ),
        depth=depth,
    )


@method(ROOTS, "CreateDevice")
@method("IDirect3D9 IDirect3D9Ex", "CreateDeviceEx")
def create_device(program: Program, call: Arguments) -> None:
    """Creates a context with its first back buffer and automatic depth surface."""
    app = Application(
        program.rig,
        presentation(call),
        interface=8 if call.call.name.startswith("IDirect3D8") else 9,
        numbers=program.numbers,
        record=program.record,
    )
    program.endings.append(app.session.flush)
    call.bind("ppReturnedDeviceInterface", app)


@method(EVERY_DEVICE, "Reset ResetEx")
def reset(program: Program, call: Arguments) -> None:
    """Creates new swap chains and restores the initial state; the addresses of the first chain's
    surfaces and of the depth surface mean the new ones.
    """
    app = application(call)
    old = app.implicit
    app.reset(presentation(call))
    new = dict(zip(map(id, old), app.implicit, strict=False))
    for address, bound in program.objects:
        if isinstance(bound, DeviceObject) and id(bound.thing) in new:
            program.objects.bind(address, DeviceObject(app, new[id(bound.thing)]))


@method(EVERY_DEVICE, "Release")
def release_device(program: Program, call: Arguments) -> None:
    """Destroys the context and all its objects with the last reference."""
    if call.result == 0:
        app = application(call)
        program.objects.forget(call.address("this"))
        app.close()


@method(ROOTS, "Release")
def release_root(program: Program, call: Arguments) -> None:
    """Forgets the object's address with its last reference."""
    if call.result == 0:
        program.objects.forget(call.address("this"))


@method(OBJECTS, "Release")
def release(program: Program, call: Arguments) -> None:
    """Destroys the object with its last reference, once the device no longer uses it.  Surfaces of
    a swap chain keep their address, since they live on.
    """
    if call.result != 0:
        return
    address = call.address("this")
    found = program.objects.get(address)
    if isinstance(found, DeviceObject) and getattr(found.thing, "implicit", False):
        return
    program.objects.forget(address)
    if not isinstance(found, DeviceObject):
        return
    if isinstance(found.thing, (Resource, *PROGRAMS)):
        found.app.release(found.thing)
    elif isinstance(found.thing, StateBlock):
        found.app.mirror.delete(found.thing)
    elif hasattr(found.thing, "release"):
        found.thing.release()


@method(f"{ROOTS} {EVERY_DEVICE} {OBJECTS}", "QueryInterface")
def query_interface(program: Program, call: Arguments) -> None:
    """Returns another address of the same object."""
    if call.has("ppvObj"):
        call.bind("ppvObj", program.objects.get(call.address("this")))


@method(OBJECTS, "GetDevice")
def get_device(program: Program, call: Arguments) -> None:
    """Returns the object's device."""
    found = program.objects.get(call.address("this"))
    if isinstance(found, DeviceObject):
        call.bind("ppDevice", found.app)


@method(EVERY_DEVICE, "GetDirect3D")
def get_direct3d(program: Program, call: Arguments) -> None:
    """Returns the device's Direct3D object."""
    name = call.spelled("ppD3D9", "ppD3D8")
    if call.has(name) and program.objects.get(call.address(name)) is None:
        call.bind(name, Direct3D())


@method(OBJECTS, "GetContainer")
def get_container(program: Program, call: Arguments) -> None:
    """Returns a surface's texture or device."""
    found = program.objects.get(call.address("this"))
    if not isinstance(found, DeviceObject) or not isinstance(found.thing, Resource):
        raise Inexpressible("no surface")
    name = "ppContainer"
    if found.thing.owner is not None:
        hand_out(program, call, name, found.app, found.thing.owner)
    elif program.objects.get(call.address(name)) is None:
        call.bind(name, found.app)


# Swap chains and frames


def _chain_of(call: Arguments) -> tuple[Application, Chain]:
    """The device and swap chain of a call: the swap chain whose method it is, or the chain of a
    device whose number is the argument iSwapChain.
    """
    if call.call.name.partition("::")[0] in _CHAINS.split():
        return object_of(call, Chain)
    app = application(call)
    return app, _numbered(app.chains, call, "iSwapChain")


def _numbered(things: list[T], call: Arguments, name: str) -> T:
    """The element of ``things`` whose index is the argument ``name``; the first if the function
    has no such argument.
    """
    index = call.integer(name) if call.declares(name) else 0
    if not 0 <= index < len(things):
        raise Inexpressible(f"there are {len(things)}, not a number {index}")
    return things[index]


@method(EVERY_DEVICE, "Present PresentEx")
@method(_CHAINS, "Present")
def present(program: Program, call: Arguments) -> None:
    """Takes a picture of the first target, copies it to the front buffer, and ends a frame; a copy
    of Direct3D 8 is a blit outside of the command buffer.
    """
    app, chain = _chain_of(call)
    target = app.resource(app.device.targets.get(0))
    if target is not None:
        picture(call, app, PictureKind.PRESENT, target)
    app.present(chain, rect(call, "pSourceRect"), rect(call, "pDestRect"))


@method(EVERY_DEVICE, "CreateAdditionalSwapChain")
def create_additional_swap_chain(program: Program, call: Arguments) -> None:
    """Creates the surfaces of a swap chain."""
    app = application(call)
    chain = app.add_chain(presentation(call))
    hand_out(program, call, call.spelled("pSwapChain", "ppSwapChain"), app, chain)


@method(DEVICES, "GetSwapChain")
def get_swap_chain(program: Program, call: Arguments) -> None:
    """Returns a swap chain."""
    app, chain = _chain_of(call)
    hand_out(program, call, call.spelled("pSwapChain", "ppSwapChain"), app, chain)


@method(f"{EVERY_DEVICE} {_CHAINS}", "GetBackBuffer")
def get_back_buffer(program: Program, call: Arguments) -> None:
    """Returns a back buffer."""
    app, chain = _chain_of(call)
    buffer = _numbered(chain.back_buffers, call, call.spelled("iBackBuffer", "BackBuffer"))
    hand_out(program, call, "ppBackBuffer", app, buffer)


@method(f"{DEVICES} {_CHAINS}", "GetFrontBufferData")
@method("IDirect3DDevice8", "GetFrontBuffer")
def get_front_buffer(program: Program, call: Arguments) -> None:
    """Copies the front buffer to a surface, and takes a picture of it."""
    app, chain = _chain_of(call)
    (target,) = resources_of(call, "pDestSurface")
    chain.show(described(target))
    picture(call, app, PictureKind.FRONT_BUFFER, target)


# Queries


@method(DEVICES, "CreateQuery")
def create_query(program: Program, call: Arguments) -> None:
    """Creates a query, unless ppQuery is NULL."""
    if call.has("ppQuery"):
        app = application(call)
        kind = enumerator(QueryType, call.integer("Type"))
        hand_out(program, call, "ppQuery", app, app.device.create_query(kind))


forward(
    _QUERY, "Issue", "Issues BEGIN, END or both.",
    lambda call: object_of(call, Query)[1].issue, (Arguments.integer, "dwIssueFlags"),
)  # fmt: skip


@method(_QUERY, "GetData")
def get_data(program: Program, call: Arguments) -> None:
    """Waits for the result if the program got S_OK, so that a replay can compare; on S_FALSE only
    submits the command buffer if the program asked for a flush.
    """
    app, query = object_of(call, Query)
    if call.result == HResult.S_FALSE:
        if call.integer("dwGetDataFlags") & D3DGETDATA_FLUSH:
            app.session.flush()
        return
    if query.state is not QueryState.CREATED:
        query.wait(query.data_size)
    app.session.observe(call.number, query.id, call.result, _observed(call, query))


def _observed(call: Arguments, query: Query) -> bytes:
    """The bytes that GetData wrote to the program's buffer, at most dwSize.

    The tracer records the result at its full size even if the buffer was shorter; bytes beyond the
    buffer's end are unrelated memory.
    """
    size = min(call.integer("dwSize"), query.data_size)
    if size <= 0 or not call.has("pData"):
        return b""
    value = call.value("pData")
    if isinstance(value, bytes):
        return value[:size]
    leaves = [leaf for leaf in flattened(value) if not isinstance(leaf, str | bytes | Struct)]
    each = query.data_size // max(len(leaves), 1)
    mask = (1 << 8 * each) - 1
    whole = b"".join((integer(leaf) & mask).to_bytes(each, "little") for leaf in leaves)
    return whole[:size]
