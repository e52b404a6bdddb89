"""Format support and capabilities of the adapter.

Source: DDI documentation of CheckFormatSupport, CheckMultisampleQualityLevels and GetCaps with
D3D10_2DDICAPS_TYPE and the structures it names (d3d10umddi.h).
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from struct import Struct
from typing import Annotated

from dp2emu.d3d.dxgi import DXGI, Support, ddi_support
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.codes import S_OK, DdiCode, format_of
from dp2emu.gpu.resource.heap import SAMPLE_COUNTS

_UNSUPPORTED = 0x80000000
"""Flag that CheckFormatSupport returns for formats that cannot be used at all."""


def check_format_support(format: Annotated[int, DxgiFormat]) -> int:
    """CheckFormatSupport: flags of D3D10_DDI_FORMAT_SUPPORT, for any number."""
    found = format_of(format)
    return _UNSUPPORTED if found is None else int(ddi_support(found))


def check_multisample_quality_levels(format: Annotated[int, DxgiFormat], samples: int) -> int:
    """CheckMultisampleQualityLevels: 1 if targets of the format can have ``samples``, else 0."""
    found = format_of(format)
    row = None if found is None else DXGI.get(found)
    known = row is not None and Support.MULTISAMPLE in row.support
    return int(known and samples in SAMPLE_COUNTS)


# GetCaps of Direct3D 11

_CAPS = Struct("<I")
"""Packs and unpacks a capability structure of GetCaps: one little-endian UINT, its member Caps."""


class CapsType(IntEnum):
    """D3D10_2DDICAPS_TYPE of Direct3D 11.0."""

    THREADING = 128
    SHADER = 129
    PIPELINE_SUPPORT = 130


class ThreadingCaps(IntFlag):
    """D3D11DDI_THREADING_CAPS."""

    FREETHREADED = 0x1
    COMMANDLISTS = 0x2
    COMMANDLISTS_BUILD_2 = 0x4


class ShaderCaps(IntFlag):
    """D3D11DDI_SHADER_CAPS."""

    DOUBLES = 0x1
    COMPUTE_PLUS_RAW_AND_STRUCTURED_BUFFERS_IN_SHADER_4_X = 0x2


class PipelineLevel(IntEnum):
    """D3D11DDI_3DPIPELINELEVEL, each a bit of D3D11DDI_3DPIPELINESUPPORT_CAPS."""

    LEVEL_10_0 = 0
    LEVEL_10_1 = 1
    LEVEL_11_0 = 2


CAPS: dict[CapsType, int] = {
    CapsType.THREADING: 0,
    CapsType.SHADER: (
        ShaderCaps.DOUBLES | ShaderCaps.COMPUTE_PLUS_RAW_AND_STRUCTURED_BUFFERS_IN_SHADER_4_X
    ),
    CapsType.PIPELINE_SUPPORT: sum(1 << level for level in PipelineLevel),
}
"""Caps that GetCaps reports, by type: no free threading or command lists, double precision in
shaders of 5.0, compute shaders of 4.x, and all pipeline levels."""


def get_caps(type: int, data: bytearray) -> int:
    """GetCaps: fill ``data`` with the structure of a type and return S_OK.

    Returns E_INVALIDARG and writes nothing for an unknown type or a wrong size.
    """
    if type not in tuple(CapsType) or len(data) != _CAPS.size:
        return DdiCode.E_INVALIDARG
    _CAPS.pack_into(data, 0, CAPS[CapsType(type)])
    return S_OK
