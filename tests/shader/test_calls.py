"""Calls between routines: missing, endless, too deep and too many."""

from __future__ import annotations

from collections.abc import Hashable

import pytest

from dp2emu.errors import ShaderError
from dp2emu.shader.calls import CALLED, Body, Call, check_calls


def body(size: int, *labels: int) -> Body:
    """A routine whose calls stand at ten times their label."""
    return Body(size, tuple(Call(label, f"l{label}", 10 * label) for label in labels))


def check(main: Body, *subroutines: Body, limit: int = 4) -> None:
    named: dict[Hashable, Body] = dict(enumerate(subroutines))
    check_calls(main, named, limit)


def test_calls_that_end_are_fine() -> None:
    check(body(3, 0, 1, 0), body(2, 1), body(1))
    check(body(1))


@pytest.mark.parametrize(
    ("main", "subroutines", "what", "offset"),
    [
        (body(1, 5), (), "there is no label l5", 50),
        (body(1), (body(1, 0),), "l0 calls itself", 0),
        (body(1), (body(1, 1), body(1, 0)), "l0 calls itself", 0),
        (body(1, 0), (body(1, 1), body(1, 2), body(1)), "calls nest deeper than 2", 20),
        (body(1, 0), (body(1, *[1] * 8), body(CALLED // 8)), f"calls of more than {CALLED}", 0),
    ],
)
def test_other_calls_are_refused(
    main: Body, subroutines: tuple[Body, ...], what: str, offset: int
) -> None:
    with pytest.raises(ShaderError, match=what) as raised:
        check(main, *subroutines, limit=2)
    assert raised.value.offset == offset


def test_as_many_instructions_as_may_be_called() -> None:
    check(body(1, 0), body(CALLED))
    with pytest.raises(ShaderError, match="calls of more"):
        check(body(1, 0), body(CALLED + 1))
