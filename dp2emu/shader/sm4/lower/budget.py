"""The loops of a shader as its budget counts them: nothing tells how often they go round."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dp2emu.shader.budget import EXECUTED, Loops, Step, loops_of
from dp2emu.shader.sm4.flow import CALLS, Phase, label_of
from dp2emu.shader.sm4.ops import Op
from dp2emu.shader.sm4.program import Instruction


def measure(parts: Phase) -> Loops:
    """The loops of a program, calls expanded; the decoder bounds what comes of that."""
    return loops_of(
        Step(EXECUTED if each.op is Op.LOOP else None, each.op is Op.ENDLOOP)
        for each in _expanded(parts.main, parts)
    )


def _expanded(body: Iterable[Instruction], parts: Phase) -> Iterator[Instruction]:
    for instruction in body:
        yield instruction
        if instruction.op in CALLS:
            yield from _expanded(parts.subroutines[label_of(instruction)], parts)
