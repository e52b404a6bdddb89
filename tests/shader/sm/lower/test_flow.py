"""Blocks, loops and subroutines."""

from __future__ import annotations

import numpy as np
import pytest

from dp2emu.errors import ShaderError
from dp2emu.shader import budget
from dp2emu.shader.sm import lower
from dp2emu.shader.sm.assemble import assemble
from dp2emu.shader.sm.decode import decode
from dp2emu.shader.sm.lower.lowering import Lowering, SamplerBindings, measure_loops
from tests.shader.sm.lower.running import execute, inputs, lowered, vs

UNITS = {"c": np.repeat(np.arange(16, dtype=np.float32), 4)}
"""c# is # in every component."""


def count(body: str, version: str = "vs_3_0", **options: object) -> float:
    """r0.x at the end of a body."""
    out = "o1" if version == "vs_3_0" else "oT0"
    main, routines = body.partition("ret\n")[::2]
    text = f"{main}\nmov {out}, r0\n" + (f"ret\n{routines}" if routines else "")
    return vs(text, version, **{"uniforms": UNITS, **options})[0]


@pytest.mark.parametrize("value", [True, False])
def test_if_by_boolean_constant(value: bool) -> None:
    body = "if b3\nmov r0, c1\nelse\nmov r0, c2\nendif"
    booleans = np.zeros(16, np.bool_)
    booleans[3] = value
    given = {**UNITS, "b": booleans}
    assert count(body, "vs_2_0", uniforms=given) == (1 if value else 2)
    assert count(body.replace("b3", "!b3"), "vs_2_0", uniforms=given) == (2 if value else 1)
    own = f"defb b3, {str(value).lower()}\n{body}"
    assert count(own, "vs_2_0") == (1 if value else 2)


@pytest.mark.parametrize(
    ("name", "less", "equal", "more"),
    [("gt", 0, 0, 1), ("eq", 0, 1, 0), ("ge", 0, 1, 1), ("lt", 1, 0, 0), ("ne", 1, 0, 1),
     ("le", 1, 1, 0)],
)  # fmt: skip
def test_if_by_comparison(name: str, less: int, equal: int, more: int) -> None:
    body = f"if_{name} v0.y, c3.x\nmov r0, c1\nendif"
    for value, wanted in ((2, less), (3, equal), (4, more)):
        assert count(body, inputs=inputs(v0=(0, value))) == wanted


def test_if_by_predicate() -> None:
    body = "setp_gt p0, v0, c0\nif !p0.z\nmov r0, c1\nelse\nmov r0, c2\nendif"
    assert count(body, inputs=inputs(v0=(1, 1, -1, 1))) == 1
    assert count(body, inputs=inputs(v0=(-1, -1, 1, -1))) == 2


@pytest.mark.parametrize(("rounds", "wanted"), [(3, 3), (0, 0), (-4, 0), (255, 255), (1000, 255)])
def test_rep_counts_by_an_integer_constant(rounds: int, wanted: int) -> None:
    body = "mov r0, c0\nrep i2\nadd r0, r0, c1\nendrep"
    integers = np.zeros((16, 4), np.int32)
    integers[2] = rounds, 9, 9, 9
    assert count(body, "vs_2_0", uniforms={**UNITS, "i": integers}) == wanted
    assert count(f"defi i2, {rounds}, 9, 9, 9\n{body}", "vs_2_0") == wanted


def test_loop_counter_starts_and_steps() -> None:
    body = "defi i0, 3, 2, 4, 0\nloop aL, i0\nadd r0, r0, c[aL]\nendloop"
    assert count(body, "vs_2_0") == 2 + 6 + 10


def test_outer_counter_returns_after_the_inner_loop() -> None:
    body = """defi i0, 2, 1, 1, 0
    defi i1, 2, 5, 1, 0
    loop aL, i0
    loop aL, i1
    add r0, r0, c[aL]
    endloop
    add r0, r0, c[aL]
    endloop"""
    assert count(body) == 2 * (5 + 6) + 1 + 2


def test_inner_loop_starts_again_each_time() -> None:
    body = """defi i0, 3, 0, 0, 0
    rep i0
    rep i0
    add r0, r0, c1
    endrep
    endrep"""
    assert count(body) == 9


