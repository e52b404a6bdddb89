"""SDK constants by name agree with the headers."""

from __future__ import annotations

import pytest

from dp2emu.d3d.names import sdk_constant

from ..reference import layout


def test_every_constant_known_by_name_has_the_headers_value() -> None:
    headers = {name: entry["value"] for name, entry in layout()["constants"].items()}
    known = {name: sdk_constant(name) for name in headers if sdk_constant(name) is not None}
    assert known == {name: headers[name] for name in known}


@pytest.mark.parametrize("prefix", ["D3DFVF_TEX", "D3DFVF_XYZ", "D3DTA_T", "D3DCOLORWRITEENABLE_"])
def test_the_families_of_the_headers_are_there(prefix: str) -> None:
    names = [name for name in layout()["constants"] if name.startswith(prefix)]
    apart = {"D3DFVF_TEXCOUNT_MASK", "D3DFVF_TEXCOUNT_SHIFT"}
    apart |= {f"D3DFVF_TEXTUREFORMAT{number}" for number in range(1, 5)}
    assert [name for name in names if sdk_constant(name) is None and name not in apart] == []


def test_names_of_nothing_have_no_value() -> None:
    for name in ("", "D3DCMP_", "LESS", "D3DCMP_less", "D3DFVF_TEX9"):
        assert sdk_constant(name) is None
