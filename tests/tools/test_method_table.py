"""What becomes of each method, as docs/import.rst lists it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dp2emu.retrace import all_methods
from tests.tools.loading import load_tool

tool = load_tool("method_table")


def test_every_method_of_every_interface_is_listed_once() -> None:
    listed = [
        f"{interface}::{name}" if interface else name
        for family in tool.families()
        for (_, interfaces), names in family.rows.items()
        for interface in interfaces
        for name in names
    ]
    assert sorted(listed) == sorted(all_methods())


def test_versions_of_an_interface_stand_together() -> None:
    titles = [family.interfaces for family in tool.families()]
    assert titles[0] == ("",)
    assert ("IDirect3D8", "IDirect3D9", "IDirect3D9Ex") in titles
    assert ("IDirectDraw", "IDirectDraw2", "IDirectDraw4", "IDirectDraw7") in titles


def test_interfaces_of_direct3d_10_and_11_stand_together_behind_the_others() -> None:
    titles = [family.interfaces for family in tool.families()]
    both = titles.index(("ID3D10Texture2D", "ID3D11Texture2D"))
    assert both > titles.index(("IDirect3D8", "IDirect3D9", "IDirect3D9Ex"))


def test_what_differs_between_versions_says_of_which() -> None:
    text = "\n".join(tool.lines())
    assert "``Release``\n" in text
    assert "``SetTransform``" in text and "of IDirect3DDevice7\n" in text


def test_lists_are_written_into_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stale = tmp_path / "import.rst"
    stale.write_text(f"a\n\n{tool.BEGIN}stale list\n{tool.END}z\n")
    monkeypatch.setattr(tool, "DOCUMENT", stale)
    tool.main()
    text = stale.read_text()
    assert "IDirect3DDevice9" in text and "stale" not in text
    assert text.startswith("a\n") and text.endswith("z\n")
