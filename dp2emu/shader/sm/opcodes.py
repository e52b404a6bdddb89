"""The opcodes, one row each (SM1-3 tokens, "Opcodes").

Operands are spelled in letters, one an operand, destination first::

    destinations                            sources
    d  data                                 v  value
    m  data, or the address register        s  sampler
    a  address register                     l  label
    p  predicate                            i  integer constant
    t  texture register, ps_1_0 to 1_3      b  boolean constant or predicate
    r  temporary                            p  predicate
    k  what texkill reads                   n  loop counter
    C, I, B  constant that is defined       t  texture register
    D  register that is declared            x  texture register or temporary
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from dp2emu.d3d.sdk import SdkEnum
from dp2emu.shader.sm.registers import File
from dp2emu.shader.sm.versions import (
    V1_0,
    V1_2,
    V1_3,
    V1_4,
    V2_0,
    V2_X,
    V3_0,
    Level,
    Stage,
    Version,
    entry,
)


class Group(Enum):
    """Category of an opcode, by which instruction order and predication are checked."""

    ARITHMETIC = "arithmetic"
    TEXTURE = "texture"
    FLOW = "flow control"
    CONSTANT = "constant"
    DECLARATION = "declaration"
    MARK = "mark"
    """Opcodes without effect: nop and phase."""


class Control(Enum):
    """What the control bits of an opcode's instruction token contain."""

    NONE = 0
    COMPARISON = 1
    SAMPLING = 2


class Form(NamedTuple):
    """Mnemonic and operand letters of an opcode in a range of shader versions."""

    name: str
    destination: str = ""
    sources: str = ""
    optional: str = ""
    """Letters of optional trailing sources; the token's length tells if they are present."""


Forms = Mapping[Level, Form | None]


class Opcode(NamedTuple):
    """A row of the table of opcodes, with what all versions share, and the forms by version.

    ``vs`` and ``ps`` map the version that introduces a form, in vertex and pixel shaders, to the
    form; None means that from this version on the opcode does not exist.
    """

    number: int
    group: Group
    vs: Forms
    ps: Forms
    control: Control = Control.NONE
    raw: int = 0
    """Number of constant DWORDs that follow the destination."""
    rows: int = 1
    """Number of consecutive registers that the last source covers: the rows of a matrix."""

    def form(self, version: Version) -> Form | None:
        """The form of the opcode in a version; None if the version has no such opcode."""
        return entry(self.vs if version.stage is Stage.VERTEX else self.ps, version.level)


_NOWHERE: Forms = MappingProxyType({})


def _since(first: Level | None, form: Form, last_before: Level | None = None) -> Forms:
    if first is None:
        return _NOWHERE
    return {first: form} if last_before is None else {first: form, last_before: None}


def _row(
    number: int,
    name: str,
    destination: str,
    sources: str,
    vs: Level | None,
    ps: Level | None,
    *,
    group: Group = Group.ARITHMETIC,
    until: Level | None = None,
    control: Control = Control.NONE,
    raw: int = 0,
    rows: int = 1,
) -> Opcode:
    """An opcode whose form never changes; pixel shader version ``until`` no longer has it."""
    form = Form(name, destination, sources)
    return Opcode(number, group, _since(vs, form), _since(ps, form, until), control, raw, rows)


def _flow(
    number: int, name: str, sources: str, vs: Level, ps: Level, control: Control = Control.NONE
) -> Opcode:
    return _row(number, name, "", sources, vs, ps, group=Group.FLOW, control=control)


def _early(number: int, name: str, sources: str, first: Level = V1_0) -> Opcode:
    """A texture addressing operation of ps_1_0 to ps_1_3."""
    return _row(number, name, "t", sources, None, first, group=Group.TEXTURE, until=V1_4)


def _texture(number: int, ps: Forms, control: Control = Control.NONE) -> Opcode:
    return Opcode(number, Group.TEXTURE, _NOWHERE, ps, control)


_SGN = Form("sgn", "d", "vvv")
_SINCOS = {V2_0: Form("sincos", "d", "vvv"), V3_0: Form("sincos", "d", "v")}
_MOV = {V1_0: Form("mov", "m", "v"), V2_0: Form("mov", "d", "v")}


