"""Members of state descriptions that have no effect, as the runtime passes them to the driver.

They have default values in the state object, whatever the application passed: two descriptions
that differ in them alone are one state, and they need not be values that Direct3D knows.

Source: the Direct3D 11 documentation of ID3D11Device's CreateBlendState, CreateDepthStencilState
and CreateSamplerState, and of the descriptions' members.
"""

from __future__ import annotations

from dp2emu.d3d.enums10 import Filter10
from dp2emu.ddi10.states.state_objects import TextureAddress
from dp2emu.runtime10.descriptions import (
    BlendDesc,
    DepthStencilDesc,
    RenderTargetBlend,
    SamplerDesc,
)

_COMPARISON = int(Filter10.COMPARISON_MIN_MAG_MIP_POINT)
"""The bit of the comparison filters."""
_ANISOTROPIC = int(Filter10.ANISOTROPIC & ~Filter10.MIN_MAG_MIP_LINEAR)
"""The bit of the anisotropic filters."""
_SAMPLER, _TEST, _BLEND = SamplerDesc(), DepthStencilDesc(), RenderTargetBlend()


def sampler_members(desc: SamplerDesc) -> SamplerDesc:
    """``desc`` with the default of what its filter and address modes do not use; an anisotropy
    that is not used is 0.
    """
    if not desc.Filter & _COMPARISON:
        desc = desc._replace(ComparisonFunc=_SAMPLER.ComparisonFunc)
    if not desc.Filter & _ANISOTROPIC:
        desc = desc._replace(MaxAnisotropy=0)
    border = TextureAddress.BORDER in (desc.AddressU, desc.AddressV, desc.AddressW)
    if not border and len(desc.BorderColor) == len(_SAMPLER.BorderColor):
        desc = desc._replace(BorderColor=_SAMPLER.BorderColor)
    return desc


def depth_stencil_members(desc: DepthStencilDesc) -> DepthStencilDesc:
    """``desc`` with the default of what belongs to a test that is off."""
    if not desc.DepthEnable:
        desc = desc._replace(DepthWriteMask=_TEST.DepthWriteMask, DepthFunc=_TEST.DepthFunc)
    if not desc.StencilEnable:
        desc = DepthStencilDesc(*desc[:4])
    return desc


def blend_members(desc: BlendDesc) -> BlendDesc:
    """``desc`` with the default equation of targets that are not blended; without independent
    blending all targets are as the first.
    """
    targets = tuple(map(_target, desc.RenderTarget))
    if not desc.IndependentBlendEnable:
        targets = targets[:1] * len(targets)
    return desc._replace(RenderTarget=targets)


def _target(desc: RenderTargetBlend) -> RenderTargetBlend:
    if desc.BlendEnable:
        return desc
    return _BLEND._replace(RenderTargetWriteMask=desc.RenderTargetWriteMask)
