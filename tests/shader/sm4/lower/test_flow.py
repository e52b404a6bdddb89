"""Flow control lane by lane, against an interpreter that leaves blocks by exceptions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.errors import ShaderError
from dp2emu.shader import budget
from dp2emu.shader.sm4.lower import flow
from tests.shader.sm4.lower.running import execute, lowered, ps_text, vs, vs_text

WORD = 0xFFFFFFFF
TURNS = 4


class Break(Exception):
    """A lane leaves the innermost loop or switch."""


class Continue(Exception):
    """A lane leaves its round."""


class Return(Exception):
    """A lane leaves its routine."""


LEAVES: dict[str, type[Exception]] = {"break": Break, "continue": Continue, "ret": Return}


@dataclass
class Node:
    """A statement: ``kind``, a number, and blocks; of switch each block has its labels."""

    kind: str
    number: int = 0
    blocks: list[list[Node]] = field(default_factory=list)
    labels: list[list[int | None]] = field(default_factory=list)


def holds(value: int, number: int) -> bool:
    return bool(value & number)


class Lane:
    """One lane: ``x`` is what statements compute with."""

    def __init__(self, x: int, routines: dict[int, list[Node]]) -> None:
        self.x = x
        self.routines = routines

    def block(self, nodes: list[Node]) -> None:
        for node in nodes:
            getattr(self, node.kind)(node)

    def routine(self, nodes: list[Node]) -> None:
        with suppress(Return):
            self.block(nodes)

    def compute(self, node: Node) -> None:
        self.x = self.x * 3 + node.number & WORD

    def leave(self, node: Node) -> None:
        raise LEAVES[("break", "continue", "ret")[node.number]]

    def leavec(self, node: Node) -> None:
        if holds(self.x, 4):
            self.leave(node)

    def branch(self, node: Node) -> None:
        self.block(node.blocks[0 if holds(self.x, node.number) else 1])

    def loop(self, node: Node) -> None:
        for _ in range(TURNS):
            try:
                self.block(node.blocks[0])
            except Continue:
                pass
            except Break:
                return

    def switch(self, node: Node) -> None:
        key = self.x & 3
        named = {label for each in node.labels for label in each}
        wanted = key if key in named else None
        start = next((n for n, each in enumerate(node.labels) if wanted in each), len(node.labels))
        try:
            for body in node.blocks[start:]:
                self.block(body)
        except Break:
            pass

    def call(self, node: Node) -> None:
        self.routine(self.routines[node.number])

    def callc(self, node: Node) -> None:
        if holds(self.x, 2):
            self.call(node)


def spelled(nodes: list[Node], depth: int = 0) -> Iterator[str]:
    """Assembly of statements; r0.x is x, r1.x a test, and from r2 on loops count."""
    for node in nodes:
        yield from SPELL[node.kind](node, depth)


def spelled_leave(node: Node, depth: int) -> Iterator[str]:
    yield ("break", "continue", "ret")[node.number]


def spelled_leavec(node: Node, depth: int) -> Iterator[str]:
    yield "and r1.x, r0.x, l(4)"
    yield ("breakc_nz r1.x", "continuec_nz r1.x", "retc_nz r1.x")[node.number]


def spelled_branch(node: Node, depth: int) -> Iterator[str]:
    yield f"and r1.x, r0.x, l({node.number})"
    yield "if_z r1.x"
    yield from spelled(node.blocks[1], depth + 1)
    yield "else"
    yield from spelled(node.blocks[0], depth + 1)
    yield "endif"


def spelled_loop(node: Node, depth: int) -> Iterator[str]:
    yield f"mov r{2 + depth}.x, l(0)"
    yield "loop"
    yield f"ige r1.x, r{2 + depth}.x, l({TURNS})"
    yield "breakc_nz r1.x"
    yield f"iadd r{2 + depth}.x, r{2 + depth}.x, l(1)"
    yield from spelled(node.blocks[0], depth + 1)
    yield "endloop"


def spelled_switch(node: Node, depth: int) -> Iterator[str]:
    yield "and r1.x, r0.x, l(3)"
    yield "switch r1.x"
    for labels, body in zip(node.labels, node.blocks, strict=True):
        yield from ("default" if label is None else f"case l({label})" for label in labels)
        yield from spelled(body, depth + 1)
    yield "endswitch"


SPELL = {
    "compute": lambda node, depth: [f"imad r0.x, r0.x, l(3), l({node.number})"],
    "leave": spelled_leave,
    "leavec": spelled_leavec,
    "branch": spelled_branch,
    "loop": spelled_loop,
    "switch": spelled_switch,
    "call": lambda node, depth: [f"call l{node.number}"],
    "callc": lambda node, depth: ["and r1.x, r0.x, l(2)", f"callc_nz r1.x, l{node.number}"],
}


class Writer:
    """Makes statements by chance."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def block(self, depth: int, leaves: tuple[int, ...], calls: tuple[int, ...]) -> list[Node]:
        return [self.node(depth, leaves, calls) for _ in range(self.random.randrange(1, 4))]

    def node(self, depth: int, leaves: tuple[int, ...], calls: tuple[int, ...]) -> Node:
        random = self.random
        kinds = ["compute"] * 3 + ["leavec"] * 2 + ["leave"]
        kinds += ["branch", "loop", "switch"] * (depth < 4)
        kinds += ["call", "callc"] * bool(calls)
        kind = random.choice(kinds)
        if kind in ("leave", "leavec"):
            return Node(kind, random.choice(leaves))
        if kind in ("call", "callc"):
            return Node(kind, random.choice(calls))
        if kind == "compute":
            return Node(kind, random.randrange(9))
        return self.nested(kind, depth + 1, leaves, calls)

    def nested(
        self, kind: str, depth: int, leaves: tuple[int, ...], calls: tuple[int, ...]
    ) -> Node:
        number = self.random.choice([1, 2, 4, 5])
        if kind == "loop":
            return Node(kind, number, [self.block(depth, (0, 1, 2), calls)])
        if kind == "switch":
            inner = tuple({0, *leaves})
            labels: list[int | None] = self.random.sample([0, 1, 2, 3, None], 4)
            parts = [labels[:2], labels[2:3], labels[3:]]
            return Node(kind, 0, [self.block(depth, inner, calls) for _ in parts], parts)
        return Node(kind, number, [self.block(depth, leaves, calls) for _ in range(2)])


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32))
def test_lanes_go_their_own_ways(seed: int) -> None:
    writer = Writer(Random(seed))
    routines = {1: writer.block(2, (2,), ()), 0: writer.block(2, (2,), (1,))}
    main = writer.block(0, (2,), (0, 1))
    # What the lane has is put out after main has returned, so main is a subroutine here.
    body = "mov r0.x, v0.x\ncall l2\nmov o0.x, r0.x"
    bodies = {2: [*spelled(main)], 0: [*spelled(routines[0], 8)], 1: [*spelled(routines[1], 16)]}
    text = vs_text(body) + "".join(
        "\n".join([f"label l{n}", *lines, "ret\n"]) for n, lines in bodies.items()
    )
    starts = [*range(24), WORD, 1 << 31]
    wanted = []
    for start in starts:
        lane = Lane(start, routines)
        lane.routine(main)
        wanted.append(lane.x)
    result = execute(lowered(text.replace("dcl_temps 8", "dcl_temps 32")), {"v0.x": starts},
                     lanes=len(starts))  # fmt: skip
    assert result.outputs["o0.x"].view(np.uint32).tolist() == wanted


