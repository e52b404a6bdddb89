"""State objects: blend, depth-stencil, rasterizer and sampler states, resolved when created.

Source: d3d10umddi.h and the Direct3D 10 and 11 documentation of these states.  Comparisons, fill
modes, blend factors and operations, and stencil operations extend the values of Direct3D 9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec

from dp2emu.argument_check import hints_of
from dp2emu.d3d.enums import BlendOp, CmpFunc, Cull, FillMode, StencilOp
from dp2emu.d3d.enums10 import Blend10, BlendOp10, Comparison10, FillMode10, Filter10, StencilOp10
from dp2emu.d3d.sdk import SdkEnum
from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Rule, float32
from dp2emu.ddi10.objects import Objects
from dp2emu.gpu.command.pipeline import StencilFace, StencilState
from dp2emu.shader.fixed.blend import BlendEquation, BlendState

TARGETS = 8
"""Number of render target slots."""

_ADD, _SOLID = BlendOp.ADD, FillMode.SOLID


class RenderTargetBlend(NamedTuple):
    """D3D10_DDI_RENDER_TARGET_BLEND_DESC1."""

    BlendEnable: int = 0
    SrcBlend: Annotated[int, Blend10] = Blend10.ONE
    DestBlend: Annotated[int, Blend10] = Blend10.ZERO
    BlendOp: Annotated[int, BlendOp10] = _ADD
    SrcBlendAlpha: Annotated[int, Blend10] = Blend10.ONE
    DestBlendAlpha: Annotated[int, Blend10] = Blend10.ZERO
    BlendOpAlpha: Annotated[int, BlendOp10] = _ADD
    RenderTargetWriteMask: int = 15


class BlendDesc1(NamedTuple):
    """D3D10_1_DDI_BLEND_DESC, also of Direct3D 11; without IndependentBlendEnable the first
    target's description applies to all.
    """

    AlphaToCoverageEnable: int = 0
    IndependentBlendEnable: int = 0
    RenderTarget: Sequence[RenderTargetBlend] = (RenderTargetBlend(),) * TARGETS


class BlendDesc(NamedTuple):
    """D3D10_DDI_BLEND_DESC."""

    AlphaToCoverageEnable: int = 0
    BlendEnable: Sequence[int] = (0,) * TARGETS
    SrcBlend: Annotated[int, Blend10] = Blend10.ONE
    DestBlend: Annotated[int, Blend10] = Blend10.ZERO
    BlendOp: Annotated[int, BlendOp10] = _ADD
    SrcBlendAlpha: Annotated[int, Blend10] = Blend10.ONE
    DestBlendAlpha: Annotated[int, Blend10] = Blend10.ZERO
    BlendOpAlpha: Annotated[int, BlendOp10] = _ADD
    RenderTargetWriteMask: Sequence[int] = (15,) * TARGETS

    def independent(self) -> BlendDesc1:
        """The equivalent Direct3D 10.1 description."""
        color = self.SrcBlend, self.DestBlend, self.BlendOp
        alpha = self.SrcBlendAlpha, self.DestBlendAlpha, self.BlendOpAlpha
        targets = tuple(
            RenderTargetBlend(enable, *color, *alpha, mask)
            for enable, mask in zip(self.BlendEnable, self.RenderTargetWriteMask, strict=True)
        )
        return BlendDesc1(self.AlphaToCoverageEnable, 1, targets)


class StencilOpDesc(NamedTuple):
    """D3D10_DDI_DEPTH_STENCILOP_DESC."""

    StencilFailOp: Annotated[int, StencilOp10] = StencilOp.KEEP
    StencilDepthFailOp: Annotated[int, StencilOp10] = StencilOp.KEEP
    StencilPassOp: Annotated[int, StencilOp10] = StencilOp.KEEP
    StencilFunc: Annotated[int, Comparison10] = CmpFunc.ALWAYS


class DepthStencilDesc(NamedTuple):
    """D3D10_DDI_DEPTH_STENCIL_DESC; FrontEnable and BackEnable enable a face's stencil test."""

    DepthEnable: int = 1
    DepthWriteMask: int = 1
    DepthFunc: Annotated[int, Comparison10] = CmpFunc.LESS
    StencilEnable: int = 0
    FrontEnable: int = 1
    BackEnable: int = 1
    StencilReadMask: int = 0xFF
    StencilWriteMask: int = 0xFF
    FrontFace: StencilOpDesc = StencilOpDesc()
    BackFace: StencilOpDesc = StencilOpDesc()


