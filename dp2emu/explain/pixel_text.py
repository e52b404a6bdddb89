"""The history of a pixel as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from dp2emu.escaping import plain
from dp2emu.explain.events import Event
from dp2emu.explain.pixel_fragment import Verdict
from dp2emu.explain.pixel_history import Entry, History, Rectangle
from dp2emu.explain.pixel_place import Number

_LISTED = 20
"""Maximum number of draws beside the pixel that are listed."""


def lines_of(history: History, file: str = "FILE") -> Iterator[str]:
    """The lines of a history: the target, each event, its fragments, and the value at the end.

    ``file`` is the capture's name in commands that they tell.
    """
    part = f", subresource {history.index}" if history.index else ""
    size = f"{history.width} x {history.height}"
    yield (
        f"surface {history.target}{part}, {plain(history.format)}, {size}: "
        f"pixel {history.x}, {history.y}"
    )  # fmt: skip
    many = len(history.values) > 1
    told = {event.number: _idle(event) for event in history.idle}
    for event, entries in groupby(history.entries, attrgetter("event")):
        found = list(entries)
        told[event.number] = [*_touched(event, found, many=many), *_source(found[0], file)]
    for _, lines in sorted(told.items()):
        yield from lines
    if not history.entries:
        yield "no event touched it"
    if history.beside:
        places = " ".join(event.address for event in history.beside[:_LISTED])
        more = len(history.beside) - _LISTED
        yield f"draws beside it: {places}" + (f" and {more} more" if more > 0 else "")
    chosen = "" if history.sample is None or not many else f" of sample {history.sample}"
    yield f"value{chosen}: {_numbers(history.value)}"


def _idle(event: Event) -> list[str]:
    return [_head(event), f"    does nothing: {event.text}"]


def _touched(event: Event, entries: Sequence[Entry], *, many: bool) -> list[str]:
    lines = [_head(event) + _moved(entries[0])]
    for alike, run in groupby(entries, lambda entry: _alike(entry, many=many)):
        found = list(run)
        if alike is not None and len(found) > 1:
            lines.append(f"    {_run(found, many=many)}")
        else:
            lines += [f"    {_entry(entry, many=many)}" for entry in found]
    return lines


_WITHOUT_FRAGMENT = {Verdict.COVERAGE, Verdict.CLIPPED, Verdict.CULLED, Verdict.SCISSOR}
"""Verdicts on primitives that have no fragment at the sample, unless its program ran."""


def _alike(entry: Entry, *, many: bool) -> tuple[object, ...] | None:
    """What the entries of a line have in common: with many samples all but the sample, else the
    verdict on primitives without a fragment; None of an entry that has a line of its own.
    """
    facts = tuple(_facts(entry))
    common = entry.instance, entry.verdict, entry.detail
    if many:
        return *common, entry.primitive, facts
    return None if facts or entry.verdict not in _WITHOUT_FRAGMENT else common


def _run(entries: Sequence[Entry], *, many: bool) -> str:
    """The line of primitives that follow each other, or of samples that are alike."""
    first = entries[0]
    what = _listed("samples", entries, "sample")
    if not many:
        what = _listed("primitives", entries, "primitive")
    elif first.primitive is not None:
        what = f"primitive {first.primitive}, {what}"
    instance = f"instance {first.instance}, " if first.instance else ""
    return "; ".join([f"{instance}{what}: {_verdict(first)}", *_facts(first)])


def _verdict(entry: Entry) -> str:
    return entry.verdict.value + (f" ({entry.detail})" if entry.detail else "")


def _listed(noun: str, entries: Sequence[Entry], key: str) -> str:
    """The numbers of entries: ``primitives 0 to 3`` or ``primitives 0, 2``."""
    numbers = [getattr(entry, key) for entry in entries]
    if numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{noun} {numbers[0]} to {numbers[-1]}"
    return f"{noun} {', '.join(map(str, numbers))}"


def _head(event: Event) -> str:
    api = "" if event.api_call is None else f"  @{event.api_call}"
    place = f"{event.address}  frame {event.frame}  {event.place}{api}"
    return f"{place}  {event.kind.value}  {plain(event.name)}"


def _moved(entry: Entry) -> str:
    """The surface that an event read, and the rectangles from which and to which it copied."""
    source = "" if entry.source is None else f" from surface {entry.source}"
    if entry.wrote is None:
        return source
    read = "" if entry.read is None else f", {_corners(entry.read)}"
    return f"{source}{read} to {_corners(entry.wrote)}"


def _source(entry: Entry, file: str) -> Iterator[str]:
    """The line of the pixel that an event copied, with the command for its history."""
    if entry.origin is not None:
        surface, index, x, y = entry.origin
        part = f" --subresource {index}" if index else ""
        words = f"{x} {y} --target {surface}{part} --at {entry.event.address}"
        yield f"    copied from pixel {x}, {y}: dp2emu pixel {plain(file)} {words}"


def _corners(rectangle: Rectangle) -> str:
    left, top, right, bottom = rectangle
    return f"{left},{top}-{right},{bottom}"


def _entry(entry: Entry, *, many: bool) -> str:
    parts = []
    if entry.primitive is not None:
        instance = f"instance {entry.instance}, " if entry.instance else ""
        parts.append(f"{instance}primitive {entry.primitive}")
    if many:
        parts.append(f"sample {entry.sample}")
    verdict = _verdict(entry)
    head = f"{', '.join(parts)}: {verdict}" if parts else verdict
    return "; ".join([head, *_facts(entry)])


def _facts(entry: Entry) -> Iterator[str]:
    """What is known of an entry: tests, program and stored values."""
    if entry.stencil is not None:
        test = entry.stencil
        yield (
            f"stencil {test.before} -> {test.after}: {test.function} {test.reference} "
            f"{'passes' if test.passed else 'fails'}, {test.operation}"
        )
    if entry.depth is not None:
        seen = entry.depth
        yield (
            f"depth {seen.incoming:.9g} {seen.function} {seen.before:.9g} "
            f"{'passes' if seen.passed else 'fails'}, now {seen.after:.9g}"
        )
    if entry.output is not None:
        yield f"program {_numbers(entry.output)}"
    if entry.before != entry.after:
        yield f"{_numbers(entry.before)} -> {_numbers(entry.after)}"
    elif entry.verdict is Verdict.WRITTEN:
        yield f"{_numbers(entry.after)} as before"
    if entry.overwritten is not None:
        yield f"overwritten by {entry.overwritten}"


def _numbers(numbers: Sequence[Number]) -> str:
    return " ".join(f"{n:.6g}" if isinstance(n, float) else str(n) for n in numbers)
