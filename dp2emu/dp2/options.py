"""Options of the driver where the documents allow several readings, and its object limits."""

from __future__ import annotations

import msgspec

from dp2emu.d3d.hresult import HResult
from dp2emu.errors import Fault
from dp2emu.limits import Limits
from dp2emu.shader.engines import JIT


class Options(msgspec.Struct, frozen=True):
    """Choices of the driver; the defaults are the readings that docs/driver.rst gives.

    ``strict`` refuses calls that tolerant drivers accept: opcode 11 ends the walk with an error;
    BEGIN of an END-only type, unknown issue flags, constants beyond the registers and texture
    handles of other objects fail the call; responses start at dwCommandOffset instead of at the
    start of the command surface; queries need a DirectX 9 context, predefined state blocks
    DirectX 8.
    ``wrap_occlusion``: occlusion counts beyond 32 bits wrap; by default they saturate.
    ``engine`` is the name of the engine that runs programs, from ``dp2emu.shader.engines``; all
    have the same results.  A compiling engine draws on ``threads``, 0 for one per processor; any
    number has the same results.
    ``parser`` is the name of the decoder of command buffers, from ``dp2emu.dp2.parsers``: "walk",
    "construct" or "checked".  None chooses it with the engine: construct for ``reference``, the
    walk for ``jit``, both for ``checked``.
    ``query_types``: announced and accepted types; None means all that the emulator has.
    ``limits`` bound the resources of calls.
    """

    strict: bool = False
    wrap_occlusion: bool = False
    engine: str = JIT
    threads: int = 0
    parser: str | None = None
    query_types: tuple[int, ...] | None = None
    limits: Limits = msgspec.field(default_factory=Limits)


def check_memory(limits: Limits, name: str, amount: int, what: str) -> None:
    """Raises Fault (DDERR_OUTOFMEMORY), about ``what``, if ``amount`` exceeds limit ``name``."""
    if amount > getattr(limits, name):
        raise Fault(HResult.DDERR_OUTOFMEMORY, f"{what}, {limits.refusal(name, amount)}")
