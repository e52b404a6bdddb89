"""Shader objects, and what is bound to the stages: shaders, constants, resources, samplers.

Source: Direct3D 10/11 DDI, "Device functions".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any, NamedTuple, TypeVar

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
    Streaming,
    StreamOutputShader,
    StreamOutputShader11,
    streaming,
)
from dp2emu.ddi10.states.state_objects import SamplerDesc, States
from dp2emu.errors import Unsupported
from dp2emu.records import dataclass
from dp2emu.shader.sm4.container import MAGIC, unpack

CONSTANT_BUFFERS, RESOURCES, SAMPLERS = 14, 128, 16
"""Slots of a stage."""

PREFIXES = ("Vs", "Ps", "Gs", "Hs", "Ds", "Cs")
"""What the names of the entries of each stage begin with."""

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


@dataclass(frozen=True)
class Made:
    """A shader object: its program, None for what only streams out and for hull shaders, which
    have several; and what streams out.
    """

    shader: Shader | None
    streaming: Streaming | None = None
    hull: HullShader | None = None


NOTHING = Made(None)


@dataclass(slots=True)
class Stage:
    """What a stage has.  Mutable: setters change it; what is in no slot is not bound."""

    shader: Shader | None = None
    streaming: Streaming | None = None
    hull: HullShader | None = None
    constants: dict[int, Resource] = field(default_factory=dict)
    resources: dict[int, ShaderView] = field(default_factory=dict)
    samplers: dict[int, SamplerDesc] = field(default_factory=dict)


class Stages:
    """Shader objects and stages of a device.  Mutable: entries act on them."""

    def __init__(
        self, context: Context, resources: Resources, views: Views, states: States
    ) -> None:
        self._contract = context.contract
        self._interface = context.interface
        self._resources = resources
        self._views = views
        self._states = states
        self.objects: Objects[Made] = Objects(context, "Shader", b"SHDR")
        self.stages = {prefix: Stage() for prefix in PREFIXES}

    @property
    def vertex(self) -> Stage:
        """The vertex stage."""
        return self.stages["Vs"]

    @property
    def hull(self) -> Stage:
        """The hull stage."""
        return self.stages["Hs"]

    @property
    def domain(self) -> Stage:
        """The domain stage."""
        return self.stages["Ds"]

    @property
    def geometry(self) -> Stage:
        """The geometry stage."""
        return self.stages["Gs"]

    @property
    def pixel(self) -> Stage:
        """The pixel stage."""
        return self.stages["Ps"]

    def entries(self) -> Mapping[str, Callable[..., Any]]:
        """The entries about shaders and stages, by name."""
        found: dict[str, Callable[..., Any]] = {
            "CalcPrivateShaderSize": self.objects.size,
            "CalcPrivateGeometryShaderWithStreamOutput": self.objects.size,
            "CalcPrivateTessellationShaderSize": self.objects.size,
            "CreateVertexShader": partial(self._create, vertex_shader),
            "CreateHullShader": self._create_hull,
            "CreateDomainShader": partial(self._create, domain_shader),
            "CreateGeometryShader": partial(self._create, geometry_shader),
            "CreatePixelShader": partial(self._create, pixel_shader),
            "CreateComputeShader": partial(self._create, compute_shader),
            "CreateGeometryShaderWithStreamOutput": self._create_streaming,
            "DestroyShader": self.objects.destroy,
        }
        for prefix, stage in self.stages.items():
            found |= self._setters(prefix, stage)
        return found

    def _create(
        self,
        make: Callable[[bytes], Shader],
        code: bytes,
        memory: bytearray,
        runtime: int = 0,
        signatures: Signatures | TessellationSignatures | None = None,
    ) -> None:
        """Create...Shader from its tokens, or a container of them.

        Raises ShaderError, Unsupported, Fault (E_OUTOFMEMORY) and ContractError.
        """
        self.objects.check(memory)
        self.objects.add(memory, Made(make(_tokens(code))))

    def _create_hull(
        self,
        code: bytes,
        memory: bytearray,
        runtime: int = 0,
        signatures: TessellationSignatures | None = None,
    ) -> None:
        """CreateHullShader.  Raises as ``_create`` does."""
        self.objects.check(memory)
        self.objects.add(memory, Made(None, hull=hull_shader(_tokens(code))))

    def _create_streaming(
        self,
        desc: StreamOutputShader | StreamOutputShader11,
        memory: bytearray,
        runtime: int = 0,
        signatures: Signatures | None = None,
    ) -> None:
        """CreateGeometryShaderWithStreamOutput; without code what comes to the stage streams out.

        Raises as ``_create`` does.
        """
        self.objects.check(memory)
        known = self._interface >= Interface.D3D11_0 or isinstance(desc, StreamOutputShader)
        self._contract.hold(known, Rule.STREAMED, "CreateGeometryShaderWithStreamOutput")
        streams = streaming(desc, self._contract)
        code = desc.pShaderCode
        shader = None if code is None else geometry_shader(_tokens(code))
        self.objects.add(memory, Made(shader, streams))

    def _setters(self, prefix: str, stage: Stage) -> dict[str, Callable[..., Any]]:
        def set_shader(memory: bytearray | None) -> None:
            found = self.objects.maybe(memory, f"{prefix}SetShader") or NOTHING
            stage.shader, stage.streaming, stage.hull = found.shader, found.streaming, found.hull

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
        found: dict[str, Callable[..., Any]] = {
            f"{prefix}SetShader": set_shader,
            f"{prefix}SetShaderWithIfaces": set_with_interfaces,
        }
        for noun, objects, slots, count in kinds:
            name = f"{prefix}Set{noun}"
            found[name] = partial(self._set, name, objects, slots, count)
        return found

    def _set(
        self,
        entry: str,
        objects: Objects[_T],
        slots: dict[int, _T],
        count: int,
        start: int,
        handles: Sequence[bytearray | None],
    ) -> None:
        """Put objects, or nothing, into slots from ``start`` on."""
        self._contract.hold(0 <= start <= count - len(handles), Rule.SLOTS, entry)
        opened = [objects.maybe(memory, entry) for memory in handles]
        for slot, value in enumerate(opened, start):
            slots.pop(slot, None)
            if value is not None:
                slots[slot] = value


def _tokens(code: bytes) -> bytes:
    """A program by itself or out of its container.  Raises ShaderError."""
    return unpack(code).program if code.startswith(MAGIC) else bytes(code)
