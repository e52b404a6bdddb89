"""Where the documents leave a choice: the reading taken, and the stricter or other one."""

from __future__ import annotations

from dataclasses import field

from dp2emu.limits import Limits
from dp2emu.records import dataclass
from dp2emu.shader.engines import JIT


@dataclass(frozen=True, slots=True)
class Options:
    """Choices of the driver; the defaults are the readings that docs/driver.rst gives.

    ``strict``: report what tolerant drivers let pass: opcode 11 ends the walk with an error
    instead of success, BEGIN on an END-only type and unknown issue flags fail the call
    with DDERR_INVALIDPARAMS, constants beyond the registers fail it too, as do
    texture handles that are none, responses start at dwCommandOffset instead of at the start
    of the command surface, and only a DirectX 9 context may create queries, none below
    DirectX 8 predefined state blocks.
    ``wrap_occlusion``: occlusion counts beyond 32 bits wrap; by default they saturate.
    ``engine`` runs the programs of draws: one of ``dp2emu.shader.engines``, all of which give the
    same bits.  One that compiles draws on ``threads``, 0 meaning as many as there are processors;
    any number gives the same bits too.
    ``query_types``: announced and accepted types; None means all that the emulator has.
    ``limits`` bound what is done at all, and say how.
    """

    strict: bool = False
    wrap_occlusion: bool = False
    engine: str = JIT
    threads: int = 0
    query_types: tuple[int, ...] | None = None
    limits: Limits = field(default_factory=Limits)
