"""Programs as text: how they look, and which texts are none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Constant, If, Lod, Program, ProgramError, Stage, TextureKind
from dp2emu.shader.reference import run
from dp2emu.shader.text import constant, dump
from dp2emu.shader.types import Type
from dp2emu.shader.verify import MAX_DEPTH
from tests.shader.parsing import parse

EVERYTHING = """\
pixel
input x f32
output y f32
output n i32
uniform c f32 64
local r bool 3
slots ffibffffffiiidl
  f0 = input x
  f1 = load c[21]
  i2 = asint f0
  f1 = load c[-3+4*i2]
  store r[1+1*i2] true
  b3 = load r[2]
  if b3
    f0 = fma f0 -2.5 f1
  else
    loop 255
      break b3
      if false
      else
        f0 = ddx f1
      end
    end
  end
  f4 f5 f6 f7 = sample volume 15 f0 f1 0.1 gradient f0 f1 0.0 -0.0 1e-45 inf
  f4 f5 f6 f7 = sample 2d 0 f0 f1 implicit
  f8 = ddy f4
  f8 = ddx_coarse f4
  f8 = ddy_coarse f4
  i2 i10 i11 i12 = fetch 7 i2 -1
  i2 i10 i11 i12 = fetch 0
  i2 i10 i11 i12 = access 7 i2 -1
  i2 i10 i11 i12 = access 0
  d13 = ftod f0
  d13 = dmul d13 -2.5d
  d13 = dadd f64:7ff0000000000001 infd
  l14 = aslong 1e-320d
  l14 = ladd l14 -9223372036854775808l
  kill b3
  output y f32:ffc00001
  output n -2147483648
