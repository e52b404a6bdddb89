"""Faults of a capture, which may be the reason that something in it is absent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dp2emu.dp2.options import Options
from dp2emu.errors import Absent
from dp2emu.explain.playback import events_of
from dp2emu.gpu.device.timing import Timing
from dp2emu.replay import Watcher
from dp2emu.replay.player import Recording


@contextmanager
def reasons_told(
    capture: Recording, watcher: Watcher, *, options: Options | None, timing: Timing | None = None
) -> Iterator[None]:
    """A context in which a capture is looked through for something.

    If it is absent, the faults of the capture, which may be the reason, are told to a watcher.
    """
    try:
        yield
    except Absent:
        told = Watcher(fault=watcher.fault)
        events_of(capture, options=options, timing=timing, watcher=told)
        raise
