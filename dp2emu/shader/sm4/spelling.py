"""Mnemonics, register names and phrases, shared by whoever writes assembly text and reads it.

Spelled as Microsoft's disassembler does, except that numbers keep all of their bits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from dp2emu.d3d.enums10 import Domain, OutputPrimitive, Partitioning
from dp2emu.d3d.sdk import Named
from dp2emu.errors import ShaderError
from dp2emu.number_text import float_bits, float_text, integer, unsigned_text
from dp2emu.shader.assembly import shown
from dp2emu.shader.resources import Dimension
from dp2emu.shader.sm4.enums import (
    Access,
    GlobalFlags,
    Interpolation,
    Precision,
    Primitive,
    ReturnType,
    SamplerMode,
    Sizes,
    Sync,
    SystemValue,
    Topology,
    UavFlags,
)
from dp2emu.shader.sm4.opcodes import SIZED, TABLE, Opcode
from dp2emu.shader.sm4.ops import Op
from dp2emu.shader.sm4.program import Returns
from dp2emu.shader.sm4.registers import File

COMPONENTS = "xyzw"
TEXEL, VIEW, SATURATE = "_aoffimmi", "_indexable", "_sat"
"""What follows a mnemonic: that texel offsets come, that the resource is told once more."""

BRACKETED = frozenset({File.IMMEDIATE_CONSTANT_BUFFER})
"""Files whose only index is in brackets even if it is a number."""
ATTACHED = frozenset({File.CONSTANT_BUFFER, File.INDEXABLE_TEMP, File.INTERFACE})
"""Files whose first index of two is part of the name."""
SCALARS = frozenset(
    {
        File.PRIMITIVE_ID,
        File.OUTPUT_CONTROL_POINT_ID,
        File.COVERAGE,
        File.INNER_COVERAGE,
        File.DEPTH,
        File.DEPTH_GREATER_EQUAL,
        File.DEPTH_LESS_EQUAL,
        File.COVERAGE_MASK,
        File.STENCIL_REFERENCE,
    }
)
"""What has one component, which goes without saying."""
DECLARED_WITHOUT = frozenset({File.PRIMITIVE_ID, File.OUTPUT_CONTROL_POINT_ID, File.COVERAGE_MASK})
"""Those of them that compilers declare as if they had none."""

PRECISIONS = {each.text: each for each in Precision if each is not Precision.DEFAULT}

_Kind = TypeVar("_Kind", bound=Named)
_WORD = 0xFFFFFFFF
_SMALL = 0x10000
_FLOATS = range(0x35800000, 0x4F000000)
"""Bits of floats from 2^-20 to 2^31, which untyped words of that size are taken for."""


class Mnemonic(NamedTuple):
    """An opcode together with what its control bits say."""

    op: Op
    nonzero: bool = False
    sizes: Sizes = Sizes.FLOAT
    sync: Sync = Sync(0)


@cache
def mnemonics() -> Mapping[str, Mnemonic]:
    """Every mnemonic of instructions in lower case: ``mad``, ``if_nz``, ``resinfo_uint``."""
    rows = (row for row in TABLE if row.declares is None)
    return MappingProxyType({name: each for row in rows for name, each in _of(row)})


@cache
def spellings() -> Mapping[Mnemonic, str]:
    """The same the other way round."""
    return MappingProxyType({each: name for name, each in mnemonics().items()})


def _of(row: Opcode) -> Iterator[tuple[str, Mnemonic]]:
    name = row.op.name.lower()
    if row.tests:
        yield f"{name}_z", Mnemonic(row.op)
        yield f"{name}_nz", Mnemonic(row.op, nonzero=True)
    elif row.op in SIZED:
        for sizes in Sizes:
            suffix = "" if sizes is Sizes.FLOAT else f"_{sizes.text}"
            yield name + suffix, Mnemonic(row.op, sizes=sizes)
    elif row.op is Op.SYNC:
        for bits in range(1 << len(_SYNC)):
            sync = Sync(bits)
            suffixes = (suffix for suffix, flag in _SYNC.items() if flag in sync)
            yield name + "".join(suffixes), Mnemonic(row.op, sync=sync)
    else:
        yield name, Mnemonic(row.op)


_SYNC = {
    "_uglobal": Sync.UAV_GLOBAL,
    "_ugroup": Sync.UAV_GROUP,
    "_g": Sync.GROUP_MEMORY,
    "_t": Sync.THREADS,
}

PHRASES = {
    Op.CUSTOMDATA: "dcl_immediateConstantBuffer {rows}",
    Op.DCL_RESOURCE: "dcl_resource_{dimension}{samples} {returns} {operand}",
    Op.DCL_CONSTANTBUFFER: "dcl_constantbuffer {operand}, {access}",
    Op.DCL_SAMPLER: "dcl_sampler {operand}, {mode}",
    Op.DCL_INDEXRANGE: "dcl_indexrange {operand} {count}",
    Op.DCL_OUTPUTTOPOLOGY: "dcl_outputtopology {topology}",
    Op.DCL_INPUTPRIMITIVE: "dcl_inputprimitive {primitive}",
    Op.DCL_MAXOUT: "dcl_maxout {count}",
    Op.DCL_INPUT: "dcl_input {operand}",
    Op.DCL_INPUT_SGV: "dcl_input_sgv {operand}, {name}",
    Op.DCL_INPUT_SIV: "dcl_input_siv {operand}, {name}",
    Op.DCL_INPUT_PS: "dcl_input_ps {interpolation} {operand}",
    Op.DCL_INPUT_PS_SGV: "dcl_input_ps_sgv {constant}{operand}, {name}",
    Op.DCL_INPUT_PS_SIV: "dcl_input_ps_siv {interpolation} {operand}, {name}",
    Op.DCL_OUTPUT: "dcl_output {operand}",
    Op.DCL_OUTPUT_SGV: "dcl_output_sgv {operand}, {name}",
    Op.DCL_OUTPUT_SIV: "dcl_output_siv {operand}, {name}",
    Op.DCL_TEMPS: "dcl_temps {count}",
    Op.DCL_INDEXABLETEMP: "dcl_indexableTemp x{number}[{count}], {components}",
    Op.DCL_GLOBALFLAGS: "dcl_globalFlags {flags}",
    Op.DCL_STREAM: "dcl_stream {operand}",
    Op.DCL_FUNCTION_BODY: "dcl_function_body fb{number}",
    Op.DCL_FUNCTION_TABLE: "dcl_function_table ft{number}, {count} {data}",
    Op.DCL_INTERFACE: "dcl_interface fp{number}, {access}, {count} {data}",
    Op.DCL_INPUT_CONTROL_POINT_COUNT: "dcl_input_control_point_count {count}",
    Op.DCL_OUTPUT_CONTROL_POINT_COUNT: "dcl_output_control_point_count {count}",
    Op.DCL_TESSELLATOR_DOMAIN: "dcl_tessellator_domain {domain}",
    Op.DCL_TESSELLATOR_PARTITIONING: "dcl_tessellator_partitioning {partitioning}",
    Op.DCL_TESSELLATOR_OUTPUT_PRIMITIVE: "dcl_tessellator_output_primitive {output}",
    Op.DCL_HS_MAX_TESSFACTOR: "dcl_hs_max_tessfactor l({factor})",
    Op.DCL_HS_FORK_PHASE_INSTANCE_COUNT: "dcl_hs_fork_phase_instance_count {count}",
    Op.DCL_HS_JOIN_PHASE_INSTANCE_COUNT: "dcl_hs_join_phase_instance_count {count}",
    Op.DCL_THREAD_GROUP: "dcl_thread_group {threads}",
    Op.DCL_UAV_TYPED: "dcl_uav_typed_{dimension}{uav} {returns} {operand}",
    Op.DCL_UAV_RAW: "dcl_uav_raw{uav} {operand}",
    Op.DCL_UAV_STRUCTURED: "dcl_uav_structured{uav} {operand}, {stride}",
    Op.DCL_TGSM_RAW: "dcl_tgsm_raw {operand}, {stride}",
    Op.DCL_TGSM_STRUCTURED: "dcl_tgsm_structured {operand}, {stride}, {count}",
    Op.DCL_RESOURCE_RAW: "dcl_resource_raw {operand}",
    Op.DCL_RESOURCE_STRUCTURED: "dcl_resource_structured {operand}, {stride}",
    Op.DCL_GSINSTANCES: "dcl_gsinstances {count}",
}
"""How declarations read; what is in braces ``FIELDS`` spells, or is their operand."""


class Spelled(NamedTuple):
    """How a field of a phrase is written, what it looks like, and how it is read.

    ``read`` takes lower case, and raises ShaderError or ValueError.
    """

    name: str
    """The attribute of Declaration; ``data`` is that of Instruction."""
    pattern: str
    write: Callable[[Any], str]
    read: Callable[[str], Any]


def value_text(word: int, letter: str) -> str:
    """A word of an immediate, the better readable the better ``letter`` fits it."""
    if letter == "f" or (letter == "s" and word & ~(1 << 31) in _FLOATS):
        return float_text(word)
    signed = word - (word >> 31 << 32)
    return str(signed) if -_SMALL < signed < 0 else unsigned_text(word)


def value_of(text: str) -> int:
    """The word of ``1.5``, ``-3`` or ``0x3f800000``.  Raises ShaderError."""
    found = integer(text)
    if found is None:
        try:
            found = float_bits(text)
        except OverflowError:
            found = None
        if found is not None:
            return found
    if found is None or not -(1 << 31) <= found <= _WORD:
        raise ShaderError(f"{shown(text)} is no 32-bit number")
    return found & _WORD


def returns_text(returns: Returns) -> str:
    """``(float,float,float,float)``."""
    return f"({','.join(type.text for type in returns)})"


def read_returns(text: str) -> Returns:
    """The same the other way round.  Raises ValueError or ShaderError."""
    x, y, z, w = (_member(ReturnType, part) for part in text.strip("()").split(","))
    return x, y, z, w


def read_count(text: str) -> int:
    """An unsigned 32-bit number.  Raises ShaderError."""
    found = integer(text)
    if found is None or not 0 <= found <= _WORD:
        raise ShaderError(f"{shown(text)} is no unsigned 32-bit number")
    return found


def read_dimension(text: str) -> Dimension:
    """A dimension by name.  Raises ShaderError."""
    return _member(Dimension, text)


def _member(kind: type[_Kind], text: str) -> _Kind:
    wanted = " ".join(text.split())
    for each in kind:
        if each.text.lower() == wanted:
            return each
    raise ShaderError(f"{shown(text)} is no {kind.__name__.lower()}")


def _named(name: str, kind: type[Named]) -> Spelled:
    known = sorted((each.text.lower() for each in kind), key=len, reverse=True)
    pattern = "|".join(re.escape(each).replace(r"\ ", r"\s+") for each in known)
    return Spelled(name, pattern, lambda value: value.text, lambda text: _member(kind, text))


def _number(name: str) -> Spelled:
    return Spelled(name, r"[0-9a-fx]+", str, read_count)


def _group(name: str) -> Spelled:
    numbers = r"[0-9a-fx]+\s*,\s*[0-9a-fx]+\s*,\s*[0-9a-fx]+"
    return Spelled(name, numbers, lambda value: ", ".join(map(str, value)), _numbers)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(read_count(part.strip()) for part in text.split(",")) if text.strip() else ()


def _flagged(name: str, kind: Callable[[int], Any], words: Mapping[str, int]) -> Spelled:
    """Flags as suffixes."""

    def write(value: int) -> str:
        return "".join(word for word, flag in words.items() if flag & value)

    def read(text: str) -> Any:
        return kind(sum(flag for word, flag in words.items() if word in text))

    return Spelled(name, "".join(f"(?:{word})?" for word in words), write, read)


_UAV = {
    "_glc": UavFlags.GLOBALLY_COHERENT,
    "_rov": UavFlags.RASTERIZER_ORDERED,
    "_opc": UavFlags.COUNTER,
}
_GLOBAL = {
    "refactoringAllowed": GlobalFlags.REFACTORING_ALLOWED,
    "enableDoublePrecisionFloatOps": GlobalFlags.DOUBLE_PRECISION,
    "forceEarlyDepthStencil": GlobalFlags.FORCE_EARLY_DEPTH_STENCIL,
    "enableRawAndStructuredBuffers": GlobalFlags.RAW_AND_STRUCTURED_BUFFERS,
    "skipOptimization": GlobalFlags.SKIP_OPTIMIZATION,
    "enableMinimumPrecision": GlobalFlags.MINIMUM_PRECISION,
    "enable11_1DoubleExtensions": GlobalFlags.DOUBLE_EXTENSIONS,
    "enable11_1ShaderExtensions": GlobalFlags.SHADER_EXTENSIONS,
    "allResourcesBound": GlobalFlags.ALL_RESOURCES_BOUND,
}
_GLOBAL_READ = {word.lower(): flag for word, flag in _GLOBAL.items()}


def _write_flags(flags: GlobalFlags) -> str:
    return " | ".join(word for word, flag in _GLOBAL.items() if flag in flags)


def _read_flags(text: str) -> GlobalFlags:
    found = GlobalFlags(0)
    for word in (part.strip() for part in text.split("|") if text):
        if word not in _GLOBAL_READ:
            raise ShaderError(f"{shown(word)} is no global flag")
        found |= _GLOBAL_READ[word]
    return found


def _write_rows(words: tuple[int, ...]) -> str:
    """A row of the immediate constant buffer a line."""
    rows = [words[at : at + 4] for at in range(0, len(words), 4)]
    texts = (", ".join(value_text(word, "s") for word in row) for row in rows)
    return "{ " + ",\n  ".join(f"{{ {text} }}" for text in texts) + " }"


_ROW = re.compile(r"\s*\{([^{}]*)\}\s*(,|\Z)")


def _read_rows(text: str) -> tuple[int, ...]:
    words: list[int] = []
    inner, at = text[1:-1], 0
    while at < len(inner):
        row = _ROW.match(inner, at)
        if row is None:
            raise ShaderError(f"{shown(inner[at:].strip())} is no row of constants")
        words += (value_of(part.strip()) for part in row[1].split(","))
        at = row.end()
    return tuple(words)


def _write_data(words: tuple[int, ...]) -> str:
    return "{ " + ", ".join(map(str, words)) + " }"


FIELDS = {
    "rows": Spelled("data", r"\{.*\}", _write_rows, _read_rows),
    "data": Spelled("data", r"\{[^{}]*\}", _write_data, lambda text: _numbers(text.strip("{}"))),
    "dimension": _named("dimension", Dimension),
    "samples": Spelled(
        "samples",
        r"(?:\([0-9]+\))?",
        lambda value: f"({value})" if value else "",
        lambda text: read_count(text.strip("()") or "0"),
    ),
    "returns": Spelled("returns", r"\([a-z,\s]*\)", returns_text, read_returns),
    "access": _named("access", Access),
    "mode": _named("mode", SamplerMode),
    "topology": _named("topology", Topology),
    "primitive": _named("primitive", Primitive),
    "name": _named("name", SystemValue),
    "interpolation": _named("interpolation", Interpolation),
    "constant": Spelled(
        "interpolation",
        f"(?:(?:{_named('', Interpolation).pattern})\\s+)?",
        lambda value: "" if value is Interpolation.CONSTANT else f"{value.text} ",
        lambda text: _member(Interpolation, text) if text else Interpolation.CONSTANT,
    ),
    "domain": _named("domain", Domain),
    "partitioning": _named("partitioning", Partitioning),
    "output": _named("output", OutputPrimitive),
    "count": _number("count"),
    "number": _number("number"),
    "components": _number("components"),
    "stride": _number("stride"),
    "flags": Spelled("flags", r"[\w|\s]*", _write_flags, _read_flags),
    "factor": Spelled("factor", r"[^()]*(?:\([^()]*\))?", float_text, value_of),
    "threads": _group("threads"),
    "uav": _flagged("uav", UavFlags, _UAV),
}
