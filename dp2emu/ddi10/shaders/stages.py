"""Shader objects, and the bindings of the stages: shaders, constants, resources, samplers.

Source: Direct3D 10/11 DDI, "Device functions".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import msgspec

from dp2emu.ddi10.codes import Interface
from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Rule
from dp2emu.ddi10.objects import Objects
from dp2emu.ddi10.resources.resource import Resource, Resources
from dp2emu.ddi10.resources.views import ShaderView, Views
from dp2emu.ddi10.shaders.shader import (
    HullShader,
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
from dp2emu.errors import Unsupported
from dp2emu.shader.ir import Program
from dp2emu.shader.sm4.container import MAGIC, unpack

CONSTANT_BUFFERS, RESOURCES, SAMPLERS = 14, 128, 16
"""Numbers of constant buffer, resource and sampler slots of a shader stage."""

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


class ShaderObject(msgspec.Struct, frozen=True):
    """A shader object: its program, stream output layouts, or the phases of a hull shader.

    ``shader`` is None for a hull shader, and for stream output without a geometry shader.
    """

    shader: Shader | None
    stream_output: StreamOutputLayouts | None = None
    hull: HullShader | None = None


NO_SHADER = ShaderObject(None)


class Stage(msgspec.Struct):
    """What is bound to a shader stage, by slot; unbound slots have no key.  Setters change it."""

    shader: Shader | None = None
    stream_output: StreamOutputLayouts | None = None
    hull: HullShader | None = None
    constants: dict[int, Resource] = msgspec.field(default_factory=dict)
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
        make: Callable[[bytes], Shader | HullShader],
        code: bytes,
        memory: bytearray,
        runtime: int = 0,
        signatures: Signatures | TessellationSignatures | None = None,
    ) -> None:
        """Create...Shader from tokens or from a DXBC container.

        Raises ShaderError, Unsupported, Fault (E_OUTOFMEMORY) and ContractError.
        """
        self.objects.check(memory)
        made = self._made(make, code)
        if isinstance(made, HullShader):
            self.objects.add(memory, ShaderObject(None, hull=made))
        else:
            self.objects.add(memory, ShaderObject(made))

    def _made(self, make: Callable[[bytes], _Made], code: bytes) -> _Made:
        """A shader from its code; raises Exceeded if that is too much compile work."""
        return self._compiles.shader(
            (make, code), lambda: make(_tokens(code)), lambda made: _programs(made)
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
        shader = None if code is None else self._made(geometry_shader, code)
        self.objects.add(memory, ShaderObject(shader, streams))

    def _setters(self, prefix: str, stage: Stage) -> dict[str, Callable[..., Any]]:
        def set_shader(memory: bytearray | None) -> None:
            bound = self.objects.maybe(memory, f"{prefix}SetShader") or NO_SHADER
            stage.shader, stage.hull = bound.shader, bound.hull
            stage.stream_output = bound.stream_output

        def set_with_interfaces(
            memory: bytearray | None, interfaces: Sequence[int] = (), data: Sequence[int] = ()
        ) -> None:
            if interfaces:
                raise Unsupported("shader interfaces")
            set_shader(memory)

        kinds: tuple[tuple[str, Objects[Any], dict[int, Any], int], ...] = (
            ("ConstantBuffers", self._resources.objects, stage.constants, CONSTANT_BUFFERS),
            ("ShaderResources", self._views.shaders, stage.resources, RESOURCES),
            ("Samplers", self._states.samplers, stage.samplers, SAMPLERS),
        )
        functions: dict[str, Callable[..., Any]] = {
            f"{prefix}SetShader": set_shader,
            f"{prefix}SetShaderWithIfaces": set_with_interfaces,
        }
        for noun, objects, slots, count in kinds:
            name = f"{prefix}Set{noun}"
            functions[name] = partial(self._set, name, objects, slots, count)
        return functions

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


_Made = TypeVar("_Made", bound=Shader | HullShader)


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
