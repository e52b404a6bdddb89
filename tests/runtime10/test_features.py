"""CheckFeatureSupport: optional features of a driver."""

from __future__ import annotations

import pytest

from dp2emu.capture.recorder import Recorder
from dp2emu.capture.records import Record
from dp2emu.ddi10.adapter import Adapter
from dp2emu.errors import Unsupported
from dp2emu.runtime10 import Api, DoublesData, DriverDevice, Feature, Options3Data, OptionsData
from dp2emu.runtime10.features import feature_data

OFFERED = OptionsData(
    ConstantBufferPartialUpdate=True,
    ConstantBufferOffsetting=True,
    MapNoOverwriteOnDynamicConstantBuffer=True,
    MapNoOverwriteOnDynamicBufferSRV=True,
)
"""What contexts do for every driver."""


def test_double_precision_is_announced() -> None:
    device = DriverDevice(Adapter(checking=True))
    assert device.check_feature_support(Feature.DOUBLES) == DoublesData(True)
    options = device.check_feature_support(Feature.D3D11_OPTIONS)
    extended = {"ExtendedDoublesShaderInstructions": True, "SAD4ShaderInstructions": True}
    assert options == OFFERED._replace(**extended)


def test_array_indices_from_any_shader_before_the_rasterizer_are_announced() -> None:
    device = DriverDevice(Adapter(checking=True))
    assert device.check_feature_support(Feature.D3D11_OPTIONS3) == Options3Data(True)


def test_features_of_a_recorded_adapter_are_its_own() -> None:
    records: list[Record] = []
    device = DriverDevice(Recorder(Adapter(), records.append))
    before = len(records)
    assert device.check_feature_support(Feature.DOUBLES) == DoublesData(True)
    assert len(records) == before


def test_driver_without_doubles_has_no_feature_of_them() -> None:
    def get_caps(type: int, data: bytearray) -> int:
        data[:] = bytes([2, 0, 0, 0])
        return 0

    assert feature_data(Feature.DOUBLES, get_caps) == DoublesData(False)
    assert feature_data(Feature.D3D11_OPTIONS, get_caps) == OFFERED


def test_other_features_are_named() -> None:
    with pytest.raises(Unsupported, match="D3D11_FEATURE 2"):
        DriverDevice(Adapter()).check_feature_support(2)
    with pytest.raises(Unsupported, match="CheckFeatureSupport before Direct3D 11"):
        DriverDevice(Adapter(), Api.D3D10).check_feature_support(Feature.DOUBLES)
