"""Every arithmetic opcode in every version against a model of it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dp2emu.shader import reference
from dp2emu.shader.engines import JIT, engine
from dp2emu.shader.sm.lower import EFFECTS, arithmetic, texture
from dp2emu.shader.sm.opcodes import Group, Op
from dp2emu.shader.sm.versions import V1_4, V2_0, V3_0, VERSIONS, Stage, Version
from tests.shader.sm.lower.models import MODELS, nearly
from tests.shader.sm.lower.running import execute, inputs, lowered, vs

SOURCES = 5
EDGES = (
    0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -2.5, 0.75, 1e-3, 127.5, -130.0, 3e38, -3e38,
    1e-40, 1.1754944e-38, math.inf, -math.inf, math.nan, 0.50000006, -0.49999997, 1e30, 100.0,
)  # fmt: skip
LANES = 64

MULTIPLE_ROWS = {op: op.row.rows for op in Op if op.row.rows > 1}
CASES = [
    pytest.param(op, version, id=f"{op.name}-{version.name}")
    for op in MODELS
    for version in VERSIONS
    if op.row.form(version)
]


def values() -> np.ndarray:
    """Sources, shape (SOURCES, 4, LANES): edge values by chance, and some ordinary numbers."""
    rng = np.random.default_rng(3)
    edges = rng.choice(np.array(EDGES, np.float32), (SOURCES, 4, LANES))
    plain = rng.standard_normal((SOURCES, 4, LANES)).astype(np.float32) * 4
    return np.where(rng.random((SOURCES, 4, LANES)) < 0.5, edges, plain)


VALUES = values()


def sources(version: Version) -> tuple[list[str], list[str], str]:
    """Registers that hold ``VALUES``, what has to stand before, and the inputs they are."""
    if version.stage is Stage.VERTEX:
        return [f"v{n}" for n in range(SOURCES)], [], "v"
    if version.level >= V3_0:
        declared = [f"dcl_texcoord{n} v{n}" for n in range(SOURCES)]
        return [f"v{n}" for n in range(SOURCES)], declared, "texcoord"
    if version.level == V1_4:
        copies = [f"texcrd r{n + 1}, t{n}" for n in range(SOURCES)]
        return [f"r{n + 1}" for n in range(SOURCES)], copies, "texcoord"
    return [f"t{n}" for n in range(SOURCES)], [], "texcoord"


def result_lines(version: Version) -> tuple[list[str], list[str], str]:
    """What declares the output, what copies r0 there, and the output's name."""
    if version.stage is Stage.PIXEL:
        return [], [] if version.level < V2_0 else ["mov oC0, r0"], "target0"
    if version.level < V3_0:
        return [], ["mov oT0, r0"], "texcoord0"
    return ["dcl_position o0", "dcl_texcoord o1"], ["mov o1, r0"], "texcoord0"


def run_op(op: Op, version: Version) -> np.ndarray:
    """r0 after an instruction, shape (4, LANES)."""
    row = op.row
    form = row.form(version)
    assert form is not None
    registers, before, name = sources(version)
    declared, after, out = result_lines(version)
    operands = ", ".join(["r0", *registers[: len(form.sources)]])
    lines = [version.name, *declared, *before, f"{form.name} {operands}", *after]
    ports = {f"{name}{n}.{c}": VALUES[n, i] for n in range(SOURCES) for i, c in enumerate("xyzw")}
    program = lowered("\n".join(lines)).program
    result = execute(program, ports, lanes=LANES).outputs
    return np.array([result[f"{out}.{c}"] for c in "xyzw"])


def close(found: np.float32, wanted: float) -> bool:
    """Within what the errors of exp2 and log2 allow, rounding of a product between included."""
    if not math.isfinite(wanted) or not math.isfinite(found):
        return found == np.float32(wanted) or (math.isnan(found) and math.isnan(wanted))
    return abs(float(found) - wanted) <= 2e-5 * abs(wanted) + 1e-6


