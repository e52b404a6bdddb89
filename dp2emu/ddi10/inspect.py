"""The bound state of a device as a JSON object, for ``dp2emu state``.

Keys are the functions of ID3D11DeviceContext that bind the state; members of descriptions have the
names of the DDI structures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums10 import Topology10
from dp2emu.d3d.sdk import number_name
from dp2emu.d3d.vertices import VertexLayout
from dp2emu.ddi10.declarations import kinds_of, members
from dp2emu.ddi10.device import Device, DeviceObjects
from dp2emu.ddi10.objects import Objects
from dp2emu.ddi10.resources.resource import Resource, ResourceType
from dp2emu.ddi10.resources.unordered_access import UnorderedSlots
from dp2emu.ddi10.resources.views import DepthStencilFlag, ShaderView, TargetView
from dp2emu.ddi10.shaders.stages import Stage, tokens_of
from dp2emu.ddi10.states.bindings import INDEX_BYTES
from dp2emu.ddi10.states.input_layout import ElementLayout, InputClass
from dp2emu.ddi10.states.state_objects import RasterizerDesc
from dp2emu.identity_cache import identity_cached
from dp2emu.number_text import json_number
from dp2emu.shader.sm4.assemble import instruction_of
from dp2emu.shader.sm4.disassemble import disassemble

Facts = dict[str, Any]
"""A JSON object.  Floats that JSON cannot express are text: ``inf``, ``nan(0x7fc00000)``."""

Number = Callable[[bytearray], int | None]
"""Type of a function from a block of memory to its number, None if it has none."""


_ASSEMBLIES = 256


@lru_cache(_ASSEMBLIES)
def _assembly(code: bytes) -> str:
    """Assembly text of a shader; the last texts are kept, as a report asks at each event."""
    return disassemble(tokens_of(code))


def facts_of(device: Device, number: Number) -> Facts:
    """JSON object of the bound state of a device.

    Objects are named by kind and the ``number`` of their memory, such as ``"resource 3"``; an
    object that was destroyed while it was bound is ``"destroyed"``.
    """
    return _State(device, number).facts()


def prepare() -> None:
    """Make the tables of structures and of assembly text that the first ``facts_of`` needs."""
    members(RasterizerDesc.__name__)
    instruction_of("dcl_temps 1")


class _Names:
    """The names of live objects by identity, as ``"resource 3"``."""

    def __init__(self, parts: DeviceObjects, number: Number) -> None:
        self._names = dict(_named(parts.tables(), number))

    def of(self, value: object) -> str | None:
        """The name of a bound object, None for the state that a null handle binds."""
        return None if value is None else self._names.get(id(value), "destroyed")

    def or_default(self, value: object) -> str | None:
        """The name of a bound state object; one without memory is the default, which is None."""
        return self._names.get(id(value))


def _named(tables: Iterable[Objects[Any]], number: Number) -> Iterator[tuple[int, str]]:
    for table in tables:
        for memory, value in table.items():
            found = number(memory)
            yield id(value), f"{table.words} {'?' if found is None else found}"


class _State:
    """The state of a device, part by part."""

    def __init__(self, device: Device, number: Number) -> None:
        self._device = device
        self._number = number
        self._parts = device.parts
        self._at = device.parts.setters.bindings
        self._names = _Names(device.parts, number)
        self._resources: Facts = {}

    def facts(self) -> Facts:
        """The whole object; ``resources`` describes those that are bound, also through views."""
        stages = (facts for prefix in _STAGES for facts in self._stage(prefix))
        found: Facts = {"interface": self._device.interface.name}
        for facts in (self._input(), *stages, self._rasterizer(), self._output()):
            found |= facts
        found |= {"SetPredication": self._predication(), "queries": self._queries()}
        return found | {"resources": self._resources}

    def _input(self) -> Facts:
        at = self._at
        index = at.index_buffer
        formats = {size: DxgiFormat(number).sdk for number, size in INDEX_BYTES.items()}
        return {
            "IASetInputLayout": {
                "layout": self._names.or_default(at.layout), "elements": _elements(at.layout)
            },
            "IASetVertexBuffers": {
                str(slot): {
                    "buffer": self._resource(each.resource),
                    "stride": each.stride,
                    "offset": each.offset,
                }
                for slot, each in sorted(at.vertex_buffers.items())
            },
            "IASetIndexBuffer": index and {
                "buffer": self._resource(index.resource),
                "format": formats[index.size],
                "offset": index.offset,
            },
            "IASetPrimitiveTopology": _topology(at.topology),
        }  # fmt: skip

    def _stage(self, prefix: str) -> Iterator[Facts]:
        """The shader of a stage, and the slots that are bound."""
        stage, letters = self._parts.stages.stages[prefix], prefix.upper()
        yield {
            f"{letters}SetShader": self._shader(stage, _STAGES[prefix]),
            f"{letters}SetConstantBuffers": {
                str(slot): {"buffer": self._resource(each)}
                for slot, each in sorted(stage.constants.items())
            },
            f"{letters}SetShaderResources": {
                str(slot): self._shader_view(each)
                for slot, each in sorted(stage.resources.items())
            },
            f"{letters}SetSamplers": {
                str(slot): {"sampler": self._names.of(each), **described(each)}
                for slot, each in sorted(stage.samplers.items())
            },
        }
        if prefix == "Cs":
            slots = self._parts.compute.unordered
            yield {"CSSetUnorderedAccessViews": self._unordered(slots)}
        if prefix == "Gs":
            yield {"SOSetTargets": self._stream_targets()}

    def _shader(self, stage: Stage, noun: str) -> Facts | None:
        bound = stage.bound
        if bound is None:
            return None
        name = self._names.of(bound)
        return {
            "shader": name and name.replace("shader", f"{noun} shader"),
            "instances": [each._asdict() for each in stage.instances],
            "stream_output": _streams(stage),
            "assembly": None if bound.code is None else _assembly(bytes(bound.code)),
        }

    def _rasterizer(self) -> Facts:
        at = self._at
        return {
            "RSSetState": {
                "state": self._names.or_default(at.rasterizer), **described(at.rasterizer.desc)
            },
            "RSSetViewports": _numbered(map(described, at.viewports)),
            "RSSetScissorRects": _numbered(map(described, at.scissors)),
        }  # fmt: skip

    def _output(self) -> Facts:
        at = self._at
        return {
            "OMSetBlendState": {
                "state": self._names.or_default(at.blending),
                "BlendFactor": [json_number(each) for each in at.blend_factor],
                "SampleMask": at.sample_mask,
                **described(at.blending.desc),
            },
            "OMSetDepthStencilState": {
                "state": self._names.or_default(at.depth_stencil),
                "StencilRef": at.stencil_reference,
                **described(at.depth_stencil.desc),
            },
            "OMSetRenderTargets": {
                "targets": {
                    str(slot): self._target(each)
                    for slot, each in enumerate(at.targets) if each is not None
                },
                "depth_stencil": None if at.depth is None else self._target(at.depth),
                "unordered_access_views": self._unordered(at.unordered),
            },
        }  # fmt: skip

    # Resources and views

    def _resource(self, resource: Resource) -> str | None:
        """The name of a resource, whose description is added to ``resources``."""
        name = self._names.of(resource)
        if name is not None and name not in self._resources:
            self._resources[name] = {
                **_description(resource),
                "mapped": sorted(resource.mapped),
                "min_lod": json_number(resource.min_lod),
            }
        return name

    def _shader_view(self, view: ShaderView) -> Facts:
        facts = self._viewed(view, view.format, view.dimension)
        if view.resource.is_buffer:
            return facts | {
                "FirstElement": view.first, "NumElements": view.count, "Flags": view.flags
            }  # fmt: skip
        return facts | {
            "MostDetailedMip": view.levels.start,
            "MipLevels": len(view.levels),
            "FirstArraySlice": view.slices.start,
            "ArraySize": len(view.slices),
        }

    def _target(self, view: TargetView) -> Facts:
        dimension = ResourceType(view.resource.desc.ResourceDimension)
        facts = self._viewed(view, view.format, dimension)
        if view.resource.is_buffer:
            return facts | {"FirstElement": view.first, "NumElements": view.elements}
        return facts | {
            "MipSlice": view.mip,
            "FirstArraySlice": view.first,
            "ArraySize": view.slices,
            "Flags": number_name(DepthStencilFlag, view.flags) or view.flags,
        }

    def _unordered(self, slots: UnorderedSlots) -> Facts:
        found: Facts = {}
        for slot, view in sorted(slots.views.items()):
            dimension = ResourceType(view.resource.desc.ResourceDimension)
            facts = self._viewed(view, view.format, dimension)
            if view.resource.is_buffer:
                facts |= {
                    "FirstElement": view.elements.start,
                    "NumElements": len(view.elements),
                    "counter": view.counter is not None,
                }
            else:
                facts |= {
                    "MipSlice": view.mip,
                    "FirstArraySlice": view.slices.start,
                    "ArraySize": len(view.slices),
                }
            found[str(slot)] = facts
        return found

    def _viewed(self, view: Any, format: DxgiFormat | None, dimension: ResourceType) -> Facts:
        return {
            "view": self._names.of(view),
            "resource": self._resource(view.resource),
            "Format": (format or DxgiFormat.UNKNOWN).sdk,
            "ResourceDimension": dimension.sdk,
        }

    def _stream_targets(self) -> Facts:
        return {
            str(slot): {"buffer": self._resource(each), "offset": each.filled.size}
            for slot, each in sorted(self._at.stream_targets.items())
        }

    # Queries

    def _predication(self) -> Facts | None:
        predicate = self._parts.commands.predicate
        if predicate is None:
            return None
        memory = self._device.queries.handle(predicate.slot)
        name = "destroyed" if memory is None else f"query {self._number(memory)}"
        return {"predicate": name, "PredicateValue": predicate.value, "hint": predicate.hint}

    def _queries(self) -> Facts:
        return {
            f"query {self._number(memory)}": {"type": kind.sdk, "state": state.name.lower()}
            for memory, kind, state in self._device.queries.states()
        }


_STAGES = {
    "Vs": "vertex", "Hs": "hull", "Ds": "domain", "Gs": "geometry", "Ps": "pixel", "Cs": "compute",
}  # fmt: skip
"""The stages in the order of the pipeline: prefix of their functions and name."""


@identity_cached()
def _description(resource: Resource) -> Facts:
    """The size and description of a resource, which do not change."""
    unwanted = "pMipInfoList", "pInitialDataUP"
    return described(resource.desc.pMipInfoList[0]) | described(resource.desc, unwanted)


def described(desc: Any, without: tuple[str, ...] = ()) -> Facts:
    """A structure of the interface as JSON: numbers by SDK name, nested structures as objects."""
    declared = members(type(desc).__name__)
    return {
        name: _shown(getattr(desc, name), each.type)
        for name, each in declared.items()
        if name not in without
    }


def _shown(value: Any, hint: Any = None) -> Any:
    if hasattr(value, "_fields"):
        return described(value)
    if isinstance(value, (tuple, list)):
        return [_shown(each) for each in value]
    if isinstance(value, int):
        names = (number_name(kind, value) for kind in kinds_of(hint))
        return next(filter(None, names), int(value))
    if isinstance(value, float):
        return json_number(value)
    return None if value is None else type(value).__name__


def _topology(number: int) -> str | int:
    """The name of a topology, which an enumeration of those that are drawn does not have for 0."""
    if number == 0:
        return "D3D10_PRIMITIVE_TOPOLOGY_UNDEFINED"
    return number_name(Topology10, number) or number


def _numbered(rows: Iterable[Facts]) -> Facts:
    return {str(slot): row for slot, row in enumerate(rows)}


def _elements(layout: ElementLayout) -> list[Facts]:
    """The elements of a layout by the names of D3D10DDIARG_INPUT_ELEMENT_DESC."""
    given: VertexLayout = layout.layout
    return [
        {
            "InputSlot": each.stream,
            "AlignedByteOffset": each.offset,
            "Format": each.type.sdk,
            "InputSlotClass": InputClass(each.stream in layout.rates).sdk,
            "InstanceDataStepRate": layout.rates.get(each.stream, 0),
            "InputRegister": each.index,
        }
        for each in given.elements
    ]


def _streams(stage: Stage) -> Facts | None:
    """The layouts of stream output by stream number, None for a shader without stream output."""
    streams = stage.stream_output
    if streams is None:
        return None
    layouts: Mapping[int, Any] = streams.layouts
    return {
        "RasterizedStream": streams.rasterized,
        "streams": {
            str(stream): {
                "strides": {str(slot): stride for slot, stride in layout.strides},
                "words": [
                    {"output": word.port, "slot": word.slot, "offset": word.offset}
                    for word in layout.words
                ],
            }
            for stream, layout in sorted(layouts.items())
        },
    }
