"""The opcode table against a list that was written down apart from it."""

from __future__ import annotations

import pytest

from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.versions import BY_NAME, V4_0, VERSIONS, Stage

LIST = """
0 add_sat dss 4.0; 1 and dss 4.0; 2 break - 4.0; 3 breakc s 4.0; 4 call l 4.0; 5 callc sl 4.0;
6 case s 4.0; 7 continue - 4.0; 8 continuec s 4.0; 9 cut - 4.0; 10 default - 4.0;
11 deriv_rtx_sat ds 4.0; 12 deriv_rty_sat ds 4.0; 13 discard s 4.0; 14 div_sat dss 4.0;
15 dp2_sat dss 4.0; 16 dp3_sat dss 4.0; 17 dp4_sat dss 4.0; 18 else - 4.0; 19 emit - 4.0;
20 emitthencut - 4.0; 21 endif - 4.0; 22 endloop - 4.0; 23 endswitch - 4.0; 24 eq dss 4.0;
25 exp_sat ds 4.0; 26 frc_sat ds 4.0; 27 ftoi ds 4.0; 28 ftou ds 4.0; 29 ge dss 4.0;
30 iadd dss 4.0; 31 if s 4.0; 32 ieq dss 4.0; 33 ige dss 4.0; 34 ilt dss 4.0;
35 imad dsss 4.0; 36 imax dss 4.0; 37 imin dss 4.0; 38 imul ddss 4.0; 39 ine dss 4.0;
40 ineg ds 4.0; 41 ishl dss 4.0; 42 ishr dss 4.0; 43 itof ds 4.0; 44 label l 4.0;
45 ld dst 4.0; 46 ldms dsts 4.0; 47 log_sat ds 4.0; 48 loop - 4.0; 49 lt dss 4.0;
50 mad_sat dsss 4.0; 51 min_sat dss 4.0; 52 max_sat dss 4.0; 53 customdata * 4.0;
54 mov_sat ds 4.0; 55 movc_sat dsss 4.0; 56 mul_sat dss 4.0; 57 ne dss 4.0; 58 nop - 4.0;
59 not ds 4.0; 60 or dss 4.0; 61 resinfo dst 4.0; 62 ret - 4.0; 63 retc s 4.0;
64 round_ne_sat ds 4.0; 65 round_ni_sat ds 4.0; 66 round_pi_sat ds 4.0; 67 round_z_sat ds 4.0;
68 rsq_sat ds 4.0; 69 sample dstp 4.0; 70 sample_c dstps 4.0; 71 sample_c_lz dstps 4.0;
72 sample_l dstps 4.0; 73 sample_d dstpss 4.0; 74 sample_b dstps 4.0; 75 sqrt_sat ds 4.0;
76 switch s 4.0; 77 sincos_sat dds 4.0; 78 udiv ddss 4.0; 79 ult dss 4.0; 80 uge dss 4.0;
81 umul ddss 4.0; 82 umad dsss 4.0; 83 umax dss 4.0; 84 umin dss 4.0; 85 ushr dss 4.0;
86 utof ds 4.0; 87 xor dss 4.0; 88 dcl_resource * 4.0; 89 dcl_constantbuffer * 4.0;
90 dcl_sampler * 4.0; 91 dcl_indexrange * 4.0; 92 dcl_outputtopology * 4.0;
93 dcl_inputprimitive * 4.0; 94 dcl_maxout * 4.0; 95 dcl_input * 4.0; 96 dcl_input_sgv * 4.0;
97 dcl_input_siv * 4.0; 98 dcl_input_ps * 4.0; 99 dcl_input_ps_sgv * 4.0;
100 dcl_input_ps_siv * 4.0; 101 dcl_output * 4.0; 102 dcl_output_sgv * 4.0;
103 dcl_output_siv * 4.0; 104 dcl_temps * 4.0; 105 dcl_indexableTemp * 4.0;
106 dcl_globalFlags * 4.0; 108 lod dstp 4.1; 109 gather4 dstp 4.1; 110 samplepos dts 4.1;
111 sampleinfo dt 4.1; 113 hs_decls - 5.0; 114 hs_control_point_phase - 5.0;
115 hs_fork_phase - 5.0; 116 hs_join_phase - 5.0; 117 emit_stream m 5.0; 118 cut_stream m 5.0;
119 emitthencut_stream m 5.0; 120 fcall F 5.0; 121 bufinfo dt 5.0;
122 deriv_rtx_coarse_sat ds 5.0; 123 deriv_rtx_fine_sat ds 5.0;
124 deriv_rty_coarse_sat ds 5.0; 125 deriv_rty_fine_sat ds 5.0; 126 gather4_c dstps 5.0;
127 gather4_po dsstp 5.0; 128 gather4_po_c dsstps 5.0; 129 rcp_sat ds 5.0;
130 f32tof16 ds 5.0; 131 f16tof32 ds 5.0; 132 uaddc ddss 5.0; 133 usubb ddss 5.0;
134 countbits ds 5.0; 135 firstbit_hi ds 5.0; 136 firstbit_lo ds 5.0; 137 firstbit_shi ds 5.0;
138 ubfe dsss 5.0; 139 ibfe dsss 5.0; 140 bfi dssss 5.0; 141 bfrev ds 5.0;
142 swapc ddsss 5.0; 143 dcl_stream * 5.0; 144 dcl_function_body * 5.0;
145 dcl_function_table * 5.0; 146 dcl_interface * 5.0;
147 dcl_input_control_point_count * 5.0; 148 dcl_output_control_point_count * 5.0;
149 dcl_tessellator_domain * 5.0; 150 dcl_tessellator_partitioning * 5.0;
151 dcl_tessellator_output_primitive * 5.0; 152 dcl_hs_max_tessfactor * 5.0;
153 dcl_hs_fork_phase_instance_count * 5.0; 154 dcl_hs_join_phase_instance_count * 5.0;
155 dcl_thread_group * 5.0; 156 dcl_uav_typed * 5.0; 157 dcl_uav_raw * 5.0;
158 dcl_uav_structured * 5.0; 159 dcl_tgsm_raw * 5.0; 160 dcl_tgsm_structured * 5.0;
161 dcl_resource_raw * 5.0; 162 dcl_resource_structured * 5.0; 163 ld_uav_typed dst 5.0;
164 store_uav_typed uss 5.0; 165 ld_raw dst 5.0; 166 store_raw uss 5.0;
167 ld_structured dsst 5.0; 168 store_structured usss 5.0; 169 atomic_and uss 5.0;
170 atomic_or uss 5.0; 171 atomic_xor uss 5.0; 172 atomic_cmp_store usss 5.0;
173 atomic_iadd uss 5.0; 174 atomic_imax uss 5.0; 175 atomic_imin uss 5.0;
176 atomic_umax uss 5.0; 177 atomic_umin uss 5.0; 178 imm_atomic_alloc du 5.0;
179 imm_atomic_consume du 5.0; 180 imm_atomic_iadd duss 5.0; 181 imm_atomic_and duss 5.0;
182 imm_atomic_or duss 5.0; 183 imm_atomic_xor duss 5.0; 184 imm_atomic_exch duss 5.0;
185 imm_atomic_cmp_exch dusss 5.0; 186 imm_atomic_imax duss 5.0; 187 imm_atomic_imin duss 5.0;
188 imm_atomic_umax duss 5.0; 189 imm_atomic_umin duss 5.0; 190 sync - 5.0;
191 dadd_sat dss 5.0; 192 dmax_sat dss 5.0; 193 dmin_sat dss 5.0; 194 dmul_sat dss 5.0;
195 deq dss 5.0; 196 dge dss 5.0; 197 dlt dss 5.0; 198 dne dss 5.0; 199 dmov_sat ds 5.0;
200 dmovc_sat dsss 5.0; 201 dtof ds 5.0; 202 ftod ds 5.0; 203 eval_snapped dss 5.0;
204 eval_sample_index dss 5.0; 205 eval_centroid ds 5.0; 206 dcl_gsinstances * 5.0;
207 abort - 5.0; 208 debug_break - 5.0; 210 ddiv_sat dss 5.0; 211 dfma_sat dsss 5.0;
212 drcp_sat ds 5.0; 213 msad dsss 5.0; 214 dtoi ds 5.0; 215 dtou ds 5.0; 216 itod ds 5.0;
217 utod ds 5.0; 219 gather4_s ddstp 5.0; 220 gather4_c_s ddstps 5.0;
221 gather4_po_s ddsstp 5.0; 222 gather4_po_c_s ddsstps 5.0; 223 ld_s ddst 5.0;
224 ldms_s ddsts 5.0; 225 ld_uav_typed_s ddst 5.0; 226 ld_raw_s ddst 5.0;
227 ld_structured_s ddsst 5.0; 228 sample_l_s ddstps 5.0; 229 sample_c_lz_s ddstps 5.0;
230 sample_cl_s ddstps 5.0; 231 sample_b_cl_s ddstpss 5.0; 232 sample_d_cl_s ddstpsss 5.0;
233 sample_c_cl_s ddstpss 5.0; 234 check_access_mapped ds 5.0
"""
"""Number, name with ``_sat`` where it can follow, operands, and the first version.

d is a destination, s a source, t a resource that is read, p a sampler, u memory that is written,
l a label, m a stream, F an interface, * a declaration.
"""

