"""Element layouts: map bytes of vertex buffers to the input registers v# of a vertex shader.

Source: d3d10umddi.h, D3D10DDIARG_INPUT_ELEMENT_DESC.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import msgspec

from dp2emu.d3d.dxgi import DXGI, Support
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import DeclUsage
from dp2emu.d3d.sdk import SdkEnum
from dp2emu.d3d.vertices import Element, VertexLayout
from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Rule
from dp2emu.ddi10.objects import Objects
from dp2emu.gpu.command.pipeline import Attribute

SLOTS = 32
"""Number of vertex buffer slots and input registers of Direct3D 11; Direct3D 10 has 16."""


class InputClass(SdkEnum, prefix="D3D10_INPUT_PER_"):
    """D3D10_DDI_INPUT_CLASSIFICATION."""

    VERTEX_DATA = 0
    INSTANCE_DATA = 1


class InputElement(NamedTuple):
    """D3D10DDIARG_INPUT_ELEMENT_DESC."""

    InputSlot: int
    AlignedByteOffset: int
    Format: Annotated[int, DxgiFormat]
    InputSlotClass: Annotated[int, InputClass] = InputClass.VERTEX_DATA
    InstanceDataStepRate: int = 0
    InputRegister: int = 0


class CreateElementLayout(NamedTuple):
    """D3D10DDIARG_CREATEELEMENTLAYOUT."""

    pVertexElements: Sequence[InputElement]


class ElementLayout(msgspec.Struct, frozen=True):
    """An element layout resolved for draws.

    ``rates`` maps each vertex buffer slot with instance data to its step rate in instances.
    """

    layout: VertexLayout
    attributes: tuple[Attribute, ...]
    rates: Mapping[int, int]


EMPTY_LAYOUT = ElementLayout(VertexLayout((), transformed=False), (), {})
"""The layout without elements, with which vertex shaders read system values only, such as
SV_VertexID."""


class ElementLayouts:
    """The element layouts of a device.  Mutable: DDI functions create and destroy them."""

    def __init__(self, context: Context) -> None:
        self._contract = context.contract
        self.objects: Objects[ElementLayout] = Objects(context, "ElementLayout", b"ELAY")

    def entries(self) -> Mapping[str, Callable[..., Any]]:
        """The DDI functions implemented here, by name without ``pfn``."""
        return {
            "CalcPrivateElementLayoutSize": self.objects.size,
            "CreateElementLayout": self.create,
            "DestroyElementLayout": self.objects.destroy,
        }

    def create(self, desc: CreateElementLayout, memory: bytearray, runtime: int = 0) -> None:
        """CreateElementLayout.

        Raises Fault (E_OUTOFMEMORY), and ContractError for invalid slots, registers and formats.
        """
        elements = desc.pVertexElements
        valid = len(elements) <= SLOTS and all(map(_valid, elements))
        self._contract.check(valid, Rule.KNOWN_STATE, "CreateElementLayout")
        self.objects.add(memory, _resolved(elements))


def _valid(element: InputElement) -> bool:
    row = DXGI.get(DxgiFormat(element.Format)) if element.Format in _NUMBERS else None
    return (
        row is not None
        and Support.VERTEX in row.support
        and 0 <= element.InputSlot < SLOTS
        and 0 <= element.InputRegister < SLOTS
        and 0 <= element.AlignedByteOffset <= _LAST_BYTE
        and element.InputSlotClass in tuple(InputClass)
        and 0 <= element.InstanceDataStepRate <= _LAST_BYTE
    )


_NUMBERS = frozenset(format.value for format in DxgiFormat)
_LAST_BYTE = 0xFFFFFFFE


def _resolved(given: Sequence[InputElement]) -> ElementLayout:
    elements = tuple(_element(each) for each in given)
    names = (f"v{each.InputRegister}" for each in given)
    return ElementLayout(
        VertexLayout(elements, transformed=False),
        tuple(map(Attribute, names, elements)),
        {
            each.InputSlot: each.InstanceDataStepRate
            for each in given
            if each.InputSlotClass == InputClass.INSTANCE_DATA
        },
    )


def _element(given: InputElement) -> Element:
    place, format = (given.InputSlot, given.AlignedByteOffset), DxgiFormat(given.Format)
    return Element(*place, format, DeclUsage.TEXCOORD, given.InputRegister)
