"""``python -m tests.explain.history_captures COUNT FILE...``: histories of random pixels.

The last value of each history has to be the stored pixel and the ``after`` of the last entry that
wrote it, each entry begins with what the one before left, and engines have to agree.  The engine
of the playback stores what the examined stages store, or the playback ends with an error.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from struct import pack
from tempfile import TemporaryDirectory
from zlib import crc32

from dp2emu.dp2.options import Options
from dp2emu.errors import Dp2Error, UsageError
from dp2emu.explain.events import Event
from dp2emu.explain.pixel_history import History, Pixel, PixelObserver, default_target
from dp2emu.explain.pixel_place import Number
from dp2emu.explain.playback import EventList, Observer, Stage, play
from dp2emu.gpu.command.packets import Packet
from dp2emu.replay import Watcher
from dp2emu.scene import play_scene, play_scene10
from tests.explain.opening import opened
from tests.golden10.playing import write_shaders


class _Sizes(Observer):
    """Width and height of each target, by handle."""

    def __init__(self) -> None:
        self.found: dict[int, tuple[int, int]] = {}

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        for handle in event.targets:
            try:
                surface = stage.surface(handle)
            except UsageError:
                continue
            self.found[handle] = surface.width, surface.height


def histories(path: Path, count: int, engine: str | None = None) -> list[History]:
    """Histories of some pixels of the default target of a capture, [] without one."""
    with opened(path) as capture:
        events, sizes = EventList(), _Sizes()
        play(capture, [events, sizes], options=Options(engine=engine) if engine else None)
    try:
        target = default_target(events.events)
    except UsageError:
        return []
    width, height = sizes.found.get(target, (0, 0))
    if not width or not height:
        return []
    pick = Random(crc32(path.name.encode()))
    pixels = [Pixel(pick.randrange(width), pick.randrange(height), target) for _ in range(count)]
    observers = [PixelObserver(pixel) for pixel in pixels]
    options = Options(engine=engine) if engine else None
    with opened(path) as capture:
        watcher = Watcher()
        for observer in observers:
            watcher = observer.watching(watcher)
        play(capture, observers, options=options, watcher=watcher)
    return [observer.history() for observer in observers]


def _same(one: Sequence[Number], other: Sequence[Number]) -> bool:
    """Whether numbers are equal, or the first ones the same 32 bits under two of the float, signed
    and unsigned views of memory without a type.
    """
    first = (one[0], other[0])
    if len({(type(each), each < 0) for each in first}) == 2:
        return len({_bits(each) for each in first}) == 1
    return repr(one) == repr(other)


def _bits(number: Number) -> bytes:
    return pack("<f", number) if isinstance(number, float) else pack("<I", number & 0xFFFFFFFF)


def check(history: History) -> Counter[str]:
    """Compare the entries of a history with the stored pixel -> how often each verdict occurs."""
    now: dict[int, list[float]] = {}
    for entry in history.entries:
        before = now.setdefault(entry.sample, entry.before)
        assert _same(entry.before, before), (history.x, history.y, entry)
        now[entry.sample] = entry.after
    for sample, value in now.items():
        assert repr(value) == repr(history.values[sample]), (history.x, history.y, sample)
        written = [e for e in history.entries if e.sample == sample and e.verdict == "written"]
        if written:
            assert repr(written[-1].after) == repr(history.values[sample])
    return Counter(entry.verdict.value for entry in history.entries)


def of_scene(path: Path, count: int) -> list[History]:
    """Histories of some pixels of the session of a scene file."""
    with TemporaryDirectory() as folder:
        capture = Path(folder) / f"{path.stem}.dp2"
        if "golden10" in path.parts:
            shaders = write_shaders(Path(folder) / "shaders")
            play_scene10(path, folder, shaders=shaders, capture=capture)
        else:
            play_scene(path, folder, capture=capture)
        return histories(capture, count) if capture.exists() else []


def main(arguments: list[str]) -> None:
    """Check files; a line for each that fails."""
    count, verdicts, pixels = int(arguments[0]), Counter[str](), 0
    for name in arguments[1:]:
        try:
            path = Path(name)
            found = (of_scene if path.suffix == ".json" else histories)(path, count)
            if not found:
                print(f"{name}: no target", flush=True)
            for history in found:
                verdicts += check(history)
                pixels += 1
        except (Dp2Error, AssertionError) as error:
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}", flush=True)
    print(pixels, dict(verdicts))


if __name__ == "__main__":
    main(sys.argv[1:])
