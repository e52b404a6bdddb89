"""Optional features, which CheckFeatureSupport of ID3D11Device reports.

Source: Direct3D 11 documentation of D3D11_FEATURE and the structures that it names.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum, IntFlag
from typing import NamedTuple

from dp2emu.d3d.dxgi import FormatSupport
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.capabilities import CapsType, PipelineLevel, ShaderCaps
from dp2emu.errors import Unsupported


class Feature(IntEnum):
    """D3D11_FEATURE: the features that are reported."""

    THREADING = 0
    DOUBLES = 1
    FORMAT_SUPPORT = 2
    FORMAT_SUPPORT2 = 3
    D3D10_X_HARDWARE_OPTIONS = 4
    D3D11_OPTIONS = 5
    ARCHITECTURE_INFO = 6
    D3D9_OPTIONS = 7
    SHADER_MIN_PRECISION_SUPPORT = 8
    D3D9_SHADOW_SUPPORT = 9
    D3D11_OPTIONS3 = 15


class ThreadingData(NamedTuple):
    """D3D11_FEATURE_DATA_THREADING."""

    DriverConcurrentCreates: bool = False
    DriverCommandLists: bool = False


class FormatSupportData(NamedTuple):
    """D3D11_FEATURE_DATA_FORMAT_SUPPORT."""

    InFormat: int
    OutFormatSupport: FormatSupport


class FormatSupport2(IntFlag):
    """D3D11_FORMAT_SUPPORT2."""

    UAV_ATOMIC_ADD = 0x1
    UAV_ATOMIC_BITWISE_OPS = 0x2
    UAV_ATOMIC_COMPARE_STORE_OR_COMPARE_EXCHANGE = 0x4
    UAV_ATOMIC_EXCHANGE = 0x8
    UAV_ATOMIC_SIGNED_MIN_OR_MAX = 0x10
    UAV_ATOMIC_UNSIGNED_MIN_OR_MAX = 0x20
    UAV_TYPED_LOAD = 0x40
    UAV_TYPED_STORE = 0x80


class FormatSupport2Data(NamedTuple):
    """D3D11_FEATURE_DATA_FORMAT_SUPPORT2."""

    InFormat: int
    OutFormatSupport2: FormatSupport2


class HardwareOptionsData(NamedTuple):
    """D3D11_FEATURE_DATA_D3D10_X_HARDWARE_OPTIONS."""

    ComputeShaders_Plus_RawAndStructuredBuffers_Via_Shader_4_x: bool = False


class ArchitectureData(NamedTuple):
    """D3D11_FEATURE_DATA_ARCHITECTURE_INFO."""

    TileBasedDeferredRenderer: bool = False


class Options9Data(NamedTuple):
    """D3D11_FEATURE_DATA_D3D9_OPTIONS."""

    FullNonPow2TextureSupport: bool = False


class MinPrecisionData(NamedTuple):
    """D3D11_FEATURE_DATA_SHADER_MIN_PRECISION_SUPPORT."""

    PixelShaderMinPrecision: int = 0
    AllOtherShaderStagesMinPrecision: int = 0


class Shadow9Data(NamedTuple):
    """D3D11_FEATURE_DATA_D3D9_SHADOW_SUPPORT."""

    SupportsDepthAsTextureWithLessEqualComparisonFilter: bool = False


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


FeatureData = (
    ThreadingData
    | DoublesData
    | FormatSupportData
    | FormatSupport2Data
    | HardwareOptionsData
    | OptionsData
    | ArchitectureData
    | Options9Data
    | MinPrecisionData
    | Shadow9Data
    | Options3Data
)
"""Type of the structures that CheckFeatureSupport fills in."""
GetCaps = Callable[[int, bytearray], int]
"""Type of a driver's GetCaps: a function of a ``CapsType`` and the memory to fill."""


def feature_data(feature: int, get_caps: GetCaps) -> FeatureData:
    """The structure of a feature, from the capabilities of a driver.

    The driver interface of Direct3D 11.0 has no capability of its own for what later versions
    added: the extended instructions come with doubles, array indices from vertex and domain
    shaders and msad with pipeline level 11.0.  Raises Unsupported for other features.
    """
    found = _DATA.get(feature)
    if found is None:
        raise Unsupported(f"D3D11_FEATURE {feature}")
    return found(get_caps)


