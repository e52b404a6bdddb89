"""Swap chains and frames."""

from __future__ import annotations

from typing import TypeVar

from dp2emu.capture.records import PictureKind
from dp2emu.retrace.arguments import Arguments
from dp2emu.retrace.d3d9.held import application, hand_out, held, on, picture, rect, silent
from dp2emu.retrace.d3d9.root import DEVICES, EVERY_DEVICE, presentation
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import Program
from dp2emu.runtime.application import Application
from dp2emu.runtime.chains import Chain
from dp2emu.runtime.resources import Resource

T = TypeVar("T")

_CHAINS = "IDirect3DSwapChain9 IDirect3DSwapChain9Ex IDirect3DSwapChain8"
_SCREEN = "What the screen does; pictures are taken before it."

silent(EVERY_DEVICE, "SetCursorProperties SetCursorPosition ShowCursor", _SCREEN)
silent(EVERY_DEVICE, "SetGammaRamp GetGammaRamp SetDialogBoxMode GetRasterStatus", _SCREEN)
silent(EVERY_DEVICE, "GetDisplayMode TestCooperativeLevel GetDeviceCaps", "A question.")
silent(EVERY_DEVICE, "GetNumberOfSwapChains GetAvailableTextureMem", "A question.")
silent(EVERY_DEVICE, "GetCreationParameters", "A question.")
silent(
    "IDirect3DDevice9Ex", "GetDisplayModeEx CheckResourceResidency CheckDeviceState", "A question."
)
silent("IDirect3DDevice9Ex", "SetGPUThreadPriority GetGPUThreadPriority WaitForVBlank", _SCREEN)
silent("IDirect3DDevice9Ex", "SetMaximumFrameLatency GetMaximumFrameLatency", _SCREEN)
silent(_CHAINS, "GetRasterStatus GetDisplayMode GetPresentParameters", "A question.")
silent(_CHAINS, "GetLastPresentCount GetPresentStats GetDisplayModeEx", "A question.")


@on(EVERY_DEVICE, "Present PresentEx")
def present(program: Program, call: Arguments) -> None:
    """A picture of the first target, the front buffer's copy, and the end of a frame."""
    app = application(call)
    show(program, call, app, app.chains[0])


@on(_CHAINS, "Present")
def present_chain(program: Program, call: Arguments) -> None:
    """As the device's, of one swap chain."""
    app, chain = held(call, Chain)
    show(program, call, app, chain)


def show(program: Program, call: Arguments, app: Application, chain: Chain) -> None:
    """The picture and the Present of a chain."""
    target = app.resource(app.device.targets.get(0))
    if target is not None:
        picture(call, app, PictureKind.PRESENT, target)
    app.present(chain, rect(call, "pSourceRect"), rect(call, "pDestRect"))


@on(EVERY_DEVICE, "CreateAdditionalSwapChain")
def create_additional_swap_chain(program: Program, call: Arguments) -> None:
    """More back buffers."""
    app = application(call)
    chain = app.add_chain(presentation(call.struct("pPresentationParameters")))
    name = "pSwapChain" if call.has("pSwapChain") else "ppSwapChain"
    hand_out(program, call, name, app, chain)


@on(DEVICES, "GetSwapChain")
def get_swap_chain(program: Program, call: Arguments) -> None:
    """The address of an implicit chain."""
    app = application(call)
    chain = _numbered(app.chains, call.integer("iSwapChain"))
    name = "pSwapChain" if call.has("pSwapChain") else "ppSwapChain"
    hand_out(program, call, name, app, chain)


@on(EVERY_DEVICE, "GetBackBuffer")
def get_back_buffer(program: Program, call: Arguments) -> None:
    """The address of a back buffer."""
    app = application(call)
    numbered = "iSwapChain" in call.call.function.arguments
    chain = _numbered(app.chains, call.integer("iSwapChain") if numbered else 0)
    _back_buffer(program, call, app, chain)


@on(_CHAINS, "GetBackBuffer")
def get_back_buffer_of_chain(program: Program, call: Arguments) -> None:
    """The address of a back buffer."""
    app, chain = held(call, Chain)
    _back_buffer(program, call, app, chain)


def _back_buffer(program: Program, call: Arguments, app: Application, chain: Chain) -> None:
    name = "iBackBuffer" if "iBackBuffer" in call.call.function.arguments else "BackBuffer"
    buffer = _numbered(chain.back_buffers, call.integer(name))
    hand_out(program, call, "ppBackBuffer", app, buffer)


def _numbered(things: list[T], index: int) -> T:
    if not 0 <= index < len(things):
        raise Inexpressible(f"there are {len(things)}, not a number {index}")
    return things[index]


@on(DEVICES, "GetFrontBufferData")
def get_front_buffer_data(program: Program, call: Arguments) -> None:
    """The front buffer at the corner of the screen, and a picture of the copy."""
    app = application(call)
    chain = _numbered(app.chains, call.integer("iSwapChain"))
    front_data(program, call, app, chain)


@on(_CHAINS, "GetFrontBufferData")
def get_front_buffer_data_of_chain(program: Program, call: Arguments) -> None:
    """As the device's, of one swap chain."""
    app, chain = held(call, Chain)
    front_data(program, call, app, chain)


def front_data(program: Program, call: Arguments, app: Application, chain: Chain) -> None:
    """The front buffer of a chain is read."""
    target = held(call, Resource, "pDestSurface")[1]
    if target.desc is None:
        raise Inexpressible("a surface without memory at the driver")
    chain.show(target.desc)
    picture(call, app, PictureKind.FRONT_BUFFER, target)
