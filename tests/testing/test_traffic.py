"""The query model notices drivers that break the protocol, each in its own way."""

from __future__ import annotations

import struct
import unittest
from collections.abc import Callable

import pytest
from hypothesis import Phase, settings
from msgspec.structs import replace

from dp2emu.d3d.enums import QueryType
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.driver import Driver
from dp2emu.gpu.device.timing import Timing
from dp2emu.testing.traffic import LENGTHS, STEPS, query_traffic

SHORT = settings(STEPS, max_examples=150, stateful_step_count=20, phases=[Phase.generate])
"""Without shrinking: it is enough that something was found."""


FEW = settings(SHORT, max_examples=10)


def results(case: type[unittest.TestCase]) -> unittest.TestResult:
    result = unittest.TestResult()
    case("runTest").run(result)
    return result


class Broken(Driver):
    """A driver whose answers are changed on the way."""

    change: Callable[[Broken, Call, Answer], Answer]

    def submit(self, call: Call) -> Answer:
        return type(self).change(self, call, super().submit(call))


def loses(driver: Broken, call: Call, answer: Answer) -> Answer:
    return replace(answer, response=b"", dwErrorOffset=0 if not answer.ddrval else 12)


def miscounts(driver: Broken, call: Call, answer: Answer) -> Answer:
    last = int.from_bytes(answer.response[-4:], "little")
    return (
        replace(answer, response=answer.response[:-4] + struct.pack("<I", last + 1))
        if last
        else answer
    )


def doubles(driver: Broken, call: Call, answer: Answer) -> Answer:
    twice = answer.response * 2
    return answer if answer.ddrval else replace(answer, response=twice, dwErrorOffset=len(twice))


def succeeds(driver: Broken, call: Call, answer: Answer) -> Answer:
    return replace(answer, ddrval=0)


def tells_no_offset(driver: Broken, call: Call, answer: Answer) -> Answer:
    return replace(answer, dwErrorOffset=0)


@pytest.mark.parametrize("mistake", [loses, miscounts, doubles, succeeds, tells_no_offset])
def test_every_mistake_is_noticed(mistake: Callable[..., Answer]) -> None:
    def broken(timing: Timing) -> Driver:
        rig = Broken(timing)
        type(rig).change = mistake
        return rig

    found = results(query_traffic(broken, how=SHORT))
    assert found.failures or found.errors


def test_a_driver_with_few_types_is_asked_for_these() -> None:
    class Events(Driver):
        def submit(self, call: Call) -> Answer:
            if (call.commands or b"")[:1] == b"\x54":
                assert struct.unpack_from("<I", call.commands or b"", 8) == (QueryType.EVENT,)
            return super().submit(call)

    found = results(query_traffic(Events, kinds=(QueryType.EVENT,), how=FEW))
    assert not found.failures
    assert not found.errors


def test_rigs_are_closed() -> None:
    opened, closed = [], []

    class Closing(Driver):
        def close(self) -> None:
            closed.append(self)

    def make(timing: Timing) -> Driver:
        opened.append(Closing(timing))
        return opened[-1]

    assert not results(query_traffic(make, how=FEW)).failures
    assert opened == closed != []
    assert len(LENGTHS) == 4
