"""Opening a rig by its specification, a text ``KIND[:ARGUMENT]`` such as ``native:driver.so``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points

from dp2emu.argument_check import checked
from dp2emu.capture.reader import open_capture
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.errors import UsageError
from dp2emu.gpu.device.timing import Timing
from dp2emu.limits import Limits
from dp2emu.rig.interface import Rig
from dp2emu.rig.recorded import RecordedRig
from dp2emu.rig.served import NativeDriver, PipeRig

GROUP = "dp2emu.rigs"
"""Name of the entry point group in which packages register rigs; each is a function from a text,
which may be empty, to a rig."""

EMULATOR = "emulator"


@checked
def open_rig(
    spec: str,
    *,
    timing: Timing | None = None,
    options: Options | None = None,
    limits: Limits | None = None,
) -> Rig:
    """Return the rig of a ``spec``: ``emulator``, ``native:LIBRARY``, ``pipe:COMMAND``,
    ``recorded:CAPTURE``, or ``NAME[:ARGUMENT]`` of an entry point.

    ``timing`` and ``options`` are for the emulator, ``limits`` for the other rigs.  Raises
    UsageError if the name is unknown or its argument missing, and the errors of the rig.

    >>> type(open_rig("emulator")).__name__
    'Driver'
    """
    point = check_spec(spec)
    kind, _, argument = spec.partition(":")
    if point is not None:
        made: Callable[[str], Rig] = point.load()
        return made(argument)
    return _KINDS[kind](argument, limits) if argument else Driver(timing, options)


def check_spec(spec: str) -> EntryPoint | None:
    """Return the entry point of ``spec``, or None for a rig of dp2emu; the rig is not opened.

    Raises UsageError as ``open_rig`` does.

    >>> check_spec("native:driver.so")
    """
    kind, _, argument = spec.partition(":")
    if kind in _KINDS and not argument:
        raise UsageError(f"rig {spec!r} needs an argument behind a colon")
    if kind in _KINDS or spec in (EMULATOR, f"{EMULATOR}:"):
        return None
    return _found(kind)


@checked
@contextmanager
def using_rig(
    spec: str,
    *,
    timing: Timing | None = None,
    options: Options | None = None,
    limits: Limits | None = None,
) -> Iterator[Rig]:
    """Open the rig of ``spec`` as ``open_rig`` does, and close it behind the block."""
    rig = open_rig(spec, timing=timing, options=options, limits=limits)
    try:
        yield rig
    finally:
        close = getattr(rig, "close", None)
        if close is not None:
            close()


def _recorded(path: str, limits: Limits | None) -> Rig:
    with open_capture(path, limits=limits) as capture:
        return RecordedRig(capture, limits=limits)


_KINDS: dict[str, Callable[[str, Limits | None], Rig]] = {
    "native": lambda library, limits: NativeDriver(library, limits=limits),
    "pipe": lambda command, limits: PipeRig(command, limits=limits),
    "recorded": _recorded,
}


def _found(name: str) -> EntryPoint:
    points: list[EntryPoint] = list(entry_points(group=GROUP, name=name))
    if not points:
        others = sorted({*_KINDS, EMULATOR, *(point.name for point in entry_points(group=GROUP))})
        raise UsageError(f"no rig {name!r}; there are {', '.join(others)}")
    return points[0]
