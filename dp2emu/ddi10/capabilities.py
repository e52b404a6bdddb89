"""What the adapter can do with formats.

Source: DDI documentation of CheckFormatSupport and CheckMultisampleQualityLevels.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from struct import Struct

from dp2emu.d3d.dxgi import DXGI, Support, ddi_support
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.codes import DdiCode
from dp2emu.gpu.resource.heap import SAMPLE_COUNTS

_UNSUPPORTED = 0x80000000
"""D3D10_DDI_FORMAT_SUPPORT_NOT_SUPPORTED."""


def check_format_support(format: int) -> int:
    """CheckFormatSupport: flags of D3D10_DDI_FORMAT_SUPPORT, for any number."""
    if format not in DxgiFormat._value2member_map_:
        return _UNSUPPORTED
    return int(ddi_support(DxgiFormat(format)))


def check_multisample_quality_levels(format: int, samples: int) -> int:
    """CheckMultisampleQualityLevels: 1 if there are targets of so many samples, otherwise 0."""
    if format not in DxgiFormat._value2member_map_ or samples not in SAMPLE_COUNTS:
        return 0
    row = DXGI.get(DxgiFormat(format))
    return int(row is not None and Support.MULTISAMPLE in row.support)


# What the adapter says it can do: GetCaps of Direct3D 11.
#
# Source: d3d10umddi.h and its documentation, D3D10_2DDICAPS_TYPE and the structures it names.

S_OK = 0


_CAPS = Struct("<I")
"""Each of the structures has a single UINT, Caps."""


class CapsType(IntEnum):
    """D3D10_2DDICAPS_TYPE, as far as Direct3D 11.0 has it."""

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
    CapsType.SHADER: ShaderCaps.COMPUTE_PLUS_RAW_AND_STRUCTURED_BUFFERS_IN_SHADER_4_X,
    CapsType.PIPELINE_SUPPORT: sum(1 << level for level in PipelineLevel),
}
"""One thread at a time, no command lists, compute shaders of 4.x too, and all levels."""


def get_caps(type: int, data: bytearray) -> int:
    """GetCaps: fill ``data`` with the structure of a type, and say S_OK; E_INVALIDARG, and nothing
    is filled, for a type that is not known or a size that is not the structure's.
    """
    known = {int(each): caps for each, caps in CAPS.items()}
    if type not in known or len(data) != _CAPS.size:
        return DdiCode.E_INVALIDARG
    _CAPS.pack_into(data, 0, known[type])
    return S_OK