"""


def small(body: str) -> str:
    return f"pixel\noutput y f32\nuniform c f32 4\nslots ffibdl\n{body}\n"


def test_a_text_of_everything_comes_back() -> None:
    assert dump(parse(EVERYTHING)) == EVERYTHING


def test_comments_blanks_and_indents_are_for_the_reader() -> None:
    program = parse(small("f0 = mov 1.0"))
    assert parse(small("\n; first\n\t  f0   =  mov 1.0 ; one\n\n")) == program


def test_what_is_built_reads_as_built() -> None:
    b = Builder(Stage.PIXEL)
    x = b.input("v0.x")
    b.sample(TextureKind.CUBE, 3, (x, 0.0, 1.0), Lod.EXPLICIT, (2.0,))
    b.output("color0.r", x * 0.5)
    assert dump(b.program()) == (
        "pixel\ninput v0.x f32\noutput color0.r f32\nslots ffffff\n"
        "  f0 = input v0.x\n"
        "  f1 f2 f3 f4 = sample cube 3 f0 0.0 1.0 explicit 2.0\n"
        "  f5 = mul f0 0.5\n"
        "  output color0.r f5\n"
    )


@given(st.integers(0, 2**64 - 1), st.sampled_from([Type.F32, Type.I32, Type.F64, Type.I64]))
def test_every_constant_comes_back(word: int, type: Type) -> None:
    bits = word & ((1 << type.bits) - 1)
    move = {Type.F32: "f0 = mov", Type.I32: "i2 = imov", Type.F64: "d4 = dmov"}
    program = parse(small(f"{move.get(type, 'l5 = lmov')} {constant(Constant(type, bits))}"))
    (statement,) = program.statements
    assert statement.operands == (Constant(type, bits),)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("type", "bits", "text"),
    [
        (Type.F32, 0, "0.0"), (Type.F32, 0x80000000, "-0.0"), (Type.F32, 0x3DCCCCCD, "0.1"),
        (Type.F32, 0x7F800000, "inf"), (Type.F32, 0x7FC00000, "nan"),
        (Type.F32, 0x7F800001, "f32:7f800001"), (Type.F32, 1, "1e-45"),
        (Type.I32, 0xFFFFFFFF, "-1"), (Type.BOOL, 1, "true"), (Type.BOOL, 0, "false"),
        (Type.F64, 0x3FB999999999999A, "0.1d"), (Type.F64, 0x7FF0000000000000, "infd"),
        (Type.F64, 0x7FF8000000000000, "nand"), (Type.I64, 2**64 - 1, "-1l"),
    ],
)  # fmt: skip
def test_constants_are_written_as_people_do(type: Type, bits: int, text: str) -> None:
    assert constant(Constant(type, bits)) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "line 0: no stage"),
        ("rasterizer\n", "line 1: rasterizer where one of vertex, pixel, "),
        ("pixel\ninput x f32\n", "line 2: no slots"),
        ("pixel\ninput x\n", "line 2: 3 words expected, not 2"),
        ("pixel\ninput x f16\n", "line 2: f16 where one of f32, i32, bool, f64, i64 is expected"),
        ("pixel\nuniform c f32 x\n", "line 2: x is no number"),
        ("pixel\nslots fx\n", "line 2: x where one of f, i, b, d, l is expected"),
        (small("f0 ="), "line 5: nothing after ="),
        (small("f9 = mov 1.0"), "line 5: no slot f9"),
        (small("i0 = imov 1"), "line 5: no slot i0"),
        (small("f0 f1 = mov 1.0"), "line 5: one result expected"),
        (small("f0 = mov 0x10"), "line 5: 0x10 is no operand"),
        (small("i2 = imov 4294967296"), "line 5: 4294967296 has more than 32 bits"),
        (small("i2 = imov -2147483649"), "line 5: -2147483649 has more than 32 bits"),
        (small("l5 = lmov -9223372036854775809l"), "line 5: -9223372036854775809 has more than"),
        (small("if b3\nelse b3"), "line 6: 1 word expected, not 2"),
        (small("i2 = imov 99999999999999"), "line 5: 99999999999999 is no operand"),
        (small("f0 = load c"), "line 5: c is no place in a file"),
        (small("f0 = load c[1+i2]"), "line 5: c[1+i2] is no place in a file"),
        (small("f0 f1 = sample 2d 0 f0 f1 implicit"), "line 5: a sample has four results"),
        (small("f0 f1 = fetch 3"), "line 5: four results and a unit expected"),
        (small("f0 f1 = access 3"), "line 5: four results and a unit expected"),
        (small("f0 f0 f0 f0 = fetch"), "line 5: four results and a unit expected"),
        (small("else"), "line 5: else without if"),
        (small("loop 3\nelse"), "line 6: else without if"),
        (small("if b3\nelse\nelse"), "line 7: else without if"),
        (small("end"), "line 5: end of nothing"),
        (small("if b3"), "line 5: if without end"),
        (small("discard b3"), "line 5: discard where one of output, store, break, kill"),
        (small("f0 = add 1.0"), "statement 0: add takes 2 operands, not 1"),
        (small("break true"), "statement 0: break outside a loop"),
    ],
)
def test_a_bad_text_is_told_where(text: str, expected: str) -> None:
    with pytest.raises(ProgramError) as error:
        parse(text)
    assert str(error.value).startswith(expected)


@given(st.data())
def test_a_spoilt_text_is_another_program_or_an_error(data: st.DataObject) -> None:
    words = EVERYTHING.split(" ")
    place = data.draw(st.integers(0, len(words) - 1))
    other = st.one_of(st.sampled_from(words), st.text(max_size=6))
    words[place] = data.draw(other)
    try:
        program = parse(" ".join(words))
    except ProgramError:
        return
    assert parse(dump(program)) == program


def test_the_deepest_program_is_printed_read_hashed_and_run() -> None:
    text = small("if true\n" * MAX_DEPTH + "output y 1.0\n" + "end\n" * MAX_DEPTH)
    program = parse(text)
    assert parse(dump(program)) == program
    uniforms = {"c": np.zeros(4, np.float32)}
    assert run(program, {}, uniforms, 2).outputs["y"].tolist() == [1, 1]
    assert "blocks deep" in _complaint(program)


def _complaint(program: Program) -> str:
    deeper = (If(Constant.of(Type.BOOL, True), program.statements),)
    with pytest.raises(ProgramError) as error:
        parse(dump(replace(program, statements=deeper)))
    return str(error.value)