PLAIN = str.maketrans("fiqsctaRywpUulmF", "ssssstttttpuulmF")
IN_4_X = {
    "bufinfo",
    "dcl_thread_group",
    "dcl_uav_raw",
    "dcl_uav_structured",
    "dcl_tgsm_raw",
    "dcl_tgsm_structured",
    "dcl_resource_raw",
    "dcl_resource_structured",
    "ld_raw",
    "store_raw",
    "ld_structured",
    "store_structured",
    "sync",
}
"""What compute shaders 4.x and whoever reads raw and structured buffers have of 5.0."""

ONLY_IN = {
    Stage.PIXEL: "discard deriv_rtx deriv_rty sample sample_b sample_c lod eval_snapped "
    "eval_sample_index eval_centroid deriv_rtx_coarse deriv_rtx_fine deriv_rty_coarse "
    "deriv_rty_fine sample_cl_s sample_b_cl_s sample_c_cl_s dcl_input_ps dcl_input_ps_sgv "
    "dcl_input_ps_siv",
    Stage.GEOMETRY: "emit cut emitthencut emit_stream cut_stream emitthencut_stream dcl_stream "
    "dcl_maxout dcl_gsinstances dcl_inputprimitive dcl_outputtopology",
    Stage.HULL: "hs_decls hs_control_point_phase hs_fork_phase hs_join_phase "
    "dcl_output_control_point_count dcl_tessellator_partitioning dcl_hs_max_tessfactor "
    "dcl_tessellator_output_primitive dcl_hs_fork_phase_instance_count "
    "dcl_hs_join_phase_instance_count",
    Stage.COMPUTE: "dcl_thread_group dcl_tgsm_raw dcl_tgsm_structured",
}
ELSEWHERE = {
    "dcl_input_control_point_count": {Stage.HULL, Stage.DOMAIN},
    "dcl_tessellator_domain": {Stage.HULL, Stage.DOMAIN},
    "dcl_output": set(Stage) - {Stage.COMPUTE},
    "dcl_output_sgv": set(Stage) - {Stage.COMPUTE},
    "dcl_output_siv": set(Stage) - {Stage.COMPUTE},
}


