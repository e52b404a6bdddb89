"""The compiling engine: the reference engine's ``run``, by code of the machine.

A program is compiled when it first runs, or loaded if some process did so before, and is then
called for all lanes without Python's lock.  Textures are sampled by compiled code as well, if
whoever samples them says by which programs (``Bindable``).  Other samplers, and fetchers, are
called back for each vector of lanes, which has the lanes of a quad together.  What acts on memory
runs in regions (``lockstep``).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dp2emu.shader.ir import Program, accesses
from dp2emu.shader.jit.batches import batch_loop
from dp2emu.shader.jit.bindings import Bindings, Words, address
from dp2emu.shader.jit.code import compiled
from dp2emu.shader.jit.compiling import Code
from dp2emu.shader.jit.lockstep import run_in_regions
from dp2emu.shader.jit.machine import target as own_target
from dp2emu.shader.jit.writer import Target
from dp2emu.shader.reference import (
    Fetcher,
    Memory,
    Result,
    Sampler,
    Watch,
    check_lanes,
    input_lanes,
)
from dp2emu.shader.reference import run as run_reference
from dp2emu.shader.types import Lanes, Mask


def run(
    program: Program,
    inputs: Mapping[str, Lanes],
    uniforms: Mapping[str, Lanes],
    lanes: int,
    mask: Mask | None = None,
    sampler: Sampler | None = None,
    watch: Watch | None = None,
    fetcher: Fetcher | None = None,
    memory: Memory | None = None,
) -> Result:
    """Run a program: arguments, result and errors are those of ``dp2emu.shader.reference.run``.

    Who watches loads gets them from the reference engine, whose order they are defined by.
    Raises ImportError without llvmlite.
    """
    if watch is not None:
        return run_reference(
            program, inputs, uniforms, lanes, mask, sampler, watch, fetcher, memory
        )
    if accesses(program):
        return run_in_regions(
            run, program, inputs, uniforms, lanes, mask, sampler, fetcher, memory
        )
    return run_for(own_target(), program, inputs, uniforms, lanes, mask, sampler, fetcher)


def run_for(
    target: Target,
    program: Program,
    inputs: Mapping[str, Lanes],
    uniforms: Mapping[str, Lanes],
    lanes: int,
    mask: Mask | None = None,
    sampler: Sampler | None = None,
    fetcher: Fetcher | None = None,
) -> Result:
    """The same with code of another shape, such as shorter vectors."""
    check_lanes(program, lanes, mask)
    given = [
        row
        for port in program.inputs
        for row in _rows(input_lanes(port, inputs[port.name], lanes))
    ]
    bindings = Bindings(target, sampler, fetcher)
    bound = bindings.of(program, uniforms)
    outputs = [np.empty(lanes, port.type.dtype) for port in program.outputs]
    rows = [_rows(array) for array in outputs]
    alive = np.empty(lanes, np.bool_)
    if lanes:
        masks = [] if mask is None else [mask]
        names = tuple(port.name for port in program.inputs)
        code = compiled(program, names, target, masked=bool(masks))
        # Who is called back may meet any number.
        with np.errstate(all="ignore"):
            wanted = [row for each in rows for row in each]
            _run(target, code, bound, given, masks, [*wanted, alive])
        for array, halves in zip(outputs, rows, strict=True):
            if len(halves) > 1:
                array.view(np.int32).reshape(-1, 2).T[:] = halves
        bindings.complain()
    named = zip(program.outputs, outputs, strict=True)
    return Result({port.name: array for port, array in named}, alive)


def _rows(array: Lanes) -> list[Lanes]:
    """An array as bodies take it: one of 64 bits as copies of its low and of its high words."""
    return [array] if array.itemsize < 8 else list(array.view(np.int32).reshape(-1, 2).T.copy())


def _run(
    target: Target,
    code: Code,
    bound: Words,
    given: list[Lanes],
    masks: list[Mask],
    wanted: list[Lanes],
) -> None:
    """``wanted`` has the outputs and, last, what is alive."""
    lanes = len(wanted[-1])
    inputs = [_spread(array, target.width, lanes) for array in (*given, *masks)]
    rooms = [np.empty((len(each) + 1) * target.row, np.uint8) for each in (inputs, wanted)]
    described = [_described(arrays, lanes) for arrays in (inputs, wanted)]
    batch_loop(target).run(
        code.address, address(bound),
        address(rooms[0]), address(described[0]), len(given),
        address(rooms[1]), address(described[1]), len(wanted) - 1,
        len(masks), lanes,
    )  # fmt: skip


def _spread(array: Lanes, width: int, lanes: int) -> Lanes:
    """In one piece, and a vector of what all lanes share."""
    return np.ascontiguousarray(array) if len(array) == lanes else np.repeat(array, width)


def _described(arrays: list[Lanes], lanes: int) -> Words:
    """Address, step and size of a lane of each, as ``batches`` wants them."""
    rows = [(address(each), each.itemsize * (len(each) == lanes), each.itemsize)
            for each in arrays]  # fmt: skip
    return np.array(rows, np.uint64)
