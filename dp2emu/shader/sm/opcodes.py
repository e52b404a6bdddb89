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
from typing import NamedTuple

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


class Op(SdkEnum, prefix="D3DSIO_"):
    """Opcodes of instruction tokens."""

    NOP = 0
    MOV = 1
    ADD = 2
    SUB = 3
    MAD = 4
    MUL = 5
    RCP = 6
    RSQ = 7
    DP3 = 8
    DP4 = 9
    MIN = 10
    MAX = 11
    SLT = 12
    SGE = 13
    EXP = 14
    LOG = 15
    LIT = 16
    DST = 17
    LRP = 18
    FRC = 19
    M4x4 = 20
    M4x3 = 21
    M3x4 = 22
    M3x3 = 23
    M3x2 = 24
    CALL = 25
    CALLNZ = 26
    LOOP = 27
    RET = 28
    ENDLOOP = 29
    LABEL = 30
    DCL = 31
    POW = 32
    CRS = 33
    SGN = 34
    ABS = 35
    NRM = 36
    SINCOS = 37
    REP = 38
    ENDREP = 39
    IF = 40
    IFC = 41
    ELSE = 42
    ENDIF = 43
    BREAK = 44
    BREAKC = 45
    MOVA = 46
    DEFB = 47
    DEFI = 48
    TEXCOORD = 64
    TEXKILL = 65
    TEX = 66
    TEXBEM = 67
    TEXBEML = 68
    TEXREG2AR = 69
    TEXREG2GB = 70
    TEXM3x2PAD = 71
    TEXM3x2TEX = 72
    TEXM3x3PAD = 73
    TEXM3x3TEX = 74
    TEXM3x3SPEC = 76
    TEXM3x3VSPEC = 77
    EXPP = 78
    LOGP = 79
    CND = 80
    DEF = 81
    TEXREG2RGB = 82
    TEXDP3TEX = 83
    TEXM3x2DEPTH = 84
    TEXDP3 = 85
    TEXM3x3 = 86
    TEXDEPTH = 87
    CMP = 88
    BEM = 89
    DP2ADD = 90
    DSX = 91
    DSY = 92
    TEXLDD = 93
    SETP = 94
    TEXLDL = 95
    BREAKP = 96
    PHASE = 0xFFFD


class Group(Enum):
    """What an opcode has to do with, for rules about order and predication."""

    ARITHMETIC = "arithmetic"
    TEXTURE = "texture"
    FLOW = "flow control"
    CONSTANT = "constant"
    DECLARATION = "declaration"
    MARK = "mark"
    """nop and phase."""


class Control(Enum):
    """What the control bits of an instruction token hold."""

    NONE = 0
    COMPARISON = 1
    SAMPLING = 2


class Form(NamedTuple):
    """How an opcode is spelled from some version on, and its operands as letters."""

    name: str
    destination: str = ""
    sources: str = ""
    optional: str = ""
    """Sources that may follow; the length field decides."""


Forms = Mapping[Level, Form | None]


class Opcode(NamedTuple):
    """A row of the table.  ``vs`` and ``ps`` are forms by steps; None ends the last one."""

    op: Op
    group: Group
    vs: Forms
    ps: Forms
    control: Control = Control.NONE
    raw: int = 0
    """DWORDs of the constant that follows the destination."""
    rows: int = 1
    """Registers read from the last source on: matrices have several."""

    def form(self, version: Version) -> Form | None:
        """The form in a version, None where there is no such opcode."""
        return entry(self.vs if version.stage is Stage.VERTEX else self.ps, version.level)


_NOWHERE: Forms = MappingProxyType({})


def _since(first: Level | None, form: Form, last_before: Level | None = None) -> Forms:
    if first is None:
        return _NOWHERE
    return {first: form} if last_before is None else {first: form, last_before: None}


def _row(
    op: Op,
    destination: str,
    sources: str,
    vs: Level | None,
    ps: Level | None,
    *,
    name: str = "",
    group: Group = Group.ARITHMETIC,
    until: Level | None = None,
    control: Control = Control.NONE,
    raw: int = 0,
    rows: int = 1,
) -> Opcode:
    """An opcode of one form; ``until`` is the first pixel version without it."""
    form = Form(name or op.name.lower(), destination, sources)
    return Opcode(op, group, _since(vs, form), _since(ps, form, until), control, raw, rows)


