"""The opcodes, one row each (SM4-5 tokens, "Opcodes").

Operands are spelled in letters, one an operand, in the order of their tokens::

    d  destination                    t  resource
    f  float source                   a  resource or unordered access view (UAV)
    i  integer source                 R  resource or rasterizer
    s  source of any type             y  UAV that is read
    c  immediate                      w  resource, UAV or shared memory
    p  sampler                        U  UAV that is written
    l  label                          u  UAV or shared memory that is written
    m  stream                         F  interface

Types of sources are hints for people: registers have none.  What declarations have besides an
operand is in ``declarations``.
"""

from __future__ import annotations

from typing import NamedTuple

from dp2emu.shader.sm4.ops import Op
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.sm4.versions import V4_0, V4_1, V5_0, Level, Stage, Version

_ALL = frozenset(Stage)
_PS = frozenset({Stage.PIXEL})
_VS = frozenset({Stage.VERTEX})
_GS = frozenset({Stage.GEOMETRY})
_HS = frozenset({Stage.HULL})
_CS = frozenset({Stage.COMPUTE})
_PATCHES = frozenset({Stage.HULL, Stage.DOMAIN})
_INPUTS = _ALL - _PS
_OUTPUTS = _ALL - _CS


_SPECIAL_INPUTS = frozenset(
    {
        File.PRIMITIVE_ID,
        File.OUTPUT_CONTROL_POINT_ID,
        File.FORK_INSTANCE_ID,
        File.JOIN_INSTANCE_ID,
        File.DOMAIN_POINT,
        File.THREAD_ID,
        File.THREAD_GROUP_ID,
        File.THREAD_ID_IN_GROUP,
        File.COVERAGE,
        File.THREAD_ID_IN_GROUP_FLATTENED,
        File.GS_INSTANCE_ID,
        File.CYCLE_COUNTER,
        File.INNER_COVERAGE,
    }
)
_PATCH_INPUTS = frozenset(
    {File.INPUT_CONTROL_POINT, File.OUTPUT_CONTROL_POINT, File.PATCH_CONSTANT}
)
_SCALAR_OUTPUTS = frozenset(
    {
        File.DEPTH,
        File.DEPTH_GREATER_EQUAL,
        File.DEPTH_LESS_EQUAL,
        File.COVERAGE_MASK,
        File.STENCIL_REFERENCE,
    }
)
_VALUES = (
    frozenset(
        {
            File.TEMP,
            File.INPUT,
            File.INDEXABLE_TEMP,
            File.IMMEDIATE,
            File.IMMEDIATE64,
            File.CONSTANT_BUFFER,
            File.IMMEDIATE_CONSTANT_BUFFER,
            File.THIS,
        }
    )
    | _SPECIAL_INPUTS
    | _PATCH_INPUTS
)
_IN = frozenset({File.INPUT}) | _SPECIAL_INPUTS | _PATCH_INPUTS
_OUT = frozenset({File.OUTPUT}) | _SCALAR_OUTPUTS
_RANGES = frozenset({File.INPUT, File.OUTPUT}) | _PATCH_INPUTS


class Opcode(NamedTuple):
    """A row of the table."""

    op: Op
    operands: str = ""
    """Letters; ``D`` is what is declared."""
    since: Level = V4_0
    stages: frozenset[Stage] = _ALL
    saturates: bool = False
    """Whether ``_sat`` may follow."""
    tests: bool = False
    """Whether it does what it does if the last source is zero, or is not (_z, _nz)."""
    declares: frozenset[File] | None = None
    """The files of what a declaration declares; None for what is no declaration."""

    def exists(self, version: Version) -> bool:
        """Whether a version has the opcode."""
        return version.level >= self.since and version.stage in self.stages


def _dcl(op: Op, *files: File, since: Level = V4_0, stages: frozenset[Stage] = _ALL) -> Opcode:
    return Opcode(op, "D" if files else "", since, stages, declares=frozenset(files))


