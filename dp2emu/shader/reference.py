"""The reference engine: a program over NumPy lanes.  Its results are the specification."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dp2emu.shader.ir import Apply, Constant, Input, Program
from dp2emu.shader.ops import F32, OPS


def run(program: Program, inputs: Mapping[str, F32], lanes: int) -> dict[str, F32]:
    """Outputs by name, each float32 of shape (lanes,).  Raises KeyError for a missing input."""
    slots: dict[int, F32] = {}
    outputs: dict[str, F32] = {}
    for statement in program.statements:
        if isinstance(statement, Constant):
            slots[statement.slot] = np.full(lanes, statement.value, np.float32)
        elif isinstance(statement, Input):
            slots[statement.slot] = inputs[statement.name]
        elif isinstance(statement, Apply):
            operands = (slots[slot] for slot in statement.operands)
            slots[statement.slot] = OPS[statement.op].lanes(*operands)
        else:
            outputs[statement.name] = slots[statement.slot]
    return outputs
