"""Pictures after events: of all targets that an event writes, depth and stencil; a film strip."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec

from dp2emu.argument_check import checked
from dp2emu.errors import UsageError
from dp2emu.explain.address import Address, find, matches
from dp2emu.explain.events import Event, EventKind
from dp2emu.explain.playback import Observer, Stage
from dp2emu.gpu.command.packets import Packet
from dp2emu.gpu.resource.heap import BUFFERS, Surface, SurfaceKind
from dp2emu.outputs import write_file
from dp2emu.picture import encode_png, has_picture
from dp2emu.replay.frames import EVERY, Frames
from dp2emu.replay.pictures import Sheet, kinds_of, picture_name, take


@checked
class Film(msgspec.Struct, frozen=True):
    """Which events are pictured, and where the pictures go; unused destinations are None.

    ``draws``: after each draw; ``every``: after each event whose number it divides; ``at``: after
    the event at an address, for a frame each of its events.  Only events of ``frames`` count.
    ``folder`` gets a PNG of each picture, ``strip`` is one PNG with thumbnails of all; missing
    folders are created.
    """

    folder: Path | None = None
    strip: Path | None = None
    draws: bool = False
    every: int = 0
    at: Address | None = None
    frames: Frames = EVERY

    def wants(self, event: Event) -> bool:
        """Whether there are pictures after an event."""
        if event.frame not in self.frames:
            return False
        drawn = self.draws and event.kind is EventKind.DRAW
        counted = self.every > 0 and event.number % self.every == 0
        return drawn or counted or (self.at is not None and matches(event, self.at))


class FilmCamera(Observer):
    """Takes the pictures of a ``Film`` while a capture is played.

    Mutable: ``pictures`` counts them, ``events`` are all events of the playback, and ``timing`` is
    the name of its timing model.
    """

    def __init__(self, film: Film) -> None:
        """Create missing folders.  Raises OSError."""
        self.pictures = 0
        self.timing = ""
        self.events: list[Event] = []
        self._film = film
        self._sheet = Sheet()
        for folder in (film.folder, film.strip and film.strip.parent):
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Take the pictures after an event that is wanted."""
        self.events.append(event)
        self.timing = stage.gpu.timing.name
        if not self._film.wants(event):
            return
        for handle in event.targets:
            # A record of the host may name a surface that does not exist, which is a fault.
            with suppress(UsageError):
                self._picture(event, handle, stage.surface(handle))

    def _picture(self, event: Event, handle: int, surface: Surface) -> None:
        if pictured(surface):
            for shows in kinds_of(surface.desc):
                self._take(event, handle, surface, shows)

    def _take(self, event: Event, handle: int, surface: Surface, shows: str) -> None:
        picture = take(surface, shows)
        self.pictures += 1
        if self._film.strip is not None:
            what = "" if shows == "color" else f" {shows}"
            self._sheet.add(picture, f"{event.address} {event.name}", f"surface {handle}{what}")
        if self._film.folder is not None:
            name = picture_name(f"event{event.number:06}", handle, shows)
            write_file(self._film.folder / name, picture.png)

    def close(self) -> None:
        """Write the film strip.

        Raises OSError, and UsageError if the capture has no event at the address, or the events
        that are wanted write no picture.
        """
        if self._film.at is not None:
            event = find(self.events, self._film.at)
            if not self.pictures:
                what = f"{self._film.at.text}: {event.kind.value} ({event.name})"
                raise UsageError(f"{what} writes nothing that has a picture")
        image = self._sheet.image()
        if self._film.strip is not None and image is not None:
            write_file(self._film.strip, encode_png(image))


def pictured(surface: Surface) -> bool:
    """Whether a surface has a picture: no buffer, and a format with colour, depth or stencil."""
    desc = surface.desc
    if desc.kind in BUFFERS or desc.kind is SurfaceKind.MEMORY:
        return False
    return kinds_of(desc) != ["color"] or has_picture(desc.dxgi or desc.format)
