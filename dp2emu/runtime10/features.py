"""Optional features, which CheckFeatureSupport of ID3D11Device reports.

Source: Direct3D 11 documentation of D3D11_FEATURE and the structures that it names.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

from dp2emu.ddi10.capabilities import CapsType, PipelineLevel, ShaderCaps
from dp2emu.errors import Unsupported


class Feature(IntEnum):
    """D3D11_FEATURE: the features that are reported."""

    DOUBLES = 1
    D3D11_OPTIONS = 5
    D3D11_OPTIONS3 = 15


class DoublesData(NamedTuple):
    """D3D11_FEATURE_DATA_DOUBLES."""

    DoublePrecisionFloatShaderOps: bool = False


class OptionsData(NamedTuple):
    """D3D11_FEATURE_DATA_D3D11_OPTIONS."""

    OutputMergerLogicOp: bool = False
    UAVOnlyRenderingForcedSampleCount: bool = False
    DiscardAPIsSeenByDriver: bool = False
    FlagsForUpdateAndCopySeenByDriver: bool = False
    ClearView: bool = False
    CopyWithOverlap: bool = False
    ConstantBufferPartialUpdate: bool = False
    ConstantBufferOffsetting: bool = False
    MapNoOverwriteOnDynamicConstantBuffer: bool = False
    MapNoOverwriteOnDynamicBufferSRV: bool = False
    MultisampleRTVWithForcedSampleCountOne: bool = False
    SAD4ShaderInstructions: bool = False
    ExtendedDoublesShaderInstructions: bool = False
    ExtendedResourceSharing: bool = False


class Options3Data(NamedTuple):
    """D3D11_FEATURE_DATA_D3D11_OPTIONS3."""

    VPAndRTArrayIndexFromAnyShaderFeedingRasterizer: bool = False


FeatureData = DoublesData | OptionsData | Options3Data
"""Type of the structures that CheckFeatureSupport fills in."""
GetCaps = Callable[[int, bytearray], int]
"""Type of a driver's GetCaps: a function of a ``CapsType`` and the memory to fill."""


def feature_data(feature: int, get_caps: GetCaps) -> FeatureData:
    """The structure of a feature, from the capabilities of a driver.

    The driver interface of Direct3D 11.0 has no capability of its own for what later versions
    added: the extended instructions come with doubles, and array indices from vertex and domain
    shaders with pipeline level 11.0.  Raises Unsupported for other features.
    """
    doubles = bool(_caps(get_caps, CapsType.SHADER) & ShaderCaps.DOUBLES)
    if feature == Feature.DOUBLES:
        return DoublesData(DoublePrecisionFloatShaderOps=doubles)
    if feature == Feature.D3D11_OPTIONS:
        return OptionsData(ExtendedDoublesShaderInstructions=doubles)
    if feature == Feature.D3D11_OPTIONS3:
        levels = _caps(get_caps, CapsType.PIPELINE_SUPPORT)
        return Options3Data(bool(levels >> PipelineLevel.LEVEL_11_0 & 1))
    raise Unsupported(f"D3D11_FEATURE {feature}")


def _caps(get_caps: GetCaps, type: CapsType) -> int:
    data = bytearray(4)
    get_caps(type, data)
    return int.from_bytes(data, "little")
