"""Swap chains of DXGI: creation, buffers and presentation."""

from __future__ import annotations

from typing import Any

from dp2emu.capture.apitrace.values import Struct
from dp2emu.capture.records import FrameMarker, Pictured, PictureKind
from dp2emu.retrace.arguments import Arguments, array, integer, structure
from dp2emu.retrace.d3d11 import lifetimes
from dp2emu.retrace.d3d11.objects import number_of, record
from dp2emu.retrace.d3d11.window_sizes import await_size, is_told, window_of
from dp2emu.retrace.program import NO_EFFECT, Program, inert, lost, method
from dp2emu.runtime10.descriptions import Rect
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.dxgi import (
    Factory,
    ModeDesc,
    Point,
    PresentFlag,
    PresentParameters,
    SwapChain,
    SwapChainDesc,
    SwapChainDesc1,
    Window,
    create_dxgi_factory,
)

_CHAINS = "IDXGISwapChain"
_UNKNOWN = "a swap chain with the size of its window, which no call tells"


def _factory(program: Program) -> Factory:
    """The factory that creates all swap chains of the program."""
    key = "IDXGIFactory", 0
    if key not in program.handles:
        program.handles[key] = create_dxgi_factory(program.recorder)
    found = program.handles[key]
    assert isinstance(found, Factory)
    return found


def _description(call: Arguments) -> Struct:
    """The DXGI_SWAP_CHAIN_DESC or DXGI_SWAP_CHAIN_DESC1 of a call that creates a swap chain."""
    return call.struct("pSwapChainDesc" if call.declares("pSwapChainDesc") else "pDesc")


def _window(program: Program, call: Arguments) -> Window | None:
    """The window of a swap chain that a call creates, None for composition."""
    given = _description(call)
    if "OutputWindow" in given.signature.members:
        return window_of(program, integer(given["OutputWindow"]))
    name = call.spelled("hWnd", "pWindow")
    return window_of(program, call.address(name)) if call.declares(name) else None


def awaits_window(program: Program, call: Arguments) -> bool:
    """Whether a call that creates a swap chain waits until the size of its window is known."""
    given, window = _description(call), _window(program, call)
    mode = structure(given["BufferDesc"]) if "BufferDesc" in given.signature.members else given
    if window is None or (integer(mode["Width"]) and integer(mode["Height"])):
        return False
    waits = await_size(program, call, window, call.address("ppSwapChain"))
    if not waits and not is_told(program, call):
        program.losses.add(call.number, call.call.name, _UNKNOWN)
    return waits


def create_chain(program: Program, call: Arguments, device: Device) -> None:
    """Create a swap chain, and bind its address."""
    given, window, factory = _description(call), _window(program, call), _factory(program)
    if "BufferDesc" in given.signature.members:
        old = record(given, SwapChainDesc)
        made = factory.create_swap_chain(device, old._replace(OutputWindow=window, Windowed=1))
    elif window is not None:
        made = factory.create_swap_chain_for_hwnd(device, window, record(given, SwapChainDesc1))
    else:
        made = factory.create_swap_chain_for_composition(device, record(given, SwapChainDesc1))
    if made.window is not None:
        made.window.width, made.window.height = made.desc[:2]
    _allow_output(made)
    call.bind("ppSwapChain", made)


def _allow_output(chain: SwapChain) -> None:
    """Allow views for output of all buffers: where they succeeded, the traced runtime did."""
    for each in chain.buffers:
        each.read_only = False


@method(
    "IDXGIFactory",
    "CreateSwapChain CreateSwapChainForHwnd CreateSwapChainForCoreWindow "
    "CreateSwapChainForComposition",
)
@method("IDXGIFactoryMedia", "CreateSwapChainForCompositionSurfaceHandle")
def create_swap_chain(program: Program, call: Arguments) -> None:
    """Creates the back buffers; a swap chain for full-screen mode is made for a window."""
    if not awaits_window(program, call):
        create_chain(program, call, call.thing("pDevice", Device))


lost(
    "IDXGIFactoryMedia",
    "CreateDecodeSwapChainForCompositionSurfaceHandle",
    "swap chains of video decoders",
)


