"""Pictures of a replay: what is taken when, and where it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from dp2emu.capture.records import Pictured, PictureKind
from dp2emu.d3d.enums import Format
from dp2emu.d3d.sdk import sdk_name
from dp2emu.diff import Judge, Judgement, pixels_of
from dp2emu.errors import Unsupported
from dp2emu.gpu.resource.heap import Surface, SurfaceDesc
from dp2emu.outputs import write_file
from dp2emu.picture import (
    DEPTHS,
    STENCILS,
    Picture,
    encode_png,
    has_picture,
    take_depth,
    take_picture,
    take_stencil,
)
from dp2emu.readback import check_readback, take_readback
from dp2emu.replay.compare import Difference
from dp2emu.replay.frames import EVERY, Frames
from dp2emu.replay.raw import RawFrames
from dp2emu.replay.sheet import Sheet


class Observable(Protocol):
    """What a rig needs beyond ``Rig`` for pictures; none of it may steer the rig."""

    def observe(self, handle: int, sink: Callable[[Surface], None]) -> None:
        """Show a surface to ``sink`` when all work submitted so far is done."""

    def surface(self, handle: int) -> SurfaceDesc:
        """The description of a surface."""

    def target(self, context: int) -> int:
        """Handle of colour target 0 of a context, 0 for none."""

    def recent_targets(self, context: int) -> tuple[int, ...]:
        """Handles of all targets of a context, now and since this was asked."""


class Pictures(msgspec.Struct, frozen=True):
    """Which pictures a replay takes, and where they go; each place may be None.

    ``folder`` gets a PNG of each and ``sheet`` one PNG of all; folders are made if need be.
    ``raw`` gets what each frame shows.  Of frames outside ``frames`` there are none.  With
    ``all_targets`` there are pictures of all that were targets during a frame, depth and stencil
    too, as they are when it ends; else of what it shows.  ``judge`` compares each with its
    reference.
    """

    folder: Path | None = None
    sheet: Path | None = None
    raw: RawFrames | None = None
    frames: Frames = EVERY
    all_targets: bool = False
    judge: Judge | None = None

    def with_raw(self, raw: RawFrames) -> Pictures:
        """The same, with frames going to ``raw`` too."""
        return replace(self, raw=raw)


class Shot(NamedTuple):
    """A picture to be taken: what of a surface, as which call leaves it in which frame."""

    frame: int
    call: int
    surface: int
    shows: str = "color"


class Judged(NamedTuple):
    """A picture that has a reference: how they compare, and what it is of."""

    shot: Shot
    judgement: Judgement

    def difference(self) -> Difference:
        """The first pixel that is beyond the tolerance, or the sizes where these differ."""
        judgement, comparison = self.judgement, self.judgement.comparison
        assert comparison is not None
        first, sizes = comparison.first, (comparison.other_size, comparison.size)
        where = "size" if first is None else f"pixel {first.x}, {first.y}"
        theirs, ours = sizes if first is None else (first.other, first.one)
        field = f"{where}, against {judgement.reference}"
        return Difference(self.shot.call, field, str(theirs), str(ours), self.shot.frame)


_TAKE: dict[str, Callable[[Surface], Picture]] = {
    "color": take_picture,
    "depth": take_depth,
    "stencil": take_stencil,
}
"""What can be shown of a surface."""

_GREY = {"depth": DEPTHS, "stencil": STENCILS}

Publish = Callable[[dict[str, Any] | None, "Judged | None"], None]
Task = Callable[[], None]
"""One thing to do for pictures; what goes wrong with it leaves the others alone."""


class Photographer:
    """Follows a replay and takes its pictures.  Mutable: it counts frames and calls.

    Its methods tell what has happened and return what is to be done about it, each of which may
    raise Fault, Unsupported or OSError.  With ``only_told`` it takes no pictures but those a
    program took (``told``), and those of all targets if they are wanted.
    """

    def __init__(self, rig: Observable, wanted: Pictures, publish: Publish) -> None:
        """``publish`` is told of each picture as it is taken: its row if it is a file, and how it
        compares with its reference.
        """
        for folder in (wanted.folder, wanted.sheet.parent if wanted.sheet else None):
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
        self._rig = rig
        self._wanted = wanted
        self._publish = publish
        self._sheet = Sheet()
        self._taken: dict[tuple[int, str], int] = {}
        self._call = self._marked = -1
        self._frames = 0
        self._context: int | None = None
        self._used: dict[int, None] = {}
        self.only_told = False

    def called(self, context: int | None) -> None:
        """A call was made, by a context if there is one of the number it gave."""
        self._call += 1
        if context is not None:
            self._context = context
            self._used[context] = None

    def frame_ends(self, surface: int) -> Iterator[Task]:
        """A marker: ``surface`` is shown, or if it is 0 the target of the context used last; if
        that is gone, nothing is.
        """
        frame, used, self._used = self._frames, self._used, {}
        self._frames += 1
        self._marked = self._call
        wanted = self._call >= 0 and frame in self._wanted.frames
        if self.only_told:
            pass
        elif wanted and surface:
            yield partial(self._show, frame, surface)
        elif wanted and self._context is not None:
            yield partial(self._show, frame, self._rig.target(self._context))
        if self._wanted.all_targets:
            for context in used:
                others = self._rig.recent_targets(context)
                yield from self._others(frame, others if wanted else ())

    def told(self, record: Pictured) -> Iterator[Task]:
        """The program showed or read a surface."""
        if self._frames in self._wanted.frames:
            yield partial(self._take_told, record, self._frames)

    def context_goes(self, context: int) -> Iterator[Task]:
        """A context is about to be destroyed, or the capture ends with it alive."""
        self._used.pop(context, None)
        was_last = context == self._context
        if was_last:
            self._context = None
        frame = self._under_way
        if self._call < 0 or frame not in self._wanted.frames:
            return
        raw = self._wanted.raw if was_last else None
        first = Shot(frame, self._call, self._rig.target(context))
        if not self.only_told:
            yield partial(self._take, first, raw.hold if raw else None)
        if self._wanted.all_targets:
            yield from self._others(frame, self._rig.recent_targets(context))

    def close(self) -> None:
        """Everything has been done.  Raises OSError."""
        if self._wanted.raw is not None:
            frame = self._under_way
            unfinished = self._call > self._marked and frame in self._wanted.frames
            self._wanted.raw.close(unfinished=unfinished)
        image = self._sheet.image()
        if self._wanted.sheet is not None and image is not None:
            write_file(self._wanted.sheet, encode_png(image))

    @property
    def _under_way(self) -> int:
        """The frame that the last call belongs to."""
        return self._frames if self._call > self._marked else max(self._frames - 1, 0)

    def _show(self, frame: int, handle: int) -> None:
        """What a frame shows when its marker comes."""
        raw = self._wanted.raw
        self._take(Shot(frame, self._call, handle), raw.write if raw else None)

    def _others(self, frame: int, handles: Iterable[int]) -> Iterator[Task]:
        """Pictures of all that surfaces have to show."""
        for handle in handles:
            format = self._rig.surface(handle).format
            kinds = [kind for kind, formats in _GREY.items() if format in formats]
            for kind in kinds or ["color"]:
                yield partial(self._take, Shot(frame, self._call, handle, kind))

    def _take(self, shot: Shot, raw: Callable[[Picture], None] | None = None) -> None:
        """Take a picture unless there is one already; ``raw`` wants it all the same.

        Raises Fault for an unknown surface and Unsupported for one that cannot be shown.
        """
        key = shot.surface, shot.shows
        known = self._taken.get(key) == shot.call
        if shot.surface == 0 or (known and raw is None):
            return
        desc = self._rig.surface(shot.surface)
        if shot.shows == "color" and not has_picture(desc.dxgi or desc.format):
            raise Unsupported(f"picture of surface {shot.surface}, {_format_name(desc)}")
        self._taken[key] = shot.call
        self._rig.observe(shot.surface, lambda seen: self._develop(shot, seen, known, raw))

    def _develop(
        self, shot: Shot, surface: Surface, known: bool, raw: Callable[[Picture], None] | None
    ) -> None:
        picture = _TAKE[shot.shows](surface)
        if raw is not None:
            raw(picture)
        if known:
            return
        shows = "" if shot.shows == "color" else shot.shows
        if self._wanted.sheet is not None:
            self._sheet.add(
                picture, f"frame {shot.frame} call {shot.call}", f"surface {shot.surface} {shows}"
            )
        suffix = "" if shot.shows == "color" else f"_{shot.shows}"
        name = f"call{shot.call:06}_surface{shot.surface}{suffix}.png"
        self._file(shot, picture, name)

    def _take_told(self, record: Pictured, frame: int) -> None:
        """Take a picture as the program did.  Raises like ``_take``."""
        check_readback(self._rig.surface(record.handle), record.index)
        self._rig.observe(record.handle, lambda seen: self._develop_told(record, frame, seen))

    def _develop_told(self, record: Pictured, frame: int, surface: Surface) -> None:
        picture = take_readback(surface, record.index)
        how = PictureKind(record.how).name.lower()
        raw = self._wanted.raw
        if raw is not None and record.how == PictureKind.PRESENT:
            raw.write(picture)
        if self._wanted.sheet is not None:
            where = f"frame {frame} call {record.call}", f"surface {record.handle} {how}"
            self._sheet.add(picture, *where)
        shot = Shot(frame, record.call, record.handle)
        name = f"call_{record.call:08}.png"
        self._file(shot, picture, name, {"level": record.index, "how": how}, record.call)

    def _file(
        self, shot: Shot, picture: Picture, name: str, more: dict[str, Any] | None = None,
        call: int | None = None,
    ) -> None:  # fmt: skip
        """Write a picture into the folder, compare it with its reference, which is that of its
        name or of a program's ``call``, and tell of both; ``more`` are members of its row.
        """
        folder, judge = self._wanted.folder, self._wanted.judge
        if folder is not None:
            write_file(folder / name, picture.png)
        judgement = judge.judge(name, call, pixels_of(picture.image)) if judge else None
        row = _row(shot, picture, name if folder else None) | (more or {})
        if judge is not None and judgement is not None:
            row["against"] = judgement.row(judge.allowance)
        self._publish(row if folder or judgement else None, judgement and Judged(shot, judgement))


def _row(shot: Shot, picture: Picture, file: str | None) -> dict[str, Any]:
    return {
        "call": shot.call,
        "surface": shot.surface,
        "file": file,
        "width": picture.width,
        "height": picture.height,
        "format": picture.format.sdk,
        "crc32": f"{picture.crc32:08x}",
        "frame": shot.frame,
        "shows": shot.shows,
    }


def _format_name(desc: SurfaceDesc) -> str:
    if desc.dxgi is not None:
        return desc.dxgi.sdk
    return sdk_name(Format, desc.format) or f"format {desc.format:#x}"
