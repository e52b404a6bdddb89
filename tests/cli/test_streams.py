"""Where verbs read and write."""

from __future__ import annotations

from pathlib import Path

from dp2emu.cli.streams import text_output


def test_text_is_utf_8_with_plain_line_ends(tmp_path: Path) -> None:
    with text_output(str(tmp_path / "a")) as out:
        out.write("ä\n")
    assert (tmp_path / "a").read_bytes() == b"\xc3\xa4\n"


def test_file_name_that_is_no_text_is_written_with_backslashes(tmp_path: Path) -> None:
    with text_output(str(tmp_path / "a")) as out:
        out.write("\udcff")
    assert (tmp_path / "a").read_bytes() == b"\\udcff"
