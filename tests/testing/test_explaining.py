"""Explanations name what differs, and nothing else."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.call import Answer
from dp2emu.testing import Shot, explain
from tests.dp2.rigging import create
from tests.runtime.rigs import block

EVENT, OCCLUSION = QueryType.EVENT, QueryType.OCCLUSION


def test_tokens_are_shown_as_text() -> None:
    found = explain(create(1, EVENT), create(1, OCCLUSION))
    assert found == [
        "the tokens differ",
        "  CREATEQUERY",
        "-   - dwQueryID=1 QueryType=D3DQUERYTYPE_EVENT",
        "+   - dwQueryID=1 QueryType=D3DQUERYTYPE_OCCLUSION",
    ]


def test_responses_are_shown_record_by_record() -> None:
    one, other = (block((3, struct.pack("<I", value))) for value in (7, 8))
    found = explain(one, other)
    assert found is not None
    assert found[0] == "the responses differ"
    assert [line[0] for line in found[1:]].count("-") == 1


def test_answers_are_compared_member_by_member() -> None:
    assert explain(Answer(0, 0, 5), Answer(int(HResult.D3DERR_COMMAND_UNPARSED), 4, 5)) == [
        "the answers differ",
        "ddrval: D3D_OK != D3DERR_COMMAND_UNPARSED",
        "dwErrorOffset: 0 != 4",
    ]


def test_bytes_of_no_protocol_are_left_alone() -> None:
    assert explain(b"hello", b"there") is None
    assert explain(b"", b"x" * (1 << 17)) is None
    assert explain(1, 2) is None


def test_pictures_are_compared_in_numbers_and_saved(tmp_path: Path) -> None:
    one, other = np.zeros((3, 4, 3), np.uint8), np.zeros((3, 4, 3), np.uint8)
    other[1, 2, 0] = 9
    found = explain(Shot(one), Shot(other), tmp_path / "new")
    picture = tmp_path / "new" / "difference1.png"
    assert found == [
        "1 of 12 pixels differ, by 9 at most",
        "first at 2, 1: (0, 0, 0) != (9, 0, 0)",
        f"both and the difference: {picture}",
    ]
    assert Shot.load(picture).pixels.shape[2] == 3


def test_pictures_of_other_sizes_say_so() -> None:
    one, other = (Shot(np.zeros((3, width, 3), np.uint8)) for width in (4, 5))
    assert explain(one, other) == ["the pictures are 4x3 and 5x3"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"\1\0\0\0", b"\2\0\0\0"),
        (b"\1\0\0\0", b"x"),
        (b"x" * 9, create(1, EVENT)),
        (b"", b"\1\0\0\0"),
    ],
)
def test_answers_of_queries_are_not_taken_for_tokens(one: bytes, other: bytes) -> None:
    assert explain(one, other) is None