def format_data(feature: int, format: int, support: FormatSupport) -> FeatureData:
    """The structure of FORMAT_SUPPORT or FORMAT_SUPPORT2 for a format with these bits."""
    if feature == Feature.FORMAT_SUPPORT:
        return FormatSupportData(format, support)
    found = FormatSupport2(0)
    if support & FormatSupport.TYPED_UNORDERED_ACCESS_VIEW:
        found = FormatSupport2.UAV_TYPED_STORE | _ATOMICS.get(format, FormatSupport2(0))
    return FormatSupport2Data(format, found)


_INTEGER = (
    FormatSupport2.UAV_ATOMIC_ADD
    | FormatSupport2.UAV_ATOMIC_BITWISE_OPS
    | FormatSupport2.UAV_ATOMIC_COMPARE_STORE_OR_COMPARE_EXCHANGE
    | FormatSupport2.UAV_ATOMIC_EXCHANGE
    | FormatSupport2.UAV_TYPED_LOAD
)
_ATOMICS: dict[int, FormatSupport2] = {
    DxgiFormat.R32_UINT.value: _INTEGER | FormatSupport2.UAV_ATOMIC_UNSIGNED_MIN_OR_MAX,
    DxgiFormat.R32_SINT.value: _INTEGER | FormatSupport2.UAV_ATOMIC_SIGNED_MIN_OR_MAX,
    DxgiFormat.R32_FLOAT.value: FormatSupport2.UAV_TYPED_LOAD | FormatSupport2.UAV_ATOMIC_EXCHANGE,
}
"""What shaders do with views for unordered access by format, beside writing; other formats cannot
be read through them."""


def _shader_caps(get_caps: GetCaps, caps: ShaderCaps) -> bool:
    return bool(_caps(get_caps, CapsType.SHADER) & caps)


def _options(get_caps: GetCaps) -> OptionsData:
    """The options of Direct3D 11.1: what contexts do for any driver of Direct3D 11."""
    return OptionsData(
        ConstantBufferPartialUpdate=True,
        ConstantBufferOffsetting=True,
        MapNoOverwriteOnDynamicConstantBuffer=True,
        MapNoOverwriteOnDynamicBufferSRV=True,
        SAD4ShaderInstructions=_has_level_11(get_caps),
        ExtendedDoublesShaderInstructions=_shader_caps(get_caps, ShaderCaps.DOUBLES),
    )


def _options3(get_caps: GetCaps) -> Options3Data:
    return Options3Data(_has_level_11(get_caps))


def _has_level_11(get_caps: GetCaps) -> bool:
    levels = _caps(get_caps, CapsType.PIPELINE_SUPPORT)
    return bool(levels >> PipelineLevel.LEVEL_11_0 & 1)


_PLUS = ShaderCaps.COMPUTE_PLUS_RAW_AND_STRUCTURED_BUFFERS_IN_SHADER_4_X
_DATA: dict[int, Callable[[GetCaps], FeatureData]] = {
    Feature.THREADING: lambda caps: ThreadingData(),
    Feature.DOUBLES: lambda caps: DoublesData(_shader_caps(caps, ShaderCaps.DOUBLES)),
    Feature.D3D10_X_HARDWARE_OPTIONS: lambda caps: HardwareOptionsData(_shader_caps(caps, _PLUS)),
    Feature.D3D11_OPTIONS: _options,
    Feature.ARCHITECTURE_INFO: lambda caps: ArchitectureData(),
    Feature.D3D9_OPTIONS: lambda caps: Options9Data(FullNonPow2TextureSupport=True),
    Feature.SHADER_MIN_PRECISION_SUPPORT: lambda caps: MinPrecisionData(),
    Feature.D3D9_SHADOW_SUPPORT: lambda caps: Shadow9Data(True),
    Feature.D3D11_OPTIONS3: _options3,
}
"""The structure of each feature, from the capabilities of a driver."""


def _caps(get_caps: GetCaps, type: CapsType) -> int:
    data = bytearray(4)
    get_caps(type, data)
    return int.from_bytes(data, "little")