def _flow(
    op: Op, sources: str, vs: Level, ps: Level, *, name: str = "", control: Control = Control.NONE
) -> Opcode:
    return _row(op, "", sources, vs, ps, name=name, group=Group.FLOW, control=control)


def _early(op: Op, sources: str, first: Level = V1_0) -> Opcode:
    """A texture addressing operation of ps_1_0 to ps_1_3."""
    return _row(op, "t", sources, None, first, group=Group.TEXTURE, until=V1_4)


def _texture(op: Op, vs: Forms, ps: Forms, control: Control = Control.NONE) -> Opcode:
    return Opcode(op, Group.TEXTURE, vs, ps, control)


_SGN = Form("sgn", "d", "vvv")
_SINCOS = {V2_0: Form("sincos", "d", "vvv"), V3_0: Form("sincos", "d", "v")}
_MOV = Form("mov", "d", "v")

TABLE: tuple[Opcode, ...] = (
    _row(Op.NOP, "", "", V1_0, V1_0, group=Group.MARK),
    Opcode(
        Op.MOV, Group.ARITHMETIC, {V1_0: Form("mov", "m", "v"), V2_0: _MOV}, _since(V1_0, _MOV)
    ),
    _row(Op.ADD, "d", "vv", V1_0, V1_0),
    _row(Op.SUB, "d", "vv", V1_0, V1_0),
    _row(Op.MAD, "d", "vvv", V1_0, V1_0),
    _row(Op.MUL, "d", "vv", V1_0, V1_0),
    _row(Op.RCP, "d", "v", V1_0, V2_0),
    _row(Op.RSQ, "d", "v", V1_0, V2_0),
    _row(Op.DP3, "d", "vv", V1_0, V1_0),
    _row(Op.DP4, "d", "vv", V1_0, V1_2),
    _row(Op.MIN, "d", "vv", V1_0, V2_0),
    _row(Op.MAX, "d", "vv", V1_0, V2_0),
    _row(Op.SLT, "d", "vv", V1_0, None),
    _row(Op.SGE, "d", "vv", V1_0, None),
    _row(Op.EXP, "d", "v", V1_0, V2_0),
    _row(Op.LOG, "d", "v", V1_0, V2_0),
    _row(Op.LIT, "d", "v", V1_0, None),
    _row(Op.DST, "d", "vv", V1_0, None),
    _row(Op.LRP, "d", "vvv", V2_0, V1_0),
    _row(Op.FRC, "d", "v", V1_0, V2_0),
    _row(Op.M4x4, "d", "vv", V1_0, V2_0, rows=4),
    _row(Op.M4x3, "d", "vv", V1_0, V2_0, rows=3),
    _row(Op.M3x4, "d", "vv", V1_0, V2_0, rows=4),
    _row(Op.M3x3, "d", "vv", V1_0, V2_0, rows=3),
    _row(Op.M3x2, "d", "vv", V1_0, V2_0, rows=2),
    _flow(Op.CALL, "l", V2_0, V2_X),
    _flow(Op.CALLNZ, "lb", V2_0, V2_X),
    _flow(Op.LOOP, "ni", V2_0, V3_0),
    _flow(Op.RET, "", V2_0, V2_X),
    _flow(Op.ENDLOOP, "", V2_0, V3_0),
    _flow(Op.LABEL, "l", V2_0, V2_X),
    _row(Op.DCL, "D", "", V1_0, V2_0, group=Group.DECLARATION),
    _row(Op.POW, "d", "vv", V2_0, V2_0),
    _row(Op.CRS, "d", "vv", V2_0, V2_0),
    Opcode(Op.SGN, Group.ARITHMETIC, {V2_0: _SGN, V3_0: Form("sgn", "d", "v", "vv")}, _NOWHERE),
    _row(Op.ABS, "d", "v", V2_0, V2_0),
    _row(Op.NRM, "d", "v", V2_0, V2_0),
    Opcode(Op.SINCOS, Group.ARITHMETIC, _SINCOS, _SINCOS),
    _flow(Op.REP, "i", V2_0, V2_X),
    _flow(Op.ENDREP, "", V2_0, V2_X),
    _flow(Op.IF, "b", V2_0, V2_X),
    _flow(Op.IFC, "vv", V2_X, V2_X, name="if", control=Control.COMPARISON),
    _flow(Op.ELSE, "", V2_0, V2_X),
    _flow(Op.ENDIF, "", V2_0, V2_X),
    _flow(Op.BREAK, "", V2_X, V2_X),
    _flow(Op.BREAKC, "vv", V2_X, V2_X, name="break", control=Control.COMPARISON),
    _row(Op.MOVA, "a", "v", V2_0, None),
    _row(Op.DEFB, "B", "", V2_0, V2_X, group=Group.CONSTANT, raw=1),
    _row(Op.DEFI, "I", "", V2_0, V2_X, group=Group.CONSTANT, raw=4),
    _texture(
        Op.TEXCOORD,
        _NOWHERE,
        {V1_0: Form("texcoord", "t"), V1_4: Form("texcrd", "r", "t"), V2_0: None},
    ),
    _texture(Op.TEXKILL, _NOWHERE, {V1_0: Form("texkill", "t"), V1_4: Form("texkill", "k")}),
    _texture(
        Op.TEX,
        _NOWHERE,
        {V1_0: Form("tex", "t"), V1_4: Form("texld", "r", "x"), V2_0: Form("texld", "d", "vs")},
        Control.SAMPLING,
    ),
    _early(Op.TEXBEM, "t"),
    _early(Op.TEXBEML, "t"),
    _early(Op.TEXREG2AR, "t"),
    _early(Op.TEXREG2GB, "t"),
    _early(Op.TEXM3x2PAD, "t"),
    _early(Op.TEXM3x2TEX, "t"),
    _early(Op.TEXM3x3PAD, "t"),
    _early(Op.TEXM3x3TEX, "t"),
    _early(Op.TEXM3x3SPEC, "tv"),
    _early(Op.TEXM3x3VSPEC, "t"),
    _row(Op.EXPP, "d", "v", V1_0, None),
    _row(Op.LOGP, "d", "v", V1_0, None),
    _row(Op.CND, "d", "vvv", None, V1_0, until=V2_0),
    _row(Op.DEF, "C", "", V1_0, V1_0, group=Group.CONSTANT, raw=4),
    _early(Op.TEXREG2RGB, "t", V1_2),
    _early(Op.TEXDP3TEX, "t", V1_2),
    _early(Op.TEXM3x2DEPTH, "t", V1_3),
    _early(Op.TEXDP3, "t", V1_2),
    _early(Op.TEXM3x3, "t", V1_2),
    _row(Op.TEXDEPTH, "r", "", None, V1_4, group=Group.TEXTURE, until=V2_0),
    _row(Op.CMP, "d", "vvv", None, V1_2),
    _row(Op.BEM, "d", "vv", None, V1_4, until=V2_0),
    _row(Op.DP2ADD, "d", "vvv", None, V2_0),
    _row(Op.DSX, "d", "v", None, V2_X),
    _row(Op.DSY, "d", "v", None, V2_X),
    _row(Op.TEXLDD, "d", "vsvv", None, V2_X, group=Group.TEXTURE),
    _row(Op.SETP, "p", "vv", V2_X, V2_X, control=Control.COMPARISON),
    _row(Op.TEXLDL, "d", "vs", V3_0, V3_0, group=Group.TEXTURE),
    _flow(Op.BREAKP, "p", V2_X, V2_X),
    _row(Op.PHASE, "", "", None, V1_4, group=Group.MARK, until=V2_0),
)

OPCODES = {row.op: row for row in TABLE}

_RESULTS = frozenset(
    {
        File.TEMP,
        File.TEXTURE,
        File.RASTOUT,
        File.ATTROUT,
        File.TEXCRDOUT,
        File.OUTPUT,
        File.COLOROUT,
        File.DEPTHOUT,
    }
)
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
    """The register files a source may be in."""
    return _SOURCES[letter]


@cache
def destination_files(letter: str, version: Version) -> frozenset[File]:
    """The register files a destination may be in; texture registers turn read-only in ps_1_4."""
    files = _DESTINATIONS[letter]
    return files - {File.TEXTURE} if letter in "dm" and version.level >= V1_4 else files
