"""The facts of a capture."""

from __future__ import annotations

import io

from dp2emu.capture import open_capture
from dp2emu.capture.records import ContextCreated
from dp2emu.info import info, info_text
from tests.replay.authoring import (
    EVENT,
    FRAME,
    SETTING,
    answered,
    called,
    capture_of,
    create,
    issue,
    sealed,
)
from tests.replay.test_resources import Program


def test_facts_count_what_is_there() -> None:
    facts = info(capture_of(*SETTING, called(create(1, EVENT)), answered(), FRAME))
    assert (facts["form"], facts["contexts"], facts["surfaces"]) == ("sealed", 1, 2)
    assert (facts["calls"], facts["answers"], facts["frames"]) == (1, 1, 1)
    assert facts["command_bytes"] == 12
    assert facts["damage"] is None and facts["verified"] is True


def test_surfaces_are_counted_by_kind_and_format() -> None:
    formats = info(capture_of(*SETTING))["formats"]
    assert [(row["kind"], row["format"], row["count"]) for row in formats] == [
        ("MEMORY", "D3DFMT_UNKNOWN", 1),
        ("SURFACE", "D3DFMT_X8R8G8B8", 1),
    ]


def test_tokens_are_counted_most_frequent_first() -> None:
    facts = info(
        capture_of(*SETTING, called(create(1, EVENT), issue(1, 1), issue(1, 1)), called(b"\xff")),
        tokens=True,
    )
    assert list(facts["tokens"].items()) == [
        ("ISSUEQUERY", 2), ("CREATEQUERY", 1), ("(malformed)", 1),
    ]  # fmt: skip


def test_damaged_capture_tells_what_is_left() -> None:
    whole = sealed(*SETTING, called(create(1, EVENT)), called(create(2, EVENT)))
    cut = whole[: whole.index(create(2, EVENT))]
    facts = info(open_capture(io.BytesIO(cut)), tokens=True)
    assert facts["calls"] == 1 and facts["tokens"] == {"CREATEQUERY": 1}
    assert "lost" in facts["damage"]
    assert f"damaged: {facts['damage']}" in info_text(facts)


def test_text_leaves_out_what_is_not_there() -> None:
    text = info_text(info(capture_of(*SETTING)))
    assert "surface D3DFMT_X8R8G8B8" in text
    assert "frames" not in text


def test_the_interface_is_that_of_the_first_context_or_device() -> None:
    one, other = ContextCreated(1, 7, 2), ContextCreated(2, 9, 2)
    facts = info(capture_of(*SETTING[:-1], one, other))
    assert facts["interface"] == "DirectX 7"
    assert info_text(facts).splitlines()[0].endswith(": sealed capture of DirectX 7")
    program = Program()
    program.device.call("Flush")
    assert info(capture_of(*program.records))["interface"] == "Direct3D 11.0"
    facts = info(capture_of())
    assert facts["interface"] is None and " of " not in info_text(facts)
