"""Counts of the calls, frames and threads of an apitrace trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from dp2emu.argument_check import checked
from dp2emu.capture.apitrace.trace import Trace
from dp2emu.capture.apitrace.values import Bitmask, TraceCall

_PRESENTS = {
    "IDirect3DDevice8::Present",
    "IDirect3DSwapChain8::Present",
    "IDirect3DDevice9::Present",
    "IDirect3DDevice9Ex::Present",
    "IDirect3DDevice9Ex::PresentEx",
    "IDirect3DSwapChain9::Present",
    "IDirect3DSwapChain9Ex::Present",
}
"""Names of the Direct3D 8 and 9 methods, as ``Interface::Method``, whose calls end a frame."""

_FLIPS = {
    f"IDXGISwapChain{version}::{method}"
    for version in ("", *range(1, 5))
    for method in ("Present", "Present1")
}
"""Names of the DXGI methods whose calls end a frame, unless their flags say to test only."""

_PRESENT_FLAGS = 2
"""Place of the flags among the arguments of the ``_FLIPS``."""
_PRESENT_TEST = 1
"""The value of DXGI_PRESENT_TEST."""

_APIS = {
    "D3D11CreateDevice": "Direct3D 11",
    "D3D11CreateDeviceAndSwapChain": "Direct3D 11",
    "D3D10CreateDevice1": "Direct3D 10.1",
    "D3D10CreateDeviceAndSwapChain1": "Direct3D 10.1",
    "D3D10CreateDevice": "Direct3D 10",
    "D3D10CreateDeviceAndSwapChain": "Direct3D 10",
    "Direct3DCreate9": "Direct3D 9",
    "Direct3DCreate9Ex": "Direct3D 9",
    "Direct3DCreate8": "Direct3D 8",
    "IDirect3DDevice9": "Direct3D 9",
    "IDirect3DDevice9Ex": "Direct3D 9",
    "IDirect3DDevice8": "Direct3D 8",
    "IDirect3DDevice7": "Direct3D 7",
    "IDirect3DDevice3": "Direct3D 6",
    "IDirect3DDevice2": "Direct3D 5",
    "IDirect3DDevice": "Direct3D 3",
    "DirectDrawCreate": "DirectDraw",
    "DirectDrawCreateEx": "DirectDraw",
}
"""API names such as "Direct3D 9" by function name, or by interface name for a method.

Only the function that creates a device tells the versions from Direct3D 10 on apart: tracers name
a method after the newest interface that the object has.
"""


class TraceSummary(msgspec.Struct, frozen=True):
    """Counts of a trace up to its end or damage.

    ``calls`` are all calls, ``unfinished`` those without a leave event, ``fake`` those that the
    tracer inserted.  ``apis`` are names such as "Direct3D 9".  ``functions`` is the number of
    calls by function name, most frequent first, ``threads`` that by thread number.
    """

    calls: int
    unfinished: int
    fake: int
    frames: int
    apis: tuple[str, ...]
    threads: Mapping[int, int]
    functions: Mapping[str, int]


@checked
def ends_frame(call: TraceCall) -> bool:
    """Whether a call ends a frame: Present of a device or a swap chain, from Direct3D 8 on."""
    return call.name in _PRESENTS or (call.name in _FLIPS and not _tests(call))


def _tests(call: TraceCall) -> bool:
    """Whether a call of a DXGI Present method shows nothing, by its flags."""
    flags = call.arguments[_PRESENT_FLAGS] if len(call.arguments) > _PRESENT_FLAGS else None
    return isinstance(flags, Bitmask) and bool(flags.value & _PRESENT_TEST)


@checked
def summarize(trace: Trace) -> TraceSummary:
    """Count the calls of a trace, reading it once; sets its ``damage``."""
    functions: Counter[str] = Counter()
    threads: Counter[int] = Counter()
    counts: Counter[str] = Counter()
    for call in trace.calls():
        functions[call.name] += 1
        threads[call.thread] += 1
        counts["unfinished"] += not call.finished
        counts["fake"] += call.fake
        counts["frames"] += ends_frame(call)
    owners = {function.partition("::")[0] for function in functions}
    return TraceSummary(
        calls=functions.total(),
        unfinished=counts["unfinished"],
        fake=counts["fake"],
        frames=counts["frames"],
        apis=tuple(sorted({_APIS[owner] for owner in owners & _APIS.keys()})),
        threads=dict(sorted(threads.items())),
        functions=dict(functions.most_common()),
    )
