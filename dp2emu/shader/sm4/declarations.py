"""Layout of declarations: attributes in the opcode token and in words (SM4-5 tokens,
"Declarations").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from dp2emu.d3d.enums10 import Domain, OutputPrimitive, Partitioning
from dp2emu.shader.cursor import Bits
from dp2emu.shader.resources import Dimension
from dp2emu.shader.sm4.enums import (
    Access,
    GlobalFlags,
    Interpolation,
    Primitive,
    ReturnType,
    SamplerMode,
    SystemValue,
    Topology,
    UavFlags,
)
from dp2emu.shader.sm4.fields import CUSTOM_CLASS, RETURNS
from dp2emu.shader.sm4.ops import Op
from dp2emu.shader.sm4.program import Declaration, Returns


class Part(NamedTuple):
    """An attribute of Declaration: bits of the opcode token, or words after the operand."""

    name: str
    bits: Bits | None = None
    words: int = 1
    """Number of words, if the attribute is not in the opcode token."""
    read: Callable[..., Any] = int
    """Converts the number or numbers; raises ValueError for undefined ones."""
    write: Callable[[Any], int | tuple[int, ...]] = int


def returns_of(word: int) -> Returns:
    """Unpack the types of a resource's four components.  Raises ValueError."""
    x, y, z, w = (ReturnType(bits.of(word)) for bits in RETURNS)
    return x, y, z, w


def returns_word(returns: Returns) -> int:
    """Pack the types of a resource's four components into a word."""
    return sum(bits.put(type) for bits, type in zip(RETURNS, returns, strict=True))


def _triple(x: int, y: int, z: int) -> tuple[int, int, int]:
    return x, y, z


def _bits(name: str, width: int, read: Callable[[int], Any] = int) -> Part:
    """An attribute in the control bits, which begin at bit 11."""
    return Part(name, Bits(11, width), read=read)


_DIMENSION = _bits("dimension", 5, Dimension)
_INTERPOLATION = _bits("interpolation", 4, Interpolation)
_UAV = Part("uav", Bits(16, 8), read=UavFlags)
_RETURNS = Part("returns", read=returns_of, write=returns_word)
_NAME = Part("name", read=SystemValue)
_NUMBER, _COUNT, _STRIDE = Part("number"), Part("count"), Part("stride")

PARTS: dict[Op, tuple[Part, ...]] = {
    Op.CUSTOMDATA: (Part("custom", CUSTOM_CLASS),),
    Op.DCL_RESOURCE: (_DIMENSION, Part("samples", Bits(16, 7)), _RETURNS),
    Op.DCL_CONSTANTBUFFER: (_bits("access", 1, Access),),
    Op.DCL_SAMPLER: (_bits("mode", 4, SamplerMode),),
    Op.DCL_INDEXRANGE: (_COUNT,),
    Op.DCL_OUTPUTTOPOLOGY: (_bits("topology", 7, Topology),),
    Op.DCL_INPUTPRIMITIVE: (_bits("primitive", 6, Primitive),),
    Op.DCL_MAXOUT: (_COUNT,),
    Op.DCL_INPUT: (),
    Op.DCL_INPUT_SGV: (_NAME,),
    Op.DCL_INPUT_SIV: (_NAME,),
    Op.DCL_INPUT_PS: (_INTERPOLATION,),
    Op.DCL_INPUT_PS_SGV: (_INTERPOLATION, _NAME),
    Op.DCL_INPUT_PS_SIV: (_INTERPOLATION, _NAME),
    Op.DCL_OUTPUT: (),
    Op.DCL_OUTPUT_SGV: (_NAME,),
    Op.DCL_OUTPUT_SIV: (_NAME,),
    Op.DCL_TEMPS: (_COUNT,),
    Op.DCL_INDEXABLETEMP: (_NUMBER, _COUNT, Part("components")),
    Op.DCL_GLOBALFLAGS: (_bits("flags", 9, GlobalFlags),),
    Op.DCL_STREAM: (),
    Op.DCL_FUNCTION_BODY: (_NUMBER,),
    Op.DCL_FUNCTION_TABLE: (_NUMBER, _COUNT),
    Op.DCL_INTERFACE: (_bits("access", 1, Access), _NUMBER, _COUNT),
    Op.DCL_INPUT_CONTROL_POINT_COUNT: (_bits("count", 6),),
    Op.DCL_OUTPUT_CONTROL_POINT_COUNT: (_bits("count", 6),),
    Op.DCL_TESSELLATOR_DOMAIN: (_bits("domain", 2, Domain),),
    Op.DCL_TESSELLATOR_PARTITIONING: (_bits("partitioning", 3, Partitioning),),
    Op.DCL_TESSELLATOR_OUTPUT_PRIMITIVE: (_bits("output", 3, OutputPrimitive),),
    Op.DCL_HS_MAX_TESSFACTOR: (Part("factor"),),
    Op.DCL_HS_FORK_PHASE_INSTANCE_COUNT: (_COUNT,),
    Op.DCL_HS_JOIN_PHASE_INSTANCE_COUNT: (_COUNT,),
    Op.DCL_THREAD_GROUP: (Part("threads", words=3, read=_triple, write=tuple),),
    Op.DCL_UAV_TYPED: (_DIMENSION, _UAV, _RETURNS),
    Op.DCL_UAV_RAW: (_UAV,),
    Op.DCL_UAV_STRUCTURED: (_UAV, _STRIDE),
    Op.DCL_TGSM_RAW: (_STRIDE,),
    Op.DCL_TGSM_STRUCTURED: (_STRIDE, _COUNT),
    Op.DCL_RESOURCE_RAW: (),
    Op.DCL_RESOURCE_STRUCTURED: (_STRIDE,),
    Op.DCL_GSINSTANCES: (_COUNT,),
}
"""Attributes of each declaration, in the order of its words."""


def words_after(op: Op) -> int:
    """Number of words after the operand of a declaration, without ``data``."""
    return sum(part.words for part in PARTS[op] if part.bits is None)


def declaration_of(op: Op, token: int, words: Sequence[int]) -> Declaration:
    """Decode a declaration.  Raises ValueError for undefined enumeration values."""
    found: dict[str, Any] = {}
    at = 0
    for part in PARTS[op]:
        if part.bits is not None:
            found[part.name] = part.read(part.bits.of(token))
        else:
            found[part.name] = part.read(*words[at : at + part.words])
            at += part.words
    return Declaration(**found)


def fits(op: Op, declaration: Declaration) -> bool:
    """Whether the attributes in the opcode token fit their bits."""
    parts = ((getattr(declaration, part.name), part.bits) for part in PARTS[op])
    return all(bits is None or bits.of(bits.put(value)) == value for value, bits in parts)


def control_bits(op: Op, declaration: Declaration) -> int:
    """The attributes in the opcode token."""
    parts = (part for part in PARTS[op] if part.bits is not None)
    return sum(part.bits.put(int(getattr(declaration, part.name))) for part in parts if part.bits)


def declaration_words(op: Op, declaration: Declaration) -> Iterator[int]:
    """The words after the operand."""
    for part in PARTS[op]:
        if part.bits is None:
            value = part.write(getattr(declaration, part.name))
            yield from value if isinstance(value, tuple) else (value,)
