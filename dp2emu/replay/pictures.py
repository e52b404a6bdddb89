"""Pictures of a replay: files, a contact sheet, raw frames, comparison with references."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from math import ceil, isqrt
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu.argument_check import checked
from dp2emu.bitmap_font import ADVANCE, HEIGHT, lettered
from dp2emu.capture.records import Pictured, PictureKind
from dp2emu.d3d.enums import Format
from dp2emu.d3d.sdk import sdk_name
from dp2emu.diff.images import pixels_of
from dp2emu.diff.judging import Judge, Judgement
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
from dp2emu.readback import Content, check_readback, take_content, take_readback, tight_image
from dp2emu.replay.compare import Difference
from dp2emu.replay.frames import EVERY, Frames

THUMB_WIDTH, THUMB_HEIGHT = 160, 120
"""Largest width and height in pixels of a thumbnail on a contact sheet."""
LIMIT = 400
"""Maximum number of pictures on a contact sheet; when it is exceeded, every second one is
dropped."""
_GAP = 8
_LINE = 2 * HEIGHT + 4
_CELL = (THUMB_HEIGHT + 2 * _LINE + _GAP, THUMB_WIDTH + _GAP)
_PAPER, _INK = 0x30, 0xE0


class Observable(Protocol):
    """What pictures need of a rig besides the methods of ``Rig``: read access to its surfaces."""

    def observe(self, handle: int, sink: Callable[[Surface], None]) -> None:
        """Pass a surface to ``sink`` after all work submitted so far."""

    def surface(self, handle: int) -> SurfaceDesc:
        """The description of a surface: size, format, levels."""

    def target(self, context: int) -> int:
        """Handle of colour target 0 of a context, 0 for none."""

    def recent_targets(self, context: int) -> tuple[int, ...]:
        """Handles of all targets that a context has used since the last call of this method."""


class Readable(Protocol):
    """What pictures need of the Direct3D 10/11 interface: the memory of its resources."""

    def read(self, record: Pictured, sink: Callable[[Surface], None]) -> None:
        """Pass the memory of the resource of ``record`` to ``sink``.  Raises CaptureError."""


@checked
class Pictures(msgspec.Struct, frozen=True):
    """Which pictures a replay takes, and where they go; unused destinations are None.

    ``folder`` gets a PNG of each, ``sheet`` is one PNG with thumbnails of all; missing folders are
    created.  ``raw`` gets the surface that each frame shows.  Pictures are taken in ``frames``
    only: of the surface shown and, with ``all_targets``, of every target of the frame at its end,
    depth and stencil included.  ``judge`` compares each with its reference.  ``data`` gets the
    bytes of Direct3D 10/11 resources that a program read and that are no such pictures.
    """

    folder: Path | None = None
    sheet: Path | None = None
    raw: RawFrames | None = None
    frames: Frames = EVERY
    all_targets: bool = False
    judge: Judge | None = None
    data: Path | None = None

    def with_raw(self, raw: RawFrames) -> Pictures:
        """A copy of this selection that writes its raw frames to ``raw``."""
        return replace(self, raw=raw)


class Shot(NamedTuple):
    """A picture to take: color, depth or stencil of a surface after a call in a frame."""

    frame: int
    call: int
    surface: int
    shows: str = "color"


class Judged(NamedTuple):
    """A replayed picture and the result of its comparison with a reference picture.

    ``surface`` is what shows it, as verbs name it, and ``api`` whether the call of the shot is the
    recorded program's.
    """

    shot: Shot
    judgement: Judgement
    surface: str
    api: bool

    def difference(self) -> Difference:
        """The first pixel beyond the tolerance, or the sizes if these differ."""
        judgement, comparison = self.judgement, self.judgement.comparison
        assert comparison is not None
        first, sizes = comparison.first, (comparison.other_size, comparison.size)
        what = "size" if first is None else f"pixel {first.x}, {first.y}"
        theirs, ours = sizes if first is None else (first.other, first.one)
        field = f"{what} of {self.surface}, against {judgement.reference}"
        shot = self.shot
        return Difference(shot.call, field, str(theirs), str(ours), shot.frame, self.api)


_TAKE: dict[str, Callable[[Surface], Picture]] = {
    "color": take_picture,
    "depth": take_depth,
    "stencil": take_stencil,
}
"""Functions that make a picture of a surface, by what it shows: color, depth or stencil."""
_GREY = {"depth": DEPTHS, "stencil": STENCILS}


def kinds_of(desc: SurfaceDesc) -> list[str]:
    """What pictures of a surface show: depth and stencil as far as its format has them, otherwise
    color.
    """
    format = desc.dxgi or desc.format
    return [kind for kind, formats in _GREY.items() if format in formats] or ["color"]


def take(surface: Surface, shows: str) -> Picture:
    """The picture of the color, depth or stencil of a surface.  Raises Unsupported."""
    return _TAKE[shows](surface)


def picture_name(place: str, surface: int, shows: str) -> str:
    """Name of the file of a picture of a surface, taken at ``place``, such as ``call000001``."""
    suffix = "" if shows == "color" else f"_{shows}"
    return f"{place}_surface{surface}{suffix}.png"


Publish = Callable[[dict[str, Any] | None, "Judged | None"], None]
PublishData = Callable[[dict[str, Any]], None]


Task = Callable[[], None]
"""Type of a function without parameters that takes one picture.  If it raises, the replay reports
the error and takes the other pictures."""


class Photographer:
    """Takes the pictures of a replay.  Mutable: it counts frames and calls.

    The methods for events, such as the end of a frame, yield tasks: functions that take one
    picture each and may raise Fault, Unsupported or OSError.  With ``only_recorded`` pictures are
    taken only where the recorded program showed or read a surface, and of all targets if
    ``all_targets`` of the selection is set.
    """

    def __init__(
        self,
        rig: Observable,
        wanted: Pictures,
        publish: Publish,
        publish_data: PublishData,
        observe: Callable[[int], None] = lambda pixels: None,
    ) -> None:
        """``publish`` is called with (row of replay JSON or None, Judged or None) of a picture,
        ``publish_data`` with the row of a file of data.

        ``observe`` is called with the number of pixels before a picture is taken, and raises
        Exceeded for too many.
        """
        for folder in (wanted.folder, wanted.sheet.parent if wanted.sheet else None, wanted.data):
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
        self._rig = rig
        self._wanted = wanted
        self._publish = publish
        self._publish_data = publish_data
        self._observe = observe
        self._sheet = Sheet()
        self._taken: dict[tuple[int, str], int] = {}
        self._call = self._marked = -1
        self._frames = self._recorded = 0
        self._context: int | None = None
        self._used: dict[int, None] = {}
        self.only_recorded = False

    def called(self, context: int | None) -> None:
        """Count a call; ``context`` is None if the call named an unknown one."""
        self._call += 1
        if context is not None:
            self._context = context
            self._used[context] = None

    def frame_ends(self, surface: int) -> Iterator[Task]:
        """Tasks for a frame marker, which shows ``surface``.

        If ``surface`` is 0, the frame shows the target of the context used last, or nothing if
        that context was destroyed.
        """
        frame, used, self._used = self._frames, self._used, {}
        self._frames += 1
        self._marked = self._call
        wanted = self._call >= 0 and frame in self._wanted.frames
        if wanted and not self.only_recorded:
            if surface:
                yield partial(self._show, frame, surface)
            elif self._context is not None:
                yield partial(self._show, frame, self._rig.target(self._context))
        if self._wanted.all_targets:
            for context in used:
                others = self._rig.recent_targets(context)
                yield from self._others(frame, others if wanted else ())

    def recorded(self, record: Pictured, source: Readable | None = None) -> Iterator[Task]:
        """Yield a task for a picture that the recorded program took, if its frame is selected.

        ``source`` has the resource of a Direct3D 10/11 program.
        """
        self._recorded = frame = self._frames + 1
        if self._frames not in self._wanted.frames:
            return
        if source is None:
            yield partial(self._take_recorded, record, frame - 1)
        else:
            develop = partial(self._develop_resource, record, frame - 1)
            yield partial(source.read, record, develop)

    def context_goes(self, context: int) -> Iterator[Task]:
        """Yield tasks that picture a context's targets, before its destruction or at the end."""
        self._used.pop(context, None)
        was_last = context == self._context
        if was_last:
            self._context = None
        frame = self._under_way
        if self._call < 0 or frame not in self._wanted.frames:
            return
        raw = self._wanted.raw if was_last else None
        first = Shot(frame, self._call, self._rig.target(context))
        if not self.only_recorded:
            yield partial(self._take, first, raw.hold if raw else None)
        if self._wanted.all_targets:
            yield from self._others(frame, self._rig.recent_targets(context))

    @property
    def frames(self) -> int:
        """Number of frames so far; calls and pictures after the last marker are one more."""
        return max(self._frames + (self._call > self._marked), self._recorded)

    def close(self) -> None:
        """Write the last raw frame and the contact sheet.  Raises OSError."""
        if self._wanted.raw is not None:
            frame = self._under_way
            unfinished = self._call > self._marked and frame in self._wanted.frames
            self._wanted.raw.close(unfinished=unfinished)
        image = self._sheet.image()
        if self._wanted.sheet is not None and image is not None:
            write_file(self._wanted.sheet, encode_png(image))

    @property
    def _under_way(self) -> int:
        """Number of the frame that contains the last D3dDrawPrimitives2 call, counted from 0."""
        return self._frames if self._call > self._marked else max(self._frames - 1, 0)

    def _show(self, frame: int, handle: int) -> None:
        """Take the picture of surface ``handle``, which is shown at the end of frame ``frame``."""
        raw = self._wanted.raw
        self._take(Shot(frame, self._call, handle), raw.write if raw else None)

    def _others(self, frame: int, handles: Iterable[int]) -> Iterator[Task]:
        """Yield tasks that picture surfaces: depth and stencil as far as the format has them.

        Surfaces of other formats are pictured in colour.
        """
        for handle in handles:
            for kind in kinds_of(self._rig.surface(handle)):
                yield partial(self._take, Shot(frame, self._call, handle, kind))

    def _take(self, shot: Shot, raw: Callable[[Picture], None] | None = None) -> None:
        """Take a picture of a surface, unless it has been taken after the same call already.

        ``raw``, if any, receives it in both cases.  Raises Fault for an unknown surface and
        Unsupported for one that cannot be shown.
        """
        key = shot.surface, shot.shows
        known = self._taken.get(key) == shot.call
        if shot.surface == 0 or (known and raw is None):
            return
        desc = self._rig.surface(shot.surface)
        if shot.shows == "color" and not has_picture(desc.dxgi or desc.format):
            raise Unsupported(f"picture of surface {shot.surface}, {_format_name(desc)}")
        self._taken[key] = shot.call
        self._observe(desc.width * desc.height)
        self._rig.observe(shot.surface, lambda seen: self._develop(shot, seen, known, raw))

    def _develop(
        self, shot: Shot, surface: Surface, known: bool, raw: Callable[[Picture], None] | None
    ) -> None:
        picture = take(surface, shot.shows)
        if raw is not None:
            raw(picture)
        if known:
            return
        shows = "" if shot.shows == "color" else shot.shows
        if self._wanted.sheet is not None:
            self._sheet.add(
                picture, f"frame {shot.frame} call {shot.call}", f"surface {shot.surface} {shows}"
            )
        name = picture_name(f"call{shot.call:06}", shot.surface, shot.shows)
        self._file(shot, picture, name)

    def _take_recorded(self, record: Pictured, frame: int) -> None:
        """Take a picture that the recorded program took.  Raises Fault and Unsupported."""
        desc = self._rig.surface(record.handle)
        check_readback(desc, record.index)
        self._observe(desc.width * desc.height)
        self._rig.observe(record.handle, lambda seen: self._develop_recorded(record, frame, seen))

    def _develop_recorded(self, record: Pictured, frame: int, surface: Surface) -> None:
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
        call: int | None = None, handle: int | None = None,
    ) -> None:  # fmt: skip
        """Write a picture, compare it with its reference, and publish its row with ``more``.

        The reference is found by ``name`` or by the program's ``call``.  ``handle`` is the
        surface's if the shot has the number of a resource.
        """
        folder, judge = self._wanted.folder, self._wanted.judge
        if folder is not None:
            write_file(folder / name, picture.png)
        judgement = judge.judge(name, call, pixels_of(picture.image)) if judge else None
        row = _row(shot, picture, name if folder else None) | (more or {})
        if judge is not None and judgement is not None:
            row["against"] = judgement.row(judge.allowance)
        level = (more or {}).get("level", 0)
        part = f", subresource {level}" if level else ""
        named = f"surface {shot.surface if handle is None else handle}{part}"
        seen = judgement and Judged(shot, judgement, named, call is not None)
        self._publish(row if folder or judgement else None, seen)

    def _develop_resource(self, record: Pictured, frame: int, surface: Surface) -> None:
        """Take a picture, or else the data, of a resource that the program showed or read."""
        content = take_content(surface, record.index)
        how, image = PictureKind(record.how).name.lower(), content.image
        if self._wanted.raw is not None and record.how == PictureKind.BACK_BUFFER:
            shown = image
            if shown is None:
                shown = tight_image(content.format, content.data, content.size)
            if shown is not None:
                self._wanted.raw.write(Picture(content.format, 0, shown))
        if image is None:
            self._file_data(record, frame, content, how)
            return
        picture = Picture(content.format, zlib.crc32(content.data), image)
        if self._wanted.sheet is not None:
            where = f"frame {frame} call {record.call}", f"resource {record.handle} {how}"
            self._sheet.add(picture, *where)
        shot = Shot(frame, record.call, record.handle)
        more = {"level": record.index, "how": how}
        name = f"call_{record.call:08}.png"
        self._file(shot, picture, name, more, record.call, surface.handle or surface.serial)

    def _file_data(self, record: Pictured, frame: int, content: Content, how: str) -> None:
        folder = self._wanted.data
        if folder is None:
            return
        name = f"call_{record.call:08}.bin"
        write_file(folder / name, content.data)
        width, height, depth = content.size
        self._publish_data(
            {
                "call": record.call,
                "resource": record.handle,
                "subresource": record.index,
                "file": name,
                "format": content.format.sdk,
                "width": width,
                "height": height,
                "depth": depth,
                "crc32": f"{zlib.crc32(content.data):08x}",
                "frame": frame,
                "how": how,
            }
        )


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


