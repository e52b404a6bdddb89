"""Words in order: where reading stops, and what is said then."""

from __future__ import annotations

import struct

import pytest

from dp2emu.errors import ShaderError
from dp2emu.shader.cursor import Cursor

VERSIONS = {7: "seven"}


def cursor(*words: int) -> Cursor[str]:
    return Cursor(struct.pack(f"<{len(words)}I", *words), VERSIONS)


def test_version_is_that_of_the_first_word() -> None:
    assert cursor(7).version == "seven"
    with pytest.raises(ShaderError, match="0x00000008 is no shader version") as raised:
        cursor(8)
    assert raised.value.offset == 0
    with pytest.raises(ShaderError, match="the code ends early"):
        Cursor(b"\7\0\0", VERSIONS)


def test_words_come_in_order_until_the_end() -> None:
    words = cursor(7, 1, 2, 3)
    assert (words.offset, words.take(), words.raw(2), words.more()) == (4, 1, (2, 3), False)
    with pytest.raises(ShaderError, match="the code ends early") as raised:
        words.take()
    assert raised.value.offset == 16


def test_instruction_ends_where_its_length_says() -> None:
    words = cursor(7, 10, 11, 12)
    assert words.take() == 10
    words.enter(1)
    assert words.take() == 11
    with pytest.raises(ShaderError, match="the length field is too small") as raised:
        words.take()
    assert raised.value.offset == 12
    assert words.leave(4, exact=True) == (10, 11)
    assert words.rest() == (12,)


def test_instruction_has_to_be_read_to_its_end_if_it_told_its_length() -> None:
    for exact in (True, False):
        words = cursor(7, 10, 11)
        words.take()
        words.enter(1)
        if not exact:
            assert words.leave(4, exact=False) == (10,)
            continue
        with pytest.raises(ShaderError, match="the length field is too large") as raised:
            words.leave(4, exact=True)
        assert raised.value.offset == 4


def test_instruction_does_not_go_past_the_code() -> None:
    words = cursor(7, 10, 11)
    words.take()
    with pytest.raises(ShaderError, match="the code ends within this instruction") as raised:
        words.enter(2)
    assert raised.value.offset == 4


def test_code_may_end_before_its_bytes() -> None:
    words = cursor(7, 3, 5, 6)
    words.stop_at(words.take())
    assert words.take() == 5
    assert not words.more()
    for length in (1, 5):
        words = cursor(7, length, 5, 6)
        with pytest.raises(ShaderError, match="not the length of this code"):
            words.stop_at(words.take())
