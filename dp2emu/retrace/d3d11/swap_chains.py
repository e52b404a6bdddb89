"""Swap chains of DXGI: creation, buffers and presentation."""

from __future__ import annotations

from dp2emu.capture.apitrace.values import Struct
from dp2emu.capture.records import FrameMarker, Pictured, PictureKind
from dp2emu.retrace.arguments import Arguments, integer, structure
from dp2emu.retrace.d3d11.objects import number_of, record
from dp2emu.retrace.program import NO_EFFECT, Program, inert, method
from dp2emu.runtime10.descriptions import SampleDesc
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.swap_chain import PRESENT_TEST, SwapChain, SwapChainDesc

_CHAINS = "IDXGISwapChain"


def create_chain(call: Arguments, device: Device, given: Struct) -> None:
    """Create a swap chain from a DXGI_SWAP_CHAIN_DESC or DXGI_SWAP_CHAIN_DESC1, and bind its
    address.
    """
    mode = structure(given["BufferDesc"]) if "BufferDesc" in given.signature.members else given
    desc = SwapChainDesc(
        integer(mode["Width"]),
        integer(mode["Height"]),
        integer(mode["Format"]),
        record(given["SampleDesc"], SampleDesc),
        integer(given["BufferUsage"]),
        integer(given["BufferCount"]),
        integer(given["SwapEffect"]),
    )
    call.bind("ppSwapChain", SwapChain(device, desc))


@method("IDXGIFactory", "CreateSwapChain")
@method("IDXGIFactory", "CreateSwapChainForHwnd CreateSwapChainForCoreWindow")
@method("IDXGIFactory", "CreateSwapChainForComposition")
def create_swap_chain(program: Program, call: Arguments) -> None:
    """Creates the back buffers."""
    create_chain(call, call.thing("pDevice", Device), call.struct("pDesc"))


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
    if flags & PRESENT_TEST:
        return
    number = number_of(program, chain.buffers[0].memory)
    program.recorder.put(Pictured(call.number, PictureKind.BACK_BUFFER, number))
    chain.present(call.integer("SyncInterval"), flags)
    program.recorder.put(FrameMarker(program.next_frame()))


@method(_CHAINS, "ResizeBuffers ResizeBuffers1")
def resize_buffers(program: Program, call: Arguments) -> None:
    """Creates new back buffers."""
    names = "BufferCount", "Width", "Height", call.starting("NewFormat")
    call.thing("this", SwapChain).resize_buffers(*(call.integer(each) for each in names))


@method(_CHAINS, "Release")
def release(program: Program, call: Arguments) -> None:
    """Releases the buffers with the last reference."""
    if call.result == 0:
        chain = call.thing("this", SwapChain)
        call.objects.forget_all(chain)
        chain.release()


@method(_CHAINS, "QueryInterface")
def query_interface(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the new address means the same object."""
    if call.has("ppvObj"):
        call.bind("ppvObj", call.thing("this", SwapChain))


inert(
    _CHAINS,
    "GetDesc GetDesc1 GetFullscreenState GetContainingOutput GetFrameStatistics "
    "GetLastPresentCount ResizeTarget GetFullscreenDesc GetHwnd GetCoreWindow GetParent AddRef "
    "SetBackgroundColor GetBackgroundColor SetRotation GetRotation GetRestrictToOutput "
    "IsTemporaryMonoSupported SetPrivateData GetPrivateData SetPrivateDataInterface "
    "SetMaximumFrameLatency GetMaximumFrameLatency GetFrameLatencyWaitableObject "
    "SetSourceSize GetSourceSize GetCurrentBackBufferIndex CheckColorSpaceSupport",
    NO_EFFECT,
)