# Raw frames


@checked
class RawFrames:
    """A writer of frames as rgb24, rows from the top without padding, for a video encoder.

    The first frame sets the size, which a stream cannot change: later ones are cropped or padded
    with black at the right and the bottom.  Mutable: it counts frames.
    """

    def __init__(self, out: BinaryIO) -> None:
        self.width = self.height = self.frames = 0
        self._out = out
        self._held: Picture | None = None

    def write(self, picture: Picture) -> None:
        """Append a frame.  Raises OSError."""
        self._held = None
        image = picture.image[..., :3]
        if self.frames == 0:
            self.width, self.height = picture.width, picture.height
        if image.shape[:2] != (self.height, self.width):
            cut = image[: self.height, : self.width]
            image = np.zeros((self.height, self.width, 3), np.uint8)
            image[: cut.shape[0], : cut.shape[1]] = cut
        self._out.write(image.tobytes())
        self.frames += 1

    def hold(self, picture: Picture) -> None:
        """Keep a picture in case the last frame has no marker; ``close`` writes it then."""
        self._held = picture

    def close(self, *, unfinished: bool) -> None:
        """Flush the stream; if the last frame is ``unfinished``, first write the held picture."""
        if unfinished and self._held is not None:
            self.write(self._held)
        self._out.flush()


