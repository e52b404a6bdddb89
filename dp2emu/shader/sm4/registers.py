"""Register files: their numbers in tokens, their names, and how they are indexed.

Source: SM4-5 tokens, "Register files".
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from dp2emu.shader.sm4.versions import V4_0, V4_1, V5_0, Level, Stage, Version


class File(Enum):
    """Register files of shader models 4 and 5; the value is the prefix of register names."""

    TEMP = "r"
    INPUT = "v"
    OUTPUT = "o"
    INDEXABLE_TEMP = "x"
    IMMEDIATE = "l()"
    IMMEDIATE64 = "d()"
    SAMPLER = "s"
    RESOURCE = "t"
    CONSTANT_BUFFER = "cb"
    IMMEDIATE_CONSTANT_BUFFER = "icb"
    LABEL = "l"
    PRIMITIVE_ID = "vPrim"
    DEPTH = "oDepth"
    NULL = "null"
    RASTERIZER = "rasterizer"
    COVERAGE_MASK = "oMask"
    STREAM = "m"
    FUNCTION_BODY = "fb"
    FUNCTION_TABLE = "ft"
    INTERFACE = "fp"
    OUTPUT_CONTROL_POINT_ID = "vOutputControlPointID"
    FORK_INSTANCE_ID = "vForkInstanceID"
    JOIN_INSTANCE_ID = "vJoinInstanceID"
    INPUT_CONTROL_POINT = "vicp"
    OUTPUT_CONTROL_POINT = "vocp"
    PATCH_CONSTANT = "vpc"
    DOMAIN_POINT = "vDomain"
    THIS = "this"
    UAV = "u"
    SHARED_MEMORY = "g"
    THREAD_ID = "vThreadID"
    THREAD_GROUP_ID = "vThreadGroupID"
    THREAD_ID_IN_GROUP = "vThreadIDInGroup"
    COVERAGE = "vCoverage"
    THREAD_ID_IN_GROUP_FLATTENED = "vThreadIDInGroupFlattened"
    GS_INSTANCE_ID = "vGSInstanceID"
    DEPTH_GREATER_EQUAL = "oDepthGE"
    DEPTH_LESS_EQUAL = "oDepthLE"
    CYCLE_COUNTER = "vCycleCounter"
    STENCIL_REFERENCE = "oStencilRef"
    INNER_COVERAGE = "vInnerCoverage"


_ALL = frozenset(Stage)
_PS = frozenset({Stage.PIXEL})
_GS = frozenset({Stage.GEOMETRY})
_HS = frozenset({Stage.HULL})
_DS = frozenset({Stage.DOMAIN})
_CS = frozenset({Stage.COMPUTE})
_PATCHES = _HS | _DS
_PER_VERTEX = _GS | _HS
"""The stages whose inputs are indexed as v[vertex][register]."""
_ANY = 1 << 32
_ROWS = 4096
_REGISTERS = 32
_VERTICES = 32
_TARGETS = 8


class Bank(NamedTuple):
    """A register file: its token type, its indices, and the versions and stages that have it."""

    file: File
    type: int
    """Number of the register file in operand tokens."""
    limits: tuple[int, ...] = ()
    """Exclusive upper bound of each index of a register."""
    since: Level = V4_0
    stages: frozenset[Stage] = _ALL
    relative: frozenset[int] = frozenset()
    """Positions, from 0, of the indices that may have a run-time part."""
    linked: frozenset[int] = frozenset()
    """Positions of the indices to which a component of this# may be added, which names the data of
    a class instance."""

    def exists(self, version: Version) -> bool:
        """Whether a version has this file."""
        return version.level >= self.since and version.stage in self.stages


_FIRST, _SECOND, _BOTH = frozenset({0}), frozenset({1}), frozenset({0, 1})

BANKS = (
    Bank(File.TEMP, 0, (_ROWS,)),
    Bank(File.INPUT, 1, (_REGISTERS,), relative=_FIRST),
    Bank(File.OUTPUT, 2, (_REGISTERS,), relative=_FIRST),
    Bank(File.INDEXABLE_TEMP, 3, (_ROWS, _ROWS), relative=_SECOND),
    Bank(File.IMMEDIATE, 4),
    Bank(File.IMMEDIATE64, 5, since=V5_0),
    Bank(File.SAMPLER, 6, (16,), linked=_FIRST),
    Bank(File.RESOURCE, 7, (128,), linked=_FIRST),
    Bank(File.CONSTANT_BUFFER, 8, (15, _ROWS), relative=_SECOND, linked=_BOTH),
    Bank(File.IMMEDIATE_CONSTANT_BUFFER, 9, (_ROWS,), relative=_FIRST),
    Bank(File.LABEL, 10, (_ANY,)),
    Bank(File.PRIMITIVE_ID, 11, stages=_GS | _PATCHES),
    Bank(File.DEPTH, 12, stages=_PS),
    Bank(File.NULL, 13),
    Bank(File.RASTERIZER, 14, since=V4_1, stages=_PS),
    Bank(File.COVERAGE_MASK, 15, since=V4_1, stages=_PS),
    Bank(File.STREAM, 16, (4,), V5_0, _GS),
    Bank(File.FUNCTION_BODY, 17, (_ANY,), V5_0),
    Bank(File.FUNCTION_TABLE, 18, (_ANY,), V5_0),
    Bank(File.INTERFACE, 19, (_ANY, _ANY), V5_0, relative=_SECOND),
    Bank(File.OUTPUT_CONTROL_POINT_ID, 22, (), V5_0, _HS),
    Bank(File.FORK_INSTANCE_ID, 23, (), V5_0, _HS),
    Bank(File.JOIN_INSTANCE_ID, 24, (), V5_0, _HS),
    Bank(File.INPUT_CONTROL_POINT, 25, (_VERTICES, _REGISTERS), V5_0, _PATCHES, _BOTH),
    Bank(File.OUTPUT_CONTROL_POINT, 26, (_VERTICES, _REGISTERS), V5_0, _HS, _BOTH),
    Bank(File.PATCH_CONSTANT, 27, (_REGISTERS,), V5_0, _PATCHES, _FIRST),
    Bank(File.DOMAIN_POINT, 28, (), V5_0, _DS),
    Bank(File.THIS, 29, (_ANY,), V5_0, relative=_FIRST),
    Bank(File.UAV, 30, (64,)),
    Bank(File.SHARED_MEMORY, 31, (_ROWS,), stages=_CS),
    Bank(File.THREAD_ID, 32, stages=_CS),
    Bank(File.THREAD_GROUP_ID, 33, stages=_CS),
    Bank(File.THREAD_ID_IN_GROUP, 34, stages=_CS),
    Bank(File.COVERAGE, 35, (), V5_0, _PS),
    Bank(File.THREAD_ID_IN_GROUP_FLATTENED, 36, stages=_CS),
    Bank(File.GS_INSTANCE_ID, 37, (), V5_0, _GS),
    Bank(File.DEPTH_GREATER_EQUAL, 38, (), V5_0, _PS),
    Bank(File.DEPTH_LESS_EQUAL, 39, (), V5_0, _PS),
    Bank(File.CYCLE_COUNTER, 40, (), V5_0),
    Bank(File.STENCIL_REFERENCE, 41, (), V5_0, _PS),
    Bank(File.INNER_COVERAGE, 42, (), V5_0, _PS),
)

BY_FILE = {bank.file: bank for bank in BANKS}
BY_TYPE = {bank.type: bank for bank in BANKS}
_BY_VERTEX = Bank(File.INPUT, 1, (_VERTICES, _REGISTERS), relative=_BOTH)
_BY_TARGET = Bank(File.OUTPUT, 2, (_TARGETS,), relative=_FIRST)


def bank_of(file: File, stage: Stage) -> Bank:
    """The ``Bank`` of a file: v# of GS and HS are indexed by vertex, o# of PS by target."""
    if file is File.INPUT and stage in _PER_VERTEX:
        return _BY_VERTEX
    if file is File.OUTPUT and stage is Stage.PIXEL:
        return _BY_TARGET
    return BY_FILE[file]