TABLE: tuple[Opcode, ...] = (
    Opcode(Op.ADD, "dff", saturates=True),
    Opcode(Op.AND, "dii"),
    Opcode(Op.BREAK, ""),
    Opcode(Op.BREAKC, "i", tests=True),
    Opcode(Op.CALL, "l"),
    Opcode(Op.CALLC, "il", tests=True),
    Opcode(Op.CASE, "c"),
    Opcode(Op.CONTINUE, ""),
    Opcode(Op.CONTINUEC, "i", tests=True),
    Opcode(Op.CUT, "", stages=_GS),
    Opcode(Op.DEFAULT, ""),
    Opcode(Op.DERIV_RTX, "df", stages=_PS, saturates=True),
    Opcode(Op.DERIV_RTY, "df", stages=_PS, saturates=True),
    Opcode(Op.DISCARD, "i", stages=_PS, tests=True),
    Opcode(Op.DIV, "dff", saturates=True),
    Opcode(Op.DP2, "dff", saturates=True),
    Opcode(Op.DP3, "dff", saturates=True),
    Opcode(Op.DP4, "dff", saturates=True),
    Opcode(Op.ELSE, ""),
    Opcode(Op.EMIT, "", stages=_GS),
    Opcode(Op.EMITTHENCUT, "", stages=_GS),
    Opcode(Op.ENDIF, ""),
    Opcode(Op.ENDLOOP, ""),
    Opcode(Op.ENDSWITCH, ""),
    Opcode(Op.EQ, "dff"),
    Opcode(Op.EXP, "df", saturates=True),
    Opcode(Op.FRC, "df", saturates=True),
    Opcode(Op.FTOI, "df"),
    Opcode(Op.FTOU, "df"),
    Opcode(Op.GE, "dff"),
    Opcode(Op.IADD, "dii"),
    Opcode(Op.IF, "i", tests=True),
    Opcode(Op.IEQ, "dii"),
    Opcode(Op.IGE, "dii"),
    Opcode(Op.ILT, "dii"),
    Opcode(Op.IMAD, "diii"),
    Opcode(Op.IMAX, "dii"),
    Opcode(Op.IMIN, "dii"),
    Opcode(Op.IMUL, "ddii"),
    Opcode(Op.INE, "dii"),
    Opcode(Op.INEG, "di"),
    Opcode(Op.ISHL, "dii"),
    Opcode(Op.ISHR, "dii"),
    Opcode(Op.ITOF, "di"),
    Opcode(Op.LABEL, "l"),
    Opcode(Op.LD, "dit"),
    Opcode(Op.LDMS, "diti"),
    Opcode(Op.LOG, "df", saturates=True),
    Opcode(Op.LOOP, ""),
    Opcode(Op.LT, "dff"),
    Opcode(Op.MAD, "dfff", saturates=True),
    Opcode(Op.MIN, "dff", saturates=True),
    Opcode(Op.MAX, "dff", saturates=True),
    _dcl(Op.CUSTOMDATA),
    Opcode(Op.MOV, "ds", saturates=True),
    Opcode(Op.MOVC, "diss", saturates=True),
    Opcode(Op.MUL, "dff", saturates=True),
    Opcode(Op.NE, "dff"),
    Opcode(Op.NOP, ""),
    Opcode(Op.NOT, "di"),
    Opcode(Op.OR, "dii"),
    Opcode(Op.RESINFO, "dia"),
    Opcode(Op.RET, ""),
    Opcode(Op.RETC, "i", tests=True),
    Opcode(Op.ROUND_NE, "df", saturates=True),
    Opcode(Op.ROUND_NI, "df", saturates=True),
    Opcode(Op.ROUND_PI, "df", saturates=True),
    Opcode(Op.ROUND_Z, "df", saturates=True),
    Opcode(Op.RSQ, "df", saturates=True),
    Opcode(Op.SAMPLE, "dftp", stages=_PS),
    Opcode(Op.SAMPLE_C, "dftpf", stages=_PS),
    Opcode(Op.SAMPLE_C_LZ, "dftpf"),
    Opcode(Op.SAMPLE_L, "dftpf"),
    Opcode(Op.SAMPLE_D, "dftpff"),
    Opcode(Op.SAMPLE_B, "dftpf", stages=_PS),
    Opcode(Op.SQRT, "df", saturates=True),
    Opcode(Op.SWITCH, "i"),
    Opcode(Op.SINCOS, "ddf", saturates=True),
    Opcode(Op.UDIV, "ddii"),
    Opcode(Op.ULT, "dii"),
    Opcode(Op.UGE, "dii"),
    Opcode(Op.UMUL, "ddii"),
    Opcode(Op.UMAD, "diii"),
    Opcode(Op.UMAX, "dii"),
    Opcode(Op.UMIN, "dii"),
    Opcode(Op.USHR, "dii"),
    Opcode(Op.UTOF, "di"),
    Opcode(Op.XOR, "dii"),
    _dcl(Op.DCL_RESOURCE, File.RESOURCE),
    _dcl(Op.DCL_CONSTANTBUFFER, File.CONSTANT_BUFFER),
    _dcl(Op.DCL_SAMPLER, File.SAMPLER),
    _dcl(Op.DCL_INDEXRANGE, *_RANGES),
    _dcl(Op.DCL_OUTPUTTOPOLOGY, stages=_GS),
    _dcl(Op.DCL_INPUTPRIMITIVE, stages=_GS),
    _dcl(Op.DCL_MAXOUT, stages=_GS),
    _dcl(Op.DCL_INPUT, *_IN),
    _dcl(Op.DCL_INPUT_SGV, *_IN),
    _dcl(Op.DCL_INPUT_SIV, *_IN),
    _dcl(Op.DCL_INPUT_PS, File.INPUT, stages=_PS),
    _dcl(Op.DCL_INPUT_PS_SGV, File.INPUT, stages=_PS),
    _dcl(Op.DCL_INPUT_PS_SIV, File.INPUT, stages=_PS),
    _dcl(Op.DCL_OUTPUT, *_OUT, stages=_OUTPUTS),
    _dcl(Op.DCL_OUTPUT_SGV, File.OUTPUT, stages=_OUTPUTS),
    _dcl(Op.DCL_OUTPUT_SIV, File.OUTPUT, stages=_OUTPUTS),
    _dcl(Op.DCL_TEMPS),
    _dcl(Op.DCL_INDEXABLETEMP),
    _dcl(Op.DCL_GLOBALFLAGS),
    Opcode(Op.LOD, "dftp", V4_1, stages=_PS),
    Opcode(Op.GATHER4, "dftp", V4_1),
    Opcode(Op.SAMPLEPOS, "dRi", V4_1),
    Opcode(Op.SAMPLEINFO, "dR", V4_1),
    Opcode(Op.HS_DECLS, "", V5_0, stages=_HS),
    Opcode(Op.HS_CONTROL_POINT_PHASE, "", V5_0, stages=_HS),
    Opcode(Op.HS_FORK_PHASE, "", V5_0, stages=_HS),
    Opcode(Op.HS_JOIN_PHASE, "", V5_0, stages=_HS),
    Opcode(Op.EMIT_STREAM, "m", V5_0, stages=_GS),
    Opcode(Op.CUT_STREAM, "m", V5_0, stages=_GS),
    Opcode(Op.EMITTHENCUT_STREAM, "m", V5_0, stages=_GS),
    Opcode(Op.FCALL, "F", V5_0),
    Opcode(Op.BUFINFO, "da"),
    Opcode(Op.DERIV_RTX_COARSE, "df", V5_0, stages=_PS, saturates=True),
    Opcode(Op.DERIV_RTX_FINE, "df", V5_0, stages=_PS, saturates=True),
    Opcode(Op.DERIV_RTY_COARSE, "df", V5_0, stages=_PS, saturates=True),
    Opcode(Op.DERIV_RTY_FINE, "df", V5_0, stages=_PS, saturates=True),
    Opcode(Op.GATHER4_C, "dftpf", V5_0),
    Opcode(Op.GATHER4_PO, "dfitp", V5_0),
    Opcode(Op.GATHER4_PO_C, "dfitpf", V5_0),
    Opcode(Op.RCP, "df", V5_0, saturates=True),
    Opcode(Op.F32TOF16, "df", V5_0),
    Opcode(Op.F16TOF32, "di", V5_0),
    Opcode(Op.UADDC, "ddii", V5_0),
    Opcode(Op.USUBB, "ddii", V5_0),
    Opcode(Op.COUNTBITS, "di", V5_0),
    Opcode(Op.FIRSTBIT_HI, "di", V5_0),
    Opcode(Op.FIRSTBIT_LO, "di", V5_0),
    Opcode(Op.FIRSTBIT_SHI, "di", V5_0),
    Opcode(Op.UBFE, "diii", V5_0),
    Opcode(Op.IBFE, "diii", V5_0),
    Opcode(Op.BFI, "diiii", V5_0),
    Opcode(Op.BFREV, "di", V5_0),
    Opcode(Op.SWAPC, "ddiss", V5_0),
    _dcl(Op.DCL_STREAM, File.STREAM, since=V5_0, stages=_GS),
    _dcl(Op.DCL_FUNCTION_BODY, since=V5_0),
    _dcl(Op.DCL_FUNCTION_TABLE, since=V5_0),
    _dcl(Op.DCL_INTERFACE, since=V5_0),
    _dcl(Op.DCL_INPUT_CONTROL_POINT_COUNT, since=V5_0, stages=_PATCHES),
    _dcl(Op.DCL_OUTPUT_CONTROL_POINT_COUNT, since=V5_0, stages=_HS),
    _dcl(Op.DCL_TESSELLATOR_DOMAIN, since=V5_0, stages=_PATCHES),
    _dcl(Op.DCL_TESSELLATOR_PARTITIONING, since=V5_0, stages=_HS),
    _dcl(Op.DCL_TESSELLATOR_OUTPUT_PRIMITIVE, since=V5_0, stages=_HS),
    _dcl(Op.DCL_HS_MAX_TESSFACTOR, since=V5_0, stages=_HS),
    _dcl(Op.DCL_HS_FORK_PHASE_INSTANCE_COUNT, since=V5_0, stages=_HS),
    _dcl(Op.DCL_HS_JOIN_PHASE_INSTANCE_COUNT, since=V5_0, stages=_HS),
    _dcl(Op.DCL_THREAD_GROUP, stages=_CS),
    _dcl(Op.DCL_UAV_TYPED, File.UAV, since=V5_0),
    _dcl(Op.DCL_UAV_RAW, File.UAV),
    _dcl(Op.DCL_UAV_STRUCTURED, File.UAV),
    _dcl(Op.DCL_TGSM_RAW, File.SHARED_MEMORY, stages=_CS),
    _dcl(Op.DCL_TGSM_STRUCTURED, File.SHARED_MEMORY, stages=_CS),
    _dcl(Op.DCL_RESOURCE_RAW, File.RESOURCE),
    _dcl(Op.DCL_RESOURCE_STRUCTURED, File.RESOURCE),
    Opcode(Op.LD_UAV_TYPED, "diy", V5_0),
    Opcode(Op.STORE_UAV_TYPED, "Uis", V5_0),
    Opcode(Op.LD_RAW, "diw"),
    Opcode(Op.STORE_RAW, "uis"),
    Opcode(Op.LD_STRUCTURED, "diiw"),
    Opcode(Op.STORE_STRUCTURED, "uiis"),
    Opcode(Op.ATOMIC_AND, "uii", V5_0),
    Opcode(Op.ATOMIC_OR, "uii", V5_0),
    Opcode(Op.ATOMIC_XOR, "uii", V5_0),
    Opcode(Op.ATOMIC_CMP_STORE, "uiii", V5_0),
    Opcode(Op.ATOMIC_IADD, "uii", V5_0),
    Opcode(Op.ATOMIC_IMAX, "uii", V5_0),
    Opcode(Op.ATOMIC_IMIN, "uii", V5_0),
    Opcode(Op.ATOMIC_UMAX, "uii", V5_0),
    Opcode(Op.ATOMIC_UMIN, "uii", V5_0),
    Opcode(Op.IMM_ATOMIC_ALLOC, "dU", V5_0),
    Opcode(Op.IMM_ATOMIC_CONSUME, "dU", V5_0),
    Opcode(Op.IMM_ATOMIC_IADD, "duii", V5_0),
    Opcode(Op.IMM_ATOMIC_AND, "duii", V5_0),
    Opcode(Op.IMM_ATOMIC_OR, "duii", V5_0),
    Opcode(Op.IMM_ATOMIC_XOR, "duii", V5_0),
    Opcode(Op.IMM_ATOMIC_EXCH, "duii", V5_0),
    Opcode(Op.IMM_ATOMIC_CMP_EXCH, "duiii", V5_0),
    Opcode(Op.IMM_ATOMIC_IMAX, "duii", V5_0),
    Opcode(Op.IMM_ATOMIC_IMIN, "duii", V5_0),
    Opcode(Op.IMM_ATOMIC_UMAX, "duii", V5_0),
    Opcode(Op.IMM_ATOMIC_UMIN, "duii", V5_0),
    Opcode(Op.SYNC, ""),
    Opcode(Op.DADD, "dss", V5_0, saturates=True),
    Opcode(Op.DMAX, "dss", V5_0, saturates=True),
    Opcode(Op.DMIN, "dss", V5_0, saturates=True),
    Opcode(Op.DMUL, "dss", V5_0, saturates=True),
    Opcode(Op.DEQ, "dss", V5_0),
    Opcode(Op.DGE, "dss", V5_0),
    Opcode(Op.DLT, "dss", V5_0),
    Opcode(Op.DNE, "dss", V5_0),
    Opcode(Op.DMOV, "ds", V5_0, saturates=True),
    Opcode(Op.DMOVC, "diss", V5_0, saturates=True),
    Opcode(Op.DTOF, "ds", V5_0),
    Opcode(Op.FTOD, "ds", V5_0),
    Opcode(Op.EVAL_SNAPPED, "dsi", V5_0, stages=_PS),
    Opcode(Op.EVAL_SAMPLE_INDEX, "dsi", V5_0, stages=_PS),
    Opcode(Op.EVAL_CENTROID, "ds", V5_0, stages=_PS),
    _dcl(Op.DCL_GSINSTANCES, since=V5_0, stages=_GS),
    Opcode(Op.ABORT, "", V5_0),
    Opcode(Op.DEBUG_BREAK, "", V5_0),
    Opcode(Op.DDIV, "dss", V5_0, saturates=True),
    Opcode(Op.DFMA, "dsss", V5_0, saturates=True),
    Opcode(Op.DRCP, "ds", V5_0, saturates=True),
    Opcode(Op.MSAD, "diii", V5_0),
    Opcode(Op.DTOI, "ds", V5_0),
    Opcode(Op.DTOU, "ds", V5_0),
    Opcode(Op.ITOD, "di", V5_0),
    Opcode(Op.UTOD, "di", V5_0),
    Opcode(Op.GATHER4_S, "ddftp", V5_0),
    Opcode(Op.GATHER4_C_S, "ddftpf", V5_0),
    Opcode(Op.GATHER4_PO_S, "ddfitp", V5_0),
    Opcode(Op.GATHER4_PO_C_S, "ddfitpf", V5_0),
    Opcode(Op.LD_S, "ddit", V5_0),
    Opcode(Op.LDMS_S, "dditi", V5_0),
    Opcode(Op.LD_UAV_TYPED_S, "ddiy", V5_0),
    Opcode(Op.LD_RAW_S, "ddiw", V5_0),
    Opcode(Op.LD_STRUCTURED_S, "ddiiw", V5_0),
    Opcode(Op.SAMPLE_L_S, "ddftpf", V5_0),
    Opcode(Op.SAMPLE_C_LZ_S, "ddftpf", V5_0),
    Opcode(Op.SAMPLE_CL_S, "ddftpf", V5_0, stages=_PS),
    Opcode(Op.SAMPLE_B_CL_S, "ddftpff", V5_0, stages=_PS),
    Opcode(Op.SAMPLE_D_CL_S, "ddftpfff", V5_0),
    Opcode(Op.SAMPLE_C_CL_S, "ddftpff", V5_0, stages=_PS),
    Opcode(Op.CHECK_ACCESS_MAPPED, "di", V5_0),
)

