"""The registers that the shader of a trace has, executed or not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dp2emu.errors import Absent
from dp2emu.explain.shader_trace import ShaderTrace, Value

_IN_ASSEMBLY = re.compile(r"\b(?:[A-Za-z]+[0-9]+|[ov][A-Z]\w*|aL|icb|v(?=\[))")
"""Names of registers in assembly, without index and component."""

_COMPONENT = re.compile(r"\.[xyzw]")
_NAMED = 12
"""Maximum number of registers that an error names."""


def check_register(name: str, traces: Sequence[ShaderTrace]) -> None:
    """Raise Absent, which names some registers, if the shader of no trace has a register ``name``.

    The name may have a component or not.
    """
    whole = _whole(name)
    used = list(dict.fromkeys(_whole(value.name) for each in traces for value in _values(each)))
    if whole in used or name in used:
        return
    # A branch that the lane does not take has registers without a value.
    if whole.partition("[")[0] in {one for each in traces for one in _in_assembly(each)}:
        return
    more = " ..." if len(used) > _NAMED else ""
    raise Absent(f"the shader has no register {name:.40}; it has {', '.join(used[:_NAMED])}{more}")


def _whole(name: str) -> str:
    """The name of a register without the component."""
    return name[:-2] if _COMPONENT.fullmatch(name[-2:]) else name


def _values(trace: ShaderTrace) -> Iterator[Value]:
    yield from trace.inputs
    for step in trace.steps:
        yield from step.reads
        yield from step.writes
    yield from trace.final.outputs


def _in_assembly(trace: ShaderTrace) -> Iterator[str]:
    for line in trace.disassembly:
        yield from _IN_ASSEMBLY.findall(line)
