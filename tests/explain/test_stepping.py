"""Stepping through a trace, and the commands of the prompt."""

from __future__ import annotations

import pytest

from dp2emu.errors import UsageError
from dp2emu.explain.prompt import Prompt
from dp2emu.explain.shader_trace import Final, ShaderTrace, Step, Value
from dp2emu.explain.stepping import Stepper, parse_condition

ONE, TWO, NAN, MINUS = 0x3F800000, 0x40000000, 0x7FC00000, 0xFFFFFFFF


def value(name: str, bits: int) -> Value:
    return Value(name, bits, "f32")


STEPS = (
    Step(0, "mov r0.x, c0.x", 4, 1, (value("c0.x", ONE),), (value("r0.x", ONE),)),
    Step(1, "add r0.x, r0.x, c0.x", 16, 2, (value("r0.x", ONE),), (value("r0.x", TWO),)),
    Step(2, "mov r1.y, r0.z", 28, 3, (), (value("r1.y", NAN),)),
    Step(3, "mov r2.w, r0.z", 40, 4, (), (Value("r2.w", MINUS, "i32"),)),
)
LINES = ("ps_2_0", *(step.instruction for step in STEPS))
TRACE = ShaderTrace("pixel", "lane 0", LINES, (), STEPS, Final((value("o0.x", TWO),)))


@pytest.mark.parametrize(
    ("text", "position"),
    [("r0.x > 1", 2), ("r0.x >= 1", 1), ("r0 == 2", 2), ("r1.y == nan", 3), ("r2.w:i == -1", 4),
     ("r2.w:i < 0x10", 4), ("r0.x != 1", 2), ("r7.x > 0", 4)],
)  # fmt: skip
def test_a_run_stops_where_a_condition_begins_to_hold(text: str, position: int) -> None:
    stepper = Stepper(TRACE)
    stepper.breaks.append(parse_condition(text))
    reason = stepper.run()
    assert stepper.position == position
    assert reason == ("" if text.startswith("r7") else text)


def test_a_watch_stops_after_each_write_forward_and_back() -> None:
    stepper = Stepper(TRACE)
    stepper.watches.append("r0")
    found = []
    while stepper.run():
        found.append(stepper.position)
    assert found == [1, 2]
    assert stepper.run_back() and stepper.position == 2
    assert stepper.run_back() and stepper.position == 1
    assert not stepper.run_back() and stepper.position == 0


def test_registers_are_those_of_the_position() -> None:
    stepper = Stepper(TRACE)
    assert stepper.values == {}
    stepper.go(2)
    assert stepper.values["r0.x"].number == 2
    stepper.go(-3)
    assert stepper.position == 0
    stepper.go(99)
    assert stepper.position == 4


@pytest.mark.parametrize("text", ["", "r0", "r0.x >", "r0.x > much", "1 < r0.x", "r0.q > 1" * 99])
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_condition(text)


def answers(*lines: str) -> list[str]:
    prompt = Prompt([TRACE])
    return [answer for line in lines for answer in prompt.answer(line)]


def test_the_prompt_steps_forward_and_back() -> None:
    assert answers("n 2")[0] == "   2 add r0.x, r0.x, c0.x  ; byte 0x10"
    assert answers("n 2", "b")[3] == "   1 mov r0.x, c0.x  ; byte 0x4"
    assert answers("n", "b")[-1] == "pixel shader (ps_2_0), lane 0: 4 steps"
    assert answers("g 4", "p r0")[-1] == "       r0.x = 2 (1073741824, 0x40000000)"


def test_the_prompt_marks_the_line_of_the_instruction() -> None:
    listed = answers("l")
    assert [line[2:] for line in listed] == [*LINES] and not any(line[0] == ">" for line in listed)
    assert [line[0] for line in answers("n 2", "l")[-5:]] == [" ", " ", ">", " ", " "]


def test_the_prompt_runs_to_breaks_and_watches() -> None:
    assert answers("break r0.x > 1", "c")[:2] == ["break r0.x > 1", "stopped: r0.x > 1"]
    assert answers("watch r1", "c")[1] == "stopped: r1 was written"
    assert answers("watch r1", "delete", "c")[1] == "the end"
    assert answers("nan")[0].startswith("   3 mov r1.y")
    assert answers("f")[1] == "       o0.x = 2 (1073741824, 0x40000000)"


@pytest.mark.parametrize("line", ["x", "n many", "p r9", "break much", "g -1", "t 7", "\x1b[31m"])
def test_what_is_no_command_has_one_line_that_says_so(line: str) -> None:
    (answer,) = answers(line)
    assert answer.isprintable()


def test_quit_ends_the_prompt_and_help_names_every_command() -> None:
    prompt = Prompt([TRACE])
    assert [*prompt.answer("q")] == [] and prompt.ended
    words = {line.split()[0] for line in answers("help")}
    assert {
        "n",
        "b",
        "c",
        "r",
        "g",
        "l",
        "p",
        "break",
        "watch",
        "delete",
        "nan",
        "f",
        "t",
        "q",
    } == words