def listed() -> list[list[str]]:
    return [each.split() for each in LIST.replace("\n", " ").split(";") if each.strip()]


@pytest.mark.parametrize("row", listed(), ids=lambda row: row[1].removesuffix("_sat"))
def test_opcode_is_as_listed(row: list[str]) -> None:
    number, spelled, operands, first = row
    name = spelled.removesuffix("_sat")
    assert Op(int(number)).name == name.upper()
    found = Op(int(number)).row
    assert found.saturates == spelled.endswith("_sat")
    assert (found.declares is not None) == (operands == "*")
    if operands != "*":
        assert found.operands.translate(PLAIN) == operands.replace("-", "")
    assert found.since == (V4_0 if name in IN_4_X else tuple(map(int, first.split("."))))
    stages = {stage for stage, names in ONLY_IN.items() if name in names.split()}
    assert found.stages == (stages or ELSEWHERE.get(name, set(Stage)))


def test_every_opcode_is_listed_once() -> None:
    assert sorted(int(row[0]) for row in listed()) == list(Op)
    assert len(Op) == len(Op.__members__) == 231


def test_what_tests_a_source_is_known() -> None:
    tests = {op for op in Op if op.row.tests}
    assert tests == {Op.IF, Op.BREAKC, Op.CONTINUEC, Op.RETC, Op.CALLC, Op.DISCARD}


def test_memory_is_checked_where_a_resource_is_read() -> None:
    assert all(op.row.dimensions for op in Op if set(op.row.operands) & set("taRyw"))


def test_version_tokens_hold_stage_and_level() -> None:
    tokens = {"vs_4_0": 0x00010040, "gs_4_1": 0x00020041, "ps_5_0": 0x50, "hs_5_0": 0x00030050}
    tokens |= {"ds_5_0": 0x00040050, "cs_4_1": 0x00050041}
    for name, token in tokens.items():
        assert BY_NAME[name].token == token
    assert len(VERSIONS) == 14
