"""Names that are imported when they are asked for."""

from __future__ import annotations

import pytest

import dp2emu.capture.apitrace
import dp2emu.runtime
from dp2emu.lazy_import import lazy_names


def test_a_name_comes_from_its_home() -> None:
    get = lazy_names("dp2emu.d3d", {"enums": ("Format", "Cull"), "formats": ("FORMATS",)})
    from dp2emu.d3d import enums, formats

    assert get("Cull") is enums.Cull and get("FORMATS") is formats.FORMATS


def test_there_is_no_other_name() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Pixel'"):
        lazy_names("dp2emu.d3d", {"enums": ("Format",)})("Pixel")


@pytest.mark.parametrize("package", [dp2emu.runtime, dp2emu.capture.apitrace])
def test_every_name_of_a_package_is_there(package: object) -> None:
    names = package.__all__  # type: ignore[attr-defined]
    assert names and all(getattr(package, name) is not None for name in names)
