"""What a call and an answer are when nothing is said of them."""

from __future__ import annotations

from msgspec.structs import astuple

from dp2emu.dp2.call import Answer, Call


def test_a_call_is_of_zeros_and_no_memory() -> None:
    assert astuple(Call(7)) == (7, *[0] * 12, None, None)
    assert [*Call.__struct_fields__][-2:] == ["commands", "vertices"]


def test_an_answer_has_no_response_no_flags_and_no_fault() -> None:
    answer = Answer(1, 2, 3)
    assert (answer.response, answer.dwFlags, answer.fault) == (b"", 0, None)


def test_why_a_call_failed_is_no_part_of_its_answer() -> None:
    assert Answer(1, 2, 3, fault=None) == Answer(1, 2, 3, fault=object())  # type: ignore[arg-type]
