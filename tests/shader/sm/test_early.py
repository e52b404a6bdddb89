"""Rules of ps_1_x: order, matrices, phases and pairs."""

from __future__ import annotations

import pytest

from tests.shader.sm.test_flow import accepted, refusal


@pytest.mark.parametrize(
    ("lines", "line", "what"),
    [
        (["mov r0, c0", "tex t0"], 3, "texture operations come before arithmetic"),
        (["tex t1", "tex t0"], 3, "texture registers are written in ascending order, once"),
        (["tex t1", "tex t1"], 3, "texture registers are written in ascending order, once"),
        (["texm3x2pad t1, t0"], 2, "the rows after this one are missing"),
        (["texm3x2tex t1, t0"], 2, "the rows before this one are missing"),
        (["texm3x2pad t1, t0", "texm3x2tex t3, t0"], 3, "the rows before this one are missing"),
        (["texm3x3pad t1, t0", "texm3x3tex t2, t0"], 3, "the rows before this one are missing"),
        (["texm3x3pad t1, t0", "texm3x2tex t2, t0"], 3, "the rows before this one are missing"),
        (["texm3x2pad t0, t0", "tex t1", "mov r0, t1"], 2, "the rows after this one are missing"),
        (
            ["texm3x3pad t0, t0", "texm3x3pad t1, t0", "texm3x3pad t2, t0", "texm3x3tex t3, t0"],
            2,
            "the rows after this one are missing",
        ),
    ],
)
def test_texture_operations_out_of_order_are_refused(
    lines: list[str], line: int, what: str
) -> None:
    assert refusal("ps_1_3", *lines) == (what, line)


@pytest.mark.parametrize(
    "lines",
    [
        ["tex t1", "tex t3", "mov r0, t1"],
        ["tex t0", "texkill t0", "mov r0, t0"],
        ["tex t0", "texm3x2pad t1, t0", "texkill t3", "texm3x2depth t2, t0", "mov r0, t0"],
        ["texm3x3pad t1, t0", "texm3x3pad t2, t0", "texm3x3spec t3, t0, c0", "mov r0, t3"],
        ["def c0, 1, 1, 1, 1", "nop", "tex t0", "mov r0, c0", "def c1, 1, 1, 1, 1"],
    ],
)
def test_texture_operations_in_order_are_accepted(lines: list[str]) -> None:
    accepted("ps_1_3", *lines)


@pytest.mark.parametrize(
    ("lines", "line", "what"),
    [
        (["phase", "phase"], 3, "there is a phase already"),
        (["mov r0, c0", "texld r0, t0"], 3, "texture operations come before arithmetic"),
        (["mov r0, c0", "texld r0, t0", "phase"], 3, "texture operations come before arithmetic"),
        (["phase", "mov r0, c0", "texld r0, t0"], 4, "texture operations come before arithmetic"),
        (["texld r0, r1", "phase"], 2, "only the second phase may sample at temporaries"),
        (["texdepth r4"], 2, "texdepth takes r5"),
        (["texcrd r0.rgb, r1"], 2, "r1 cannot be read here"),
    ],
)
def test_phases_are_checked(lines: list[str], line: int, what: str) -> None:
    assert refusal("ps_1_4", *lines) == (what, line)


def test_each_phase_may_sample_first() -> None:
    accepted("ps_1_4", "texld r0, t0", "mov r1, r0", "phase", "texld r2, r1", "mov r0, r2")
    accepted("ps_1_4", "texld r0, r1", "mov r0, r0")


@pytest.mark.parametrize(
    ("lines", "line", "what"),
    [
        (["+ mov r0.a, c0"], 2, "only arithmetic instructions pair"),
        (["tex t0", "+ mov r0.a, c0"], 3, "only arithmetic instructions pair"),
        (["mov r0.rgb, c0", "+ nop"], 3, "only arithmetic instructions pair"),
        (["mov r0, c0", "+ mov r0.a, c0"], 3, "both of a pair write the same component"),
        (
            ["mov r0.rgb, c0", "+ mov r0.a, c0", "+ mov r1.rgb, c0"],
            4,
            "the instruction before is in a pair already",
        ),
    ],
)
def test_pairs_are_checked(lines: list[str], line: int, what: str) -> None:
    assert refusal("ps_1_1", *lines) == (what, line)


def test_alpha_may_be_first_of_a_pair() -> None:
    accepted("ps_1_1", "mov r0.a, c0", "+ mov r0.rgb, c1", "mul r0.rgb, r0, c0", "+ mov r0.a, c1")