def test_counter_outside_of_loops_is_0() -> None:
    body = "call l0\nret\nlabel l0\nmov r0, c[aL + 3]\nret"
    assert count(body) == 3


@pytest.mark.parametrize(
    "leave",
    ["break_ge r0.x, c3.x", "setp_ge p0, r0, c3\nbreakp p0.x", "if_ge r0.x, c3.x\nbreak\nendif"],
)
def test_break_leaves_the_innermost_loop(leave: str) -> None:
    body = f"""defi i0, 10, 0, 0, 0
    defi i1, 2, 0, 0, 0
    rep i1
    mov r1, c1
    mov r0.x, c0.x
    rep i0
    add r0.x, r0, c1
    {leave}
    endrep
    add r0.y, r0, c1
    endrep
    add r0.x, r0.x, r0.y"""
    assert count(body) == 3 + 2


def test_lanes_break_each_for_itself() -> None:
    text = """vs_3_0
    dcl_position o0\ndcl_texcoord o1
    defi i0, 8, 0, 0, 0
    rep i0
    break_ge r0.x, v0.x
    add r0, r0, c1
    if_gt r0.x, c2.x
    add r0.y, r0, c1
    else
    add r0.z, r0, c1
    endif
    endrep
    mov o1, r0"""
    limits = np.array([0, 1, 2, 3, 20], np.float32)
    result = execute(lowered(text).program, {"v0.x": limits}, UNITS, lanes=5).outputs
    assert result["texcoord0.x"].tolist() == [0, 1, 2, 3, 8]
    assert result["texcoord0.y"].tolist() == [0, 1, 2, 4, 14]
    assert result["texcoord0.z"].tolist() == [0, 2, 4, 5, 10]


def test_subroutines_are_called_and_return() -> None:
    body = """call l1
    call l2
    ret
    label l1
    add r0, r0, c1
    call l2
    ret
    label l2
    add r0, r0, c5
    ret"""
    assert count(body) == 11


@pytest.mark.parametrize(("value", "wanted"), [(1.0, 7), (-1.0, 0)])
def test_callnz_calls_if_true(value: float, wanted: float) -> None:
    body = "setp_gt p0, v0, c0\ncallnz l0, p0.w\nret\nlabel l0\nmov r0, c7\nret"
    assert count(body, inputs=inputs(v0=(0, 0, 0, value))) == wanted
    assert count(body.replace(" p0.w", " !p0.w"), inputs=inputs(v0=(0, 0, 0, value))) == 7 - wanted


def test_callnz_by_boolean_constant() -> None:
    body = "callnz l0, b0\nret\nlabel l0\nmov r0, c7\nret"
    assert count(body, "vs_2_0", uniforms={**UNITS, "b": np.ones(16, np.bool_)}) == 7
    assert count(body, "vs_2_0") == 0


def test_subroutine_sees_the_counter_of_the_loop_that_calls_it() -> None:
    body = """defi i0, 3, 1, 1, 0
    loop aL, i0
    call l0
    endloop
    ret
    label l0
    add r0, r0, c[aL]
    ret"""
    assert count(body) == 1 + 2 + 3


def test_blocks_too_deep_with_calls_expanded_are_refused() -> None:
    def nested(inside: str) -> str:
        return "if b0\n" * 24 + "if_gt c0.x, c0.y\n" * 24 + inside + "endif\n" * 48

    routines = "".join(f"label l{n}\n{nested(f'call l{n + 1}' + chr(10))}ret\n" for n in range(3))
    text = f"vs_3_0\n{nested('call l0' + chr(10))}ret\n{routines}label l3\n{nested('')}ret"
    with pytest.raises(ShaderError, match="more than 200 blocks"):
        lowered(text)


NESTED = "mov r0, c0\nrep i0\nrep i1\nadd r0, r0, c1\nendrep\nendrep\nadd r0, r0, c2"


def nested_rounds(outer: int, inner: int, left: int, size: int = 3) -> int:
    """Rounds of the inner of two loops: one takes ``size`` instructions, one of the outer 2."""
    rounds = 0
    for _ in range(outer):
        left -= 2
        if left < 0:
            break
        for _ in range(inner):
            left -= size
            if left < 0:
                break
            rounds += 1
    return rounds


