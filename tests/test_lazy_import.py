"""Names of packages that are imported on first use."""

from __future__ import annotations

import pytest

import dp2emu.capture.apitrace
import dp2emu.d3d
import dp2emu.runtime
from dp2emu.lazy_import import lazy_package, names_of_stub


def test_a_name_comes_from_its_module() -> None:
    get, names, exported = lazy_package(dp2emu.d3d.__spec__)
    from dp2emu.d3d import enums, formats

    assert get("Cull") is enums.Cull and get("FORMATS") is formats.FORMATS
    assert {"Cull", "enums", "__doc__"} <= set(names())
    assert exported == list(names_of_stub(dp2emu.d3d.__spec__))


def test_there_is_no_other_name() -> None:
    get, _, _ = lazy_package(dp2emu.d3d.__spec__)
    with pytest.raises(AttributeError, match="has no attribute 'Pixel'"):
        get("Pixel")


@pytest.mark.parametrize("package", [dp2emu.runtime, dp2emu.capture.apitrace])
def test_every_name_of_a_package_is_there(package: object) -> None:
    names = package.__all__  # type: ignore[attr-defined]
    assert names and all(getattr(package, name) is not None for name in names)
