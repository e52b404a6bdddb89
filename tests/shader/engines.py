"""The engines there are here, for tests of what all of them do."""

from __future__ import annotations

from dp2emu.shader import reference
from dp2emu.shader.jit import engine
from dp2emu.shader.jit.machine import available
from dp2emu.shader.reference import Result, Run

COMPILING = {"jit": engine.run} if available() else {}
ENGINES: dict[str, Run] = {"reference": reference.run, **COMPILING}
"""By name; without llvmlite there is but one."""


def bits_of(result: Result) -> dict[str, bytes]:
    """All that a run gives, bit by bit."""
    outputs = {name: values.tobytes() for name, values in result.outputs.items()}
    return outputs | {"alive": result.alive.tobytes()}
