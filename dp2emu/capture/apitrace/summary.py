"""Counts of the calls, frames and threads of an apitrace trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from dp2emu.argument_check import checked
from dp2emu.capture.apitrace.trace import Trace
from dp2emu.capture.apitrace.values import TraceCall

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

_APIS = {
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
"""API names such as "Direct3D 9" by function name, or by interface name for a method."""


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
    """Whether a call ends a frame: Present of a device or a swap chain, Direct3D 8 and 9."""
    return call.name in _PRESENTS


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