def count(body: str, start: int = 0) -> int:
    return vs(f"mov r0.x, v0.x\n{body}\nmov o0.x, r0.x", inputs={"v0.x": start})[0]


def test_ret_in_main_ends_the_invocation() -> None:
    body = "mov o0.x, l(1)\nif_nz v0.x\nret\nendif\nmov o0.x, l(2)"
    assert vs(body, inputs={"v0.x": 1})[0] == 1
    assert vs(body, inputs={"v0.x": 0})[0] == 2


@pytest.mark.parametrize(("test", "wanted"), [("if_nz", [0, 1, 1]), ("if_z", [1, 0, 0])])
def test_tests_look_at_all_bits(test: str, wanted: list[int]) -> None:
    # 0x80000000 is -0 to floats, but has a bit.
    body = f"{test} v0.x\nmov o0.x, l(1)\nendif"
    assert [vs(body, inputs={"v0.x": word})[0] for word in (0, 1, 0x80000000)] == wanted


def test_a_selected_component_is_holds() -> None:
    assert vs("if_nz v0.z\nmov o0.x, l(7)\nendif", inputs={"v0.z": 1})[0] == 7


def test_the_value_of_a_switch_is_read_once() -> None:
    body = """switch r0.x
    case l(0)
    mov r0.x, l(5)
    case l(1)
    iadd r0.x, r0.x, l(10)
    break
    case l(5)
    mov r0.x, l(99)
    break
    default
    mov r0.x, l(77)
    break
    endswitch"""
    assert [count(body, start) for start in (0, 1, 5, 6)] == [15, 11, 99, 77]


