"""Compiled shaders of an application, and input layouts resolved against their signatures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import msgspec

from dp2emu.argument_check import checked
from dp2emu.d3d.dxgi import DXGI
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.formats import FormatRow
from dp2emu.ddi10.shaders.stages import SignatureEntry, Signatures, TessellationSignatures
from dp2emu.ddi10.states.input_layout import InputElement
from dp2emu.runtime10.codes import Refused, Result
from dp2emu.shader.sm4.container import (
    LEVEL_9_TAG,
    Chunk,
    ComponentType,
    Container,
    Element,
    Signature,
    unpack,
)
from dp2emu.shader.sm4.decode import decode
from dp2emu.shader.sm4.enums import SystemValue
from dp2emu.shader.sm4.flow import phases
from dp2emu.shader.sm4.interfaces import INTERFACES_TAG
from dp2emu.shader.sm4.lower.declared import Declared, declared
from dp2emu.shader.sm4.lower.lowered import Register

APPEND = 0xFFFFFFFF
"""D3D11_APPEND_ALIGNED_ELEMENT, an offset that puts a vertex element behind the previous one of
its slot."""

_GENERATED = ("SV_VERTEXID", "SV_INSTANCEID", "SV_PRIMITIVEID")
"""Upper-case names of the system values that the input assembler generates; input layouts do not
contain them."""


class VertexElement(NamedTuple):
    """D3D11_INPUT_ELEMENT_DESC: an element of an input layout."""

    SemanticName: str
    SemanticIndex: int
    Format: int
    InputSlot: int = 0
    AlignedByteOffset: int = APPEND
    InputSlotClass: int = 0
    InstanceDataStepRate: int = 0


@checked
class Code(msgspec.Struct, frozen=True):
    """A compiled shader: its program and its signatures.

    Without ``inputs`` or ``outputs``, as after ``assemble``, input layouts and stream output name
    the registers that the program declares: semantic ``v`` or ``o`` with the register's number as
    its index, and system values as in HLSL.
    """

    program: bytes
    inputs: Signature = ()
    outputs: Signature = ()
    patch_constants: Signature = ()
    interfaces: Chunk | None = None
    """Chunk IFCE of the container, the names of class linkage."""
    level_9: bool = False
    """Whether the container has code for the feature levels 9_x too."""

    @classmethod
    def of(cls, container: bytes) -> Code:
        """The shader of a DXBC container.  Raises ShaderError."""
        parts: Container = unpack(container)
        named = [each for each in parts.chunks if each.tag == INTERFACES_TAG]
        signatures = parts.inputs, parts.outputs, parts.patch_constants
        level_9 = any(each.tag == LEVEL_9_TAG for each in parts.chunks)
        return cls(parts.program, *signatures, named[0] if named else None, level_9)

    @property
    def named_inputs(self) -> Signature:
        """``inputs``, or if there are none, the declared input registers.  Raises ShaderError."""
        return self.inputs or tuple(_elements("v", self._declared.inputs))

    @property
    def named_outputs(self) -> Signature:
        """``outputs``, or if there are none, the declared output registers.  Raises
        ShaderError.
        """
        return self.outputs or tuple(_elements("o", self._declared.outputs))

    @property
    def _declared(self) -> Declared:
        every = (phase.declarations for phase in phases(decode(self.program)))
        return declared(tuple(chain.from_iterable(every)))

    @property
    def signatures(self) -> Signatures:
        """Input and output signature as DDI entries, which a driver is passed with the shader."""
        return Signatures(tuple(_entries(self.inputs)), tuple(_entries(self.outputs)))

    @property
    def tessellation_signatures(self) -> TessellationSignatures:
        """Input, output and patch constant signature as DDI entries, for hull, domain shaders."""
        return TessellationSignatures(*self.signatures, tuple(_entries(self.patch_constants)))


def _elements(prefix: str, registers: Iterable[Register]) -> Iterator[Element]:
    """The signature elements of declared registers, named by ``prefix`` and number or by their
    system value.
    """
    counts: Counter[str] = Counter()
    for register in registers:
        name, index = prefix, register.number
        if register.name is not SystemValue.UNDEFINED:
            name = "SV_" + register.name.name.replace("_", "")
            index, counts[name] = counts[name], counts[name] + 1
        yield Element(
            name, index, int(register.name), ComponentType.UNKNOWN, register.number,
            register.mask, register.mask, register.stream,
        )  # fmt: skip


def _entries(signature: Signature) -> Iterable[SignatureEntry]:
    """The DDI entries of the signature's elements that have a register; drivers find elements
    without one in the program.
    """
    return (
        SignatureEntry(element.system_value, element.register, element.mask)
        for element in signature
        if element.register is not None
    )


def input_elements(
    elements: Sequence[VertexElement], inputs: Signature
) -> tuple[InputElement, ...]:
    """The elements that a shader reads, with their registers.

    Raises Refused (E_INVALIDARG) for an input without an element, and for an invalid format.
    """
    places = list(zip(elements, _offsets(elements), strict=True))
    found = []
    for wanted in inputs:
        if wanted.semantic.upper() in _GENERATED or wanted.register is None:
            continue
        given = [place for place in places if _is(place[0], wanted)]
        if not given:
            raise Refused(Result.E_INVALIDARG, f"no element {wanted.semantic}{wanted.index}")
        element, offset = given[0]
        found.append(
            InputElement(
                element.InputSlot,
                offset,
                element.Format,
                element.InputSlotClass,
                element.InstanceDataStepRate,
                wanted.register,
            )
        )
    return tuple(found)


def _is(given: VertexElement, wanted: Element) -> bool:
    same = given.SemanticName.upper() == wanted.semantic.upper()
    return same and given.SemanticIndex == wanted.index


def _offsets(elements: Sequence[VertexElement]) -> Iterable[int]:
    """The byte offsets of elements; an element with ``APPEND`` follows the previous one of its
    slot, aligned to 4 bytes, or to its size if that is smaller.
    """
    ends: dict[int, int] = {}
    for element in elements:
        size = texel_bytes(element.Format)
        offset, step = element.AlignedByteOffset, min(size, 4)
        if offset == APPEND:
            offset = -(-ends.get(element.InputSlot, 0) // step) * step
        ends[element.InputSlot] = offset + size
        yield offset


def texel_bytes(format: int) -> int:
    """Size of a texel or vertex element of a DXGI_FORMAT, in bytes; of a block, if compressed.

    Raises as ``texels_of`` does.
    """
    return texels_of(format).size


def texels_of(format: int) -> FormatRow:
    """The layout of the texels of a DXGI_FORMAT.

    Raises Refused (E_INVALIDARG) for an unknown format or one without a size.
    """
    known = format in DxgiFormat._value2member_map_
    row = DXGI.get(DxgiFormat(format)) if known else None
    if row is None or not row.texels.size:
        raise Refused(Result.E_INVALIDARG, f"DXGI_FORMAT {format}")
    return row.texels
