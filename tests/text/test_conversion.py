"""Captures from one form to another, and where they are written."""

from __future__ import annotations

from io import BufferedReader, BytesIO, StringIO
from pathlib import Path

import pytest

from dp2emu.capture import BareOptions, Capture, open_capture
from dp2emu.capture.records import Called, MemoryWritten
from dp2emu.dp2.call import Call
from dp2emu.errors import CaptureError, UsageError
from dp2emu.text import TextCapture, TextError, assemble, convert, open_any
from tests.capture.samples import EVERYTHING, Pipe, log, sealed
from tests.text.samples import DRAWING, SMALL, opened, text_of


def converted(data: bytes, kind: str, compression: str | None = None) -> bytes:
    out = BytesIO()
    convert(_any(data), kind, out, compression=compression)
    return out.getvalue()


def _any(data: bytes) -> Capture | TextCapture:
    return open_any(BufferedReader(BytesIO(data)))  # type: ignore[arg-type]


@pytest.mark.parametrize("start", [sealed(EVERYTHING), log(EVERYTHING)], ids=["sealed", "log"])
def test_every_form_leads_to_every_other(start: bytes) -> None:
    assert converted(converted(start, "log"), "sealed") == sealed(EVERYTHING)
    assert converted(converted(start, "text"), "log") == log(EVERYTHING)
    assert converted(converted(start, "text"), "sealed") == sealed(EVERYTHING)


def test_a_sealed_capture_converts_to_itself() -> None:
    data = sealed(SMALL, compression="none", chunk_bytes=100)
    assert converted(data, "sealed") == data
    assert converted(converted(data, "text"), "sealed") == data
    assert converted(data, "sealed", "zstd") == sealed(SMALL, chunk_bytes=100)


def test_text_converts_to_itself() -> None:
    data = sealed(SMALL, compression="none", chunk_bytes=100)
    text = text_of(data).encode()
    assert converted(text, "text") == text


def test_a_capture_of_one_call_becomes_a_bare_buffer() -> None:
    call = Called(Call(1, 2, 0, len(DRAWING), commands=DRAWING))
    assert converted(sealed([call]), "bare") == DRAWING


@pytest.mark.parametrize(
    ("calls", "what"),
    [
        ([], "a bare command buffer holds one call, the capture has none"),
        (
            2 * [Call(1, commands=b"")],
            "a bare command buffer holds one call, the capture has more",
        ),
        ([Call(1)], "the command bytes of the call are not in it but in a memory write"),
        ([Call(1, commands=b"1234")], "the call covers 0 bytes of commands and has 4"),
    ],
)
def test_what_a_bare_buffer_cannot_hold_is_named(calls: list[Call], what: str) -> None:
    out = BytesIO()
    with pytest.raises(UsageError) as caught:
        convert(opened(sealed(map(Called, calls))), "bare", out)
    assert str(caught.value) == what
    assert out.getvalue() == b""


def test_an_unknown_form_is_named() -> None:
    with pytest.raises(UsageError, match="capture form 'vhs' is none of sealed, log, bare, text"):
        convert(opened(sealed([])), "vhs", BytesIO())


def test_damage_ends_a_conversion_and_is_handed_back() -> None:
    data = sealed(SMALL)
    out = BytesIO()
    damage = convert(opened(data[:-1]), "log", out)
    assert isinstance(damage, CaptureError)
    assert out.getvalue() == log(SMALL)
    assert convert(opened(data), "log", BytesIO()) is None


def test_a_file_is_replaced_only_when_all_went_well(tmp_path: Path) -> None:
    path = tmp_path / "out.dp2"
    path.write_bytes(b"precious")
    with pytest.raises(TextError):
        assemble(StringIO("dp2emu-text version=1\nframe\nframe x=1"), path)
    assert path.read_bytes() == b"precious"
    assemble(StringIO(text_of(sealed(SMALL))), path)
    assert path.read_bytes() == sealed(SMALL)
    assert [each.name for each in tmp_path.iterdir()] == ["out.dp2"]


def test_a_capture_can_be_converted_in_place(tmp_path: Path) -> None:
    path = tmp_path / "a.dp2"
    path.write_bytes(log(SMALL))
    with open_capture(path) as capture:
        list(capture.records())
    capture = open_capture(BytesIO(path.read_bytes()))
    convert(capture, "sealed", str(path))
    assert path.read_bytes() == sealed(SMALL)


def test_only_the_file_that_is_asked_for_is_written(tmp_path: Path) -> None:
    for name in ("a.dp2.part", "b.dp2.part"):
        (tmp_path / name).write_bytes(b"somebody else's")
    convert(_any(sealed(SMALL)), "log", tmp_path / "a.dp2")
    assert {each.name for each in tmp_path.iterdir()} == {"a.dp2", "a.dp2.part", "b.dp2.part"}
    assert (tmp_path / "a.dp2.part").read_bytes() == b"somebody else's"


def test_a_replaced_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.touch()
    path.chmod(0o444)
    mode = path.stat().st_mode
    convert(_any(sealed(SMALL)), "log", path)
    assert path.stat().st_mode == mode
    path.chmod(0o666)


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "none" / "a.log"
    with pytest.raises(OSError, match="No such file") as caught:
        convert(_any(sealed(SMALL)), "log", path)
    assert caught.value.filename == str(path)


def test_the_form_is_told_by_the_first_byte() -> None:
    assert _any(sealed(SMALL)).kind == "sealed"
    assert _any(log(SMALL)).kind == "log"
    assert _any(text_of(sealed(SMALL)).encode()).kind == "text"
    assert _any(b"\xef\xbb\xbfdp2emu-text version=1\n").kind == "text"
    with pytest.raises(CaptureError, match="starts with nothing"):
        _any(b"")


def test_a_bare_buffer_is_one_only_when_asked_for() -> None:
    capture = open_any(BufferedReader(BytesIO(DRAWING)), kind="bare", bare=BareOptions())  # type: ignore[arg-type]
    assert capture.kind == "bare"
    with pytest.raises(CaptureError):
        _any(DRAWING)


def test_text_may_come_through_a_pipe() -> None:
    data = text_of(sealed(SMALL)).encode()
    assert list(open_any(BufferedReader(Pipe(data))).records()) == SMALL


def test_text_that_is_not_utf_8_is_an_error_with_its_line() -> None:
    with pytest.raises(TextError, match="line 2: not utf-8 text"):
        list(_any(b"dp2emu-text version=1\n\xff").records())


def test_a_write_that_was_split_stays_split() -> None:
    data = sealed([MemoryWritten(2, 0, bytes((16 << 20) + 1))])
    assert converted(data, "sealed") == data
