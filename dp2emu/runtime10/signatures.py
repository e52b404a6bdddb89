"""Shaders as an application hands them over, and the vertex elements their signatures ask for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dp2emu.d3d.dxgi import DXGI
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.shaders.stages import SignatureEntry, Signatures, TessellationSignatures
from dp2emu.ddi10.states.input_layout import InputElement
from dp2emu.records import dataclass
from dp2emu.runtime10.codes import Refused, Result
from dp2emu.shader.sm4.container import Container, Element, Signature, unpack

APPEND = 0xFFFFFFFF
"""D3D11_APPEND_ALIGNED_ELEMENT: behind the element before it in its slot."""

_GENERATED = ("SV_VERTEXID", "SV_INSTANCEID", "SV_PRIMITIVEID")
"""What the input assembler makes, so that no layout has it."""


class VertexElement(NamedTuple):
    """D3D11_INPUT_ELEMENT_DESC."""

    SemanticName: str
    SemanticIndex: int
    Format: int
    InputSlot: int
    AlignedByteOffset: int = APPEND
    InputSlotClass: int = 0
    InstanceDataStepRate: int = 0


@dataclass(frozen=True, slots=True)
class Code:
    """A compiled shader: its program, and what goes in and out by name."""

    program: bytes
    inputs: Signature
    outputs: Signature
    patch_constants: Signature = ()

    @classmethod
    def of(cls, container: bytes) -> Code:
        """That of a DXBC container.  Raises ShaderError."""
        found: Container = unpack(container)
        return cls(found.program, found.inputs, found.outputs, found.patch_constants)

    @property
    def signatures(self) -> Signatures:
        """What a driver is told."""
        return Signatures(tuple(_entries(self.inputs)), tuple(_entries(self.outputs)))

    @property
    def tessellation_signatures(self) -> TessellationSignatures:
        """What it is told of hull and domain shaders."""
        return TessellationSignatures(*self.signatures, tuple(_entries(self.patch_constants)))


def _entries(signature: Signature) -> Iterable[SignatureEntry]:
    """What has a register; the rest a driver finds in the program."""
    return (
        SignatureEntry(element.system_value, element.register, element.mask)
        for element in signature
        if element.register is not None
    )


def resolved(elements: Sequence[VertexElement], inputs: Signature) -> tuple[InputElement, ...]:
    """The elements a shader reads, by its registers.

    Raises Refused (E_INVALIDARG) if an input has no element, or a format or slot makes no sense.
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
    """Where each begins: elements that are appended are aligned to 4 bytes, or to their size if
    that is less.
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
    """Bytes of a texel or vertex element of a DXGI_FORMAT.

    Raises Refused (E_INVALIDARG) for one that there is not, or that has no bytes.
    """
    known = format in DxgiFormat._value2member_map_
    row = DXGI.get(DxgiFormat(format)) if known else None
    if row is None or not row.texels.size:
        raise Refused(Result.E_INVALIDARG, f"DXGI_FORMAT {format}")
    return row.texels.size
