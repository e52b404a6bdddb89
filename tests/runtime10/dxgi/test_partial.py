"""Presentation of parts of a frame."""

from __future__ import annotations

import pytest

from dp2emu.runtime10.codes import Refused, Result
from dp2emu.runtime10.descriptions import QueryDesc
from dp2emu.runtime10.dxgi import Point, PresentFlag, PresentParameters, Rect, SwapEffect
from tests.runtime10.dxgi.showing import BLUE, GREEN, RED, WHITE, Program, flipping

LEFT = Rect(0, 0, 2, 2)


def begun(program: Program) -> Program:
    """A program that has shown a red frame, and has filled the next one with blue."""
    program.fill(RED)
    program.chain.present()
    program.fill(BLUE)
    return program


def front(program: Program) -> list[tuple[int, int, int, int]]:
    return program.pixels(program.chain.buffers[-1])


@pytest.mark.parametrize("effect", [SwapEffect.SEQUENTIAL, SwapEffect.FLIP_SEQUENTIAL])
def test_the_frame_before_stays_outside_of_dirty_rectangles(effect: SwapEffect) -> None:
    program = begun(flipping(SwapEffect=int(effect)))
    program.chain.present1(0, 0, PresentParameters((LEFT, Rect(3, 1, 4, 2))))
    assert front(program) == [BLUE, BLUE, RED, RED, BLUE, BLUE, RED, BLUE]


def test_a_scrolled_rectangle_has_the_frame_before_at_an_offset() -> None:
    program = flipping()
    program.fill(GREEN)
    program.chain.present()
    program.fill(WHITE)
    program.chain.present1(0, 0, PresentParameters((Rect(0, 0, 1, 1),)))
    program.fill(BLUE)
    scrolled = PresentParameters((Rect(3, 0, 4, 2),), Rect(1, 1, 4, 2), Point(1, 1))
    program.chain.present1(0, 0, scrolled)
    assert front(program) == [WHITE, GREEN, GREEN, BLUE, GREEN, WHITE, GREEN, BLUE]


def test_parts_do_not_depend_on_the_predicate() -> None:
    program = begun(flipping())
    context = program.device.context
    predicate = program.device.create_predicate(QueryDesc(5))
    context.begin(predicate)
    context.end(predicate)
    context.set_predication(predicate, False)
    program.chain.present1(0, 0, PresentParameters((LEFT,)))
    assert context.get_predication() == (predicate, False)
    context.set_predication(None, False)
    assert front(program) == [BLUE, BLUE, RED, RED] * 2


@pytest.mark.parametrize(
    "parameters",
    [
        PresentParameters((Rect(0, 0, 0, 2),)),
        PresentParameters((Rect(-1, 0, 2, 2),)),
        PresentParameters((Rect(0, 0, 5, 2),)),
        PresentParameters((), LEFT),
        PresentParameters((LEFT,), Rect(0, 0, 0, 0)),
        PresentParameters((LEFT,), LEFT, Point(1, 0)),
    ],
)
def test_rectangles_that_are_refused(parameters: PresentParameters) -> None:
    with pytest.raises(Refused) as caught:
        begun(flipping()).chain.present1(0, 0, parameters)
    assert caught.value.hr == Result.DXGI_ERROR_INVALID_CALL


def test_a_first_frame_and_a_discarding_chain_have_no_frame_before() -> None:
    for program in (flipping(), begun(Program())):
        with pytest.raises(Refused):
            program.chain.present1(0, int(PresentFlag.TEST), PresentParameters((LEFT,)))