def test_default_may_stand_first_and_fall_through() -> None:
    body = """switch r0.x
    default
    iadd r0.x, r0.x, l(100)
    case l(2)
    case l(3)
    iadd r0.x, r0.x, l(1000)
    break
    case l(4)
    endswitch"""
    assert [count(body, start) for start in (1, 2, 3, 4)] == [1101, 1002, 1003, 4]


def test_a_program_may_end_without_ret() -> None:
    assert execute(lowered(vs_text("mov o0.x, l(3)").removesuffix("ret\n"))).outputs["o0.x"] == 3


def test_discarded_pixels_go_on() -> None:
    shader = lowered(ps_text("discard_nz v2.x\nderiv_rtx o0.x, v1.x\nadd o0.y, v1.x, v1.x"))
    result = execute(shader, {"v2.x": [1, 0, 0, 4], "v1.x": [1, 5, 0, 0]}, lanes=4)
    assert shader.kills
    assert result.alive.tolist() == [False, True, True, False]
    assert result.outputs["target0.x"].view(np.float32).tolist() == [4, 4, 0, 0]


def test_discard_z_discards_where_no_bit_is_set() -> None:
    result = execute(lowered(ps_text("discard_z v2.x")), {"v2.x": [1, 0, 0, 4]}, lanes=4)
    assert result.alive.tolist() == [True, False, False, True]


@pytest.mark.parametrize("most", [0, 5, 6, 100])
def test_a_loop_without_end_ends(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(budget, "EXECUTED", most)
    # loop, iadd and endloop: three instructions a round.
    assert count("loop\niadd r0.x, r0.x, l(1)\nendloop") == most // 3


def test_loops_in_loops_share_what_may_be_executed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "EXECUTED", 100)
    body = "loop\nloop\niadd r0.x, r0.x, l(1)\nendloop\niadd r0.y, r0.y, l(1)\nendloop"
    # The outer loop takes 3 for its only round, in which the inner one spends the rest.
    assert count(body) == (100 - 3) // 3


def test_programs_have_a_limited_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "MAX_SLOTS", 20)
    with pytest.raises(ShaderError, match="more than 20 operations"):
        lowered(vs_text("dp4 o0, v0, v1\n" * 3))


def test_blocks_of_calls_nest_so_deep_and_no_deeper() -> None:
    def nested(size: int) -> str:
        opened, closed = "if_nz v0.x\n" * size, "endif\n" * size
        routines = "".join(
            f"label l{n}\n{opened}{f'call l{n + 1}' if n < 3 else 'nop'}\n{closed}ret\n"
            for n in range(4)
        )
        return vs_text("call l0") + routines

    lowered(nested(50))
    with pytest.raises(ShaderError, match="more than 200 blocks inside each other"):
        lowered(nested(51))
