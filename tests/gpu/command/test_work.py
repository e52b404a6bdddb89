"""Work adds up."""

from __future__ import annotations

from dp2emu.gpu.command.work import Streams, Work


def test_every_count_is_added() -> None:
    a, b = Work(*range(1, 15)), Work(*range(10, 150, 10))
    assert a + b == Work(*(11 * n for n in range(1, 15)))


def test_primitives_of_streams_are_added_stream_by_stream() -> None:
    a = Work(streams=Streams((1, 2, 3, 4), (5, 6, 7, 8)))
    assert (a + Work() + a).streams == Streams((2, 4, 6, 8), (10, 12, 14, 16))
    assert (Work() + a).streams == a.streams