class Op(SdkEnum, prefix="D3DSIO_"):
    """Opcodes by name; the value is the number in instruction tokens."""

    row: Opcode

    def __new__(cls, *row: Any) -> Op:
        """Create the member from the fields of its ``Opcode``, with the number as its value."""
        member = int.__new__(cls, row[0])
        member._value_, member.row = row[0], Opcode(*row)
        return member

    NOP = _row(0, "nop", "", "", V1_0, V1_0, group=Group.MARK)
    MOV = Opcode(1, Group.ARITHMETIC, _MOV, {V1_0: _MOV[V2_0]})
    ADD = _row(2, "add", "d", "vv", V1_0, V1_0)
    SUB = _row(3, "sub", "d", "vv", V1_0, V1_0)
    MAD = _row(4, "mad", "d", "vvv", V1_0, V1_0)
    MUL = _row(5, "mul", "d", "vv", V1_0, V1_0)
    RCP = _row(6, "rcp", "d", "v", V1_0, V2_0)
    RSQ = _row(7, "rsq", "d", "v", V1_0, V2_0)
    DP3 = _row(8, "dp3", "d", "vv", V1_0, V1_0)
    DP4 = _row(9, "dp4", "d", "vv", V1_0, V1_2)
    MIN = _row(10, "min", "d", "vv", V1_0, V2_0)
    MAX = _row(11, "max", "d", "vv", V1_0, V2_0)
    SLT = _row(12, "slt", "d", "vv", V1_0, None)
    SGE = _row(13, "sge", "d", "vv", V1_0, None)
    EXP = _row(14, "exp", "d", "v", V1_0, V2_0)
    LOG = _row(15, "log", "d", "v", V1_0, V2_0)
    LIT = _row(16, "lit", "d", "v", V1_0, None)
    DST = _row(17, "dst", "d", "vv", V1_0, None)
    LRP = _row(18, "lrp", "d", "vvv", V2_0, V1_0)
    FRC = _row(19, "frc", "d", "v", V1_0, V2_0)
    M4x4 = _row(20, "m4x4", "d", "vv", V1_0, V2_0, rows=4)
    M4x3 = _row(21, "m4x3", "d", "vv", V1_0, V2_0, rows=3)
    M3x4 = _row(22, "m3x4", "d", "vv", V1_0, V2_0, rows=4)
    M3x3 = _row(23, "m3x3", "d", "vv", V1_0, V2_0, rows=3)
    M3x2 = _row(24, "m3x2", "d", "vv", V1_0, V2_0, rows=2)
    CALL = _flow(25, "call", "l", V2_0, V2_X)
    CALLNZ = _flow(26, "callnz", "lb", V2_0, V2_X)
    LOOP = _flow(27, "loop", "ni", V2_0, V3_0)
    RET = _flow(28, "ret", "", V2_0, V2_X)
    ENDLOOP = _flow(29, "endloop", "", V2_0, V3_0)
    LABEL = _flow(30, "label", "l", V2_0, V2_X)
    DCL = _row(31, "dcl", "D", "", V1_0, V2_0, group=Group.DECLARATION)
    POW = _row(32, "pow", "d", "vv", V2_0, V2_0)
    CRS = _row(33, "crs", "d", "vv", V2_0, V2_0)
    SGN = Opcode(34, Group.ARITHMETIC, {V2_0: _SGN, V3_0: Form("sgn", "d", "v", "vv")}, _NOWHERE)
    ABS = _row(35, "abs", "d", "v", V2_0, V2_0)
    NRM = _row(36, "nrm", "d", "v", V2_0, V2_0)
    SINCOS = Opcode(37, Group.ARITHMETIC, _SINCOS, _SINCOS)
    REP = _flow(38, "rep", "i", V2_0, V2_X)
    ENDREP = _flow(39, "endrep", "", V2_0, V2_X)
    IF = _flow(40, "if", "b", V2_0, V2_X)
    IFC = _flow(41, "if", "vv", V2_X, V2_X, control=Control.COMPARISON)
    ELSE = _flow(42, "else", "", V2_0, V2_X)
    ENDIF = _flow(43, "endif", "", V2_0, V2_X)
    BREAK = _flow(44, "break", "", V2_X, V2_X)
    BREAKC = _flow(45, "break", "vv", V2_X, V2_X, control=Control.COMPARISON)
    MOVA = _row(46, "mova", "a", "v", V2_0, None)
    DEFB = _row(47, "defb", "B", "", V2_0, V2_X, group=Group.CONSTANT, raw=1)
    DEFI = _row(48, "defi", "I", "", V2_0, V2_X, group=Group.CONSTANT, raw=4)
    TEXCOORD = _texture(
        64, {V1_0: Form("texcoord", "t"), V1_4: Form("texcrd", "r", "t"), V2_0: None}
    )
    TEXKILL = _texture(65, {V1_0: Form("texkill", "t"), V1_4: Form("texkill", "k")})
    TEX = _texture(
        66,
        {V1_0: Form("tex", "t"), V1_4: Form("texld", "r", "x"), V2_0: Form("texld", "d", "vs")},
        Control.SAMPLING,
    )
    TEXBEM = _early(67, "texbem", "t")
    TEXBEML = _early(68, "texbeml", "t")
    TEXREG2AR = _early(69, "texreg2ar", "t")
    TEXREG2GB = _early(70, "texreg2gb", "t")
    TEXM3x2PAD = _early(71, "texm3x2pad", "t")
    TEXM3x2TEX = _early(72, "texm3x2tex", "t")
    TEXM3x3PAD = _early(73, "texm3x3pad", "t")
    TEXM3x3TEX = _early(74, "texm3x3tex", "t")
    TEXM3x3SPEC = _early(76, "texm3x3spec", "tv")
    TEXM3x3VSPEC = _early(77, "texm3x3vspec", "t")
    EXPP = _row(78, "expp", "d", "v", V1_0, None)
    LOGP = _row(79, "logp", "d", "v", V1_0, None)
    CND = _row(80, "cnd", "d", "vvv", None, V1_0, until=V2_0)
    DEF = _row(81, "def", "C", "", V1_0, V1_0, group=Group.CONSTANT, raw=4)
    TEXREG2RGB = _early(82, "texreg2rgb", "t", V1_2)
    TEXDP3TEX = _early(83, "texdp3tex", "t", V1_2)
    TEXM3x2DEPTH = _early(84, "texm3x2depth", "t", V1_3)
    TEXDP3 = _early(85, "texdp3", "t", V1_2)
    TEXM3x3 = _early(86, "texm3x3", "t", V1_2)
    TEXDEPTH = _row(87, "texdepth", "r", "", None, V1_4, group=Group.TEXTURE, until=V2_0)
    CMP = _row(88, "cmp", "d", "vvv", None, V1_2)
    BEM = _row(89, "bem", "d", "vv", None, V1_4, until=V2_0)
    DP2ADD = _row(90, "dp2add", "d", "vvv", None, V2_0)
    DSX = _row(91, "dsx", "d", "v", None, V2_X)
    DSY = _row(92, "dsy", "d", "v", None, V2_X)
    TEXLDD = _row(93, "texldd", "d", "vsvv", None, V2_X, group=Group.TEXTURE)
    SETP = _row(94, "setp", "p", "vv", V2_X, V2_X, control=Control.COMPARISON)
    TEXLDL = _row(95, "texldl", "d", "vs", V3_0, V3_0, group=Group.TEXTURE)
    BREAKP = _flow(96, "breakp", "p", V2_X, V2_X)
    PHASE = _row(0xFFFD, "phase", "", "", None, V1_4, group=Group.MARK, until=V2_0)


