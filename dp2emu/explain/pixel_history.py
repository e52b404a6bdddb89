"""The history of a pixel: every event that touched it, each fragment, and why it is there or not.

Draws are examined before they execute (``pixel_probe``); the engine of the playback executes them,
and has to store the same bits.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from dp2emu.argument_check import checked
from dp2emu.capture.records import MemoryWritten, Record
from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.formats import FormatRow, Use
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.options import Options
from dp2emu.errors import Absent, Disagreement, Dp2Error, Exceeded, Fault, Unsupported, UsageError
from dp2emu.explain.address import Address, find
from dp2emu.explain.events import Event, EventKind
from dp2emu.explain.pixel_fragment import DepthSeen, Fragment, StencilSeen, Verdict
from dp2emu.explain.pixel_place import Number, Place, copied_pixel, holds_integers, value_of
from dp2emu.explain.pixel_probe import Examined, examine
from dp2emu.explain.playback import Observer, Playback, Stage, events_of
from dp2emu.explain.reasons import reasons_told
from dp2emu.gpu.command import packets
from dp2emu.gpu.command.packets import Draw, Packet, Part
from dp2emu.gpu.device.timing import Timing
from dp2emu.gpu.operation_costs import draw_operations
from dp2emu.gpu.resource.heap import Surface
from dp2emu.limits import Limits
from dp2emu.replay import Watcher
from dp2emu.replay.player import Recording

HEAVY = 1000
"""Operations for which a draw counts as another one among those that a history examines."""

SCHEMA = 1
"""Version of the JSON form; it grows when a key changes its meaning."""


Rectangle = tuple[int, int, int, int]
"""Left, top, right and bottom in texels; right and bottom are outside."""


class Entry(msgspec.Struct):
    """What an event did at one sample of the pixel: a fragment of a draw, or a write of another
    event, whose ``primitive`` is None.

    ``output`` are the numbers of the pixel program for the target, None if it did not run;
    ``before`` and ``after`` the stored numbers.  ``source`` is the handle of the surface that a
    copy, resolve or blit read, None for other events.  ``read`` and ``wrote`` are the rectangles
    of it and of the target that such an event, a fill or an upload moves, None where the event has
    none.  ``origin`` is the pixel that was copied: surface, subresource, column and row; None
    where it is not one pixel, or mirrored or turned.  ``overwritten`` is the address of the next
    event that wrote the sample, None for the last one.  Mutable: later events overwrite.
    """

    event: Event
    sample: int
    verdict: Verdict
    before: list[Number]
    after: list[Number]
    primitive: int | None = None
    instance: int = 0
    output: list[Number] | None = None
    depth: DepthSeen | None = None
    stencil: StencilSeen | None = None
    detail: str = ""
    overwritten: str | None = None
    source: int | None = None
    read: Rectangle | None = None
    wrote: Rectangle | None = None
    origin: tuple[int, int, int, int] | None = None


class History(msgspec.Struct, frozen=True):
    """The history of pixel ``x``, ``y`` of subresource ``index`` of the surface ``target``.

    ``values`` are the stored numbers of each sample at the end, and ``value`` the numbers of
    the chosen sample, or the mean of all.  ``width`` and ``height`` are the subresource's, in
    pixels.  ``idle`` are the draws to the target that did nothing; their ``text`` is the reason.
    ``beside`` are those that have no primitive whose bounding box touches the pixel.
    """

    target: int
    index: int
    x: int
    y: int
    format: str
    sample: int | None
    value: list[Number]
    values: list[list[Number]]
    entries: list[Entry]
    width: int = 0
    height: int = 0
    idle: tuple[Event, ...] = ()
    beside: tuple[Event, ...] = ()

    def document(self) -> dict[str, Any]:
        """The history as a JSON object; numbers that are not finite are strings."""
        return {
            "schema": SCHEMA,
            "target": self.target,
            "subresource": self.index,
            "width": self.width,
            "height": self.height,
            "x": self.x,
            "y": self.y,
            "format": self.format,
            "value": _json(self.value),
            "samples": _json(self.values),
            "history": [_row(entry) for entry in self.entries],
            "idle": [_place(event) | {"reason": event.text} for event in self.idle],
            "beside": [_place(event) for event in self.beside],
        }


_ORIGIN = "target", "subresource", "x", "y"
"""Keys of the pixel that was copied, as the options of ``pixel`` name it."""


def _place(event: Event) -> dict[str, Any]:
    return {
        "event": event.address,
        "call": event.call,
        "token": event.token,
        "api_call": event.api_call,
        "kind": event.kind.value,
        "name": event.name,
        "frame": event.frame,
    }


def _row(entry: Entry) -> dict[str, Any]:
    return _place(entry.event) | {
        "primitive": entry.primitive,
        "sample": entry.sample,
        "verdict": entry.verdict.value,
        "output": _json(entry.output),
        "before": _json(entry.before),
        "after": _json(entry.after),
        "depth": _json(entry.depth),
        "stencil": _json(entry.stencil),
        "instance": entry.instance,
        "detail": entry.detail,
        "overwritten": entry.overwritten,
        "source": entry.source,
        "source_rectangle": _json(entry.read),
        "target_rectangle": _json(entry.wrote),
        "origin": None if entry.origin is None else dict(zip(_ORIGIN, entry.origin, strict=True)),
    }


def _json(value: Any) -> Any:
    """A value for JSON, which has no infinity and no NaN."""
    if isinstance(value, msgspec.Struct):
        return {name: _json(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, list | tuple):
        return [_json(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


class Pixel(msgspec.Struct, frozen=True):
    """A pixel to explain: column, row, ``target`` (a handle, None for the one that is shown),
    subresource and sample (None for all); and the last event of its history, None for the end.
    """

    x: int
    y: int
    target: int | None = None
    index: int = 0
    sample: int | None = None
    at: Address | None = None


@checked
def history_of(
    capture: Recording,
    pixel: Pixel,
    *,
    options: Options | None = None,
    timing: Timing | None = None,
    watcher: Watcher | None = None,
) -> History:
    """Play a capture and return the history of a pixel.

    Without a target it is the one that the last present shows or, without a present, the first
    that the last draw writes; with an event only those until then count.  Flips behind the last
    present, by which the buffers only change places for the next frame, are left out.  Both take
    another pass over the capture.  Raises UsageError for an event or a surface that the capture
    does not have, for a pixel outside of the surface and for a second pass over a pipe;
    Unsupported for formats whose pixels share bytes; Exceeded beyond the limit ``history_draws``;
    and Disagreement if the engine stores other bits than the examined stages.
    """
    last: Event | None = None
    target, lacking, watcher = pixel.target, _MemoryFaults(), watcher or Watcher()
    if target is None or pixel.at is not None:
        with reasons_told(capture, watcher, options=options, timing=timing):
            events = events_of(
                capture, options=options, timing=timing, watcher=Watcher(lacking.note)
            )
            if pixel.at is not None:
                last = find(events, pixel.at)
                events = events[: last.number + 1]
            if target is None:
                target = default_target(events)
                last = last or _last_shown(events, target)
    observer = PixelObserver(msgspec.structs.replace(pixel, target=target), last)
    watched = observer.watching(lacking.watching(watcher))
    playback = Playback(capture, [observer], options=options, timing=timing, watcher=watched)
    try:
        while not observer.ended and playback.step():
            pass
    finally:
        playback.close()
    lacking.tell(watcher)
    return observer.history()


class _MemoryFaults:
    """Faults for want of memory in the first of two passes over a capture.  Mutable.

    The second pass may have none, and would then end at an event that is not the last.
    """

    def __init__(self) -> None:
        self._found: dict[str, Dp2Error] = {}

    def note(self, error: Dp2Error) -> None:
        """Keep an error of the first pass if it is for want of memory."""
        if isinstance(error, Fault) and error.hr == HResult.DDERR_OUTOFMEMORY:
            self._found[str(error)] = error

    def watching(self, watcher: Watcher) -> Watcher:
        """A watcher of the second pass, which forgets the errors that are repeated."""

        def fault(error: Dp2Error) -> None:
            self._found.pop(str(error), None)
            watcher.fault(error)

        return msgspec.structs.replace(watcher, fault=fault)

    def tell(self, watcher: Watcher) -> None:
        """Tell the errors that the second pass did not repeat."""
        for error in self._found.values():
            watcher.fault(error)


def default_target(events: Sequence[Event]) -> int:
    """The handle of the target whose pixels are explained by default.

    It is the first target of the last event if this is a draw, else the surface that the last
    present shows, else the first target of the last draw.  Raises UsageError without any.
    """
    draws = [event for event in events if event.kind is EventKind.DRAW and event.targets]
    shown = [event for event in events if event.kind is EventKind.PRESENT and event.targets]
    for found in (draws if draws and draws[-1] is events[-1] else shown, draws):
        if found:
            return found[-1].targets[0]
    raise Absent("no event draws to a surface or shows one: name one with --target")


def _last_shown(events: Sequence[Event], target: int) -> Event | None:
    """The last event that shows a target, if nothing but flips writes it afterwards; else None."""
    for event in reversed(events):
        if target in event.targets and event.kind is not EventKind.FLIP:
            return event if event.kind is EventKind.PRESENT else None
    return None


class PixelObserver(Observer):
    """Collects the history of a pixel during a playback, until the event ``last``, None for the
    end.  Mutable: it grows.
    """

    def __init__(self, pixel: Pixel, last: Event | None = None) -> None:
        self._pixel = pixel
        self._last_number = sys.maxsize if last is None else last.number
        self.ended = False
        self._entries: list[Entry] = []
        self._idle: list[Event] = []
        self._beside: list[Event] = []
        self._place: Place | None = None
        self._row: FormatRow | None = None
        self._final: bytes | None = None
        self._before: bytes | None = None
        self._examined: Examined | None = None
        self._written: MemoryWritten | None = None
        self._last: dict[int, Entry] = {}
        self._error: UsageError | Unsupported | None = None
        self._draws_examined = 0
        self._exceeded: Exceeded | None = None
        self._limited = False
        self._differs: Disagreement | None = None

    def watching(self, watcher: Watcher) -> Watcher:
        """A watcher that also notes that a work limit ended a draw early."""

        def fault(error: Dp2Error) -> None:
            self._limited |= isinstance(error, Exceeded)
            watcher.fault(error)

        return msgspec.structs.replace(watcher, fault=fault)

    def performing(self, record: Record, stage: Stage) -> None:
        """Note which bytes the host writes next."""
        self._written = record if isinstance(record, MemoryWritten) else None

    def before(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Examine a draw; note the bytes of the pixel."""
        self._examined = self._before = None
        place = None if self.ended else self._find(stage)
        if place is None:
            return
        self._before = place.read()
        if isinstance(packet, Draw):
            try:
                self._examined = self.examined(packet, place, stage)
            except (Unsupported, Exceeded):
                # The execution reports it.
                self._examined = None
            if self._examined is not None:
                self._count(event, packet, stage.gpu.heap.limits)

    def _count(self, event: Event, draw: Draw, limits: Limits) -> None:
        """Count an examined draw, and end the history if that is one too many.

        A draw counts once more for each ``HEAVY`` operations.
        """
        self._draws_examined += 1 + draw_operations(draw) // HEAVY
        try:
            limits.check("history_draws", self._draws_examined)
        except Exceeded as error:
            self._exceeded, self.ended = error.at(call=event.call, token=event.name), True

    def examined(self, draw: Draw, place: Place, stage: Stage) -> Examined | None:
        """The fragments of a draw at the pixel, by ``pixel_probe.examine``."""
        return examine(draw, place, stage.gpu.heap.limits)

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Append what the event did."""
        place, old = self._place, self._before
        if place is not None and old is not None:
            self._add(event, packet, stage, (place, old, place.read()))
        if self._draws(event) and not self.ended:
            if packet is None:
                self._idle.append(event)
            elif self._examined is not None and not self._examined.fragments:
                self._beside.append(event)
        if event.number >= self._last_number and not self.ended:
            self.ended, self._final = True, None if place is None else place.read()

    def _draws(self, event: Event) -> bool:
        return event.kind is EventKind.DRAW and self._pixel.target in event.targets

    def _add(
        self, event: Event, packet: Packet | None, stage: Stage, pixel: tuple[Place, bytes, bytes]
    ) -> None:
        """Append what an event did to a place with bytes before and after it."""
        place, old, new = pixel
        if self._examined is not None:
            self._drawn(event, self._examined, old, new)
        elif new != old or self._touches(event, packet, place, stage):
            self._stored(event, old, new, _moved(packet, place, stage))

    def _find(self, stage: Stage) -> Place | None:
        """The place of the pixel, None while its surface does not exist or lacks it."""
        pixel = self._pixel
        assert pixel.target is not None
        try:
            surface = stage.surface(pixel.target)
            if self._place is None or self._place.surface is not surface:
                place = Place.of(surface, pixel.index, pixel.x, pixel.y)
                if pixel.sample is not None and pixel.sample >= surface.samples:
                    last = surface.samples - 1
                    known = f"samples 0 to {last}" if last else "only sample 0"
                    raise Absent(f"no sample {pixel.sample}: surface {pixel.target} has {known}")
                self._place, self._row = place, place.row
        except (UsageError, Unsupported) as error:
            # A surface that was destroyed keeps its history.
            self._error = error
            return None
        return self._place

    def _chosen(self, place: Place) -> range:
        sample = self._pixel.sample
        return range(place.samples) if sample is None else range(sample, sample + 1)

    def _touches(
        self, event: Event, packet: Packet | None, place: Place, stage: Stage
    ) -> bool:  # fmt: skip
        """Whether an event that changed nothing in the pixel wrote or showed it."""
        if packet is not None:
            found = _COVERING.get(type(packet))
            return found is not None and found(packet, place)
        if event.kind is EventKind.PRESENT:
            return self._pixel.target in event.targets
        record = self._written
        surface = None if record is None else stage.gpu.heap.get(record.handle)
        if record is None or surface is None:
            return False
        offset = place.offset_in(surface)
        return offset is not None and _overlap(record.offset, len(record.data), offset, place.size)

    def _stored(
        self, event: Event, old: bytes, new: bytes, moved: dict[str, Any] | None = None
    ) -> None:  # fmt: skip
        """Append an entry, with the fields ``moved``, for each sample that an event other than a
        draw touched.
        """
        assert self._place is not None
        more = {"detail": "shown"} if event.kind is EventKind.PRESENT else moved or {}
        for sample in self._chosen(self._place):
            before, after = (self._number(self._part(pixel, sample)) for pixel in (old, new))
            self._append(Entry(event, sample, Verdict.WRITTEN, before, after, **more))

    def _drawn(self, event: Event, examined: Examined, old: bytes, new: bytes) -> None:
        """Append an entry for each fragment of a draw."""
        assert self._place is not None
        if examined.pixel != new:
            self._differs = self._differs or Disagreement(
                f"{event.address} ({event.name}): pixel {self._place.x}, {self._place.y} is "
                f"{new.hex()}, and {examined.pixel.hex()} by the stages that explain it", "", 0,
            )  # fmt: skip
            self._stored(event, old, new)
            return
        if examined.row.channels:
            self._row = examined.row
        samples = self._chosen(self._place)
        now = {sample: self._part(old, sample) for sample in samples}
        for fragment in examined.fragments:
            if fragment.sample in now:
                now[fragment.sample] = self._fragment(event, fragment, now[fragment.sample])

    def _fragment(self, event: Event, fragment: Fragment, old: bytes) -> bytes:
        """Append the entry of a fragment -> the bytes of its sample behind it."""
        assert fragment.verdict is not None
        new = old if fragment.after is None else fragment.after
        self._append(Entry(
            event, fragment.sample, fragment.verdict, self._number(old), self._number(new),
            primitive=fragment.primitive, instance=fragment.instance, output=fragment.output,
            depth=fragment.depth, stencil=fragment.stencil, detail=fragment.detail,
        ))  # fmt: skip
        return new

    def _append(self, entry: Entry) -> None:
        self._entries.append(entry)
        if entry.verdict is Verdict.WRITTEN and entry.event.kind is not EventKind.PRESENT:
            earlier = self._last.get(entry.sample)
            if earlier is not None:
                earlier.overwritten = entry.event.address
            self._last[entry.sample] = entry

    def _part(self, pixel: bytes, sample: int) -> bytes:
        assert self._place is not None
        size = self._place.row.size
        return pixel[sample * size : (sample + 1) * size]

    def _number(self, sample: bytes) -> list[Number]:
        assert self._row is not None
        return value_of(self._row, sample)

    def history(self) -> History:
        """The history so far.  Raises UsageError if the capture has no such pixel, Disagreement if
        the engine stored other bits than the examined stages though no work limit ended a draw,
        and Exceeded if it has more draws than the limit ``history_draws``.
        """
        if self._exceeded is not None:
            raise self._exceeded
        if self._differs is not None and not self._limited:
            raise self._differs
        pixel, place, row = self._pixel, self._place, self._row
        assert pixel.target is not None
        if place is None or row is None:
            raise self._error or Absent(f"no event has a surface {pixel.target}")
        stored = self._final or place.read()
        every = [value_of(row, self._part(stored, n)) for n in range(place.samples)]
        value = every[pixel.sample or 0]
        if pixel.sample is None and place.samples > 1 and not _unresolved(row):
            value = [float(each) for each in np.mean(every, axis=0)]
        return History(
            pixel.target, pixel.index, pixel.x, pixel.y, place.surface.format.sdk, pixel.sample,
            value, every, self._entries, *_size(place), tuple(self._idle),
            tuple(self._beside),
        )  # fmt: skip


def _unresolved(row: FormatRow) -> bool:
    """Whether the samples of a format have no mean, so that the first stands for the pixel."""
    return Use.DEPTH in row.uses or holds_integers(row) or not row.channels


def _size(place: Place) -> tuple[int, int]:
    part = place.surface.subresources[place.index]
    return part.width, part.height


def _moved(packet: Packet | None, place: Place, stage: Stage) -> dict[str, Any]:
    """What an entry tells of a copy, resolve, blit or upload: the handle of the surface that is
    read, the rectangles, how a blit turns, and the pixel that was copied to a place; {} for other
    packets.
    """
    found: dict[str, Any] = {}
    source, target = getattr(packet, "source", None), getattr(packet, "target", None)
    surface = source.surface if isinstance(source, Part) else source
    if isinstance(surface, Surface):
        found["source"] = stage.handle(surface)
    # The rectangles of Compose are in buffers.
    if isinstance(target, Part) and not isinstance(packet, packets.Compose):
        found["wrote"] = _rectangle(target)
        if isinstance(source, Part):
            found["read"] = _rectangle(source)
    if isinstance(packet, packets.Blit):
        found["detail"] = ", ".join(_turns(packet))
    if found.get("read") and not found.get("detail"):
        found["origin"] = _origin(found, source, target, place)
    return found


def _origin(
    found: dict[str, Any], source: Any, target: Any, place: Place
) -> tuple[int, int, int, int] | None:
    """The pixel of the rectangle that was read which a place in the other rectangle got; None if
    the place is elsewhere or in a deeper slice.
    """
    there: tuple[int, int] | None = place.x, place.y
    if target.surface is not place.surface:
        there = place.within(target.surface)
        place = msgspec.structs.replace(place, index=0)
    flat = source.box.back - source.box.front == 1 and target.index == place.index
    if not flat or there is None:
        return None
    pixel = copied_pixel(found["read"], found["wrote"], *there)
    return None if pixel is None else (found["source"], source.index, *pixel)


def _rectangle(part: Part) -> Rectangle:
    box = part.box
    return box.left, box.top, box.right, box.bottom


def _turns(blit: packets.Blit) -> Iterator[str]:
    """How a blit mirrors and rotates its source, in this order."""
    if blit.mirror_x:
        yield "mirrored left to right"
    if blit.mirror_y:
        yield "mirrored top to bottom"
    if blit.turns:
        yield f"rotated by {90 * blit.turns} degrees"


# Which packets write a pixel


def _overlap(start: int, size: int, other: int, other_size: int) -> bool:
    return start < other + other_size and other < start + size


def _in_part(part: Part, place: Place) -> bool:
    """Whether a box of texels has the pixel."""
    offset, row = place.offset_in(part.surface), ROWS.get(part.surface.format)
    if offset is None or row is None:
        return False
    level, box = part.surface.subresources[part.index], part.box
    offset -= level.offset - part.surface.subresources[0].offset
    if not 0 <= offset < level.size:
        return False
    back, rest = divmod(offset, level.slice_pitch)
    y, byte = divmod(rest, level.pitch)
    x = byte // (row.size * part.surface.samples) * row.block[0]
    y *= row.block[1]
    return box.left <= x < box.right and box.top <= y < box.bottom and box.front <= back < box.back


def _cleared(packet: packets.Clear, place: Place) -> bool:
    found = [*packet.colors] if packet.color is not None else []
    if packet.z is not None or packet.stencil is not None:
        found.append(packet.depth)
    for surface in found:
        where = None if surface is None else place.within(surface)
        if where is not None:
            x, y = where
            if any(r.left <= x < r.right and r.top <= y < r.bottom for r in packet.rects):
                return True
    return False


def _in_bytes(surface: Surface, start: int, size: int, place: Place) -> bool:
    offset = place.offset_in(surface)
    return offset is not None and _overlap(start, size, offset, place.size)


def _in_surface(surface: Surface, place: Place) -> bool:
    return place.offset_in(surface) is not None


_COVERING: dict[type[Any], Callable[[Any, Place], bool]] = {
    packets.Clear: _cleared,
    packets.ClearUnordered: lambda packet, place: _in_surface(packet.view.surface, place),
    packets.Copy: lambda packet, place: _in_part(packet.target, place),
    packets.Blit: lambda packet, place: _in_part(packet.target, place),
    packets.Write: lambda packet, place: _in_part(packet.target, place),
    packets.CopyBytes: lambda packet, place: _in_bytes(
        packet.target, packet.target_offset, packet.size, place
    ),
    packets.WriteBytes: lambda packet, place: _in_bytes(
        packet.target, packet.offset, len(packet.data), place
    ),
    packets.Swap: lambda packet, place: (
        _in_surface(packet.one, place) or _in_surface(packet.other, place)
    ),
}
"""Functions that tell whether a packet writes a pixel, even with the same bits; of others what
changes counts."""