@method(_CHAINS, "GetBuffer")
def get_buffer(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means the back buffer."""
    chain = call.thing("this", SwapChain)
    call.bind("ppSurface", chain.get_buffer(call.integer("Buffer")))


@method(_CHAINS, "Present Present1")
def present(program: Program, call: Arguments) -> None:
    """A picture record of the first buffer, its presentation, and a frame marker; nothing with
    DXGI_PRESENT_TEST.
    """
    chain = call.thing("this", SwapChain)
    flags = call.integer("Flags" if call.declares("Flags") else "PresentFlags")
    if flags & PresentFlag.TEST:
        return
    number = number_of(program, chain.buffers[0].memory)
    program.recorder.put(Pictured(call.number, PictureKind.BACK_BUFFER, number))
    chain.present1(call.integer("SyncInterval"), flags, _parameters(call))
    program.recorder.put(FrameMarker(program.next_frame()))


def _parameters(call: Arguments) -> PresentParameters:
    """The DXGI_PRESENT_PARAMETERS of Present1; Present has none."""
    if not call.has("pPresentParameters"):
        return PresentParameters()
    given = call.struct("pPresentParameters")
    dirty, scrolled, offset = (
        given[name] for name in ("pDirtyRects", "pScrollRect", "pScrollOffset")
    )
    return PresentParameters(
        tuple(record(each, Rect) for each in array(dirty)) if dirty else (),
        record(scrolled, Rect) if scrolled else None,
        record(offset, Point) if offset else None,
    )


@method(_CHAINS, "ResizeBuffers ResizeBuffers1")
def resize_buffers(program: Program, call: Arguments) -> None:
    """Creates new back buffers."""
    chain = call.thing("this", SwapChain)
    sized = call.integer("Width") and call.integer("Height")
    window = None if sized else chain.window
    if window is not None and await_size(program, call, window, call.address("this")):
        return
    # The call succeeded, so the program has no reference left, even if the trace lacks a Release.
    for each in chain.buffers:
        each.references = 0
    format = call.spelled("NewFormat", "Format")
    names = "BufferCount", "Width", "Height", format, "SwapChainFlags"
    chain.resize_buffers(*(call.integer(each) for each in names))
    _allow_output(chain)


@method(_CHAINS, "ResizeTarget")
def resize_target(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the window has another size."""
    mode: Any = record(call.value(call.placed(1)), ModeDesc)
    call.thing("this", SwapChain).resize_target(mode)


inert(
    _CHAINS,
    "SetFullscreenState",
    "The back buffers are the same; the swap chain stays in its window.",
)


@method(_CHAINS, "Release")
def release(program: Program, call: Arguments) -> None:
    """Releases the buffers with the last reference."""
    lifetimes.release(program, call)


@method(_CHAINS, "QueryInterface")
def query_interface(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the new address means the same object."""
    lifetimes.query_interface(program, call)


@method(_CHAINS, "GetDevice")
def get_device(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means the device."""
    call.bind(call.placed(2), call.thing("this", SwapChain).get_device())


inert(
    _CHAINS,
    "GetDesc GetDesc1 GetFullscreenState GetContainingOutput GetFrameStatistics "
    "GetLastPresentCount GetFullscreenDesc GetHwnd GetCoreWindow GetParent AddRef "
    "GetBackgroundColor GetRotation GetRestrictToOutput IsTemporaryMonoSupported GetPrivateData "
    "SetPrivateData SetPrivateDataInterface SetMaximumFrameLatency GetMaximumFrameLatency "
    "GetFrameLatencyWaitableObject GetSourceSize GetMatrixTransform GetCurrentBackBufferIndex "
    "CheckColorSpaceSupport",
    NO_EFFECT,
)
inert(
    _CHAINS,
    "SetBackgroundColor SetRotation SetSourceSize SetMatrixTransform SetColorSpace1 "
    "SetHDRMetaData",
    "Changes how the window shows the back buffer, not the back buffer.",
)
inert(
    "IDXGISwapChainMedia",
    "QueryInterface AddRef Release GetFrameStatisticsMedia SetPresentDuration "
    "CheckPresentDurationSupport",
    NO_EFFECT,
)
