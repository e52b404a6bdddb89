"""Lifetimes of DirectDraw and Direct3D objects (apitrace traces, "DirectDraw objects").

An object has an address for each of its interfaces, which may count references separately: it is
destroyed with its last address.
"""

from __future__ import annotations

from dp2emu.retrace.arguments import Arguments
from dp2emu.retrace.program import Program, method
from dp2emu.runtime.calldraws import VertexBuffer
from dp2emu.runtime.drawsurfaces import DrawSurface
from dp2emu.runtime.earlydevice import EarlyDevice

DIRECTDRAWS = " ".join(f"IDirectDraw{n}" for n in ("", "2", "4", "7"))
SURFACES = " ".join(f"IDirectDrawSurface{n}" for n in ("", "2", "3", "4", "7"))
TEXTURES = "IDirect3DTexture IDirect3DTexture2"
MATERIALS = "IDirect3DMaterial IDirect3DMaterial2 IDirect3DMaterial3"
VIEWPORTS = "IDirect3DViewport IDirect3DViewport2 IDirect3DViewport3"
BUFFERS = "IDirect3DVertexBuffer IDirect3DVertexBuffer7"
_INTERFACES = (
    f"{DIRECTDRAWS} {SURFACES} {TEXTURES} {MATERIALS} {VIEWPORTS} {BUFFERS} "
    "IDirect3D IDirect3D2 IDirect3D3 IDirect3D7 "
    "IDirect3DDevice IDirect3DDevice2 IDirect3DDevice3 IDirect3DDevice7 "
    "IDirect3DLight IDirect3DExecuteBuffer IDirectDrawPalette IDirectDrawClipper "
    "IDirectDrawColorControl IDirectDrawGammaControl"
)


def bind_argument(program: Program, call: Arguments, name: str, thing: object) -> None:
    """Bind ``thing`` to the address that the call returned through an argument; the object that
    had the address before is destroyed if no other address is bound to it.
    """
    address = call.address(name)
    before = program.objects.get(address)
    program.objects.bind(address, thing)
    if before is not None and before is not thing:
        _retire(program, before)


def _retire(program: Program, thing: object) -> None:
    """Destroy an object in the driver if the program has no address of it any more."""
    if program.objects.addresses(thing):
        return
    if isinstance(thing, DrawSurface) and thing.root and not thing.destroyed:
        program.ddraw.destroy(thing)
    elif isinstance(thing, EarlyDevice):
        thing.close()
    elif isinstance(thing, VertexBuffer):
        program.ddraw.settle().destroy_surface(thing.desc.handle)


@method(_INTERFACES, "Release")
def release(program: Program, call: Arguments) -> None:
    """Destroys the object with the last reference to its last interface."""
    address = call.address("this")
    thing = program.objects.get(address)
    if thing is None or call.result:
        return
    program.objects.forget(address)
    _retire(program, thing)


@method(_INTERFACES, "QueryInterface")
def query_interface(program: Program, call: Arguments) -> None:
    """Returns another interface of the same object."""
    thing = program.objects.get(call.address("this"))
    if thing is not None and call.address("ppvObj"):
        bind_argument(program, call, "ppvObj", thing)
