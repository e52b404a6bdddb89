"""Programs that act on memory: order of lanes, and the same on both engines."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.errors import Disagreement, Unsupported
from dp2emu.shader import checked, reference
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Access, Assign, Program, Stage, Statement, walk
from dp2emu.shader.jit import engine
from dp2emu.shader.jit.engine import LEAST_REGION, Region, split_regions
from dp2emu.shader.types import I32, Lanes, Mask, Type
from tests.shader.programs import FILES, INPUTS, OUTPUTS, Maker, environment, sampler

WORDS = 5


class Toy:
    """Some words.  An access of one of some lanes with number n multiplies a word by 3 and adds n;
    what was there, and how often that was done before, comes back."""

    def __init__(self, lanes: int = 1) -> None:
        self.lanes = lanes
        self.words = np.zeros(WORDS + 1, np.int32)

    def access(
        self, unit: int, operands: tuple[I32, ...], active: Mask | None
    ) -> tuple[I32, I32, I32, I32]:
        operands = tuple(np.broadcast_to(each, self.lanes) for each in operands)
        count = self.lanes if operands else 1
        old, times = np.zeros(count, np.int32), np.zeros(count, np.int32)
        for lane in range(count) if active is None else np.flatnonzero(active):
            place = int(operands[0][lane]) % WORDS if operands else 0
            old[lane], times[lane] = self.words[place], self.words[WORDS]
            self.words[place] = int(self.words[place]) * 3 + unit & 0x7FFFFFFF
            self.words[WORDS] += 1
        return old, times, old, times

    def saved(self) -> tuple[Lanes, ...]:
        return (self.words.copy(),)

    def restore(self, saved: tuple[Lanes, ...]) -> None:
        self.words[:] = saved[0]


class _Maker(Maker):
    """Makes programs with accesses, and enough between them that there are regions."""

    def statement(self, depth: int, *, loop: bool) -> Statement:
        choice = self.random.randrange(30)
        if choice < 20:
            return self.assign()
        if choice < 22:
            slots = [n for n, each in enumerate(self.slots) if each is Type.I32]
            x, y, z, w = self.random.sample(slots, 4)
            operands = tuple(self.operand(Type.I32) for _ in range(self.random.randrange(1, 3)))
            return Access((x, y, z, w), self.random.randrange(9), operands)
        return super().statement(depth, loop=loop)

    def program(self) -> Program:
        self.slots = [Type.I32] * 4 + self.slots
        statements = tuple(self.statement(0, loop=False) for _ in range(60))
        return Program(self.stage, tuple(self.slots), FILES, INPUTS, OUTPUTS, statements)


def _program(seed: int) -> Program:
    random = Random(seed)
    return _Maker(random, random.choice(list(Stage)), derivatives=True).program()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_both_engines_leave_the_same_memory_and_outputs(seed: int) -> None:
    program, random = _program(seed), Random(seed)
    lanes = random.choice([4, 12, 40])
    given = environment(random, lanes)
    mask = np.array([random.random() < 0.7 for _ in range(lanes)]) if seed % 2 else None
    memories = Toy(lanes), Toy(lanes)
    found = [
        run(program, given.inputs, given.uniforms, lanes, mask, sampler, memory=memory)
        for run, memory in zip((reference.run, engine.run), memories, strict=True)
    ]
    assert (memories[0].words == memories[1].words).all()
    for name, wanted in found[0].outputs.items():
        assert wanted.tobytes() == found[1].outputs[name].tobytes()
    assert (found[0].alive == found[1].alive).all()


def test_random_programs_have_regions() -> None:
    kinds = {type(each) for seed in range(20) for each in split_regions(_program(seed))}
    assert {Region, Access, Assign} <= kinds


def _counting(body: int = 0) -> Program:
    """Each lane adds to a word, and gives what it saw; ``body`` additions stand before."""
    b = Builder(Stage.COMPUTE)
    lane = b.input("lane", Type.I32)
    total = lane
    for number in range(body):
        total = total + number * lane
    first, *_ = b.access(1, [total * 0])
    second, *_ = b.access(2, [total * 0])
    b.output("first", first, Type.I32)
    b.output("second", second, Type.I32)
    b.output("total", total, Type.I32)
    return b.program()


@pytest.mark.parametrize("body", [0, LEAST_REGION])
@pytest.mark.parametrize("run", [reference.run, engine.run, checked.run])
def test_all_lanes_act_in_order_before_the_next_statement(run: reference.Run, body: int) -> None:
    memory, lanes = Toy(3), 3
    inputs = {"lane": np.arange(lanes, dtype=np.int32)}
    outputs = run(_counting(body), inputs, {}, lanes, memory=memory).outputs
    # 3x + 1 for each lane, then 3x + 2 for each lane.
    assert outputs["first"].tolist() == [0, 1, 4]
    assert outputs["second"].tolist() == [13, 41, 125]
    assert memory.words[0] == 377


@pytest.mark.parametrize("run", [reference.run, engine.run, checked.run])
def test_lanes_that_are_off_do_nothing(run: reference.Run) -> None:
    memory = Toy(3)
    inputs = {"lane": np.arange(3, dtype=np.int32)}
    mask = np.array([False, True, False])
    outputs = run(_counting(), inputs, {}, 3, mask, memory=memory).outputs
    assert outputs["second"].tolist() == [0, 1, 0]
    assert memory.words.tolist() == [5, 0, 0, 0, 0, 2]


@pytest.mark.parametrize("run", [reference.run, engine.run, checked.run])
def test_without_memory_there_is_nothing_to_act_on(run: reference.Run) -> None:
    with pytest.raises(Unsupported, match="accesses to memory"):
        run(_counting(), {"lane": np.zeros(1, np.int32)}, {}, 1)


class _Forgetful(Toy):
    """Memory that adds what depends on how often it was asked at all."""

    asked = 0

    def access(
        self, unit: int, operands: tuple[I32, ...], active: Mask | None
    ) -> tuple[I32, I32, I32, I32]:
        self.asked += 1
        self.words[1] = self.asked
        return super().access(unit, operands, active)


def test_engines_that_leave_different_memory_disagree() -> None:
    with pytest.raises(Disagreement, match="item 1 of memory 0"):
        checked.run(_counting(), {"lane": np.zeros(1, np.int32)}, {}, 1, memory=_Forgetful())


def test_a_region_needs_nothing_but_slots_and_uniforms() -> None:
    for seed in range(20):
        for statement in walk(split_regions(_program(seed))):
            if isinstance(statement, Region):
                assert {file.uniform for file in statement.program.files} <= {True}
