"""Lines of text: what they may look like, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from dp2emu.errors import ShaderError
from dp2emu.shader.sm4 import assemble
from dp2emu.shader.sm4.assemble import instruction_of
from dp2emu.shader.sm4.disassemble import text_of

CANONICAL = [
    "mov r0.x, l(0)",
    "mov_sat r0.xyz, -|r1.xyzw|",
    "add r0.xyzw, |r1.xxxx|, -r2.wzyx",
    "mov o[r0.x + 3].x, x0[r1.y + 0].z",
    "mov x3[2].xw, icb[r0.x + 4].xyzw",
    "mov r0.x, icb[7].x",
    "mov r0.x, v[2][1].x",
    "mov r0.x, v[r0.x + 1][2].x",
    "mov r0.x, vicp[3][x0[1].y + 2].x",
    "mov r0.x, vpc4.x",
    "mov r0.x, cb14[x0[3].w + 4095].x",
    "mul oDepth, r0.x, l(-0.0)",
    "mul r0.x, r0.x, l(nan(0x7fc00001))",
    "mul r0.x, r0.x, l(1e-10)",
    "mul r0.x, r0.x, l(-inf)",
    "iadd r0.x, r0.x, l(-1)",
    "iadd r0.x, r0.x, l(0x7fffffff)",
    "and r0.xyzw, r0.xyzw, l(0x3f800000, 1, -2, 65535)",
    "mov r0.xyzw, l(1.0, 0, 3, 0x7f800000)",
    "dadd r0.xy, r0.xyxy, d(1.0l, 5e-324l)",
    "dmul_sat r0.zw, -|r0.xyxy|, d(-0.0l, 0.1l)",
    "dfma r0.xyzw, cb0[1].zwxy, d(inf, -inf), -d(1.7976931348623157e+308l)",
    "deq r0.yw, r0.zwzw, d(nan(0x7ff8000000000000), nan(0xfff0000000000001))",
    "drcp r0.xy, d(2.2250738585072014e-308l, 123456789.0l)",
    "dmovc r0.xyzw, r1.xwxx, r2.zwxy, r3.xyxy",
    "ftod r0.xyzw, l(1.0, 0.5, 0.0, 0.0)",
    "dtou r0.w, -r1.zwzw",
    "imul null, r0.x, r0.y, l(3)",
    "sincos r0.x, null, r0.x",
    "if_z r0.x",
    "discard_nz vPrim",
    "call l4",
    "callc_nz r0.x, l4",
    "case l(0x7fffffff)",
    "sample_aoffimmi(-8,7,0) r0.xyzw, v0.xyxx, t0.wzyx, s0",
    "sample_indexable(texture2d)(float,float,float,float) r0.xyzw, v0.xyxx, t0.xyzw, s0",
    "sample_b_aoffimmi_indexable(1,0,0)(texturecube)(unorm,unorm,unorm,unorm) "
    "r0.x, v0.xyzx, t0.xyzw, s0, l(0.5)",
    "ld_structured_indexable(structured_buffer, stride=16)(mixed,mixed,mixed,mixed) "
    "r0.x, r0.x, l(4), t0.xxxx",
    "gather4 r0.xyzw, v0.xyxx, t0.xyzw, s0.y",
    "resinfo r0.xy, l(0), t0.xyzw",
    "resinfo_uint r0.xy, l(0), t0.xyzw",
    "resinfo_rcpfloat r0.xy, l(0), t0.xyzw",
    "sampleinfo r0.x, rasterizer",
    "sampleinfo_uint r0.x, rasterizer",
    "samplepos r0.xy, t0.xyxx, l(1)",
    "mul [precise(xz)] r0.xyz, r0.xyzw, r1.xyzw",
    "mul r0.x {min16f}, r0.x {min2_8f}, -r1.x {min16i}",
    "sync_uglobal_ugroup_g_t",
    "sync_g",
    "store_raw g0.xy, r0.x, r1.xyzw",
    "atomic_iadd u2, r0.x, l(1)",
    "imm_atomic_cmp_exch r0.x, u0, r0.x, r0.y, r0.z",
    "imm_atomic_alloc r0.x, u0",
    "fcall 3, fp0[r0.x + 1]",
    "emitthencut_stream m2",
    "swapc r0.x, r1.x, r2.x, r3.x, l(0)",
]


@pytest.mark.parametrize("line", CANONICAL)
def test_line_reads_as_it_is_written(line: str) -> None:
    assert text_of(instruction_of(line)) == line


OTHERWISE = [
    ("MOV R0.X, L( 0x0 )", "mov r0.x, l(0)"),
    ("mov r0, r1", "mov r0.xyzw, r1.xyzw"),
    ("mov r0, v[1][2]", "mov r0.xyzw, v[1][2].xyzw"),
    ("mov r0.x, r1.xy", "mov r0.x, r1.xyyy"),
    ("mov r0.x, - | r1.x |", "mov r0.x, -|r1.x|"),
    ("mov r0.x, cb0[3 + r1.x + 1].x", "mov r0.x, cb0[r1.x + 4].x"),
    ("mov r[0].x, cb[1][2].x", "mov r0.x, cb1[2].x"),
    ("mov o[r0.x].x, l(1)", "mov o[r0.x + 0].x, l(1)"),
    ("add   r0.x ,r1.x,r2.x", "add r0.x, r1.x, r2.x"),
    ("dcl_input_ps   linear   noperspective  v0.x", "dcl_input_ps linear noperspective v0.x"),
    ("dcl_temps 0x10", "dcl_temps 16"),
    ("dmov r0.xy, d(0x3ff0000000000000, 1)", "dmov r0.xy, d(1.0l, 5e-324l)"),
    ("dmov r0.xy, d(1.000000l, -3l)", "dmov r0.xy, d(1.0l, -3.0l)"),
    ("dmov r0.xy, D(0.1, 1e3)", "dmov r0.xy, d(0.1l, 1000.0l)"),
    (f"dmov r0.xy, d({2.0**1023:f}l)", "dmov r0.xy, d(8.98846567431158e+307l)"),
    (
        "dcl_resource_texture2d ( float , float,float,float ) t0",
        "dcl_resource_texture2d (float,float,float,float) t0",
    ),
]


@pytest.mark.parametrize(("line", "canonical"), OTHERWISE)
def test_other_spellings_mean_the_same(line: str, canonical: str) -> None:
    assert text_of(instruction_of(line)) == canonical


REFUSED = [
    ("", "is no instruction"),
    ("+", "is no instruction"),
    ("frobnicate r0.x", "there is no frobnicate"),
    ("iadd_sat r0.x, r0.x, r0.x", "there is no iadd_sat"),
    ("if r0.x", "there is no if"),
    ("mov(1) r0.x, r0.x", r"there is no mov\(1\)"),
    ("mov r0.x", "mov has 2 operands, not 1"),
    ("mov r0.x,, r0.x", "mov has 2 operands, not 3"),
    ("ret r0.x", "ret has 0 operands, not 1"),
    ("mov r0.x, ", "mov has 2 operands, not 1|is no register"),
    ("mov r0.x, q0", "q0 is no register"),
    ("mov r0.x, 5", "5 is no register"),
    ("mov r0.yx, r0.x", "components of a mask are out of order"),
    ("mov r0.xx, r0.x", "components of a mask are out of order"),
    ("mov r0.q, r0.x", r"\.q are no components"),
    ("mov r0.xyzwx, r0.x", "are no components"),
    ("mov r0.x, r0.x.x", "are no components"),
    ("mov r0.x, |r0.x", "is no operand"),
    ("mov r0.x, r0.x|", "is no operand"),
    ("mov r0.x, r0.x {max16f}", "max16f is no precision"),
    ("mov r0.x, l(1, 2)", "2 numbers are no immediate"),
    ("mov r0.x, l()", "is no 32-bit number"),
    ("mov r0.x, l(4294967296)", "4294967296 is no 32-bit number"),
    ("mov r0.x, l(-2147483649)", "is no 32-bit number"),
    ("mov r0.x, l(1e99)", "is no 32-bit number"),
    ("mov r0.x, l(one)", "one is no 32-bit number"),
    ("dadd r0.xy, r0.x, d(1.0ll)", "1.0ll is no 64-bit number"),
    ("dadd r0.xy, r0.x, d(-1)", "-1 is no 64-bit number"),
    ("dadd r0.xy, r0.x, d(1e309l)", "1e309l is no 64-bit number"),
    ("dadd r0.xy, r0.x, d(nan(0x7ff0000000000000))", "is no 64-bit number"),
    ("dadd r0.xy, r0.x, d(0x10000000000000000)", "is no 64-bit number"),
    ("mov r4294967296.x, r0.x", "is no unsigned 32-bit number"),
    ("mov r0.x, cb0[4294967295 + r0.x + 1].x", "is no index"),
    ("mov r0.x, cb0[r0.x + r1.x].x", "is no index"),
    ("mov r0.x, cb0[r0.x", "is not closed|are no components"),
    ("mov r0.x, cb0[x0[x0[x0[0].x].x].x].x", "is indexed too often"),
    ("mov r0.x, cb0[].x", "is no register"),
    ("mov r0.x, v[0][1][2][3].x", "has more than 3 indices"),
    ("sample_aoffimmi(8,0,0) r0.x, v0.x, t0, s0", "three texel offsets from -8 to 7"),
    ("sample_aoffimmi(1,0) r0.x, v0.x, t0, s0", "three texel offsets"),
    ("sample_aoffimmi r0.x, v0.x, t0, s0", "three texel offsets"),
    ("sample_indexable r0.x, v0.x, t0, s0", "the dimension of the resource is missing"),
    ("sample_indexable(texture4d) r0.x, v0.x, t0, s0", "texture4d is no dimension"),
    ("sample_indexable(texture2d)(float) r0.x, v0.x, t0, s0", "a resource has four types"),
    ("sample_indexable(texture2d, size=3) r0.x, v0.x, t0, s0", "size=3 is no stride"),
    ("sample_indexable(buffer, stride=2048) r0.x, v0.x, t0, s0", "2048 bytes do not fit"),
    ("dcl_input", "is no declaration"),
    ("dcl_resource_texture2d (float,float,float) t0", "returns"),
    ("dcl_resource_texture2d (float,float,float,flat) t0", "flat is no returntype"),
    ("dcl_sampler s0, mode_fast", "is no declaration"),
    ("dcl_input_sgv v0.x, vertex", "is no declaration"),
    ("dcl_globalFlags everythingAllowed", "everythingallowed is no global flag"),
    ("dcl_temps f", "f is no unsigned 32-bit number"),
    ("dcl_temps -1", "is no declaration"),
    ("dcl_input_control_point_count 64", "a number does not fit"),
    ("dcl_hs_max_tessfactor l(big)", "big is no 32-bit number"),
    ("dcl_thread_group 1, 2", "is no declaration"),
    ("dcl_immediateConstantBuffer { 1, 2 }", "is no row of constants"),
    ("dcl_immediateConstantBuffer { { 1, 2, 3, x } }", "x is no 32-bit number"),
]


@pytest.mark.parametrize(("line", "what"), REFUSED)
def test_bad_line_is_refused(line: str, what: str) -> None:
    with pytest.raises(ShaderError, match=what):
        instruction_of(line)


def test_remarks_and_open_braces() -> None:
    text = """// a remark
    vs_4_0 /* and
    another */
    dcl_immediateConstantBuffer { { 1.0, 0, 0, 0}, // a row
                                  { 0, 0, 0, 1.0} }
    ret ; the end
    """
    plain = "vs_4_0\ndcl_immediateConstantBuffer { { 1.0, 0, 0, 0 }, { 0, 0, 0, 1.0 } }\nret"
    assert assemble(text) == assemble(plain)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "line 1: there is no shader version"),
        ("\n// nothing\n", "line 1: there is no shader version"),
        ("\nvs_6_0", "line 2: vs_6_0 is no shader version"),
        ("vs_4_0\n\ndword 0x100000000", "line 3: 0x100000000 is no number from 0 to 0xffffffff"),
        ("vs_4_0\nraw 00\nret", "line 3: only raw bytes may follow raw bytes"),
        ("vs_4_0\ndcl_immediateConstantBuffer { { 1", "line 2: .* is no declaration"),
        ("vs_4_0\ndword 0x0100006f", "line 2: vs_4_0 has no sampleinfo"),
    ],
)
def test_bad_text_is_refused_by_line(text: str, what: str) -> None:
    with pytest.raises(ShaderError, match=what):
        assemble(text)


@pytest.mark.parametrize(
    "line",
    [
        "mov r0.x, " + "cb0[" * 5000,
        "mov r0.x, " + "-" * 50000,
        "mov r0.x," + " " * 50000 + "x",
        "dcl_input " + "v " * 50000,
        "dcl_input_sgv " + "," * 50000,
        "dcl_globalFlags " + "| " * 50000,
        "dcl_immediateConstantBuffer {" + "{" * 50000 + "}" * 50001,
        "mov" + "(" * 50000,
        "mov" + "()" * 25000,
        "dcl_resource_" + "texture" * 8000,
    ],
    ids=lambda line: line[:24],
)
def test_monstrous_line_is_refused_all_the_same(line: str) -> None:
    with pytest.raises(ShaderError):
        assemble(f"vs_4_0\n{line}")


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("sampleinfo r0.x, rasterizer", 0),
        ("sampleinfo_uint r0.x, rasterizer", 1),
        ("resinfo r0.x, l(0), t0", 0),
        ("resinfo_rcpfloat r0.x, l(0), t0", 1),
        ("resinfo_uint r0.x, l(0), t0", 2),
    ],
)
def test_sampleinfo_and_resinfo_number_their_result_types_differently(
    line: str, number: int
) -> None:
    head = "ps_4_1\ndcl_resource_texture2d (float,float,float,float) t0\ndcl_temps 1"
    words = np.frombuffer(assemble(f"{head}\n{line}\nret"), "<u4")
    opcode = 111 if "sample" in line else 61
    (token,) = (word for word in words.tolist() if word & 0x7FF == opcode and word >> 24 < 16)
    assert token >> 11 & 3 == number
