"""Shader objects, and the bindings of the stages: shaders, constants, resources, samplers.

Source: Direct3D 10/11 DDI, "Device functions".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace

from dp2emu.ddi10.codes import Interface
from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Rule
from dp2emu.ddi10.objects import Objects
from dp2emu.ddi10.resources.resource import Resource, Resources
from dp2emu.ddi10.resources.views import ShaderView, Views
from dp2emu.ddi10.shaders.shader import (
    HullShader,
    Instances,
    Shader,
    compute_shader,
    domain_shader,
    geometry_shader,
    hull_shader,
    pixel_shader,
    vertex_shader,
)
from dp2emu.ddi10.shaders.stream_output import (
    StreamOutputLayouts,
    StreamOutputShader,
    StreamOutputShader11,
    stream_output_layouts,
)
from dp2emu.ddi10.states.state_objects import SamplerDesc, States
from dp2emu.errors import ShaderError
from dp2emu.shader.ir import Program
from dp2emu.shader.sm4.container import MAGIC, unpack
from dp2emu.shader.sm4.decode import decode
from dp2emu.shader.sm4.fields import OPCODE
from dp2emu.shader.sm4.linkage import (
    ClassInterface,
    Instance,
    first_instances,
    fits,
    interfaces_of,
    resolved,
)
from dp2emu.shader.sm4.opcodes import Op

CONSTANT_BUFFERS, RESOURCES, SAMPLERS = 14, 128, 16
"""Numbers of constant buffer, resource and sampler slots of a shader stage."""

MOST_CONSTANTS = 4096
"""Maximum number of constants, of four values each, that a shader reads from a buffer."""
_GRANULE = 16
"""Ranges of constants begin and end at multiples of this number of constants."""

PREFIXES = ("Vs", "Ps", "Gs", "Hs", "Ds", "Cs")
"""First two letters of the names of the DDI functions that bind to a shader stage."""

_T = TypeVar("_T")


class SignatureEntry(NamedTuple):
    """D3D10DDIARG_SIGNATURE_ENTRY."""

    SystemValue: int
    Register: int
    Mask: int


class Signatures(NamedTuple):
    """D3D10DDIARG_STAGE_IO_SIGNATURES."""

    pInputSignature: Sequence[SignatureEntry] = ()
    pOutputSignature: Sequence[SignatureEntry] = ()


class TessellationSignatures(NamedTuple):
    """D3D11DDIARG_TESSELLATION_IO_SIGNATURES."""

    pInputSignature: Sequence[SignatureEntry] = ()
    pOutputSignature: Sequence[SignatureEntry] = ()
    pPatchConstantSignature: Sequence[SignatureEntry] = ()


class PointerData(NamedTuple):
    """D3D11DDIARG_POINTERDATA: where the data of a class instance are.

    The offset counts rows of four 32-bit values of the constant buffer in slot ``uCBID``.
    """

    uCBOffset: int = 0
    uCBID: int = 0
    uBaseSamp: int = 0
    uBaseTex: int = 0


class ShaderObject(msgspec.Struct, frozen=True):
    """A shader object: its program, stream output layouts, or the phases of a hull shader.

    ``shader`` is None for a hull shader, and for stream output without a geometry shader.  A
    shader with interfaces has them by pointer, and ``link``, which makes the shader for the class
    instances that they refer to.
    """

    shader: Shader | None
    stream_output: StreamOutputLayouts | None = None
    hull: HullShader | None = None
    interfaces: Mapping[int, ClassInterface] = msgspec.field(default_factory=dict)
    link: Callable[[Instances], Shader | HullShader] | None = None

    def linked(self, instances: tuple[Instance, ...]) -> ShaderObject:
        """The object with its interfaces linked to class instances; itself if it has none.

        Raises ShaderError if the instances name registers that the shader does not declare.
        """
        if self.link is None:
            return self
        return self.made_of(self.link(instances))

    def made_of(self, shader: Shader | HullShader) -> ShaderObject:
        """The object with a compiled shader."""
        if isinstance(shader, HullShader):
            return replace(self, hull=shader)
        return replace(self, shader=shader)


NO_SHADER = ShaderObject(None)
_UINT = 0xFFFFFFFF
_BOUNDS = PointerData(1 << 12, 1 << 4, 1 << 4, 1 << 7)
"""Exclusive upper bounds of the members of D3D11DDIARG_POINTERDATA, which are bit fields."""


class Stage(msgspec.Struct):
    """What is bound to a shader stage, by slot; unbound slots have no key.  Setters change it.

    ``ranges`` are first constant and number of constants of buffers that are not bound wholly.
    """

    shader: Shader | None = None
    stream_output: StreamOutputLayouts | None = None
    hull: HullShader | None = None
    constants: dict[int, Resource] = msgspec.field(default_factory=dict)
    ranges: dict[int, tuple[int, int]] = msgspec.field(default_factory=dict)
    resources: dict[int, ShaderView] = msgspec.field(default_factory=dict)
    samplers: dict[int, SamplerDesc] = msgspec.field(default_factory=dict)

    def used(self) -> Iterator[Resource]:
        """The resources bound to the stage, which its shader may read."""
        yield from self.constants.values()
        yield from (view.resource for view in self.resources.values())


class Stages:
    """Shader objects and stages of a device.  Mutable: DDI functions create and bind them."""

    def __init__(
        self, context: Context, resources: Resources, views: Views, states: States
    ) -> None:
        self._contract = context.contract
        self._interface = context.interface
        self._compiles = context.gpu.code_budget
        self._resources = resources
        self._views = views
        self._states = states
        self.objects: Objects[ShaderObject] = Objects(context, "Shader", b"SHDR")
        self.stages = {prefix: Stage() for prefix in PREFIXES}
        self.vertex, self.pixel, self.geometry, self.hull, self.domain, self.compute = (
            self.stages.values()
        )

    def entries(self) -> Mapping[str, Callable[..., Any]]:
        """The DDI functions implemented here, by name without ``pfn``."""
        functions: dict[str, Callable[..., Any]] = {
            "CalcPrivateShaderSize": self.objects.size,
            "CalcPrivateGeometryShaderWithStreamOutput": self.objects.size,
            "CalcPrivateTessellationShaderSize": self.objects.size,
            "CreateVertexShader": partial(self._create, vertex_shader),
            "CreateHullShader": partial(self._create, hull_shader),
            "CreateDomainShader": partial(self._create, domain_shader),
            "CreateGeometryShader": partial(self._create, geometry_shader),
            "CreatePixelShader": partial(self._create, pixel_shader),
            "CreateComputeShader": partial(self._create, compute_shader),
            "CreateGeometryShaderWithStreamOutput": self._create_streaming,
            "DestroyShader": self.objects.destroy,
        }
        for prefix, stage in self.stages.items():
            functions |= self._setters(prefix, stage)
        return functions

    def _create(
        self,
        make: Callable[[bytes, Instances], Shader | HullShader],
        code: bytes,
        memory: bytearray,
        runtime: int = 0,
        signatures: Signatures | TessellationSignatures | None = None,
    ) -> None:
        """Create...Shader from tokens or from a DXBC container.

        Raises ShaderError, Unsupported, Fault (E_OUTOFMEMORY) and ContractError.
        """
        self.objects.check(memory)
        self.objects.add(memory, self._made(make, code))

    def _made(
        self,
        make: Callable[[bytes, Instances], Shader | HullShader],
        code: bytes,
        streams: StreamOutputLayouts | None = None,
    ) -> ShaderObject:
        """The object of a shader's code; raises Exceeded if that is too much compile work.

        A shader with interfaces is linked to an example of its class instances, which raises the
        errors that no instances would change, and compiled.  That the example lacks a register is
        no error.
        """
        tokens = _tokens(code)
        interfaces = _interfaces(tokens)
        if interfaces:
            decoded = decode(tokens)
            resolved(decoded, first_instances(decoded))
        link = partial(self._linked, make, code) if interfaces else None
        made = ShaderObject(None, streams, interfaces=interfaces, link=link)
        try:
            return made.made_of(self._linked(make, code, None))
        except ShaderError:
            if not interfaces:
                raise
            return made

    def _linked(
        self,
        make: Callable[[bytes, Instances], Shader | HullShader],
        code: bytes,
        instances: Instances,
    ) -> Shader | HullShader:
        return self._compiles.shader(
            (make, code, instances), lambda: make(_tokens(code), instances), _programs
        )

    def _create_streaming(
        self,
        desc: StreamOutputShader | StreamOutputShader11,
        memory: bytearray,
        runtime: int = 0,
        signatures: Signatures | None = None,
    ) -> None:
        """CreateGeometryShaderWithStreamOutput; without code, the input vertices are stored.

        Raises as ``_create`` does.
        """
        self.objects.check(memory)
        known = self._interface >= Interface.D3D11_0 or isinstance(desc, StreamOutputShader)
        self._contract.check(known, Rule.STREAMED, "CreateGeometryShaderWithStreamOutput")
        streams = stream_output_layouts(desc, self._contract)
        code = desc.pShaderCode
        plain = ShaderObject(None, streams)
        made = plain if code is None else self._made(geometry_shader, code, streams)
        self.objects.add(memory, made)

    def _setters(self, prefix: str, stage: Stage) -> dict[str, Callable[..., Any]]:
        kinds: tuple[tuple[str, Objects[Any], dict[int, Any], int], ...] = (
            ("ShaderResources", self._views.shaders, stage.resources, RESOURCES),
            ("Samplers", self._states.samplers, stage.samplers, SAMPLERS),
        )
        name = f"{prefix}SetShaderWithIfaces"
        functions: dict[str, Callable[..., Any]] = {
            f"{prefix}SetShader": partial(self._set_shader, f"{prefix}SetShader", stage),
            name: partial(self._set_with_interfaces, name, stage),
        }
        name = f"{prefix}SetConstantBuffers"
        functions[name] = partial(self._set_constants, name, stage)
        for noun, objects, slots, count in kinds:
            name = f"{prefix}Set{noun}"
            functions[name] = partial(self._set, name, objects, slots, count)
        return functions

    def _set_shader(self, entry: str, stage: Stage, memory: bytearray | None) -> None:
        """Bind a shader without interfaces, or none."""
        self._set_with_interfaces(entry, stage, memory)

    def _set_with_interfaces(
        self,
        entry: str,
        stage: Stage,
        memory: bytearray | None,
        pIfaces: Sequence[int] = (),
        pPointerData: Sequence[PointerData] = (),
    ) -> None:
        """Bind a shader; ``pIfaces`` are the function tables of its class instances.

        Raises ContractError for other class instances than the shader has interfaces, and
        ShaderError for ones that name registers which it does not declare.
        """
        bound = self.objects.maybe(memory, entry) or NO_SHADER
        known = len(pIfaces) == len(pPointerData) and all(map(_in_bounds, pPointerData))
        self._contract.check(known, Rule.CLASS_INSTANCES, entry)
        instances = tuple(
            Instance(table, data.uCBID, data.uCBOffset, data.uBaseSamp, data.uBaseTex)
            for table, data in zip(pIfaces, pPointerData, strict=True)
        )
        self._contract.check(fits(bound.interfaces, instances), Rule.CLASS_INSTANCES, entry)
        bound = bound.linked(instances)
        stage.shader, stage.hull = bound.shader, bound.hull
        stage.stream_output = bound.stream_output

    def _set_constants(
        self,
        entry: str,
        stage: Stage,
        start: int,
        handles: Sequence[bytearray | None],
        pFirstConstant: Sequence[int] | None = None,
        pNumConstants: Sequence[int] | None = None,
    ) -> None:
        """Bind constant buffers, or ranges of them as drivers of Direct3D 11.1 do."""
        first, counts = pFirstConstant, pNumConstants
        if first is None or counts is None:
            self._contract.check(first is counts is None, Rule.CONSTANT_RANGES, entry)
            ranges: list[tuple[int, int] | None] = [None] * len(handles)
        else:
            fits = self._interface >= Interface.D3D11_0 and _are_ranges(handles, first, counts)
            self._contract.check(fits, Rule.CONSTANT_RANGES, entry)
            ranges = [*zip(first, counts, strict=True)]
        buffers = self._resources.objects
        self._set(entry, buffers, stage.constants, CONSTANT_BUFFERS, start, handles)
        for slot, part in enumerate(ranges, start):
            stage.ranges.pop(slot, None)
            if part is not None and slot in stage.constants:
                stage.ranges[slot] = part

    def _set(
        self,
        entry: str,
        objects: Objects[_T],
        slots: dict[int, _T],
        count: int,
        start: int,
        handles: Sequence[bytearray | None],
    ) -> None:
        """Bind objects, or None to unbind, to ``slots`` from number ``start`` on."""
        self._contract.check(0 <= start <= count - len(handles), Rule.SLOTS, entry)
        opened = [objects.maybe(memory, entry) for memory in handles]
        for slot, value in enumerate(opened, start):
            slots.pop(slot, None)
            if value is not None:
                slots[slot] = value


def _are_ranges(handles: Sequence[object], first: Sequence[int], counts: Sequence[int]) -> bool:
    """Whether there is a range of constants for each handle, as Direct3D 11.1 allows it."""
    return len(handles) == len(first) == len(counts) and all(
        0 <= start <= _UINT and 0 <= count <= MOST_CONSTANTS and not (start | count) % _GRANULE
        for start, count in zip(first, counts, strict=True)
    )


def _programs(made: Shader | HullShader) -> Iterator[Program]:
    """The programs of a shader: one, or one for each phase of a hull shader."""
    if isinstance(made, Shader):
        yield made.program
    else:
        phases = made.constants if made.points is None else (made.points, *made.constants)
        yield from (each.program for each in phases)


def _tokens(code: bytes) -> bytes:
    """The shader tokens in ``code``, which may be a DXBC container.  Raises ShaderError."""
    return unpack(code).program if code.startswith(MAGIC) else bytes(code)


def _interfaces(tokens: bytes) -> Mapping[int, ClassInterface]:
    """The interfaces of a shader by pointer.

    Tokens without a word that could be a declaration of one are not decoded.
    """
    words = np.frombuffer(tokens, "<u4", len(tokens) // 4)
    if not (words & OPCODE.put(-1) == Op.DCL_INTERFACE).any():
        return {}
    return interfaces_of(decode(tokens))


def _in_bounds(data: PointerData) -> bool:
    return all(0 <= value < bound for value, bound in zip(data, _BOUNDS, strict=True))
