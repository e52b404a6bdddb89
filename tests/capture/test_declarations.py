"""Schemas and channels of captures, which are parsed once."""

from __future__ import annotations

import pytest
from mcap.records import Channel

from dp2emu.capture.container import RECORD_HEAD, build, declaration
from dp2emu.errors import CaptureError


def body(topic: str, message_encoding: str = "") -> bytes:
    channel = Channel(1, topic, message_encoding, {}, 1)
    return build(channel)[RECORD_HEAD.size :]


def test_a_declaration_that_was_read_before_is_not_parsed_again() -> None:
    first, second, other = map(body, ("calls", "calls", "answers"))
    assert declaration(Channel.read, first) is declaration(Channel.read, second)
    assert declaration(Channel.read, other).topic == "answers"


def test_a_large_declaration_is_not_kept() -> None:
    large = body("calls", 5000 * "x")
    found = declaration(Channel.read, large)
    assert found == declaration(Channel.read, large)
    assert found is not declaration(Channel.read, large)


def test_a_wrong_declaration_is_refused_each_time() -> None:
    wrong = body("calls") + b"\0"
    for _ in range(2):
        with pytest.raises(CaptureError, match="not well-formed"):
            declaration(Channel.read, wrong)
