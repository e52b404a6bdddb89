"""Programs as values."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
from pathlib import Path
from weakref import ref

import pytest

from dp2emu.identity_cache import identity_cached
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Assign, Constant, If, Loop, Program, Stage, accesses, walk
from dp2emu.shader.types import Type

ROOT = Path(__file__).parents[2]
NAN = float("nan")


def small(number: float = 0.5) -> Program:
    b = Builder(Stage.PIXEL)
    b.output("y", b.input("x") * number)
    return b.program()


def test_equal_programs_are_the_same_key() -> None:
    assert small() == small()
    assert hash(small()) == hash(small())
    assert small() is not small()


def test_what_was_found_out_about_a_program_is_kept_and_goes_with_it() -> None:
    asked: list[int] = []

    @identity_cached()
    def slots(program: Program, more: int) -> int:
        asked.append(more)
        return len(program.slots) + more

    program = small()
    none = len(program.slots)
    assert [slots(program, more) - none for more in (1, 2, 1)] == [1, 2, 1]
    assert asked == [1, 2]
    assert not accesses(program)
    assert pickle.loads(pickle.dumps(program)) == small()
    gone = ref(program)
    del program
    gc.collect()
    assert gone() is None


def test_constants_differ_by_their_bits() -> None:
    assert small(0.0) != small(-0.0)
    assert small(NAN) == small(NAN)


def test_a_program_from_another_process_is_the_same_key() -> None:
    """Hashes of names differ from process to process, so that none must be carried along."""
    code = (
        "import pickle, sys\n"
        "from tests.shader.test_ir import small\n"
        "sys.stdout.buffer.write(pickle.dumps(small()))\n"
    )
    command = [sys.executable, "-c", code]
    sent = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    assert {small(): 1}[pickle.loads(sent)] == 1


@pytest.mark.parametrize(
    ("type", "value", "bits"),
    [
        (Type.F32, 0.1, 0x3DCCCCCD), (Type.F32, 1e39, 0x7F800000), (Type.F32, NAN, 0x7FC00000),
        (Type.F32, 16777217, 0x4B800000), (Type.I32, -1, 0xFFFFFFFF), (Type.I32, 2**31, 2**31),
        (Type.BOOL, True, 1), (Type.BOOL, False, 0), (Type.F64, 0.1, 0x3FB999999999999A),
        (Type.F64, NAN, 0x7FF8000000000000), (Type.I64, -1, 2**64 - 1),
    ],
)  # fmt: skip
def test_constants_are_held_by_their_bits(type: Type, value: float, bits: int) -> None:
    constant = Constant.of(type, value)
    assert constant == Constant(type, bits)
    assert constant.scalar.dtype == type.dtype
    assert constant.scalar.tobytes() == bits.to_bytes(8, "little")[: type.dtype.itemsize]


def test_statements_are_walked_in_the_order_of_the_text() -> None:
    one, two, three, four = (Assign(n, "bmov", (Constant(Type.BOOL, 1),)) for n in range(4))
    branch = If(Constant(Type.BOOL, 1), (two,), (three,))
    loop = Loop((branch,), 1)
    assert list(walk((one, loop, four))) == [one, loop, branch, two, three, four]
