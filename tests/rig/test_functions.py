"""Names of functions are read from a library's symbol table."""

from __future__ import annotations

from pathlib import Path

from dp2emu.rig.functions import Functions
from tests.native.building import sample


def test_static_functions_have_names() -> None:
    functions = Functions(sample())
    places = range(0, sample().stat().st_size, 16)
    names = {functions.at(place) for place in places}
    assert {"D3dDrawPrimitives2", "walk_tokens", "payload_of"} <= names


def test_a_file_that_is_cut_or_no_library_has_none(tmp_path: Path) -> None:
    cut = tmp_path / "cut.so"
    for data in (b"", b"\x7fELF", sample().read_bytes()[:5000], bytes(100)):
        cut.write_bytes(data)
        assert Functions(cut).at(0x1000) is None
