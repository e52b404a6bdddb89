"""Vertex declarations: D3DVSD tokens of DirectX 8, D3DVERTEXELEMENT9 of DirectX 9.

Source: SM1-3 tokens, "Vertex elements" and "Declarations of DirectX 8".  An invalid declaration
raises Fault (D3DERR_DRIVERINVALIDCALL).  Tessellator methods are refused only by draws that are no
patches (``check_drawable``).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from dp2emu.d3d.enums import DeclMethod, DeclType, DeclUsage
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.legacy import VsdRegister, VsdTokenType
from dp2emu.d3d.vertices import TYPE_BYTES, Element, VertexLayout
from dp2emu.errors import Fault

STREAMS = 16
ELEMENTS_MAX = 64
USAGE_INDEX_MAX = 15
SHADER_INPUTS = 16

_ELEMENT = struct.Struct("<HHBBBB")
_END_STREAM = 0xFF
_END = 0xFFFFFFFF

_TEXCOORDS = range(VsdRegister.TEXCOORD0, VsdRegister.TEXCOORD7 + 1)
REGISTER_USAGES: dict[int, tuple[DeclUsage, int]] = {
    VsdRegister.POSITION: (DeclUsage.POSITION, 0),
    VsdRegister.BLENDWEIGHT: (DeclUsage.BLENDWEIGHT, 0),
    VsdRegister.BLENDINDICES: (DeclUsage.BLENDINDICES, 0),
    VsdRegister.NORMAL: (DeclUsage.NORMAL, 0),
    VsdRegister.PSIZE: (DeclUsage.PSIZE, 0),
    VsdRegister.DIFFUSE: (DeclUsage.COLOR, 0),
    VsdRegister.SPECULAR: (DeclUsage.COLOR, 1),
    **{number: (DeclUsage.TEXCOORD, index) for index, number in enumerate(_TEXCOORDS)},
    VsdRegister.POSITION2: (DeclUsage.POSITION, 1),
    VsdRegister.NORMAL2: (DeclUsage.NORMAL, 1),
}
"""Register number in a DirectX 8 vertex declaration -> (usage, usage index) of the attribute that
the fixed function reads from it."""


_VECTORS = frozenset(DeclType[n] for n in ("D3DCOLOR", "FLOAT3", "FLOAT4", "SHORT4", "UBYTE4"))
_NOTHING = frozenset({DeclType.UNUSED})
METHOD_TYPES: dict[DeclMethod, frozenset[DeclType]] = {
    DeclMethod.PARTIALU: _VECTORS,
    DeclMethod.PARTIALV: _VECTORS,
    DeclMethod.CROSSUV: _VECTORS,
    DeclMethod.UV: _NOTHING,
    DeclMethod.LOOKUP: frozenset({DeclType.FLOAT2, DeclType.FLOAT3, DeclType.FLOAT4}),
    DeclMethod.LOOKUPPRESAMPLED: _NOTHING,
}
"""Tessellator method of a vertex element -> element types that it accepts (documentation of
D3DDECLMETHOD)."""


class Constants(NamedTuple):
    """Float constants in a DirectX 8 vertex declaration, loaded when its shader is set.

    ``words`` are the raw DWORDs, four for each register from ``first`` on.
    """

    first: int
    words: tuple[int, ...]


class Declaration8(msgspec.Struct, frozen=True):
    """A DirectX 8 vertex declaration.

    ``registers[i]`` is the shader input register v# of ``layout.elements[i]``; the usages of the
    elements are for the fixed function.
    """

    layout: VertexLayout
    registers: tuple[int, ...]
    constants: tuple[Constants, ...]

    def element(self, register: int) -> Element | None:
        """The element of an input register, None if it has none."""
        return dict(zip(self.registers, self.layout.elements, strict=True)).get(register)


def declaration9(data: bytes) -> VertexLayout:
    """The layout of D3DVERTEXELEMENT9 records ``data``, up to an end element.

    Unused elements are dropped unless the tessellator computes them.  Raises Fault.
    """
    if len(data) % _ELEMENT.size:
        raise _fault(f"{len(data)} bytes are no whole number of vertex elements")
    elements = []
    for place, record in enumerate(_ELEMENT.iter_unpack(data)):
        if record[0] == _END_STREAM and record[2] == DeclType.UNUSED:
            break
        if place == ELEMENTS_MAX:
            raise _fault(f"more than {ELEMENTS_MAX} vertex elements")
        elements.append(_element(place, *record))
    used = tuple(e for e in elements if e.type is not DeclType.UNUSED or e.method)
    return VertexLayout(used, any(e.usage is DeclUsage.POSITIONT for e in used))


def declaration8(data: bytes, *, programmable: bool) -> Declaration8:
    """The declaration of the D3DVSD tokens in ``data``, up to its end token.

    ``programmable``: it belongs to a shader, so registers are v# without a usage.  Raises Fault.
    """
    reader = _Reader(struct.unpack_from(f"<{len(data) // 4}I", data), programmable)
    while reader.more():
        reader.step()
    return reader.declaration()


def _element(
    place: int, stream: int, offset: int, type: int, method: int, usage: int, index: int
) -> Element:
    limits = {
        "stream": (stream, STREAMS - 1),
        "type": (type, max(DeclType)),
        "method": (method, max(DeclMethod)),
        "usage": (usage, max(DeclUsage)),
        "usage index": (index, USAGE_INDEX_MAX),
    }
    for name, (value, limit) in limits.items():
        if value > limit:
            raise _fault(f"vertex element {place}: {name} {value}")
    made = Element(stream, offset, DeclType(type), DeclUsage(usage), index, DeclMethod(method))
    if made.type not in METHOD_TYPES.get(made.method, DeclType):
        raise _fault(f"vertex element {place}: {made.method.sdk} of {made.type.sdk}")
    return made


class _Reader:
    """A position in D3DVSD tokens, with the elements and constants declared before it."""

    def __init__(self, words: tuple[int, ...], programmable: bool) -> None:
        self._words = words
        self._at = 0
        self._limit = SHADER_INPUTS if programmable else len(REGISTER_USAGES)
        self._stream: int | None = None
        self._offset = 0
        self._elements: dict[int, Element] = {}
        self._constants: list[Constants] = []
        self._computed: dict[int, int | None] = {}

    def more(self) -> bool:
        """Whether another token follows that is not the end token."""
        return self._at < len(self._words) and self._words[self._at] != _END

    def step(self) -> None:
        """Read the next token and DWORDs that belong to it.  Raises Fault for a bad one."""
        token = self._words[self._at]
        self._at += 1
        read = _TOKENS.get(token >> 29)
        if read is None:
            raise self._fault(f"{token:#010x} is no declaration token")
        read(self, token)

    def declaration(self) -> Declaration8:
        """The declaration of the tokens read so far."""
        elements = self._elements | {
            register: self._computing(register, source)
            for register, source in self._computed.items()
        }
        return Declaration8(
            VertexLayout(tuple(elements.values()), transformed=False),
            tuple(elements),
            tuple(self._constants),
        )

    def _computing(self, register: int, source: int | None) -> Element:
        """The element of ``register``, which the tessellator computes: a normal from the vectors
        of register ``source``, or u and v if that is None.
        """
        usage, index = REGISTER_USAGES[register]
        if source is None:
            return Element(0, 0, DeclType.UNUSED, usage, index, DeclMethod.UV)
        found = self._elements.get(source)
        if found is None or found.type not in METHOD_TYPES[DeclMethod.CROSSUV]:
            raise _fault(f"no normals can be computed from register {source}")
        return replace(found, usage=usage, index=index, method=DeclMethod.CROSSUV)

    def _skip(self, token: int) -> None:
        """NOP: skip the token."""

    def _select(self, token: int) -> None:
        """STREAM: select a stream, at offset 0; the tessellator's stream has no number."""
        self._offset = 0
        self._stream = None if token >> 28 & 1 else token & 0xF

    def _data(self, token: int) -> None:
        """STREAMDATA: add an element to the layout, or skip a number of DWORDs of the stream."""
        if self._stream is None:
            raise self._fault("an element without a stream")
        number = token >> 16 & 0xF
        if token >> 28 & 1:
            self._offset += 4 * number
            return
        if number > DeclType.SHORT4:
            raise self._fault(f"element type {number}")
        register, type = self._register(token & 0x1F), DeclType(number)
        self._vacate(register)
        usage, index = REGISTER_USAGES[register]
        self._elements[register] = Element(self._stream, self._offset, type, usage, index)
        self._offset += TYPE_BYTES[type]

    def _tessellate(self, token: int) -> None:
        """TESSELLATOR: a register of computed normals or texture coordinates."""
        register = self._register(token & 0x1F)
        self._vacate(register)
        self._computed[register] = None if token >> 28 & 1 else token >> 20 & 0xF

    def _vacate(self, register: int) -> None:
        if register in self._elements or register in self._computed:
            raise self._fault(f"register {register} has an element already")

    def _load(self, token: int) -> None:
        """CONSTMEM: add the constants that follow the token to those of the declaration."""
        self._constants.append(Constants(token & 0x7F, self._take(4 * (token >> 25 & 0xF))))

    def _extend(self, token: int) -> None:
        """EXT: skip the DWORDs of an extension."""
        self._take(token >> 24 & 0x1F)

    def _take(self, count: int) -> tuple[int, ...]:
        if count > len(self._words) - self._at:
            raise self._fault(
                f"needs {count} DWORDs after it, {len(self._words) - self._at} are left"
            )
        self._at += count
        return self._words[self._at - count : self._at]

    def _register(self, number: int) -> int:
        if number >= self._limit:
            raise self._fault(f"input register {number}, limit {self._limit - 1}")
        return number

    def _fault(self, what: str) -> Fault:
        return _fault(f"declaration DWORD {self._at - 1}: {what}")


_TOKENS: dict[int, Callable[[_Reader, int], None]] = {
    VsdTokenType.NOP: _Reader._skip,
    VsdTokenType.STREAM: _Reader._select,
    VsdTokenType.STREAMDATA: _Reader._data,
    VsdTokenType.TESSELLATOR: _Reader._tessellate,
    VsdTokenType.CONSTMEM: _Reader._load,
    VsdTokenType.EXT: _Reader._extend,
}


def _fault(what: str) -> Fault:
    return Fault(HResult.D3DERR_DRIVERINVALIDCALL, what)