class CullMode(SdkEnum, prefix="D3D10_CULL_"):
    """D3D10_DDI_CULL_MODE."""

    NONE = 1
    FRONT = 2
    BACK = 3


class RasterizerDesc(NamedTuple):
    """D3D10_DDI_RASTERIZER_DESC."""

    FillMode: Annotated[int, FillMode10] = _SOLID
    CullMode: Annotated[int, CullMode] = 3
    FrontCounterClockwise: int = 0
    DepthBias: int = 0
    DepthBiasClamp: float = 0.0
    SlopeScaledDepthBias: float = 0.0
    DepthClipEnable: int = 1
    ScissorEnable: int = 0
    MultisampleEnable: int = 0
    AntialiasedLineEnable: int = 0


class TextureAddress(SdkEnum, prefix="D3D10_TEXTURE_ADDRESS_"):
    """D3D10_DDI_TEXTURE_ADDRESS_MODE."""

    WRAP = 1
    MIRROR = 2
    CLAMP = 3
    BORDER = 4
    MIRROR_ONCE = 5


class SamplerDesc(NamedTuple):
    """D3D10_DDI_SAMPLER_DESC."""

    Filter: Annotated[int, Filter10] = 0x15
    AddressU: Annotated[int, TextureAddress] = TextureAddress.CLAMP
    AddressV: Annotated[int, TextureAddress] = TextureAddress.CLAMP
    AddressW: Annotated[int, TextureAddress] = TextureAddress.CLAMP
    MipLODBias: float = 0.0
    MaxAnisotropy: int = 16
    ComparisonFunc: Annotated[int, Comparison10] = CmpFunc.NEVER
    BorderColor: Sequence[float] = (0.0,) * 4
    MinLOD: float = -3.402823466e38
    MaxLOD: float = 3.402823466e38


# The states resolved for draws


class Blending(msgspec.Struct, frozen=True):
    """A blend state: blend equation, None if blending is off, and write mask of each target.

    ``desc`` is the description that it was made from.
    """

    equations: tuple[BlendState | None, ...] = (None,) * TARGETS
    write_masks: tuple[int, ...] = (15,) * TARGETS
    alpha_to_coverage: bool = False
    desc: BlendDesc | BlendDesc1 = BlendDesc1()


class DepthStencil(msgspec.Struct, frozen=True):
    """A depth-stencil state; ``stencil`` is None if the stencil test is off.

    ``desc`` is the description that it was made from.
    """

    depth: bool = True
    write: bool = True
    func: CmpFunc = CmpFunc.LESS
    stencil: StencilState | None = None
    read_mask: int = 0xFF
    write_mask: int = 0xFF
    desc: DepthStencilDesc = DepthStencilDesc()


class Rasterizer(msgspec.Struct, frozen=True):
    """A rasterizer state: ``fill`` and ``cull`` as GPU enumerations, the rest in ``desc``."""

    desc: RasterizerDesc = msgspec.field(default_factory=RasterizerDesc)
    fill: FillMode = FillMode.SOLID
    cull: Cull = Cull.CCW


def blending(given: BlendDesc | BlendDesc1) -> Blending:
    """The blend state of a description.  Raises ValueError for an unknown factor or operation."""
    desc = given.independent() if isinstance(given, BlendDesc) else given
    if len(desc.RenderTarget) != TARGETS:
        raise ValueError(desc.RenderTarget)
    shared = (desc.RenderTarget[0],) * TARGETS
    targets = desc.RenderTarget if desc.IndependentBlendEnable else shared
    return Blending(
        tuple(_equations(target) for target in targets),
        tuple(target.RenderTargetWriteMask & 15 for target in targets),
        bool(desc.AlphaToCoverageEnable),
        given,
    )


def _equations(target: RenderTargetBlend) -> BlendState | None:
    if not target.BlendEnable:
        return None
    color = _equation(target.SrcBlend, target.DestBlend, target.BlendOp)
    alpha = _equation(target.SrcBlendAlpha, target.DestBlendAlpha, target.BlendOpAlpha)
    return BlendState(color, alpha)


def _equation(source: int, destination: int, operation: int) -> BlendEquation:
    return BlendEquation(Blend10(source), Blend10(destination), BlendOp(operation))


