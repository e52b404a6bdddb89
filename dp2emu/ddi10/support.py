"""What the adapter can do with formats.

Source: DDI documentation of CheckFormatSupport and CheckMultisampleQualityLevels.
"""

from __future__ import annotations

from dp2emu.d3d.dxgi import DXGI, Support, ddi_support
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.gpu.memory import SAMPLE_COUNTS

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
