"""Outputs: display modes, vertical blanks and gamma."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.ddi10.adapter import Adapter
from dp2emu.errors import Unsupported
from dp2emu.runtime10.codes import Refused, Result
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.dxgi import ModeDesc, Output, Rational, create_dxgi_factory
from tests.runtime10.dxgi.showing import BGRA8, RGBA8


def made() -> Output:
    return create_dxgi_factory().enum_adapters(0).enum_outputs(0)


def test_an_adapter_has_one_output() -> None:
    adapter = create_dxgi_factory().enum_adapters(0)
    assert adapter.enum_outputs(0).get_parent() is adapter
    desc = adapter.enum_outputs(0).get_desc()
    assert desc.DeviceName == r"\\.\DISPLAY1"
    assert desc.DesktopCoordinates == (0, 0, 1024, 768)
    with pytest.raises(Refused) as caught:
        adapter.enum_outputs(1)
    assert caught.value.hr == Result.DXGI_ERROR_NOT_FOUND


@pytest.mark.parametrize(
    ("format", "shown"),
    [
        *((each, True) for each in (10, 24, 28, 29, 87, 89, 91)),
        *((each, False) for each in (0, 2, 41, 88, 12345)),
    ],
)
def test_modes_of_formats(format: int, shown: bool) -> None:
    modes = made().get_display_mode_list(format)
    assert bool(modes) is shown
    assert {each.Format for each in modes} == ({format} if shown else set())


@pytest.mark.parametrize(
    ("asked", "size"),
    [((0, 0), (1024, 768)), ((640, 480), (640, 480)), ((1270, 700), (1280, 720))],
)
def test_the_mode_that_is_closest(asked: tuple[int, int], size: tuple[int, int]) -> None:
    found = made().find_closest_matching_mode(ModeDesc(*asked, Format=RGBA8))
    assert found == ModeDesc(*size, Rational(60, 1), RGBA8, 1, 0)


def test_a_mode_without_a_format_has_that_of_the_desktop() -> None:
    found = made().find_closest_matching_mode(ModeDesc(), Device(Adapter()))
    assert found[:2] == (1024, 768)
    assert found.Format == BGRA8


@pytest.mark.parametrize(
    ("mode", "hr"),
    [
        (ModeDesc(640, 0, Format=RGBA8), Result.DXGI_ERROR_INVALID_CALL),
        (ModeDesc(640, 480), Result.DXGI_ERROR_INVALID_CALL),
        (ModeDesc(640, 480, Format=2), Result.DXGI_ERROR_NOT_FOUND),
        (ModeDesc(640, 480, Format=12345), Result.DXGI_ERROR_NOT_FOUND),
    ],
)
def test_modes_that_are_refused(mode: ModeDesc, hr: Result) -> None:
    with pytest.raises(Refused) as caught:
        made().find_closest_matching_mode(mode)
    assert caught.value.hr == hr


def test_gamma_ramps_have_256_points() -> None:
    found = made().get_gamma_control_capabilities(Device(Adapter()))
    assert len(found.ControlPointPositions) == 256
    assert (found.MinConvertedValue, found.MaxConvertedValue) == (0.0, 1.0)


def test_vertical_blanks_are_counted() -> None:
    output = made()
    output.wait_for_vblank()
    output.release_ownership()
    assert output.refreshes == 1


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("set_gamma_control", ((),)),
        ("get_gamma_control", ()),
        ("set_display_surface", (None,)),
        ("get_display_surface_data", (None,)),
    ],
)
def test_what_is_not_implemented_is_named(method: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(Unsupported):
        getattr(made(), method)(*arguments)


def test_ownership_and_duplication_are_named() -> None:
    output, device = made(), Device(Adapter())
    with pytest.raises(Unsupported, match="TakeOwnership"):
        output.take_ownership(device, True)
    with pytest.raises(Unsupported, match="DuplicateOutput"):
        output.duplicate_output(device)
