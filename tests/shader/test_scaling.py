"""Work between shader code and machine code grows in proportion to the code.

Counted are bytecodes and allocated bytes (``tests.scaling``), pass by pass, of programs with n, 2n
and 4n statements of one kind, and in the slow lane with 8n.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest

from dp2emu.gpu.work_budget import cost
from dp2emu.shader import ir
from dp2emu.shader.compile_work import compile_work
from dp2emu.shader.ir import Program
from dp2emu.shader.jit.bodies import body
from dp2emu.shader.jit.engine import Region, split_regions
from dp2emu.shader.jit.layout import layout_of
from dp2emu.shader.jit.peephole import Facts
from dp2emu.shader.jit.ranges import output_ranges
from dp2emu.shader.jit.register_files import load_pairs
from dp2emu.shader.jit.writer import Target, module
from dp2emu.shader.ops import OPS
from dp2emu.shader.passes import coalesce_copies, temporaries, to_ssa
from dp2emu.shader.reference import Environment, machine_of
from dp2emu.shader.sm.assemble import assemble as assemble3
from dp2emu.shader.sm.decode import decode as decode3
from dp2emu.shader.sm.disassemble import lines_of as lines_of3
from dp2emu.shader.sm.lower import lower_pixel, lower_vertex
from dp2emu.shader.sm.versions import Stage as Stage3
from dp2emu.shader.sm4.assemble import assemble as assemble4
from dp2emu.shader.sm4.decode import decode as decode4
from dp2emu.shader.sm4.disassemble import lines_of
from dp2emu.shader.sm4.lower import lower, lower_hull
from dp2emu.shader.sm4.versions import Stage as Stage4
from dp2emu.shader.verify import verify
from tests.scaling import SIZES, measured, superlinear
from tests.shader.growing import GROWING, STATEMENTS, grown
from tests.shader.growing_code import CODE3, CODE4

pytest.importorskip("llvmlite", reason="allocated bytes are counted by machine code of llvmlite")

FEW, SMALL = (3, 6, 12), (5, 10, 20)
"""Sizes of the default test run."""

Pass = Callable[[Program], object]


def text_of(program: Program) -> str:
    """The LLVM text of a program, or of the regions of one that accesses memory."""
    if not ir.accesses(program):
        names = tuple(port.name for port in program.inputs)
        return module(body(program, names, target=Target(), masked=True, name="body"))
    regions = [each for each in ir.walk(split_regions(program)) if isinstance(each, Region)]
    return "".join(text_of(each.program) for each in regions)


def prepared(program: Program) -> object:
    """The state of the reference engine before the first statement."""
    inputs = {port.name: np.zeros(1, port.type.dtype) for port in program.inputs}
    uniforms = {file.name: np.zeros(file.size, file.type.dtype)
                for file in program.files if file.uniform}  # fmt: skip
    return machine_of(program, inputs, uniforms, 4, None, Environment())


PASSES: dict[str, Pass] = {
    "verify": verify,
    "copies": lambda program: coalesce_copies(program.statements),
    "SSA": to_ssa,
    "temporaries": temporaries,
    "ranges": output_ranges,
    "facts": lambda program: Facts.of(program, {}),
    "layout": layout_of,
    "pairs": load_pairs,
    "cost": cost,
    "compile work": compile_work,
    "regions": lambda program: ir.accesses(program) and split_regions(program),
    "reference": prepared,
    "LLVM text": text_of,
}


def check_passes(
    make: Callable[[int], Program], passes: dict[str, Pass], sizes: Sequence[int]
) -> None:
    """Check recording and each pass.  A pass finds the results of earlier ones in caches.

    What grows faster is tried again at three times the sizes, as by ``assert_linear``, and there
    once more: other threads of the process, such as a test runner's, allocate too.
    """
    for each in (make, *(lambda size, each=each: each(make(size)) for each in passes.values())):
        each(sizes[0])  # tables that are made once
    longer = [3 * size for size in sizes]
    if reasons_of(make, passes, sizes) and reasons_of(make, passes, longer):
        reasons = reasons_of(make, passes, longer)
        assert not reasons, reasons


def reasons_of(
    make: Callable[[int], Program], passes: dict[str, Pass], sizes: Sequence[int]
) -> dict[str, str]:
    """The passes that grow faster than the programs, each with its counts."""
    found: list[Program] = []
    with uncollected():
        recording = [measured(lambda size=size: found.append(make(size))) for size in sizes]
        counts = {"recording": recording}
        for name, each in passes.items():
            counts[name] = [measured(partial(each, program)) for program in found]
    reasons = {name: superlinear(sizes, each) for name, each in counts.items()}
    return {name: why for name, why in reasons.items() if why}


@contextmanager
def uncollected() -> Iterator[None]:
    """Count no callbacks of other objects: the garbage collector does not run."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.mark.parametrize("name", GROWING)
