"""When objects of DirectDraw and Direct3D come and go (apitrace traces, "DirectDraw objects").

An object has an address for each of its interfaces, and reference counts that may be of one
interface alone: it is gone with its last address.
"""

from __future__ import annotations

from dp2emu.retrace.arguments import Arguments
from dp2emu.retrace.program import Program, method
from dp2emu.runtime.calldraws import VertexBuffer
from dp2emu.runtime.drawsurfaces import DrawSurface
from dp2emu.runtime.earlydevice import EarlyDevice

_INTERFACES = (
    *(f"IDirectDraw{n}" for n in ("", "2", "4", "7")),
    *(f"IDirectDrawSurface{n}" for n in ("", "2", "3", "4", "7")),
    *(f"IDirect3D{n}" for n in ("", "2", "3", "7")),
    *(f"IDirect3DDevice{n}" for n in ("", "2", "3", "7")),
    *(f"IDirect3DTexture{n}" for n in ("", "2")),
    *(f"IDirect3DMaterial{n}" for n in ("", "2", "3")),
    *(f"IDirect3DViewport{n}" for n in ("", "2", "3")),
    *(f"IDirect3DVertexBuffer{n}" for n in ("", "7")),
    "IDirect3DLight", "IDirect3DExecuteBuffer", "IDirectDrawPalette", "IDirectDrawClipper",
    "IDirectDrawColorControl", "IDirectDrawGammaControl",
)  # fmt: skip


def bind(program: Program, address: int, thing: object) -> None:
    """A call handed out an object; what had its address before and has no other is gone."""
    before = program.objects.get(address)
    program.objects.bind(address, thing)
    if before is not None and before is not thing:
        _retire(program, before)


def bind_argument(program: Program, call: Arguments, name: str, thing: object) -> None:
    """The same, of an object handed out through an argument."""
    bind(program, call.address(name), thing)


def _retire(program: Program, thing: object) -> None:
    if program.objects.addresses(thing):
        return
    if isinstance(thing, DrawSurface) and thing.root and not thing.gone:
        program.ddraw.destroy(thing)
    elif isinstance(thing, EarlyDevice):
        thing.close()
    elif isinstance(thing, VertexBuffer):
        program.ddraw.settle().destroy_surface(thing.desc.handle)


@method(*(f"{interface}::Release" for interface in _INTERFACES))
def release(program: Program, call: Arguments) -> None:
    """With the last reference to its last interface the object is gone."""
    address = call.address("this")
    thing = program.objects.get(address)
    if thing is None or call.result:
        return
    program.objects.forget(address)
    _retire(program, thing)


@method(*(f"{interface}::QueryInterface" for interface in _INTERFACES))
def query_interface(program: Program, call: Arguments) -> None:
    """Another interface of the same object."""
    thing = program.objects.get(call.address("this"))
    if thing is not None and call.address("ppvObj"):
        bind_argument(program, call, "ppvObj", thing)