# Contact sheet


class _Thumb(NamedTuple):
    image: NDArray[np.uint8]
    lines: tuple[str, str]


class Sheet:
    """A contact sheet of at most ``LIMIT`` labelled thumbnails.  Mutable: pictures are added."""

    def __init__(self) -> None:
        self._thumbs: list[_Thumb] = []
        self._every = 1
        self._seen = 0

    def add(self, picture: Picture, first_line: str, second_line: str) -> None:
        """Add a picture with two lines of text; in a full sheet every second one is dropped."""
        wanted = self._seen % self._every == 0
        self._seen += 1
        if not wanted:
            return
        self._thumbs.append(_Thumb(_small(_rgb(picture)), (first_line, second_line)))
        if len(self._thumbs) > LIMIT:
            del self._thumbs[1::2]
            self._every *= 2

    def image(self) -> NDArray[np.uint8] | None:
        """The roughly square sheet, uint8 (height, width, 3); None without pictures."""
        if not self._thumbs:
            return None
        columns = min(len(self._thumbs), isqrt(len(self._thumbs) * _CELL[0] // _CELL[1]) + 1)
        rows = ceil(len(self._thumbs) / columns)
        shape = rows * _CELL[0] + _GAP, columns * _CELL[1] + _GAP, 3
        image = np.full(shape, _PAPER, np.uint8)
        for number, thumb in enumerate(self._thumbs):
            row, column = divmod(number, columns)
            _put(image[_GAP + row * _CELL[0] :, _GAP + column * _CELL[1] :], thumb)
        return image


def _put(corner: NDArray[np.uint8], thumb: _Thumb) -> None:
    """Draw a thumbnail and its text into its cell of the sheet, whose top left is ``corner``."""
    height, width = thumb.image.shape[:2]
    top, left = (THUMB_HEIGHT - height) // 2, (THUMB_WIDTH - width) // 2
    corner[top : top + height, left : left + width] = thumb.image
    for number, line in enumerate(thumb.lines):
        size = 2 if len(line) * 2 * ADVANCE <= THUMB_WIDTH else 1
        ink = lettered(line, size)[:, :THUMB_WIDTH]
        top = THUMB_HEIGHT + 2 + number * _LINE
        corner[top : top + ink.shape[0], : ink.shape[1]][ink] = _INK


def _rgb(picture: Picture) -> NDArray[np.uint8]:
    """The picture as uint8 (height, width, 3), without alpha; grey is replicated."""
    image = picture.image
    if image.dtype == np.uint16:
        image = (image >> 8).astype(np.uint8)
    return image[..., :3] if image.ndim == 3 else np.stack([image] * 3, axis=-1)


def _small(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The image shrunk by the smallest whole factor k that makes it fit a thumbnail.

    A pixel is the average of a block of k by k, cropped at the edge, rounded half up.
    """
    height, width = image.shape[:2]
    k = max(1, ceil(height / THUMB_HEIGHT), ceil(width / THUMB_WIDTH))
    if k == 1:
        return image.copy()
    tops, lefts = np.arange(0, height, k), np.arange(0, width, k)
    rows = np.add.reduceat(image, tops, axis=0, dtype=np.uint32)
    total = np.add.reduceat(rows, lefts, axis=1, dtype=np.uint32)
    sizes = np.multiply.outer(np.diff(tops, append=height), np.diff(lefts, append=width))
    count = sizes.astype(np.uint32)[..., None]
    mean: NDArray[np.uint32] = (total + count // 2) // count
    return mean.astype(np.uint8)
