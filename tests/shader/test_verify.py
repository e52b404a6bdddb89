"""What is no program, and how one is told so."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from dp2emu.shader.ir import (
    Access,
    Address,
    Assign,
    Axis,
    Break,
    Constant,
    Derivative,
    Fetch,
    File,
    If,
    Input,
    Kill,
    Load,
    Lod,
    Loop,
    Output,
    Port,
    Program,
    ProgramError,
    Sample,
    Slot,
    Stage,
    Statement,
    Store,
    TextureKind,
)
from dp2emu.shader.types import Type
from dp2emu.shader.verify import MAX_DEPTH, verify

ONE, YES, TWO = (Constant.of(Type.F32, 1.0), Constant.of(Type.BOOL, True),
                 Constant.of(Type.I32, 2))  # fmt: skip

EMPTY = Program(
    Stage.PIXEL,
    slots=(*(Type.F32,) * 4, Type.I32, Type.BOOL, *(Type.I32,) * 3),
    files=(
        File("c", Type.F32, 8, uniform=True),
        File("one", Type.F32, 1, uniform=True),
        File("r", Type.I32, 8, uniform=False),
    ),
    inputs=(Port("x", Type.F32), Port("n", Type.I32)),
    outputs=(Port("y", Type.F32),),
    statements=(),
)


def complaint(*statements: Statement, program: Program = EMPTY) -> str:
    with pytest.raises(ProgramError) as error:
        verify(replace(program, statements=statements))
    return str(error.value)


def sample(
    slots: tuple[int, int, int, int] = (0, 1, 2, 3),
    sampler: int = 0,
    coordinates: int = 2,
    lod: Lod = Lod.IMPLICIT,
    arguments: int = 0,
) -> Sample:
    kind = TextureKind.TEX2D
    return Sample(slots, sampler, kind, (ONE,) * coordinates, lod, (ONE,) * arguments)


GOOD: tuple[Statement, ...] = (
    Input(0, "x"),
    Input(4, "n"),
    Assign(0, "fma", (Slot(1), ONE, Slot(2))),
    Assign(5, "lt", (Slot(0), ONE)),
    Load(0, "c", Address(-5, Slot(4), 4)),
    Load(0, "one", Address(-(2**31))),
    Store("r", Address(0), Slot(4)),
    Derivative(0, Axis.X, Slot(1)),
    sample(),
    sample(lod=Lod.BIAS, arguments=1),
    sample(lod=Lod.GRADIENT, arguments=4),
    Derivative(0, Axis.X_COARSE, Slot(1)),
    Fetch((4, 6, 7, 8), 3, (Slot(4), TWO)),
    Access((4, 6, 7, 8), 3, (Slot(4), TWO)),
    If(Slot(5), (Kill(YES),), (Output("y", Slot(0)),)),
    Loop((If(YES, (Break(Slot(5)),)),), 1),
    Loop((Loop((), 2**31 - 1), Break(YES)), 1),
)


def test_a_good_program_is_good() -> None:
    verify(replace(EMPTY, statements=GOOD))


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (Input(0, "z"), "no input z"),
        (Input(4, "x"), "slot 4 is i32, not f32"),
        (Input(9, "x"), "no slot 9"),
        (Input(-1, "x"), "no slot -1"),
        (Output("z", ONE), "no output z"),
        (Output("y", Slot(4)), "slot 4 is i32, not f32"),
        (Output("y", TWO), "a constant is i32, not f32"),
        (Output("y", Constant(Type.F32, 2**32)), "0x100000000 is no f32"),
        (Assign(0, "sine", (ONE,)), "no operation sine"),
        (Assign(0, "add", (ONE,)), "add takes 2 operands, not 1"),
        (Assign(0, "add", (ONE, TWO)), "a constant is i32, not f32"),
        (Assign(4, "add", (ONE, ONE)), "slot 4 is i32, not f32"),
        (Load(0, "d", Address(0)), "no file d"),
        (Load(0, "r", Address(0)), "slot 0 is f32, not i32"),
        (Load(0, "c", Address(2**31)), "offset 2147483648"),
        (Load(0, "c", Address(0, Slot(4), 0)), "stride 0"),
        (Load(0, "c", Address(0, Slot(0), 1)), "slot 0 is f32, not i32"),
        (Load(0, "c", Address(0, None, 4)), "a stride without an index"),
        (Store("c", Address(0), ONE), "c is read only"),
        (Store("r", Address(0), ONE), "a constant is f32, not i32"),
        (Derivative(0, Axis.Y, TWO), "a constant is i32, not f32"),
        (sample(slots=(0, 1, 2, 2)), "sample needs four different slots"),
        (sample(slots=(0, 1, 2, 4)), "slot 4 is i32, not f32"),
        (sample(sampler=-1), "sampler -1"),
        (sample(coordinates=3), "coordinates of 2d"),
        (replace(sample(), coordinates=(ONE, TWO)), "a constant is i32, not f32"),
        (sample(lod=Lod.EXPLICIT), "arguments of explicit"),
        (sample(arguments=1), "arguments of implicit"),
        (Fetch((4, 6, 7, 7), 0), "fetch needs four different slots"),
        (Fetch((4, 6, 7, 0), 0), "slot 0 is f32, not i32"),
        (Fetch((4, 6, 7, 8), -1), "unit -1"),
        (Fetch((4, 6, 7, 8), 0, (TWO, ONE)), "a constant is f32, not i32"),
        (Access((4, 6, 7, 7), 0), "access needs four different slots"),
        (Access((4, 6, 7, 0), 0), "slot 0 is f32, not i32"),
        (Access((4, 6, 7, 8), -1), "unit -1"),
        (Access((4, 6, 7, 8), 0, (ONE,)), "a constant is f32, not i32"),
        (If(ONE, ()), "a constant is f32, not bool"),
        (If(Constant(Type.BOOL, 2), ()), "0x2 is no bool"),
        (Loop((), 0), "loop limit 0"),
        (Loop((), 2**31), "loop limit 2147483648"),
        (Loop((Break(TWO),), 1), "a constant is i32, not bool"),
        (Break(YES), "break outside a loop"),
        (If(YES, (Break(YES),)), "break outside a loop"),
        (Kill(Slot(4)), "slot 4 is i32, not bool"),
    ],
)
def test_a_bad_statement_is_named(statement: Statement, expected: str) -> None:
    assert expected in complaint(statement)


def test_statements_are_counted_as_in_the_text() -> None:
    assert complaint(*GOOD, Break(YES)) == "statement 23: break outside a loop"


@pytest.mark.parametrize(
    "statement",
    [Kill(YES), Derivative(0, Axis.X, ONE), sample(), sample(lod=Lod.BIAS, arguments=1)],
)
def test_only_pixels_have_neighbours_and_can_be_killed(statement: Statement) -> None:
    vertex = replace(EMPTY, stage=Stage.VERTEX)
    assert "outside a pixel program" in complaint(statement, program=vertex)


def test_vertices_may_sample_at_a_level_they_name() -> None:
    statements = (sample(lod=Lod.EXPLICIT, arguments=1),)
    verify(replace(EMPTY, stage=Stage.VERTEX, statements=statements))


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (replace(EMPTY, inputs=(Port("a b", Type.F32),)), "'a b' is no name"),
        (replace(EMPTY, outputs=(Port("", Type.F32),)), "'' is no name"),
        (replace(EMPTY, inputs=EMPTY.inputs * 2), "x declared twice"),
        (replace(EMPTY, files=(File("c", Type.F32, 0, True),)), "file c of 0 scalars"),
        (replace(EMPTY, files=(File("c", Type.F32, 2**28 + 1, True),)), "file c of 268435457"),
        (replace(EMPTY, files=(File("r", Type.F32, 2**14 + 1, False),)), "file r of 16385"),
        (replace(EMPTY, files=(File("d", Type.F64, 1, True),)), "file d of f64, not of 32 bits"),
    ],
)
def test_bad_declarations_are_named(program: Program, expected: str) -> None:
    assert expected in complaint(program=program)


def test_depth_has_an_end() -> None:
    statement: Statement = Kill(YES)
    for _ in range(MAX_DEPTH):
        statement = If(YES, (statement,))
    verify(replace(EMPTY, statements=(statement,)))
    assert f"more than {MAX_DEPTH} blocks deep" in complaint(If(YES, (statement,)))
