"""Targets with mistakes, each of which an input of ``BAD`` brings out."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Hashable

from msgspec.structs import replace

from dp2emu.errors import Dp2Error
from dp2emu.fuzz import mutations
from dp2emu.fuzz.cost import Bound
from dp2emu.fuzz.target import Broken, GivenUp, Target

BAD = b"\x07"


def _innocent(data: bytes) -> Hashable:
    if len(data) % 2:
        raise Dp2Error("odd")
    return len(data)


def _trial(bad: Callable[[], object]) -> Callable[[bytes], Hashable]:
    def trial(data: bytes) -> Hashable:
        if BAD in data:
            bad()
        return _innocent(data)

    return trial


def _raise() -> None:
    raise ValueError("7")


def _promise() -> None:
    raise Broken("no 7 is here, nor 19")


def _target(name: str, bad: Callable[[], object], *cover: str) -> Target:
    trial = _trial(bad)
    return Target(
        name, "planted", lambda: trial, lambda rng: rng.randbytes(8), mutations.mutate, 32, cover
    )


def _spin() -> None:
    while True:
        pass


RAISES = _target("raises", _raise)
BREAKS = _target("breaks", _promise)
CRASHES = _target("crashes", lambda: ctypes.string_at(0))
HANGS = _target("hangs", lambda: time.sleep(60))
SPINS = _target("spins", _spin)
WAITS = _target("waits", lambda: time.sleep(1.0))
FINE = _target("fine", lambda: None)
WATCHED = _target("watched", lambda: None, __name__)


def _slowly() -> Callable[[bytes], Hashable]:
    time.sleep(2.0)
    return HANGS.make()


STARTS_SLOWLY = replace(HANGS, name="starts_slowly", make=_slowly)
LONG_WAITS = replace(
    _target("long_waits", lambda: None), longest=1 << 10, pace=64.0,
    cost=Bound(30.0, 1.0, 64.0, 1.0), seed=lambda rng: rng.randbytes(24),
    make=lambda: lambda data: time.sleep(1.0 if len(data) > 32 else 0.0),
)  # fmt: skip


def _unstarted() -> Callable[[bytes], Hashable]:
    raise ValueError("no trial")


UNSTARTED = replace(FINE, name="unstarted", make=_unstarted)


def _given_up() -> None:
    raise GivenUp("no further input can be tried")


GIVES_UP = _target("gives_up", _given_up)


def _squared(data: bytes) -> Hashable:
    """Compare each byte with each: a pass that is quadratic in the length of its input."""
    return sum(a == b for a in data for b in data) > len(data)


def _hoard(data: bytes) -> Hashable:
    """Take a MiB for each byte."""
    return [bytearray(b"1" * (1 << 20)) for _ in data] == []


def _costly(name: str, trial: Callable[[bytes], Hashable], bound: Bound, longest: int) -> Target:
    return Target(
        name, "planted", lambda: trial, lambda rng: rng.randbytes(8), mutations.mutate, 32, (),
        cost=bound, longest=longest, pace=64.0,
    )  # fmt: skip


SQUARED = replace(_costly("squared", _squared, Bound(0.001, 0.001, 64.0, 1.0), 1 << 10),
                  mutate=lambda rng, data, other: data)  # fmt: skip
HOARD = _costly("hoard", _hoard, Bound(5.0, 1.0, 8.0, 1.0), 0)
