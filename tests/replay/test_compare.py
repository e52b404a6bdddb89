"""Recorded answers against replayed ones."""

from __future__ import annotations

import struct

import pytest

from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.call import Answer
from dp2emu.replay.compare import differences, same_fault
from tests.replay.authoring import response_of

ONE, TWO = (1, b"\1\0\0\0"), (2, b"\2\0\0\0")
MORE = struct.pack("<BBHI", Op.RESPONSECONTINUE, 0, 0, 8)


def told(recorded: bytes, replayed: bytes) -> list[str]:
    """Differences of two responses of the same length or not, without their call number."""
    answers = Answer(0, 0, 5, recorded), Answer(0, 0, 9, replayed)
    return [str(found).removeprefix("call 3: ") for found in differences(3, *answers, lambda _: 4)]


def test_times_and_reasons_do_not_count() -> None:
    assert told(response_of(ONE), response_of(ONE)) == []


def test_result_codes_are_named() -> None:
    found = list(differences(0, Answer(0, 0, 0), Answer(0x80070057, 4, 0), lambda _: 4))
    assert [str(each) for each in found] == [
        "call 0: ddrval: recorded D3D_OK, replayed DDERR_INVALIDPARAMS",
        "call 0: dwErrorOffset: recorded 0, replayed 4",
    ]


def test_other_value_names_its_query() -> None:
    assert told(response_of(ONE, (2, bytes(4))), response_of(ONE, TWO)) == [
        "response 1, query 2: recorded 00 00 00 00, replayed 02 00 00 00"
    ]


def test_other_order_shows_both_queries() -> None:
    assert told(response_of(ONE, TWO), response_of(TWO, ONE)) == [
        "response 0: recorded query 1 = 01 00 00 00, replayed query 2 = 02 00 00 00",
        "response 1: recorded query 2 = 02 00 00 00, replayed query 1 = 01 00 00 00",
    ]


def test_missing_response_is_none() -> None:
    assert told(response_of(ONE, TWO), response_of(ONE)) == [
        "response 1: recorded query 2 = 02 00 00 00, replayed none"
    ]


def test_continuation_is_a_difference() -> None:
    assert told(response_of(ONE) + MORE, response_of(ONE)) == [
        "RESPONSECONTINUE: recorded with, replayed without"
    ]


def test_same_records_in_other_blocks_differ_by_a_byte() -> None:
    assert told(response_of(ONE) + response_of(TWO), response_of(ONE, TWO)) == [
        "response byte 0x2: recorded 01 00 14 00 00 00 01 00 00 00 04 00 00 00 01 00 ..., "
        "replayed 02 00 20 00 00 00 01 00 00 00 04 00 00 00 01 00 ..."
    ]


@pytest.mark.parametrize("broken", [b"junk", response_of((1, b"\1\0")), b"\x58"])
def test_recorded_response_that_breaks_the_protocol_says_why(broken: bytes) -> None:
    (line,) = told(broken, response_of(ONE))
    assert line.startswith("response byte 0x") and "(" in line


def test_long_payloads_are_cut_short() -> None:
    answers = [Answer(0, 0, 0, response_of((1, bytes([value]) * 352))) for value in (0, 1)]
    (found,) = differences(0, *answers, lambda _: 352)
    assert found.recorded == "00 " * 16 + "..." and found.replayed == "01 " * 16 + "..."


@pytest.mark.parametrize(
    ("recorded", "same"),
    [(None, False), (Answer(0, 0, 0), False), (Answer(5, 4, 0), False), (Answer(5, 8, 99), True)],
)
def test_fault_is_the_same_by_code_and_offset(recorded: Answer | None, same: bool) -> None:
    assert same_fault(recorded, Answer(5, 8, 0)) is same