_RESULTS = frozenset({File.TEMP, File.TEXTURE, File.RASTOUT, File.ATTROUT, File.TEXCRDOUT})
_RESULTS |= {File.OUTPUT, File.COLOROUT, File.DEPTHOUT}
_DESTINATIONS = {
    "d": _RESULTS,
    "m": _RESULTS | {File.ADDR},
    "a": frozenset({File.ADDR}),
    "p": frozenset({File.PREDICATE}),
    "t": frozenset({File.TEXTURE}),
    "r": frozenset({File.TEMP}),
    "k": frozenset({File.TEMP, File.TEXTURE, File.INPUT}),
    "C": frozenset({File.CONST}),
    "I": frozenset({File.CONSTINT}),
    "B": frozenset({File.CONSTBOOL}),
    "D": frozenset({File.INPUT, File.TEXTURE, File.OUTPUT, File.SAMPLER, File.MISCTYPE}),
}
_SOURCES = {
    "v": frozenset({File.TEMP, File.INPUT, File.CONST, File.TEXTURE, File.MISCTYPE}),
    "s": frozenset({File.SAMPLER}),
    "l": frozenset({File.LABEL}),
    "i": frozenset({File.CONSTINT}),
    "b": frozenset({File.CONSTBOOL, File.PREDICATE}),
    "p": frozenset({File.PREDICATE}),
    "n": frozenset({File.LOOP}),
    "t": frozenset({File.TEXTURE}),
    "x": frozenset({File.TEXTURE, File.TEMP}),
}


def source_files(letter: str) -> frozenset[File]:
    """The register files allowed for a source operand, by its letter in the opcode table."""
    return _SOURCES[letter]


@cache
def destination_files(letter: str, version: Version) -> frozenset[File]:
    """The register files allowed for a destination operand, by its letter.

    t# is read-only from ps_1_4 on.
    """
    files = _DESTINATIONS[letter]
    return files - {File.TEXTURE} if letter in "dm" and version.level >= V1_4 else files
