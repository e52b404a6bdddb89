"""Events that lie whole in one block are read quickly, with the same calls and the same errors."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.capture.apitrace import TraceCall
from dp2emu.capture.apitrace.cursor import Cursor
from dp2emu.capture.apitrace.trace import Decoder, EventReader
from dp2emu.capture.files import open_source
from dp2emu.errors import CaptureError
from dp2emu.limits import Limits
from tests.capture.apitrace.encoder import Encoder, header
from tests.capture.apitrace.samples import VALUES, call

_WIDE = "wide string"
"""The name of the value that is left to the slow decoder."""


def events() -> bytes:
    """Two calls with each kind of value as argument, in an array and as result."""
    encoder = Encoder()
    samples = [value for value, _ in VALUES.values()]
    calls = [call(n, f"F{n % 3}", value, (value, None), result=value, flags=n & 1)
             for n, value in enumerate(samples + samples)]  # fmt: skip
    return header() + b"".join(map(encoder.both, calls))


EVENTS = events()


def read(blocks: Iterable[bytes], limits: Limits | None = None) -> tuple[list[TraceCall], str]:
    """All calls in a stream that comes in blocks, and the error that ended it, or nothing."""
    reader = EventReader(Cursor(iter(blocks)), limits or Limits(), open_source(BytesIO()))
    calls, damage = [], ""
    try:
        calls += reader.calls()
    except CaptureError as error:
        damage = str(error)
    return [*calls, *reader.unfinished()], damage


def bytewise(data: bytes) -> Iterable[bytes]:
    """Blocks of one byte, none of which holds a whole event."""
    return (bytes([each]) for each in data)


@given(st.integers(0, len(EVENTS)), st.sampled_from([1, 7, 50, 1000]))
def test_calls_are_the_same_in_blocks_of_any_size(end: int, size: int) -> None:
    data = EVENTS[: max(end, len(header()))]
    blocks = [data[at : at + size] for at in range(0, len(data), size)]
    assert repr(read(blocks)) == repr(read([data]))


@given(
    st.integers(len(header()), len(EVENTS) - 1),
    st.one_of(st.integers(0, 255), st.sampled_from([0, 1, 5, 11, 12, 14, 127, 128, 255])),
)
def test_damage_is_the_same_whether_or_not_events_are_whole(place: int, byte: int) -> None:
    data = EVENTS[:place] + bytes([byte]) + EVENTS[place + 1 :]
    assert repr(read([data])) == repr(read(bytewise(data)))


@pytest.mark.parametrize("limits", [Limits(trace_bytes=3000), Limits(nesting=1)])
def test_limits_are_the_same_whether_or_not_events_are_whole(limits: Limits) -> None:
    encoder = Encoder()
    calls = [encoder.both(call(0, "F", 0)), encoder.enter(call(1, "F", 0), [0])]
    calls += [encoder.both(call(2, "F", ((((1,),),),))), encoder.both(call(3, "F", (0,) * 20))]
    data = header() + b"".join(calls)
    assert repr(read([data], limits)) == repr(read(bytewise(data), limits))
    assert "limit " in read([data], limits)[1]


@pytest.mark.parametrize("name", sorted(VALUES.keys() - {_WIDE}))
def test_calls_of_known_functions_are_read_without_the_slow_decoder(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder, slow = Encoder(), []
    value = VALUES[name][0]
    data = header() + b"".join(encoder.both(call(n, "F", value, value)) for n in range(9))
    original = Decoder.value
    monkeypatch.setattr(
        Decoder, "value", lambda self, depth=0: slow.append(depth) or original(self, depth)
    )
    calls, damage = read([data])
    assert ([one.arguments for one in calls], damage) == ([(value, value)] * 9, "")
    assert 1 <= slow.count(0) <= 2, "the arguments of the first call alone"
