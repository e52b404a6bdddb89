"""Double precision instructions: values, pairs of words, masks and the flags that enable them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from dp2emu.errors import ShaderError
from dp2emu.shader.sm4 import assemble, decode, disassemble
from dp2emu.shader.sm4.lower import lower_hull
from dp2emu.shader.sm4.lower.doubles import EVALUATE
from dp2emu.shader.sm4.versions import VERSIONS, Stage, Version
from dp2emu.shader.types import Type
from tests.shader.engines import ENGINES
from tests.shader.models import (
    DOUBLE,
    DOUBLES,
    FLOATS,
    INTEGERS,
    SIGN,
    SINGLE,
    WORD,
    compared,
    converted,
    is_nan,
    larger,
    multiply_add,
    product,
    quotient,
    signed,
    smaller,
    to_integer,
    total,
)
from tests.shader.sm4.lower.model import flushed
from tests.shader.sm4.lower.running import COMPONENTS, lowered, vs_text

FLAGS = "dcl_globalFlags enableDoublePrecisionFloatOps | enable11_1DoubleExtensions"
PLAIN = "dcl_globalFlags enableDoublePrecisionFloatOps"
FEW, SOME = DOUBLES[::2], DOUBLES[::5]
Row = Sequence[int]
"""The four words of a register."""


def halves(x: int) -> tuple[int, int]:
    return x & WORD, x >> 32


def ran(body: str, lanes: Sequence[Sequence[Row]], engine: str, flags: str = FLAGS) -> list[Row]:
    """o0 of each lane after a body; a lane has the rows of v0, v1 and so on."""
    program = lowered(vs_text(body, flags)).program
    inputs: dict[str, Any] = {}
    for port in program.inputs:
        number, component = int(port.name[1]), COMPONENTS.index(port.name[3])
        words = [lane[number][component] for lane in lanes]
        inputs[port.name] = np.array(words, np.uint32).view(np.int32)
    outputs = ENGINES[engine](program, inputs, {}, len(lanes)).outputs
    columns = [np.broadcast_to(outputs[f"o0.{c}"], len(lanes)) for c in COMPONENTS]
    return [tuple(map(int, row)) for row in np.array(columns).view(np.uint32).T]


def one(body: str, *rows: Row, engine: str = "reference", flags: str = FLAGS) -> Row:
    """o0 after a body in a single lane."""
    (found,) = ran(body, [[*rows, *[(0, 0, 0, 0)] * 4]], engine, flags)
    return found


def sources(count: int) -> str:
    return ", ".join(f"v{n}.xyzw" for n in range(count))


def canonical(x: int) -> int:
    return DOUBLE.nan if is_nan(x, DOUBLE) else x


def saturated(x: int) -> int:
    return 0 if is_nan(x, DOUBLE) or x & DOUBLE.sign else min(x, DOUBLE.one)


ARITHMETIC: dict[str, Callable[..., int]] = {
    "dadd": lambda x, y: total(x, y, DOUBLE),
    "dmul": lambda x, y: product(x, y, DOUBLE),
    "ddiv": lambda x, y: quotient(x, y, DOUBLE),
    "drcp": lambda x: quotient(DOUBLE.one, x, DOUBLE),
    "dmin": lambda x, y: smaller(x, y, DOUBLE),
    "dmax": lambda x, y: larger(x, y, DOUBLE),
    "dfma": lambda x, y, z: multiply_add(x, y, z, DOUBLE),
}
COUNTS = {"drcp": 1, "dfma": 3}
COMPARISONS: dict[str, Callable[[int, int], int]] = {
    "deq": compared(lambda x, y: x == y, DOUBLE),
    "dne": compared(lambda x, y: x != y, DOUBLE),
    "dlt": compared(lambda x, y: x < y, DOUBLE),
    "dge": compared(lambda x, y: x >= y, DOUBLE),
}
TO_WORDS: dict[str, Callable[[int], int]] = {
    "dtof": lambda x: flushed(converted(DOUBLE, SINGLE)(x)),
    "dtoi": to_integer(-(2**31), 2**31 - 1, DOUBLE),
    "dtou": to_integer(0, 2**32 - 1, DOUBLE),
}
FROM_WORDS: dict[str, Callable[[int], int]] = {
    "ftod": lambda x: converted(SINGLE, DOUBLE)(flushed(x)),
    "itod": lambda x: whole(signed(x)),
    "utod": lambda x: whole(x),
}


def whole(number: int) -> int:
    """The bits of an integer as a double, which are exact."""
    (bits,) = np.array([number], np.float64).view(np.uint64).tolist()
    return int(bits)


def operands(count: int) -> list[tuple[int, ...]]:
    """Edges in every combination, and any bits."""
    rng = Random(count)
    edges = {1: DOUBLES, 2: FEW, 3: SOME}[count]
    drawn = [tuple(rng.getrandbits(64) for _ in range(count)) for _ in range(500)]
    return [*itertools.product(edges, repeat=count), *drawn]


def paired(count: int) -> tuple[list[list[Row]], list[tuple[tuple[int, ...], tuple[int, ...]]]]:
    """Lanes of registers that hold two sets of operands each, and these sets."""
    first = operands(count)
    both = list(zip(first, reversed(first), strict=True))
    lanes = [
        [(*halves(x), *halves(y)) for x, y in zip(one, two, strict=True)] for one, two in both
    ]
    return lanes, both


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("suffix", ["", "_sat"])
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_is_exact_and_rounded_once(name: str, suffix: str, engine: str) -> None:
    count, rule = COUNTS.get(name, 2), ARITHMETIC[name]
    lanes, both = paired(count)
    found = ran(f"{name}{suffix} o0.xyzw, {sources(count)}", lanes, engine)
    last = saturated if suffix else canonical
    assert found == [(*halves(last(rule(*one))), *halves(last(rule(*two)))) for one, two in both]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparison_gives_a_mask_of_32_bits_for_each_double(name: str, engine: str) -> None:
    lanes, both = paired(2)
    rule = COMPARISONS[name]
    found = ran(f"{name} o0.yw, {sources(2)}", lanes, engine)
    assert found == [(0, WORD * rule(*one), 0, WORD * rule(*two)) for one, two in both]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", TO_WORDS)
def test_conversion_to_words_truncates_or_rounds_and_flushes(name: str, engine: str) -> None:
    lanes, both = paired(1)
    rule = TO_WORDS[name]
    found = ran(f"{name} o0.xw, {sources(1)}", lanes, engine)
    assert found == [(rule(*one), 0, 0, rule(*two)) for one, two in both]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", FROM_WORDS)
def test_conversion_from_words_is_exact_but_flushes_subnormal_floats(
    name: str, engine: str
) -> None:
    words = FLOATS if name == "ftod" else INTEGERS
    rule = FROM_WORDS[name]
    found = ran(f"{name} o0.xyzw, v0.xwxx", [[(x, 1, 2, x ^ SIGN)] for x in words], engine)
    assert found == [(*halves(rule(x)), *halves(rule(x ^ SIGN))) for x in words]


def test_every_opcode_of_double_precision_is_tested() -> None:
    names = {*ARITHMETIC, *COMPARISONS, *TO_WORDS, *FROM_WORDS, "dmov", "dmovc"}
    assert names == {op.text for op in EVALUATE}


SIGNALLING = halves(0xFFF4000000000123)
ROW = (*SIGNALLING, *halves(0x8000000000000001))


@pytest.mark.parametrize("engine", ENGINES)
def test_moves_keep_all_bits(engine: str) -> None:
    assert one("dmov o0.xyzw, v0.xyzw", ROW, engine=engine) == ROW
    assert one("dmov o0.xyzw, v0.zwxy", ROW, engine=engine) == (*ROW[2:], *ROW[:2])
    body = "dmovc o0.xyzw, v1.wxyz, v0.xyzw, v2.xyzw"
    other = (5, 6, 7, 8)
    assert one(body, ROW, (0, 9, 9, 4), other, engine=engine) == (*ROW[:2], *other[2:])
    assert one(body, ROW, (4, 9, 9, 0), other, engine=engine) == (*other[:2], *ROW[2:])


@pytest.mark.parametrize("engine", ENGINES)
def test_modifiers_act_on_the_sign_bit_of_a_double(engine: str) -> None:
    cleared = (ROW[0], ROW[1] & ~SIGN, ROW[2], ROW[3] & ~SIGN)
    assert one("dmov o0.xyzw, -v0.xyzw", ROW, engine=engine) == cleared
    assert one("dmov o0.xyzw, |v0.xyzw|", ROW, engine=engine) == cleared
    assert one("dmov o0.xyzw, -|v0.xyzw|", ROW, engine=engine) == ROW
    two, three = halves(whole(2)), halves(whole(3))
    assert one("dadd o0.xy, -v0.xyxy, |v0.zwzw|", (*two, *halves(whole(-3))), engine=engine) == (
        *halves(whole(1)),
        0,
        0,
    )
    assert one("dfma o0.zw, -v0.xyxy, v0.zwzw, -v0.xyxy", (*two, *three), engine=engine) == (
        0,
        0,
        *halves(whole(-8)),
    )


def test_integers_are_negated_before_they_become_doubles() -> None:
    assert one("itod o0.xy, -v0.x", (SIGN, 0, 0, 0))[:2] == halves(whole(-(2**31)))
    assert one("utod o0.xy, -v0.x", (1, 0, 0, 0))[:2] == halves(whole(2**32 - 1))
    assert one("ftod o0.xy, -v0.x", (0x3F800000, 0, 0, 0))[:2] == halves(whole(-1))


def test_moves_that_saturate_are_of_doubles() -> None:
    row = (*SIGNALLING, *halves(whole(7)))
    assert one("dmov_sat o0.xyzw, v0.xyzw", row) == (0, 0, *halves(whole(1)))
    assert one("dmovc_sat o0.xyzw, v1.xxxx, v0.xyzw, v0.xyzw", row) == (0, 0, *halves(whole(1)))


ONE, TWO, THREE = (halves(whole(n)) for n in (1, 2, 3))


@pytest.mark.parametrize(
    ("swizzle", "pairs"),
    [("xyzw", (TWO, THREE)), ("zwxy", (THREE, TWO)), ("xyxy", (TWO, TWO)),
     ("zwzw", (THREE, THREE)), ("xwxx", ((TWO[0], THREE[1]), (TWO[0], TWO[0])))],
)  # fmt: skip
def test_source_is_two_doubles_after_the_swizzle(swizzle: str, pairs: tuple[Row, Row]) -> None:
    assert one(f"dmul o0.xyzw, v0.{swizzle}, d(1.0l)", (*TWO, *THREE)) == (*pairs[0], *pairs[1])


@pytest.mark.parametrize("mask", ["xy", "zw"])
def test_double_of_a_mask_is_computed_from_the_same_double_of_the_sources(mask: str) -> None:
    found = one(f"dadd o0.{mask}, v0.xyzw, v1.xyzw", (*ONE, *TWO), (*ONE, *ONE))
    assert found == ((*TWO, 0, 0) if mask == "xy" else (0, 0, *THREE))
    found = one(f"itod o0.{mask}, v0.xyzw", (2, 3, 0, 0))
    assert found == ((*TWO, 0, 0) if mask == "xy" else (0, 0, *THREE))


@pytest.mark.parametrize("mask", ["".join(each) for n in (1, 2)
                                  for each in itertools.combinations(COMPONENTS, n)])  # fmt: skip
def test_words_go_to_the_components_of_the_mask_in_order(mask: str) -> None:
    results = dict(zip(mask, (2, 3), strict=False))
    wanted = tuple(results.get(c, 0) for c in COMPONENTS)
    assert one(f"dtoi o0.{mask}, v0.xyzw", (*TWO, *THREE)) == wanted


def test_literals_are_one_or_two_doubles_low_word_first() -> None:
    assert one("dmov o0.xyzw, d(2.0l)") == (*TWO, *TWO)
    assert one("dmov o0.xyzw, d(2.0l, 3.0l)") == (*TWO, *THREE)
    assert one("dadd o0.xy, d(-2.0l), d(0x4014000000000000)") == (*THREE, 0, 0)
    assert one("dadd o0.xy, -|d(-2.0l)|, d(5l)") == (*THREE, 0, 0)
    assert one("dadd o0.xy, l(0, 0x40000000, 0, 0), d(1.0l)") == (*THREE, 0, 0)
    assert one("mov o0.xyzw, d(2.0l, 3.0l)") == (*TWO, *THREE)
    assert one("mov o0.xyzw, d(nan(0x7ff0000000000001))") == (1, 0x7FF00000) * 2
    assert one("iadd o0.xy, d(2.0l), l(1)") == (1, 0x40000001, 0, 0)


def test_subnormal_doubles_are_not_flushed() -> None:
    least = (1, 0)
    assert one("dadd o0.xy, v0.xyxy, v0.xyxy", (*least, 0, 0)) == (2, 0, 0, 0)
    assert one("dmul o0.xy, v0.xyxy, d(0.5l)", (2, 0, 0, 0)) == (1, 0, 0, 0)
    assert one("dlt o0.x, d(0.0l), v0.xyxy", (*least, 0, 0))[0] == WORD
    assert one("drcp o0.xy, d(1.1125369292536007e-308l)")[:2] == halves(0x7FE0000000000000)


STORAGE = [
    ("dcl_temps 1", "dadd r0.xyzw, v0.xyzw, v0.xyzw\ndmul o0.xyzw, r0.zwxy, v0.xyxy"),
    ("dcl_indexableTemp x0[3], 4\ndcl_temps 1",
     "mov r0.x, l(1)\ndadd x0[r0.x + 1].xyzw, v0.xyzw, v0.xyzw\n"
     "dmul o0.xyzw, x0[2].zwxy, v0.xyxy"),
]  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("declaration", "body"), STORAGE)
def test_registers_hold_doubles_as_pairs(declaration: str, body: str, engine: str) -> None:
    text = f"vs_5_0\n{FLAGS}\ndcl_input v0.xyzw\ndcl_output o0.xyzw\n{declaration}\n{body}\nret\n"
    program = lowered(text).program
    inputs = {
        f"v0.{c}": np.array([word], np.uint32).view(np.int32)
        for c, word in zip(COMPONENTS, (*TWO, *THREE), strict=True)
    }
    outputs = ENGINES[engine](program, inputs, {}, 1).outputs
    found = [int(outputs[f"o0.{c}"].view(np.uint32)[0]) for c in COMPONENTS]
    assert found == [*halves(whole(12)), *halves(whole(8))]


@pytest.mark.parametrize("engine", ENGINES)
def test_constant_buffers_hold_doubles_as_pairs(engine: str) -> None:
    body = "dfma o0.xyzw, cb0[v0.x + 1].xyzw, cb0[0].zwzw, icb[0].xyxy"
    declarations = (
        f"{FLAGS}\ndcl_constantbuffer cb0[2], dynamicIndexed\n"
        f"dcl_immediateConstantBuffer {{ {{ 0, {ONE[1]}, 0, 0 }} }}"
    )
    program = lowered(vs_text(body, declarations)).program
    words = np.array([*ONE, *TWO, *THREE, *TWO], np.uint32).view(np.int32)
    icb = np.array([*ONE, 0, 0], np.uint32).view(np.int32)
    inputs = {port.name: np.zeros(1, Type.I32.dtype) for port in program.inputs}
    outputs = ENGINES[engine](program, inputs, {"cb0": words, "icb": icb}, 1).outputs
    found = [int(np.asarray(outputs[f"o0.{c}"]).view(np.uint32)[0]) for c in COMPONENTS]
    assert found == [*halves(whole(7)), *halves(whole(5))]


# What is refused

EXTENDED = {"ddiv", "dfma", "drcp", "dtoi", "dtou", "itod", "utod"}


def line_of(name: str) -> str:
    count = {**COUNTS, "dmov": 1, "dmovc": 3}.get(name, 2 if name in COMPARISONS else 0)
    count = count or (1 if name in {**TO_WORDS, **FROM_WORDS} else 2)
    mask = "x" if name in {**COMPARISONS, **TO_WORDS} else "xy"
    return f"{name} o0.{mask}, {sources(count)}"


@pytest.mark.parametrize("name", sorted(op.text for op in EVALUATE))
def test_doubles_need_their_global_flag(name: str) -> None:
    flag = "enable11_1DoubleExtensions" if name in EXTENDED else "enableDoublePrecisionFloatOps"
    others = ["", "dcl_globalFlags refactoringAllowed", *[PLAIN] * (name in EXTENDED)]
    for given in others:
        with pytest.raises(ShaderError, match=f"{name} of doubles without the flag {flag}"):
            lowered(vs_text(line_of(name), given))
    lowered(vs_text(line_of(name), f"dcl_globalFlags {flag}"))


def test_literals_need_the_global_flag() -> None:
    with pytest.raises(ShaderError, match="mov of doubles without the flag enableDouble"):
        lowered(vs_text("mov o0.xy, d(1.0l)"))


@pytest.mark.parametrize("mask", ["x", "yz", "xyz", "xw", "yzw"])
def test_other_masks_of_doubles_are_refused(mask: str) -> None:
    with pytest.raises(ShaderError, match=f"dadd to .{mask}, expected .xy, .zw or .xyzw"):
        lowered(vs_text(f"dadd o0.{mask}, v0.xyzw, v1.xyzw", FLAGS))


@pytest.mark.parametrize("mask", ["xyz", "xyzw"])
def test_more_than_two_results_of_doubles_are_refused(mask: str) -> None:
    with pytest.raises(ShaderError, match=f"dlt to .{mask}, expected one or two components"):
        lowered(vs_text(f"dlt o0.{mask}, v0.xyzw, v1.xyzw", FLAGS))


HEADS = {
    Stage.GEOMETRY: "dcl_inputprimitive point\ndcl_outputtopology pointlist\ndcl_maxout 1",
    Stage.COMPUTE: "dcl_thread_group 1, 1, 1",
}
OLD = [each for each in VERSIONS if each.level < (5, 0)]
NEW = [each for each in VERSIONS if each.level >= (5, 0) and each.stage is not Stage.HULL]


def adding(version: Version) -> str:
    head = f"{version.name}\n{FLAGS}\n{HEADS.get(version.stage, '')}\ndcl_temps 1\n"
    return f"{head}dadd r0.xy, r0.xyxy, r0.zwzw\nret\n"


@pytest.mark.parametrize("version", OLD, ids=lambda version: version.name)
def test_shader_models_before_5_have_no_doubles(version: Version) -> None:
    with pytest.raises(ShaderError, match=f"{version.name} has no dadd"):
        assemble(adding(version))


@pytest.mark.parametrize("version", NEW, ids=lambda version: version.name)
def test_every_stage_of_5_0_has_doubles(version: Version) -> None:
    lowered(adding(version))


def test_hull_shaders_declare_the_flag_once_for_all_phases() -> None:
    text = (
        "hs_5_0\nhs_decls\n{flags}\ndcl_input_control_point_count 1\n"
        "dcl_output_control_point_count 1\ndcl_tessellator_domain domain_isoline\n"
        "dcl_tessellator_partitioning partitioning_integer\n"
        "dcl_tessellator_output_primitive output_line\n"
        "hs_fork_phase\ndcl_output o0.x\ndcl_temps 1\ndadd r0.xy, d(1.0l), d(2.0l)\n"
        "dtof o0.x, r0.xyxy\nret\n"
    )
    assert lower_hull(decode(assemble(text.format(flags=PLAIN)))).constants
    with pytest.raises(ShaderError, match="dadd of doubles without the flag"):
        lower_hull(decode(assemble(text.format(flags=""))))


def test_null_destination_needs_no_mask() -> None:
    assert one("dadd null, v0.xyzw, v1.xyzw\nmov o0.x, l(3)") == (3, 0, 0, 0)


def test_text_of_doubles_survives_the_round_trip() -> None:
    body = "dfma_sat o0.xyzw, -|v0.zwxy|, d(0.1l, inf), cb0[1].xyxy"
    code = assemble(vs_text(body, f"{FLAGS}\ndcl_constantbuffer cb0[2], immediateIndexed"))
    text = disassemble(code)
    assert body in text and FLAGS in text
    assert assemble(text) == code


def test_python_floats_agree_with_sums_products_and_quotients() -> None:
    rng = Random(7)
    lanes = [[rng.uniform(-9, 9) * 2.0 ** rng.randrange(-40, 40) for _ in "xy"] for _ in range(99)]
    rows = [[(*bits(x), 0, 0) for x in each] for each in lanes]
    for name, rule in {
        "dadd": lambda x, y: x + y,
        "dmul": lambda x, y: x * y,
        "ddiv": lambda x, y: x / y,
        "dmin": min,
        "dmax": max,
    }.items():
        found = ran(f"{name} o0.xy, {sources(2)}", rows, "reference")
        assert found == [(*bits(rule(*each)), 0, 0) for each in lanes]  # type: ignore[operator]


def bits(x: float) -> tuple[int, int]:
    return halves(int(np.float64(x).view(np.uint64)))