OPCODES = {row.op: row for row in TABLE}

SIZED = frozenset({Op.RESINFO, Op.SAMPLEINFO})
"""What answers in a type of its own choice."""
WITH_DATA = frozenset({Op.CUSTOMDATA, Op.DCL_FUNCTION_TABLE, Op.DCL_INTERFACE})
"""Declarations that go on with words of their own number."""

_LETTERS = {
    "d": frozenset({File.TEMP, File.OUTPUT, File.INDEXABLE_TEMP, File.NULL}) | _SCALAR_OUTPUTS,
    "s": _VALUES,
    "f": _VALUES,
    "i": _VALUES,
    "c": frozenset({File.IMMEDIATE}),
    "p": frozenset({File.SAMPLER}),
    "l": frozenset({File.LABEL, File.FUNCTION_BODY}),
    "m": frozenset({File.STREAM}),
    "t": frozenset({File.RESOURCE}),
    "a": frozenset({File.RESOURCE, File.UAV}),
    "R": frozenset({File.RESOURCE, File.RASTERIZER}),
    "y": frozenset({File.UAV}),
    "w": frozenset({File.RESOURCE, File.UAV, File.SHARED_MEMORY}),
    "U": frozenset({File.UAV}),
    "u": frozenset({File.UAV, File.SHARED_MEMORY}),
    "F": frozenset({File.INTERFACE}),
}


def files(row: Opcode, letter: str) -> frozenset[File]:
    """The register files that an operand may be in."""
    return (row.declares or frozenset()) if letter == "D" else _LETTERS[letter]
