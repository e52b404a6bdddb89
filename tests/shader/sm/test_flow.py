"""Rules of flow control, on shaders written as text."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from dp2emu.errors import ShaderError
from dp2emu.shader.sm.assemble import assemble
from dp2emu.shader.sm.decode import decode
from dp2emu.shader.sm.flow import check_flow, routines
from dp2emu.shader.sm.opcodes import Op
from dp2emu.shader.sm.program import Instruction, Shader
from dp2emu.shader.sm.versions import BY_NAME
from tests.shader.sm.making import source_of

IF, LOOP, REP = ("if b0", "endif"), ("loop aL, i0", "endloop"), ("rep i0", "endrep")


def refusal(version: str, *lines: str) -> tuple[str, int | None]:
    """What the decoder says, and the number of the line it says it of."""
    with pytest.raises(ShaderError) as raised:
        assemble(source_of(version, *lines))
    number, _, what = raised.value.what.removeprefix("line ").partition(": ")
    return what, int(number)


def accepted(version: str, *lines: str) -> bytes:
    return assemble(source_of(version, *lines))


def nested(blocks: list[tuple[str, str]], *inner: str) -> list[str]:
    return [a for a, _ in blocks] + list(inner) + [b for _, b in reversed(blocks)]


@pytest.mark.parametrize(
    ("lines", "line", "what"),
    [
        (["else"], 2, "else without if"),
        (["endif"], 2, "endif closes nothing"),
        (["endloop"], 2, "endloop closes nothing"),
        (["endrep"], 2, "endrep closes nothing"),
        (["if b0"], 2, "if is not closed"),
        (["loop aL, i0", "if b0", "endif"], 2, "loop is not closed"),
        (["if b0", "else", "else", "endif"], 4, "else without if"),
        (["loop aL, i0", "else", "endloop"], 3, "else without if"),
        (["if b0", "loop aL, i0", "endif", "endloop"], 4, "endif closes nothing"),
        (["loop aL, i0", "endrep"], 3, "endrep closes nothing"),
        (["rep i0", "endloop"], 3, "endloop closes nothing"),
        (["break"], 2, "break outside of a loop"),
        (["if b0", "break_gt r0.x, r1.x", "endif"], 3, "breakc outside of a loop"),
        (["rep i0", "endrep", "breakp p0.x"], 4, "breakp outside of a loop"),
        (["mov r0, c[aL]"], 2, "aL has no value outside of a loop"),
        (["rep i0", "mov r0, c[aL]", "endrep"], 3, "aL has no value outside of a loop"),
        (["mov o[aL], r0"], 2, "aL has no value outside of a loop"),
        (["if b0", "ret", "endif"], 4, "only a label may follow ret"),
        (["if b0", "ret"], 2, "if is not closed"),
        (["ret", "mov r0, r1"], 3, "only a label may follow ret"),
        (["label l0", "ret"], 2, "a label may only follow ret"),
        (["ret", "label l0", "label l1", "ret"], 4, "a label may only follow ret"),
        (["ret", "label l0", "mov r0, r1"], 3, "l0 does not end in ret"),
        (["ret", "label l0", "ret", "label l0", "ret"], 5, "l0 is a label already"),
        (["call l0"], 2, "there is no label l0"),
        (["callnz l3, b0", "ret", "label l0", "ret"], 2, "there is no label l3"),
        (["call l0", "ret", "label l0", "call l0", "ret"], 5, "l0 calls itself"),
        (["ret", "label l0", "call l0", "ret"], 4, "l0 calls itself"),
        (["ret", "label l0", "if b0", "ret"], 4, "if is not closed"),
    ],
)
def test_misplaced_flow_control_is_refused(lines: list[str], line: int, what: str) -> None:
    assert refusal("vs_3_0", *lines) == (what, line)


def test_mutual_recursion_is_refused() -> None:
    lines = ["call l0", "ret", "label l0", "call l1", "ret", "label l1", "call l0", "ret"]
    assert refusal("vs_3_0", *lines) == ("l0 calls itself", 8)


@pytest.mark.parametrize(
    ("block", "limit", "what"),
    [
        (IF, 24, "static ifs nest deeper than 24"),
        (("if_gt r0.x, r1.x", "endif"), 24, "dynamic ifs nest deeper than 24"),
        (("if p0.x", "endif"), 24, "dynamic ifs nest deeper than 24"),
        (LOOP, 4, "loops nest deeper than 4"),
        (REP, 4, "loops nest deeper than 4"),
    ],
)
def test_blocks_nest_to_a_limit(block: tuple[str, str], limit: int, what: str) -> None:
    accepted("vs_3_0", *nested([block] * limit))
    assert refusal("vs_3_0", *nested([block] * (limit + 1))) == (what, limit + 2)


def test_kinds_of_blocks_have_limits_of_their_own() -> None:
    dynamic = ("if_gt r0.x, r1.x", "endif")
    accepted("vs_3_0", *nested([IF] * 24 + [dynamic] * 24 + [LOOP, REP] * 2, "break"))


def test_blocks_after_each_other_do_not_nest() -> None:
    accepted("vs_3_0", *[line for _ in range(30) for line in (*LOOP, "if b0", "else", "endif")])


def chain(calls: int) -> list[str]:
    """main calls l0, which calls l1, and so on."""
    lines = ["call l0", "ret"]
    for number in range(calls):
        deeper = [f"call l{number + 1}"] if number + 1 < calls else []
        lines += [f"label l{number}", *deeper, "ret"]
    return lines


@pytest.mark.parametrize(
    ("version", "limit"), [("vs_2_0", 1), ("vs_2_x", 4), ("vs_3_0", 4), ("ps_2_x", 4)]
)
def test_calls_nest_to_a_limit(version: str, limit: int) -> None:
    accepted(version, *chain(limit))
    assert refusal(version, *chain(limit + 1))[0] == f"calls nest deeper than {limit}"


@pytest.mark.parametrize(("version", "limit"), [("vs_2_0", 1), ("vs_3_0", 4)])
def test_calls_nest_to_a_limit_whatever_the_order_of_the_labels(version: str, limit: int) -> None:
    def upwards(calls: int) -> list[str]:
        """main calls the last routine, which calls the one before."""
        routines = [[f"call l{n - 1}"] * (n > 0) for n in range(calls)]
        bodies = [
            line for n, body in enumerate(routines) for line in (f"label l{n}", *body, "ret")
        ]
        return [f"call l{calls - 1}", "ret", *bodies]

    accepted(version, *upwards(limit))
    assert refusal(version, *upwards(limit + 1))[0] == f"calls nest deeper than {limit}"


def test_long_chain_of_calls_is_refused_at_once() -> None:
    assert refusal("vs_3_0", *chain(2048))[0] == "calls nest deeper than 4"


def test_calls_stand_for_a_limited_number_of_instructions() -> None:
    # A call of l0 stands for 32 + 2 * 112 = 256.
    inner = ["label l1", *["nop"] * 112, "ret"]
    lines = ["ret", "label l0", *["nop"] * 30, "call l1", "call l1", "ret", *inner]
    accepted("vs_3_0", *["call l0"] * 32, *lines)
    what, line = refusal("vs_3_0", *["call l0"] * 33, *lines)
    assert what == "calls of more than 8192 instructions"
    assert line == 34


def test_calls_that_double_at_each_level_are_refused() -> None:
    lines = ["call l0"] * 40 + ["ret"]
    for number in range(3):
        lines += [f"label l{number}"] + [f"call l{number + 1}"] * 40 + ["ret"]
    lines += ["label l3", "nop", "ret"]
    what, line = refusal("vs_3_0", *lines)
    assert what == "calls of more than 8192 instructions"
    assert line is not None


def test_shaders_have_a_limited_number_of_instructions() -> None:
    nop = Instruction(Op.NOP)
    most = Shader(BY_NAME["ps_3_0"], (nop,) * 32768)
    check_flow(most)
    with pytest.raises(ShaderError, match="more than 32768 instructions"):
        check_flow(replace(most, instructions=(*most.instructions, nop)))


def test_subroutine_may_use_the_counter_of_its_caller() -> None:
    lines = ["loop aL, i0", "call l0", "endloop", "ret", "label l0", "mov r0, c[aL]", "ret"]
    accepted("vs_2_0", *lines)


def test_routines_hold_what_is_executed() -> None:
    lines = ["def c0, 1, 1, 1, 1", "dcl_position v0", "call l5", "ret", "label l5", "nop", "ret"]
    parts = routines(decode(accepted("vs_2_0", *lines)))
    assert [instruction.op for instruction in parts.main] == [Op.CALL]
    assert {label: len(body) for label, body in parts.subroutines.items()} == {5: 1}


def test_declarations_and_constants_may_follow_ret() -> None:
    accepted("vs_2_0", "ret", "def c0, 1, 1, 1, 1", "dcl_position v0")
