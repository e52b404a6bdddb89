"""Enumerations of d3d11.h and dxgiformat.h for applications, by their members' names without the
common prefix.

Source: the Direct3D 11 documentation of each enumeration.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag

from dp2emu.d3d.dxgi import FormatSupport as FormatSupport
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums10 import Topology10 as PrimitiveTopology
from dp2emu.ddi10.queries.counters import CounterType as CounterType
from dp2emu.ddi10.resources.maps import Map as Map
from dp2emu.ddi10.resources.residency import Status as Residency
from dp2emu.ddi10.resources.resource import Usage as Usage
from dp2emu.ddi10.resources.transfers import ClearFlag as ClearFlag
from dp2emu.runtime10.textures import CpuAccess as CpuAccess

__all__ = [
    "BindFlag",
    "BufferUavFlag",
    "ClearFlag",
    "CounterType",
    "CpuAccess",
    "FeatureLevel",
    "Format",
    "FormatSupport",
    "Map",
    "PrimitiveTopology",
    "QueryType",
    "Residency",
    "ResourceMisc",
    "Usage",
]


class _Formats:
    """DXGI_FORMAT: numbers of formats by name, as descriptions have them."""

    def __getattr__(self, name: str) -> int:
        """The number of DXGI_FORMAT_``name``."""
        if name not in DxgiFormat.__members__:
            raise AttributeError(f"there is no DXGI_FORMAT_{name}")
        return DxgiFormat[name].value


Format = _Formats()
"""DXGI_FORMAT: ``Format.R8G8B8A8_UNORM`` is 28."""


class FeatureLevel(IntEnum):
    """D3D_FEATURE_LEVEL."""

    LEVEL_9_1 = 0x9100
    LEVEL_9_2 = 0x9200
    LEVEL_9_3 = 0x9300
    LEVEL_10_0 = 0xA000
    LEVEL_10_1 = 0xA100
    LEVEL_11_0 = 0xB000


class BindFlag(IntFlag):
    """D3D11_BIND_FLAG."""

    VERTEX_BUFFER = 0x1
    INDEX_BUFFER = 0x2
    CONSTANT_BUFFER = 0x4
    SHADER_RESOURCE = 0x8
    STREAM_OUTPUT = 0x10
    RENDER_TARGET = 0x20
    DEPTH_STENCIL = 0x40
    UNORDERED_ACCESS = 0x80


class ResourceMisc(IntFlag):
    """D3D11_RESOURCE_MISC_FLAG, of textures, buffers or both."""

    GENERATE_MIPS = 0x1
    SHARED = 0x2
    TEXTURECUBE = 0x4
    DRAWINDIRECT_ARGS = 0x10
    BUFFER_ALLOW_RAW_VIEWS = 0x20
    BUFFER_STRUCTURED = 0x40
    RESOURCE_CLAMP = 0x80
    SHARED_KEYEDMUTEX = 0x100
    GDI_COMPATIBLE = 0x200
    SHARED_NTHANDLE = 0x800


class BufferUavFlag(IntFlag):
    """D3D11_BUFFER_UAV_FLAG."""

    RAW = 1
    APPEND = 2
    COUNTER = 4


class QueryType(IntEnum):
    """D3D11_QUERY."""

    EVENT = 0
    OCCLUSION = 1
    TIMESTAMP = 2
    TIMESTAMP_DISJOINT = 3
    PIPELINE_STATISTICS = 4
    OCCLUSION_PREDICATE = 5
    SO_STATISTICS = 6
    SO_OVERFLOW_PREDICATE = 7
    SO_STATISTICS_STREAM0 = 8
    SO_OVERFLOW_PREDICATE_STREAM0 = 9
    SO_STATISTICS_STREAM1 = 10
    SO_OVERFLOW_PREDICATE_STREAM1 = 11
    SO_STATISTICS_STREAM2 = 12
    SO_OVERFLOW_PREDICATE_STREAM2 = 13
    SO_STATISTICS_STREAM3 = 14
    SO_OVERFLOW_PREDICATE_STREAM3 = 15
