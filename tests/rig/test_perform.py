"""Records that go to a driver together: replies in order, and how many came before a crash."""

from __future__ import annotations

import pytest

from dp2emu.capture.records import Called, ContextCreated, ContextDestroyed, Record
from dp2emu.conform.script import create, dwords, end
from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.call import Answer, Call
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.rig.failure import RigFailure
from dp2emu.rig.served import NativeDriver
from tests.native.building import library, sample


def called(commands: bytes) -> Record:
    return Called(Call(1, 1, dwCommandLength=len(commands), commands=commands))


@pytest.mark.parametrize("forked", [False, True])
def test_replies_come_in_order(forked: bool) -> None:
    with NativeDriver(sample(), forked=forked) as driver:
        driver.create_surface(SurfaceDesc(1, SurfaceKind.MEMORY, 256))
        asked = [ContextCreated(1, 9), called(create(7) + end(7)), ContextDestroyed(1)]
        made, answer, ended = driver.perform([*asked])
        assert (made, ended) == (0, 0)
        assert isinstance(answer, Answer) and answer.response[8:9] == b"\7"
        assert driver.perform(asked[2:]) != [0]


def test_the_replies_before_a_crash_are_counted() -> None:
    clear = dwords(Op.CLEAR, 1, 0, 0, 0)
    with NativeDriver(library("crashing", "crashing.c"), forked=True) as driver:
        driver.create_surface(SurfaceDesc(1, SurfaceKind.MEMORY, 256))
        records = [ContextCreated(1, 9), called(create(7)), called(clear), called(b"")]
        with pytest.raises(RigFailure, match="crash: SIGSEGV"):
            driver.perform(records)
        assert driver.performed == 2
        driver.restart()
        assert driver.perform(records[:1]) == [0]