def same(found: np.float32, wanted: float) -> bool:
    """The same bits, but for what kind of NaN it is."""
    if math.isnan(wanted):
        return math.isnan(found)
    return found.tobytes() == np.float32(wanted).tobytes()


@pytest.mark.parametrize(("op", "version"), CASES)
def test_opcode_computes_what_its_model_does(op: Op, version: Version) -> None:
    found = run_op(op, version)
    equal = [close if nearly(op, version, c) else same for c in range(4)]
    count = MULTIPLE_ROWS.get(op, 1) + len(op.row.form(version).sources) - 1
    with np.errstate(all="ignore"):
        for lane in range(LANES):
            vectors = [list(VALUES[n, :, lane]) for n in range(count)]
            wanted = [0.0 if x is None else x for x in MODELS[op](version, *vectors)]
            for c in range(4):
                seen = lane, c, vectors, found[:, lane], wanted
                assert equal[c](found[c, lane], wanted[c]), seen


@pytest.mark.parametrize("version", ["vs_1_1", "vs_2_0", "vs_3_0", "ps_2_0", "ps_3_0"])
@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("mul r0, r1, r2.w", [0, 0, 0, 0]),
        ("mad r0, r1, r2, r1", [0, 0, 0, 0]),
        ("dp3 r0, r1, r2", [0, 0, 0, 0]),
        ("dp4 r0, r2, r1", [0, 0, 0, 0]),
    ],
)
def test_0_times_infinity_or_nan_is_0_in_every_version(
    version: str, line: str, wanted: list[float]
) -> None:
    """Of rcp of 0 too: nothing of it is left in a product with 0."""
    output, declared = ("oPos", "") if version.startswith("vs") else ("oC0", "")
    if version == "vs_3_0":
        output, declared = "o0", "dcl_position o0\n"
    text = f"""{version}\n{declared}def c0, 0.0, 0.0, -0.0, 0.0\ndef c1, nan(0x7fc00000), 0, 0, 0
        mov r1, c0\nrcp r2, r1.x\nmov r2.y, c1.x\n{line}\nmov {output}, r0"""
    program = lowered(text).program
    name = "target0" if output == "oC0" else "position0"
    for target in (reference.run, engine(JIT)):
        found = target(program, {}, {}, 1).outputs
        assert [found[f"{name}.{c}"].tobytes() for c in "xyzw"] == [
            np.float32(each).tobytes() for each in wanted
        ]


@pytest.mark.parametrize(
    ("version", "wanted"), [("vs_1_1", math.inf), ("vs_2_0", -math.inf), ("vs_3_0", -math.inf)]
)
def test_rcp_of_minus_0_is_minus_infinity_from_2_0_on(version: str, wanted: float) -> None:
    output, declared = ("o0", "dcl_position o0\n") if version == "vs_3_0" else ("oPos", "")
    text = f"{version}\n{declared}rcp r0, -v0.x\nmov {output}, r0"
    program = lowered(text).program
    for target in (reference.run, engine(JIT)):
        found = target(program, {"v0.x": np.zeros(1, np.float32)}, {}, 1).outputs
        assert found["position0.x"].tolist() == [wanted]


@pytest.mark.parametrize(("power", "wanted"), [(1000, 127.9961), (-1000, -127.9961), (9, 9)])
def test_power_of_lit_is_clamped(power: float, wanted: float) -> None:
    found = vs("lit o1, v0", inputs=inputs(v0=(1, 1.0625, 0, power)))
    assert found[2] == pytest.approx(1.0625**wanted, rel=1e-4)


def test_every_opcode_that_does_something_is_lowered() -> None:
    setup = {Group.CONSTANT, Group.DECLARATION}
    done = {*arithmetic.EVALUATE, *texture.EVALUATE, *texture.EVALUATE_1_0, *EFFECTS}
    left = {op for op in Op if op.row.group not in setup} - done
    assert left == {Op.LABEL, Op.RET}
    assert set(arithmetic.EVALUATE) - set(MODELS) == {Op.MOVA, Op.SETP, Op.BEM, Op.DSX, Op.DSY}
