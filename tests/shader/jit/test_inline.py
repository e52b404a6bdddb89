"""Inlining of formulas: names of results and emitted instructions."""

from __future__ import annotations

from dp2emu.shader.builder import Builder
from dp2emu.shader.jit.inline import emitted
from dp2emu.shader.jit.ranges import UNIT
from dp2emu.shader.jit.writer import Target, Writer
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value


def code(b: Builder, largest: float, x: Value) -> tuple[Value]:
    return (b.apply("ftoun", x, largest),)


def depth(b: Builder, largest: float, z: Value) -> tuple[Value]:
    return (b.apply("dtou", z * largest + 0.5),)


def test_results_are_names_in_the_order_of_the_formula() -> None:
    w = Writer(Target(4))
    found = emitted(w, lambda b, key, x: (x, x + 1.0), None, [(Type.F32, "%x")])
    assert found == ["%x", "%v1"]
    assert w.lines == ["  %v1 = fadd <4 x float> %x, splat (float 0x3ff0000000000000)"]


def test_a_scalar_text_has_scalars() -> None:
    w = Writer(Target(), scalars=True)
    emitted(w, lambda b, key, x: (b.apply("dround", x * 256.0),), None, [(Type.F64, "%x")])
    assert w.lines == [
        "  %v1 = fmul double %x, 0x4070000000000000",
        "  %v2 = call double @llvm.rint.f64(double %v1)",
    ]


def test_a_code_of_few_bits_is_one_fma_where_there_is_one() -> None:
    fused, other = Writer(Target(8, True)), Writer(Target(8, False))
    for w in (fused, other):
        emitted(w, code, 255.0, [(Type.F32, "%x")], [UNIT])
    assert [line.split()[2] for line in fused.lines] == ["call", "bitcast", "and"]
    assert [line.split()[2] for line in other.lines] == ["fpext", "fmul", "fadd", "fptosi"]


def test_what_is_known_to_be_in_range_is_not_saturated() -> None:
    w = Writer(Target(8))
    emitted(w, depth, 2.0**24 - 1, [(Type.F64, "%z")], [UNIT])
    assert [line.split()[2] for line in w.lines] == ["fmul", "fadd", "fptosi"]
    unknown = Writer(Target(8))
    emitted(unknown, depth, 2.0**24 - 1, [(Type.F64, "%z")])
    assert len(unknown.lines) > 8