@pytest.mark.parametrize("most", [0, 1, 2, 4, 5, 100, 301, 302, 303, 3199, 3200, 5000])
def test_all_loops_together_execute_so_much_and_no_more(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(budget, "EXECUTED", most)
    integers = np.zeros((16, 4), np.int32)
    integers[0, 0], integers[1, 0] = 10, 106
    found = count(NESTED, "vs_2_0", uniforms={**UNITS, "i": integers})
    assert found == nested_rounds(10, 106, most) + 2


def test_loops_execute_262144_instructions() -> None:
    body = NESTED.replace("add r0, r0, c1", "add r0, r0, c1" + "\nnop" * 97)
    own = "defi i0, 255, 0, 0, 0\ndefi i1, 255, 0, 0, 0\n"
    assert count(own + body, "vs_2_0") == nested_rounds(255, 255, 262144, 100) + 2


def test_each_lane_spends_what_it_executes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "EXECUTED", 3 * 255)
    body = """dcl_texcoord v0\ndef c1, 1, 0, 0, 0\ndefi i0, 255, 0, 0, 0
    rep i0\nadd r0, r0, c1\nbreak_ge r0.x, v0.x\nendrep
    rep i0\nadd r1, r1, c1\nendrep
    add r1.y, r1.x, r0.x\nmov oC0, r1.yxzw"""
    ends = np.array([1, 20, 100, 255], np.float32)
    program = lowered(f"ps_3_0\n{body}").program
    # A round takes 4 instructions of the first loop and 3 of the second.
    wanted = [n + min((3 * 255 - 4 * n) // 3, 255) for n in (1, 20, 100)]
    found = execute(program, {"texcoord0.x": ends}, lanes=4).outputs["target0.x"].tolist()
    assert found == [*wanted, 191]


def test_a_shader_without_end_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "EXECUTED", 1 << 12)
    loops = "rep i0\n" * 4 + "{}\n" + "endrep\n" * 4
    routines = "".join(
        f"label l{n}\n" + loops.format("add r0, r0, c1" if n == 3 else f"call l{n + 1}") + "ret\n"
        for n in range(4)
    )
    body = "defi i0, 255, 0, 0, 0\n" + loops.format("call l0") + "ret\n" + routines
    assert 0 < count(body) < 1 << 12


@pytest.mark.parametrize(("given", "most"), [("9", 9), ("-1", 0), ("1000", 255), (None, 255)])
def test_constants_tell_how_much_a_shader_executes_at_most(given: str | None, most: int) -> None:
    own = f"defi i1, {given}, 0, 0, 0\n" if given else ""
    text = f"vs_2_0\ndefi i0, 5, 0, 0, 0\n{own}{NESTED}"
    low = Lowering(decode(assemble(text)), SamplerBindings())
    found = measure_loops(low.parts, low.rounds)
    assert found.sizes == (2, 3)
    assert found.most == 2 + 5 * (2 + 3 * most)


def test_a_program_that_cannot_spend_its_budget_does_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = f"vs_2_0\ndefi i0, 5, 0, 0, 0\ndefi i1, 5, 0, 0, 0\n{NESTED}"
    plain = lowered(text).program
    monkeypatch.setattr(budget, "EXECUTED", 2 + 5 * (2 + 3 * 5))
    assert lowered(text).program == plain
    monkeypatch.setattr(budget, "EXECUTED", 2 + 5 * (2 + 3 * 5) - 1)
    assert lowered(text).program != plain


def test_programs_have_a_limited_size(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "vs_2_0\nmov r0, c0\npow r0, r0.x, r0.y\nadd r0, r0, c1\nmov oT0, r0"
    size = len(lowered(text).program.slots)
    monkeypatch.setattr(lower, "MAX_SLOTS", size)
    lowered(text)
    monkeypatch.setattr(lower, "MAX_SLOTS", 40)
    with pytest.raises(ShaderError, match="more than 40 operations") as raised:
        lowered(text)
    # version, mov, and pow, after which it is too much.
    assert raised.value.offset == 4 * (1 + 3 + 4)
