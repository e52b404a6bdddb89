"""What the adapter says it can do with formats."""

from __future__ import annotations

import pytest

from dp2emu.d3d.dxgi import DXGI, Support
from dp2emu.d3d.dxgiformat import DxgiFormat
from tests.ddi10.rendering import Rendering

SAMPLE, TARGET, BLEND, MULTISAMPLE, LOAD, NONE = 1, 2, 4, 8, 16, 0x80000000


@pytest.mark.parametrize(
    ("format", "flags"),
    [
        (DxgiFormat.R8G8B8A8_UNORM.value, SAMPLE | TARGET | BLEND | MULTISAMPLE | LOAD),
        (DxgiFormat.R32G32B32A32_UINT.value, TARGET | MULTISAMPLE | LOAD),
        (DxgiFormat.BC1_UNORM.value, SAMPLE),
        (DxgiFormat.NV12.value, NONE),
        (0, NONE),
        (12345, NONE),
        (-1, NONE),
    ],
)
def test_formats_have_flags(format: int, flags: int) -> None:
    assert Rendering().device.functions["CheckFormatSupport"](format) == flags


@pytest.mark.parametrize("samples", range(18))
def test_targets_have_1_2_4_or_8_samples(samples: int) -> None:
    check = Rendering().device.functions["CheckMultisampleQualityLevels"]
    for format in DxgiFormat:
        row = DXGI.get(format)
        there = row is not None and bool(row.support & Support.MULTISAMPLE)
        assert check(format.value, samples) == (there and samples in (1, 2, 4, 8))


def test_a_removed_device_tells_its_capabilities() -> None:
    driven = Rendering()
    driven.adapter.remove()
    assert driven.call("CheckFormatSupport", 28) == []
    assert driven.call("CheckMultisampleQualityLevels", 28, 4) == []
    assert driven.device.functions["CheckMultisampleQualityLevels"](28, 4) == 1
