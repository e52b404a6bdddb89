"""The opcodes, one row each (SM4-5 tokens, "Opcodes").

Operands are spelled in letters, one an operand, in the order of their tokens::

    d  destination                    t  resource
    f  float source                   a  resource or unordered access view (UAV)
    i  integer source                 R  resource or rasterizer
    q  source of doubles              y  UAV that is read
    s  source of any type             w  resource, UAV or shared memory
    c  immediate                      U  UAV that is written
    p  sampler                        u  UAV or shared memory that is written
    l  label                          F  interface
    m  stream

Types of sources guide the lowering and the text; registers are untyped.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dp2emu.d3d.sdk import Named
from dp2emu.shader.resources import Dimension
from dp2emu.shader.sm4.enums import Sizes
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.sm4.versions import V4_0, V4_1, V5_0, Level, Stage, Version

_ALL = frozenset(Stage)
_PS = frozenset({Stage.PIXEL})
_GS = frozenset({Stage.GEOMETRY})
_HS = frozenset({Stage.HULL})
_CS = frozenset({Stage.COMPUTE})
_PATCHES = frozenset({Stage.HULL, Stage.DOMAIN})
_OUTPUTS = _ALL - _CS


def _named(letter: str) -> frozenset[File]:
    """Scalar files whose name is ``letter`` and a capitalised word: vPrim, oDepth."""
    return frozenset(f for f in File if f.value[0] == letter and f.value[1:2].isupper())


_SPECIAL_INPUTS, SCALAR_OUTPUTS = _named("v"), _named("o")
_PATCH_INPUTS = frozenset(
    {File.INPUT_CONTROL_POINT, File.OUTPUT_CONTROL_POINT, File.PATCH_CONSTANT}
)
_IN = frozenset({File.INPUT}) | _SPECIAL_INPUTS | _PATCH_INPUTS
_IMMEDIATES = frozenset({File.IMMEDIATE, File.IMMEDIATE64, File.IMMEDIATE_CONSTANT_BUFFER})
_VALUES = _IN | _IMMEDIATES | {File.TEMP, File.INDEXABLE_TEMP, File.CONSTANT_BUFFER, File.THIS}
_OUT = frozenset({File.OUTPUT}) | SCALAR_OUTPUTS
_RANGES = frozenset({File.INPUT, File.OUTPUT}) | _PATCH_INPUTS
_MULTISAMPLED = frozenset({Dimension.TEXTURE2DMS, Dimension.TEXTURE2DMSARRAY})
_CUBES = frozenset({Dimension.TEXTURECUBE, Dimension.TEXTURECUBEARRAY})
_RAW, _STRUCTURED = frozenset({Dimension.RAW_BUFFER}), frozenset({Dimension.STRUCTURED_BUFFER})
_TYPED = frozenset(Dimension) - _RAW - _STRUCTURED
_SAMPLED = _TYPED - _MULTISAMPLED - {Dimension.BUFFER}
_COMPARED = _SAMPLED - {Dimension.TEXTURE3D}
_GATHERED = _CUBES | {Dimension.TEXTURE2D, Dimension.TEXTURE2DARRAY}
_LOADED = _TYPED - _MULTISAMPLED - _CUBES
_COUNTED = _RAW | _STRUCTURED | {Dimension.BUFFER}


class Opcode(NamedTuple):
    """A row of the table of opcodes, whose fields are attributes of an ``Op``."""

    number: int
    operands: str = ""
    """Letters of the operands, as this module explains them; ``D`` is the register of a
    declaration."""
    since: Level = V4_0
    stages: frozenset[Stage] = _ALL
    saturates: bool = False
    """Whether the instruction may have the ``_sat`` suffix."""
    tests: bool = False
    """Whether the instruction tests a source for zero (suffix ``_z``) or nonzero (``_nz``)."""
    declares: frozenset[File] | None = None
    """Register files that a declaration may name; None if the opcode is no declaration."""
    phrase: str = ""
    """Assembly text of a declaration after the opcode's name; the name is included only if it has
    capitals.  ``{name}`` stands for an attribute of Declaration, or for ``operand``.  Attributes
    encoded in words are in the order of these words."""
    dimensions: frozenset[Dimension] = frozenset()
    """Resource dimensions that the instruction accepts, any if empty; for a declaration, the one
    it implies (SM4-5 tokens, "Reading resources" and "Declarations")."""

    def exists(self, version: Version) -> bool:
        """Whether a version has the opcode."""
        return version.level >= self.since and version.stage in self.stages


def _dcl(
    number: int,
    phrase: str,
    *files: File,
    since: Level = V4_0,
    stages: frozenset[Stage] = _ALL,
    dimensions: frozenset[Dimension] = frozenset(),
) -> Opcode:
    letters, declares = "D" if files else "", frozenset(files)
    return Opcode(
        number, letters, since, stages, declares=declares, phrase=phrase, dimensions=dimensions
    )


class Op(Named):
    """Opcodes by name, with their numbers in tokens.  107, 112, 209 and 218 are reserved."""

    row: Opcode

    def __new__(cls, *row: Any) -> Op:
        """Create the member from the fields of its ``Opcode``, with the number as its value."""
        member = int.__new__(cls, row[0])
        member._value_, member._text, member.row = row[0], "", Opcode(*row)
        return member

    @property
    def phrase(self) -> str:
        """The text of a declaration with its name; empty for other opcodes."""
        phrase = self.row.phrase
        return self.text + phrase if phrase and not phrase.startswith("dcl_") else phrase

    ADD = Opcode(0, "dff", saturates=True)
    AND = Opcode(1, "dii")
    BREAK = Opcode(2)
    BREAKC = Opcode(3, "i", tests=True)
    CALL = Opcode(4, "l")
    CALLC = Opcode(5, "il", tests=True)
    CASE = Opcode(6, "c")
    CONTINUE = Opcode(7)
    CONTINUEC = Opcode(8, "i", tests=True)
    CUT = Opcode(9, stages=_GS)
    DEFAULT = Opcode(10)
    DERIV_RTX = Opcode(11, "df", stages=_PS, saturates=True)
    DERIV_RTY = Opcode(12, "df", stages=_PS, saturates=True)
    DISCARD = Opcode(13, "i", stages=_PS, tests=True)
    DIV = Opcode(14, "dff", saturates=True)
    DP2 = Opcode(15, "dff", saturates=True)
    DP3 = Opcode(16, "dff", saturates=True)
    DP4 = Opcode(17, "dff", saturates=True)
    ELSE = Opcode(18)
    EMIT = Opcode(19, stages=_GS)
    EMITTHENCUT = Opcode(20, stages=_GS)
    ENDIF = Opcode(21)
    ENDLOOP = Opcode(22)
    ENDSWITCH = Opcode(23)
    EQ = Opcode(24, "dff")
    EXP = Opcode(25, "df", saturates=True)
    FRC = Opcode(26, "df", saturates=True)
    FTOI = Opcode(27, "df")
    FTOU = Opcode(28, "df")
    GE = Opcode(29, "dff")
    IADD = Opcode(30, "dii")
    IF = Opcode(31, "i", tests=True)
    IEQ = Opcode(32, "dii")
    IGE = Opcode(33, "dii")
    ILT = Opcode(34, "dii")
    IMAD = Opcode(35, "diii")
    IMAX = Opcode(36, "dii")
    IMIN = Opcode(37, "dii")
    IMUL = Opcode(38, "ddii")
    INE = Opcode(39, "dii")
    INEG = Opcode(40, "di")
    ISHL = Opcode(41, "dii")
    ISHR = Opcode(42, "dii")
    ITOF = Opcode(43, "di")
    LABEL = Opcode(44, "l")
    LD = Opcode(45, "dit", dimensions=_LOADED)
    LDMS = Opcode(46, "diti", dimensions=_MULTISAMPLED)
    LOG = Opcode(47, "df", saturates=True)
    LOOP = Opcode(48)
    LT = Opcode(49, "dff")
    MAD = Opcode(50, "dfff", saturates=True)
    MIN = Opcode(51, "dff", saturates=True)
    MAX = Opcode(52, "dff", saturates=True)
    CUSTOMDATA = _dcl(53, "dcl_immediateConstantBuffer {rows}")
    MOV = Opcode(54, "ds", saturates=True)
    MOVC = Opcode(55, "diss", saturates=True)
    MUL = Opcode(56, "dff", saturates=True)
    NE = Opcode(57, "dff")
    NOP = Opcode(58)
    NOT = Opcode(59, "di")
    OR = Opcode(60, "dii")
    RESINFO = Opcode(61, "dia", dimensions=_TYPED)
    RET = Opcode(62)
    RETC = Opcode(63, "i", tests=True)
    ROUND_NE = Opcode(64, "df", saturates=True)
    ROUND_NI = Opcode(65, "df", saturates=True)
    ROUND_PI = Opcode(66, "df", saturates=True)
    ROUND_Z = Opcode(67, "df", saturates=True)
    RSQ = Opcode(68, "df", saturates=True)
    SAMPLE = Opcode(69, "dftp", stages=_PS, dimensions=_SAMPLED)
    SAMPLE_C = Opcode(70, "dftpf", stages=_PS, dimensions=_COMPARED)
    SAMPLE_C_LZ = Opcode(71, "dftpf", dimensions=_COMPARED)
    SAMPLE_L = Opcode(72, "dftpf", dimensions=_SAMPLED)
    SAMPLE_D = Opcode(73, "dftpff", dimensions=_SAMPLED)
    SAMPLE_B = Opcode(74, "dftpf", stages=_PS, dimensions=_SAMPLED)
    SQRT = Opcode(75, "df", saturates=True)
    SWITCH = Opcode(76, "i")
    SINCOS = Opcode(77, "ddf", saturates=True)
    UDIV = Opcode(78, "ddii")
    ULT = Opcode(79, "dii")
    UGE = Opcode(80, "dii")
    UMUL = Opcode(81, "ddii")
    UMAD = Opcode(82, "diii")
    UMAX = Opcode(83, "dii")
    UMIN = Opcode(84, "dii")
    USHR = Opcode(85, "dii")
    UTOF = Opcode(86, "di")
    XOR = Opcode(87, "dii")
    DCL_RESOURCE = _dcl(88, "_{dimension}{samples} {returns} {operand}", File.RESOURCE)
    DCL_CONSTANTBUFFER = _dcl(89, " {operand}, {access}", File.CONSTANT_BUFFER)
    DCL_SAMPLER = _dcl(90, " {operand}, {mode}", File.SAMPLER)
    DCL_INDEXRANGE = _dcl(91, " {operand} {count}", *_RANGES)
    DCL_OUTPUTTOPOLOGY = _dcl(92, " {topology}", stages=_GS)
    DCL_INPUTPRIMITIVE = _dcl(93, " {primitive}", stages=_GS)
    DCL_MAXOUT = _dcl(94, " {count}", stages=_GS)
    DCL_INPUT = _dcl(95, " {operand}", *_IN)
    DCL_INPUT_SGV = _dcl(96, " {operand}, {name}", *_IN)
    DCL_INPUT_SIV = _dcl(97, " {operand}, {name}", *_IN)
    DCL_INPUT_PS = _dcl(98, " {interpolation} {operand}", File.INPUT, stages=_PS)
    DCL_INPUT_PS_SGV = _dcl(99, " {constant}{operand}, {name}", File.INPUT, stages=_PS)
    DCL_INPUT_PS_SIV = _dcl(100, " {interpolation} {operand}, {name}", File.INPUT, stages=_PS)
    DCL_OUTPUT = _dcl(101, " {operand}", *_OUT, stages=_OUTPUTS)
    DCL_OUTPUT_SGV = _dcl(102, " {operand}, {name}", File.OUTPUT, stages=_OUTPUTS)
    DCL_OUTPUT_SIV = _dcl(103, " {operand}, {name}", File.OUTPUT, stages=_OUTPUTS)
    DCL_TEMPS = _dcl(104, " {count}")
    DCL_INDEXABLETEMP = _dcl(105, "dcl_indexableTemp x{number}[{count}], {components}")
    DCL_GLOBALFLAGS = _dcl(106, "dcl_globalFlags {flags}")
    LOD = Opcode(108, "dftp", V4_1, stages=_PS, dimensions=_SAMPLED)
    GATHER4 = Opcode(109, "dftp", V4_1, dimensions=_GATHERED)
    SAMPLEPOS = Opcode(110, "dRi", V4_1, dimensions=_MULTISAMPLED)
    SAMPLEINFO = Opcode(111, "dR", V4_1, dimensions=_MULTISAMPLED)
    HS_DECLS = Opcode(113, "", V5_0, stages=_HS)
    HS_CONTROL_POINT_PHASE = Opcode(114, "", V5_0, stages=_HS)
    HS_FORK_PHASE = Opcode(115, "", V5_0, stages=_HS)
    HS_JOIN_PHASE = Opcode(116, "", V5_0, stages=_HS)
    EMIT_STREAM = Opcode(117, "m", V5_0, stages=_GS)
    CUT_STREAM = Opcode(118, "m", V5_0, stages=_GS)
    EMITTHENCUT_STREAM = Opcode(119, "m", V5_0, stages=_GS)
    FCALL = Opcode(120, "F", V5_0)
    BUFINFO = Opcode(121, "da", dimensions=_COUNTED)
    DERIV_RTX_COARSE = Opcode(122, "df", V5_0, stages=_PS, saturates=True)
    DERIV_RTX_FINE = Opcode(123, "df", V5_0, stages=_PS, saturates=True)
    DERIV_RTY_COARSE = Opcode(124, "df", V5_0, stages=_PS, saturates=True)
    DERIV_RTY_FINE = Opcode(125, "df", V5_0, stages=_PS, saturates=True)
    GATHER4_C = Opcode(126, "dftpf", V5_0, dimensions=_GATHERED)
    GATHER4_PO = Opcode(127, "dfitp", V5_0, dimensions=_GATHERED)
    GATHER4_PO_C = Opcode(128, "dfitpf", V5_0, dimensions=_GATHERED)
    RCP = Opcode(129, "df", V5_0, saturates=True)
    F32TOF16 = Opcode(130, "df", V5_0)
    F16TOF32 = Opcode(131, "di", V5_0)
    UADDC = Opcode(132, "ddii", V5_0)
    USUBB = Opcode(133, "ddii", V5_0)
    COUNTBITS = Opcode(134, "di", V5_0)
    FIRSTBIT_HI = Opcode(135, "di", V5_0)
    FIRSTBIT_LO = Opcode(136, "di", V5_0)
    FIRSTBIT_SHI = Opcode(137, "di", V5_0)
    UBFE = Opcode(138, "diii", V5_0)
    IBFE = Opcode(139, "diii", V5_0)
    BFI = Opcode(140, "diiii", V5_0)
    BFREV = Opcode(141, "di", V5_0)
    SWAPC = Opcode(142, "ddiss", V5_0)
    DCL_STREAM = _dcl(143, " {operand}", File.STREAM, since=V5_0, stages=_GS)
    DCL_FUNCTION_BODY = _dcl(144, " fb{number}", since=V5_0)
    DCL_FUNCTION_TABLE = _dcl(145, " ft{number}, {count} {data}", since=V5_0)
    DCL_INTERFACE = _dcl(146, " fp{number}, {access}, {count} {data}", since=V5_0)
    DCL_INPUT_CONTROL_POINT_COUNT = _dcl(147, " {points}", since=V5_0, stages=_PATCHES)
    DCL_OUTPUT_CONTROL_POINT_COUNT = _dcl(148, " {points}", since=V5_0, stages=_HS)
    DCL_TESSELLATOR_DOMAIN = _dcl(149, " {domain}", since=V5_0, stages=_PATCHES)
    DCL_TESSELLATOR_PARTITIONING = _dcl(150, " {partitioning}", since=V5_0, stages=_HS)
    DCL_TESSELLATOR_OUTPUT_PRIMITIVE = _dcl(151, " {output}", since=V5_0, stages=_HS)
    DCL_HS_MAX_TESSFACTOR = _dcl(152, " l({factor})", since=V5_0, stages=_HS)
    DCL_HS_FORK_PHASE_INSTANCE_COUNT = _dcl(153, " {count}", since=V5_0, stages=_HS)
    DCL_HS_JOIN_PHASE_INSTANCE_COUNT = _dcl(154, " {count}", since=V5_0, stages=_HS)
    DCL_THREAD_GROUP = _dcl(155, " {threads}", stages=_CS)
    DCL_UAV_TYPED = _dcl(156, "_{dimension}{uav} {returns} {operand}", File.UAV, since=V5_0)
    DCL_UAV_RAW = _dcl(157, "{uav} {operand}", File.UAV, dimensions=_RAW)
    DCL_UAV_STRUCTURED = _dcl(158, "{uav} {operand}, {stride}", File.UAV, dimensions=_STRUCTURED)
    DCL_TGSM_RAW = _dcl(
        159, " {operand}, {stride}", File.SHARED_MEMORY, stages=_CS, dimensions=_RAW
    )
    DCL_TGSM_STRUCTURED = _dcl(
        160,
        " {operand}, {stride}, {count}",
        File.SHARED_MEMORY,
        stages=_CS,
        dimensions=_STRUCTURED,
    )
    DCL_RESOURCE_RAW = _dcl(161, " {operand}", File.RESOURCE, dimensions=_RAW)
    DCL_RESOURCE_STRUCTURED = _dcl(
        162, " {operand}, {stride}", File.RESOURCE, dimensions=_STRUCTURED
    )
    LD_UAV_TYPED = Opcode(163, "diy", V5_0, dimensions=_LOADED)
    STORE_UAV_TYPED = Opcode(164, "Uis", V5_0, dimensions=_LOADED)
    LD_RAW = Opcode(165, "diw", dimensions=_RAW)
    STORE_RAW = Opcode(166, "uis", dimensions=_RAW)
    LD_STRUCTURED = Opcode(167, "diiw", dimensions=_STRUCTURED)
    STORE_STRUCTURED = Opcode(168, "uiis", dimensions=_STRUCTURED)
    ATOMIC_AND = Opcode(169, "uii", V5_0)
    ATOMIC_OR = Opcode(170, "uii", V5_0)
    ATOMIC_XOR = Opcode(171, "uii", V5_0)
    ATOMIC_CMP_STORE = Opcode(172, "uiii", V5_0)
    ATOMIC_IADD = Opcode(173, "uii", V5_0)
    ATOMIC_IMAX = Opcode(174, "uii", V5_0)
    ATOMIC_IMIN = Opcode(175, "uii", V5_0)
    ATOMIC_UMAX = Opcode(176, "uii", V5_0)
    ATOMIC_UMIN = Opcode(177, "uii", V5_0)
    IMM_ATOMIC_ALLOC = Opcode(178, "dU", V5_0, dimensions=_STRUCTURED)
    IMM_ATOMIC_CONSUME = Opcode(179, "dU", V5_0, dimensions=_STRUCTURED)
    IMM_ATOMIC_IADD = Opcode(180, "duii", V5_0)
    IMM_ATOMIC_AND = Opcode(181, "duii", V5_0)
    IMM_ATOMIC_OR = Opcode(182, "duii", V5_0)
    IMM_ATOMIC_XOR = Opcode(183, "duii", V5_0)
    IMM_ATOMIC_EXCH = Opcode(184, "duii", V5_0)
    IMM_ATOMIC_CMP_EXCH = Opcode(185, "duiii", V5_0)
    IMM_ATOMIC_IMAX = Opcode(186, "duii", V5_0)
    IMM_ATOMIC_IMIN = Opcode(187, "duii", V5_0)
    IMM_ATOMIC_UMAX = Opcode(188, "duii", V5_0)
    IMM_ATOMIC_UMIN = Opcode(189, "duii", V5_0)
    SYNC = Opcode(190)
    DADD = Opcode(191, "dqq", V5_0, saturates=True)
    DMAX = Opcode(192, "dqq", V5_0, saturates=True)
    DMIN = Opcode(193, "dqq", V5_0, saturates=True)
    DMUL = Opcode(194, "dqq", V5_0, saturates=True)
    DEQ = Opcode(195, "dqq", V5_0)
    DGE = Opcode(196, "dqq", V5_0)
    DLT = Opcode(197, "dqq", V5_0)
    DNE = Opcode(198, "dqq", V5_0)
    DMOV = Opcode(199, "dq", V5_0, saturates=True)
    DMOVC = Opcode(200, "diqq", V5_0, saturates=True)
    DTOF = Opcode(201, "dq", V5_0)
    FTOD = Opcode(202, "df", V5_0)
    EVAL_SNAPPED = Opcode(203, "dsi", V5_0, stages=_PS)
    EVAL_SAMPLE_INDEX = Opcode(204, "dsi", V5_0, stages=_PS)
    EVAL_CENTROID = Opcode(205, "ds", V5_0, stages=_PS)
    DCL_GSINSTANCES = _dcl(206, " {count}", since=V5_0, stages=_GS)
    ABORT = Opcode(207, "", V5_0)
    DEBUG_BREAK = Opcode(208, "", V5_0)
    DDIV = Opcode(210, "dqq", V5_0, saturates=True)
    DFMA = Opcode(211, "dqqq", V5_0, saturates=True)
    DRCP = Opcode(212, "dq", V5_0, saturates=True)
    MSAD = Opcode(213, "diii", V5_0)
    DTOI = Opcode(214, "dq", V5_0)
    DTOU = Opcode(215, "dq", V5_0)
    ITOD = Opcode(216, "di", V5_0)
    UTOD = Opcode(217, "di", V5_0)
    GATHER4_S = Opcode(219, "ddftp", V5_0, dimensions=_GATHERED)
    GATHER4_C_S = Opcode(220, "ddftpf", V5_0, dimensions=_GATHERED)
    GATHER4_PO_S = Opcode(221, "ddfitp", V5_0, dimensions=_GATHERED)
    GATHER4_PO_C_S = Opcode(222, "ddfitpf", V5_0, dimensions=_GATHERED)
    LD_S = Opcode(223, "ddit", V5_0, dimensions=_LOADED)
    LDMS_S = Opcode(224, "dditi", V5_0, dimensions=_MULTISAMPLED)
    LD_UAV_TYPED_S = Opcode(225, "ddiy", V5_0, dimensions=_LOADED)
    LD_RAW_S = Opcode(226, "ddiw", V5_0, dimensions=_RAW)
    LD_STRUCTURED_S = Opcode(227, "ddiiw", V5_0, dimensions=_STRUCTURED)
    SAMPLE_L_S = Opcode(228, "ddftpf", V5_0, dimensions=_SAMPLED)
    SAMPLE_C_LZ_S = Opcode(229, "ddftpf", V5_0, dimensions=_COMPARED)
    SAMPLE_CL_S = Opcode(230, "ddftpf", V5_0, stages=_PS, dimensions=_SAMPLED)
    SAMPLE_B_CL_S = Opcode(231, "ddftpff", V5_0, stages=_PS, dimensions=_SAMPLED)
    SAMPLE_D_CL_S = Opcode(232, "ddftpfff", V5_0, dimensions=_SAMPLED)
    SAMPLE_C_CL_S = Opcode(233, "ddftpff", V5_0, stages=_PS, dimensions=_COMPARED)
    CHECK_ACCESS_MAPPED = Opcode(234, "di", V5_0)


SIZE_TYPES: dict[Op, tuple[Sizes, ...]] = {
    Op.RESINFO: (Sizes.FLOAT, Sizes.RCPFLOAT, Sizes.UINT),
    Op.SAMPLEINFO: (Sizes.FLOAT, Sizes.UINT),
}
"""The result types that instructions of resinfo and sampleinfo state, by their numbers there."""
WITH_DATA = frozenset({Op.CUSTOMDATA, Op.DCL_FUNCTION_TABLE, Op.DCL_INTERFACE})
"""Opcodes whose instructions end in a variable number of DWORDs: custom data, function tables and
interfaces."""
EXTENDED_DOUBLES = frozenset({Op.DDIV, Op.DFMA, Op.DRCP, Op.DTOI, Op.DTOU, Op.ITOD, Op.UTOD})
"""Opcodes of double precision that Direct3D 11.1 added, with a global flag of their own."""
BINDINGS = frozenset(
    {File.CONSTANT_BUFFER, File.SAMPLER, File.RESOURCE, File.UAV, File.SHARED_MEMORY}
)
"""Register files whose registers a program must declare before use."""

_LETTERS = {
    "d": frozenset({File.TEMP, File.OUTPUT, File.INDEXABLE_TEMP, File.NULL}) | SCALAR_OUTPUTS,
    "s": _VALUES,
    "f": _VALUES,
    "i": _VALUES,
    "q": _VALUES,
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


def files(op: Op, letter: str) -> frozenset[File]:
    """The register files allowed for an operand of ``op``, by the operand's letter."""
    return (op.row.declares or frozenset()) if letter == "D" else _LETTERS[letter]
