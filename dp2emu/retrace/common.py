"""Functions that belong to no version: the tracer's own, reference counts, events for tools."""

from __future__ import annotations

from dp2emu.retrace.arguments import Arguments
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import Program, inert, method

_TOOLS = "Remarks for tools; nothing for the driver."

inert("", "malloc free realloc", "Memory of the program's own.")
inert("", "D3DPERF_BeginEvent D3DPERF_EndEvent D3DPERF_SetMarker D3DPERF_SetRegion", _TOOLS)
inert("", "D3DPERF_QueryRepeatFrame D3DPERF_SetOptions D3DPERF_GetStatus", _TOOLS)
inert("", "DebugSetMute DebugSetLevel", _TOOLS)


@method("memcpy")
def store(program: Program, call: Arguments) -> None:
    """What the program stored into memory it had locked; it is written with the Unlock."""
    if not program.locks.store(call.address("dest"), call.blob("src")):
        raise Inexpressible("nobody has locked that memory")