def test_every_pass_is_linear_in_each_operation_and_statement(name: str) -> None:
    check_passes(partial(grown, name), PASSES, FEW if name in OPS else SMALL)


@pytest.mark.slow
@pytest.mark.parametrize("name", GROWING)
def test_every_pass_is_linear_in_hundreds_of_an_operation_or_statement(name: str) -> None:
    nested = "nested" in name
    check_passes(
        partial(grown, name), PASSES, (24, 48, 96, 192) if nested else (100, 200, 400, 800)
    )


def test_every_type_of_statement_grows() -> None:
    found = {type(each) for name in STATEMENTS for each in ir.walk(grown(name, 4).statements)}
    assert found == set(ir.Statement.__args__)


def quadratic(program: Program) -> int:
    """A pass that looks for the readers of each slot in the whole program."""
    statements = program.statements
    return sum(ir.Slot(slot) in ir.operands(other)
               for each in statements for slot in ir.written(each)
               for other in statements)  # fmt: skip


def by_recursion(program: Program) -> list[ir.Statement]:
    """A walk by generators in generators: each statement passes through all blocks around it."""

    def walk(statements):
        for statement in statements:
            yield statement
            for block in ir.blocks(statement):
                yield from walk(block)

    return list(walk(program.statements))


@pytest.mark.parametrize(("name", "each"), [("add", quadratic), ("nested ifs", by_recursion)])
def test_a_quadratic_pass_is_found(name: str, each: Pass) -> None:
    with pytest.raises(AssertionError, match="more than linear"):
        check_passes(partial(grown, name), {"quadratic": each}, SIZES)


def lowered(version: int, code: bytes) -> object:
    if version < 4:
        shader = decode3(code)
        return (lower_pixel if shader.version.stage is Stage3.PIXEL else lower_vertex)(shader)
    program = decode4(code)
    return (lower_hull if program.version.stage is Stage4.HULL else lower)(program)


def disassembled(version: int, code: bytes) -> object:
    return list(lines_of3(decode3(code)) if version < 4 else lines_of(decode4(code)))


TEXTS = {3: CODE3, 4: CODE4}
ASSEMBLERS = {3: assemble3, 4: assemble4}
CODE = [(3, name) for name in CODE3] + [(4, name) for name in CODE4]


def check_code(version: int, name: str, sizes: Sequence[int]) -> None:
    """Check lowering, which begins with decoding."""
    check_linear(partial(lowered, version), codes_of(version, name, sizes), sizes)


def check_linear(run: Callable[[Any], object], given: list[Any], sizes: Sequence[int]) -> None:
    run(given[0])  # tables that are made once
    with uncollected():
        counts = [measured(partial(run, each)) for each in given]
    assert not superlinear(sizes, counts)


def codes_of(version: int, name: str, sizes: Sequence[int]) -> list[bytes]:
    return [ASSEMBLERS[version](TEXTS[version][name](size)) for size in sizes]


@pytest.mark.parametrize(("version", "name"), CODE)
def test_lowering_is_linear_in_each_kind_of_instruction(version: int, name: str) -> None:
    check_code(version, name, FEW)


@pytest.mark.slow
@pytest.mark.parametrize(("version", "name"), CODE)
def test_code_is_linear_in_hundreds_of_instructions(version: int, name: str) -> None:
    sizes = (28, 56, 112, 224) if name == "constants" else (50, 100, 200, 400)
    check_code(version, name, sizes)
    texts = [TEXTS[version][name](size) for size in sizes]
    check_linear(ASSEMBLERS[version], texts, sizes)
    check_linear(partial(disassembled, version), codes_of(version, name, sizes), sizes)