def depth_stencil(desc: DepthStencilDesc) -> DepthStencil:
    """The depth-stencil state of a description.

    Raises ValueError for an unknown comparison or operation.
    """
    return DepthStencil(
        bool(desc.DepthEnable),
        bool(desc.DepthWriteMask),
        CmpFunc(desc.DepthFunc),
        _stencil(desc) if desc.StencilEnable else None,
        desc.StencilReadMask & 0xFF,
        desc.StencilWriteMask & 0xFF,
        desc,
    )


def _stencil(desc: DepthStencilDesc) -> StencilState:
    """The stencil state of a description; a disabled face passes and keeps the stored value."""
    front = _face(desc.FrontFace) if desc.FrontEnable else StencilFace()
    back = _face(desc.BackFace) if desc.BackEnable else StencilFace()
    return StencilState(front, None if front == back else back)


def _face(desc: StencilOpDesc) -> StencilFace:
    operations = (desc.StencilFailOp, desc.StencilDepthFailOp, desc.StencilPassOp)
    return StencilFace(CmpFunc(desc.StencilFunc), *(StencilOp(each) for each in operations))


_CULLED = {
    (CullMode.NONE, False): Cull.NONE,
    (CullMode.NONE, True): Cull.NONE,
    (CullMode.FRONT, False): Cull.CW,
    (CullMode.FRONT, True): Cull.CCW,
    (CullMode.BACK, False): Cull.CCW,
    (CullMode.BACK, True): Cull.CW,
}
"""Winding of the triangles to cull, by (cull mode, FrontCounterClockwise)."""
_FILLS = {int(fill): fill for fill in (FillMode.WIREFRAME, FillMode.SOLID)}


def rasterizer(desc: RasterizerDesc) -> Rasterizer:
    """The rasterizer state of a description.  Raises ValueError for an unknown mode."""
    if desc.FillMode not in _FILLS:
        raise ValueError(desc.FillMode)
    culled = _CULLED[CullMode(desc.CullMode), bool(desc.FrontCounterClockwise)]
    return Rasterizer(desc, _FILLS[desc.FillMode], culled)


_Desc = TypeVar("_Desc")
_State = TypeVar("_State")


class States:
    """The state objects of a device.  Mutable: DDI functions create and destroy them."""

    def __init__(self, context: Context) -> None:
        self._contract = context.contract
        self.blends: Objects[Blending] = Objects(context, "BlendState", b"BLND")
        self.depths: Objects[DepthStencil] = Objects(context, "DepthStencilState", b"DPTH")
        self.rasterizers: Objects[Rasterizer] = Objects(context, "RasterizerState", b"RAST")
        self.samplers: Objects[SamplerDesc] = Objects(context, "Sampler", b"SMPL")

    def entries(self) -> Mapping[str, Callable[..., Any]]:
        """The DDI functions implemented here, by name without ``pfn``."""
        return {
            **self._functions(self.blends, "BlendState", blending),
            **self._functions(self.depths, "DepthStencilState", depth_stencil),
            **self._functions(self.rasterizers, "RasterizerState", rasterizer),
            **self._functions(self.samplers, "Sampler", _sampler),
        }

    def _functions(
        self, objects: Objects[_State], noun: str, resolve: Callable[[_Desc], _State]
    ) -> dict[str, Callable[..., Any]]:
        entry = f"Create{noun}"

        def create(desc: _Desc, memory: bytearray, runtime: int = 0) -> None:
            try:
                state = resolve(desc)
            except ValueError:
                self._contract.check(False, Rule.KNOWN_STATE, entry)
                raise  # not reached: the rule holds in any mode
            objects.add(memory, state)

        (kind, *_) = hints_of(resolve).values()
        create.__annotations__["desc"] = kind
        return {
            f"CalcPrivate{noun}Size": objects.size,
            entry: create,
            f"Destroy{noun}": objects.destroy,
        }


def _sampler(desc: SamplerDesc) -> SamplerDesc:
    """The description with FLOATs rounded.  Raises ValueError for an unknown address mode or
    comparison.
    """
    for address in (desc.AddressU, desc.AddressV, desc.AddressW):
        TextureAddress(address)
    CmpFunc(desc.ComparisonFunc)
    if len(desc.BorderColor) != len("rgba"):
        raise ValueError(desc.BorderColor)
    return desc._replace(
        BorderColor=float32(*desc.BorderColor),
        MipLODBias=float32(desc.MipLODBias)[0],
        MinLOD=float32(desc.MinLOD)[0],
        MaxLOD=float32(desc.MaxLOD)[0],
    )
