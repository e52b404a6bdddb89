"""Minimizing a capture that fails: fewer calls and records, then tokens, then bytes.

Delta debugging: runs of parts are left out, first halves, then quarters, down to single parts,
from the end, since later parts seldom affect earlier ones.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from dp2emu.capture import CaptureWriter
from dp2emu.capture.records import Answered, Called, EntryCalled, MemoryWritten, Record
from dp2emu.capture.values import Structure, Value
from dp2emu.dp2.stream import CommandStream
from dp2emu.errors import UsageError
from dp2emu.outputs import temporary_folder, whole_output
from dp2emu.process.child import Command, split_command
from dp2emu.text.contexts import Contexts

_T = TypeVar("_T")


class Budget:
    """Number of trials that are left to a minimization.  Mutable: it decreases."""

    def __init__(self, tries: int) -> None:
        self.left = tries

    def spend(self) -> bool:
        """Count one more trial; returns whether one was left."""
        self.left -= 1
        return self.left >= 0


def shrink(parts: Sequence[_T], still: Callable[[Sequence[_T]], bool], budget: Budget) -> list[_T]:
    """Return the fewest parts found, in order, for which ``still`` is true.

    >>> shrink(range(100), lambda some: {3, 77} <= set(some), Budget(1000))
    [3, 77]
    """
    kept = list(parts)
    size = max(len(kept) // 2, 1)
    while kept and budget.left > 0:
        before = len(kept)
        kept = _without(kept, size, still, budget)
        if size == 1 and len(kept) == before:
            break
        size = max(min(size, len(kept)) // 2, 1)
    return kept


def _without(
    parts: list[_T], size: int, still: Callable[[Sequence[_T]], bool], budget: Budget
) -> list[_T]:
    """Return ``parts`` without the runs of ``size`` parts that can be left out one after the
    other, from the end, such that ``still`` is true for the parts left.
    """
    end = len(parts)
    while end > 0:
        start = max(end - size, 0)
        fewer = parts[:start] + parts[end:]
        if not budget.spend():
            break
        if still(fewer):
            parts = fewer
        end = start
    return parts


def shrink_bytes(data: bytes, still: Callable[[bytes], bool], budget: Budget) -> bytes:
    """Return the fewest bytes found for which ``still`` is true, as many of them zero as possible.

    >>> shrink_bytes(b"one two three", lambda some: b"two" in some, Budget(1000))
    b'two'
    """
    kept = bytes(shrink(data, lambda some: still(bytes(some)), budget))
    for at, byte in enumerate(kept):
        plainer = kept[:at] + b"\0" + kept[at + 1 :]
        if byte and budget.spend() and still(plainer):
            kept = plainer
    return kept


TRIES = 5000
"""Default of the maximum number of captures that are tried."""
_PLACEHOLDER = "{}"
_TIMED_OUT = -1 << 16
Fails = Callable[[Sequence[Record]], bool]


class Check:
    """A command that checks whether a smaller capture fails with the exit code of the original.

    Mutable: ``first`` stores the original's exit code.  ``command`` is split as a shell does;
    ``{}`` is replaced by the capture's path, which otherwise is the last argument.  A run of more
    than ``timeout`` seconds is ended and counts as an exit code different from all others.
    """

    def __init__(self, command: str, timeout: float = 60.0) -> None:
        words = split_command(command, "a check")
        if not any(_PLACEHOLDER in word for word in words):
            words.append(_PLACEHOLDER)
        self._words = words
        self._shown = repr(command)
        self._timeout = timeout
        self._failure: int | None = None
        self._open = ExitStack()
        self._folder = self._open.enter_context(temporary_folder("dp2emu-minimize-"))

    def first(self, records: Sequence[Record]) -> bool:
        """Run the command on the capture to be minimized; returns whether it fails."""
        self._failure = self._run(records)
        return self._failure != 0

    def require(self, records: Sequence[Record], name: str) -> None:
        """Check that capture ``name`` with these records can be minimized.

        Raises UsageError if it has no record, if it does not fail, and if a capture without
        records fails in the same way: then the command does not examine its file.
        """
        if not records:
            raise UsageError(f"{name} has no record to leave out")
        if not self.first(records):
            raise UsageError(f"{name} does not fail the check: {self._shown} ends with 0 for it")
        if self([]):
            raise UsageError(
                f"the check does not depend on the capture: {self._shown} {self._ending} "
                f"for an empty capture as for {name}"
            )

    @property
    def _ending(self) -> str:
        timed_out = self._failure == _TIMED_OUT
        return "takes too long" if timed_out else f"ends with {self._failure}"

    def __call__(self, records: Sequence[Record]) -> bool:
        return self._run(records) == self._failure

    def close(self) -> None:
        """Delete the temporary folder, which has the capture that the command was last run on."""
        self._open.close()

    def _run(self, records: Sequence[Record]) -> int:
        path = self._folder / "tried.dp2"
        save(records, path)
        words = [word.replace(_PLACEHOLDER, str(path)) for word in self._words]
        null = subprocess.DEVNULL
        try:
            process = Command(words, group=True, stdin=null, stdout=null, stderr=null)
        except OSError as error:
            raise UsageError(f"{words[0]}: {error.strerror}") from None
        try:
            return process.wait(self._timeout)
        except subprocess.TimeoutExpired:
            return _TIMED_OUT
        finally:
            process.close()  # also ends what the command has left running


def save(records: Iterable[Record], path: Path) -> None:
    """Write records as a sealed capture, atomically.  Raises OSError."""
    with whole_output(path) as file, CaptureWriter(file) as writer:
        for record in records:
            writer.write(record)


def minimize(
    records: Sequence[Record], fails: Fails, tries: int = TRIES, *, whole_tokens: bool = False
) -> list[Record]:
    """Return few and small records for which ``fails`` is still true, as it is for ``records``.

    With ``whole_tokens`` records and tokens are left out, and neither is changed.
    """
    if whole_tokens:
        budget = Budget(tries)
        return _each(_fewer_records(records, fails, budget), _tokens, fails, budget)
    budget = Budget(tries)
    kept = list(records)
    while True:
        before = kept
        kept = _fewer_records(kept, fails, budget)
        for split in (_tokens, _vertices, _memory, _bytes, _outcome):
            kept = _each(kept, split, fails, budget)
        for kind in (tuple, bytes):
            kept = _entry_values(kept, kind, fails, budget)
        if kept == before or budget.left <= 0:
            return kept


def _fewer_records(records: Sequence[Record], fails: Fails, budget: Budget) -> list[Record]:
    """Return few records for which ``fails`` is true; calls are left out with their answers."""
    groups: list[list[Record]] = []
    for record in records:
        if isinstance(record, Answered) and groups:
            groups[-1].append(record)
        else:
            groups.append([record])
    kept = shrink(groups, lambda some: fails([r for group in some for r in group]), budget)
    return [record for group in kept for record in group]


_Parts = tuple[Any, Callable[[Any], Record]] | None
"""Tuple (a record's bytes or list of parts, function that returns the record with only the bytes
or parts that it is passed), or None for a record without any."""


def _each(
    records: list[Record],
    split: Callable[[Record, Contexts], _Parts],
    fails: Fails,
    budget: Budget,
) -> list[Record]:
    """Return the records, each cut to parts (``split``) with which ``fails`` is still true."""
    kept, contexts = list(records), Contexts()
    for at, record in enumerate(records):
        contexts.see(record)
        found = split(record, contexts)
        if found is None:
            continue
        _shrink_record(kept, at, found, fails, budget)
    return kept


def _shrink_record(
    kept: list[Record], at: int, split: tuple[Any, Callable[[Any], Record]], fails: Fails,
    budget: Budget,
) -> None:  # fmt: skip
    """Replace record ``at`` of ``kept`` by one with few of its parts, with which ``fails`` is
    still true.
    """
    parts, joined = split

    def still(some: Any) -> bool:
        return fails([*kept[:at], joined(some), *kept[at + 1 :]])

    shrinking = shrink_bytes if isinstance(parts, bytes) else shrink
    fewer = shrinking(parts, still, budget)
    if fewer != parts:
        kept[at] = joined(fewer)


def _with(record: Called, commands: bytes) -> Called:
    """Return ``record`` with ``commands`` as its call's command bytes; dwCommandLength is their
    length, or the old value if that was less than both the old and the new length.
    """
    call = record.call
    assert call.commands is not None
    covered = min(call.dwCommandLength, len(commands))
    if call.dwCommandLength == len(call.commands):
        covered = len(commands)
    return replace(record, call=replace(call, commands=commands, dwCommandLength=covered))


def _tokens(record: Record, contexts: Contexts) -> _Parts:
    """Return ``_Parts`` of a call's tokens, bytes each; None for a record without commands."""
    if not isinstance(record, Called) or not record.call.commands:
        return None
    data = record.call.commands
    stream = CommandStream(record.call, data)
    size = contexts.vertex_format(record.call).size
    found = (at for each in stream.stretches(size) for at, *_ in each.commands)
    starts = sorted({0, *(at - stream.start for at in found), len(data)})
    tokens = [data[start:stop] for start, stop in pairwise(starts)]
    return tokens, lambda some: _with(record, b"".join(some))


def _vertices(record: Record, contexts: Contexts) -> _Parts:
    """Return ``_Parts`` of a call's user vertices, as bytes; None for a record without any."""
    if not isinstance(record, Called) or not record.call.vertices:
        return None
    call = record.call
    return call.vertices, lambda some: replace(record, call=replace(call, vertices=some))


def _memory(record: Record, contexts: Contexts) -> _Parts:
    """Return ``_Parts`` of the bytes of a memory write; None for any other record."""
    if not isinstance(record, MemoryWritten) or not record.data:
        return None
    return record.data, lambda some: replace(record, data=some)


def _bytes(record: Record, contexts: Contexts) -> _Parts:
    """Return ``_Parts`` of the command bytes of a call; None for a record without commands."""
    if not isinstance(record, Called) or not record.call.commands:
        return None
    return record.call.commands, lambda some: _with(record, some)


# Calls of the Direct3D 10/11 interface


def _outcome(record: Record, contexts: Contexts) -> _Parts:
    """Return ``_Parts`` of the recorded outcome of a function; None for any other record."""
    if not isinstance(record, EntryCalled):
        return None
    empty: dict[str, Any] = {"result": None, "codes": (), "written": ()}
    parts = [name for name in empty if getattr(record, name) != empty[name]]
    if not parts:
        return None
    return parts, lambda some: replace(record, **{n: empty[n] for n in parts if n not in some})


_Path = tuple[int, ...]
"""Place of a value in the arguments of a call: indices of elements and members, from outside."""


def _entry_values(
    records: list[Record], kind: type[Any], fails: Fails, budget: Budget
) -> list[Record]:
    """Return the records with fewer elements of lists (``kind`` is tuple), or fewer bytes
    (``kind`` is bytes), in arguments of the Direct3D 10/11 interface.
    """
    kept = list(records)
    for at, record in enumerate(records):
        if not isinstance(record, EntryCalled):
            continue
        for path in list(_paths(record.arguments, kind)):
            current = kept[at]
            assert isinstance(current, EntryCalled)
            found = _value_at(current.arguments, path)
            if isinstance(found, kind) and found:
                joined = partial(_with_value, current, path)
                _shrink_record(kept, at, (found, joined), fails, budget)
    return kept


def _paths(values: tuple[Value, ...], kind: type[Any], above: _Path = ()) -> Iterator[_Path]:
    """The paths of all lists, or of all bytes, within ``values``."""
    for number, value in enumerate(values):
        path = (*above, number)
        if isinstance(value, kind):
            yield path
        yield from _paths(_within(value), kind, path)


def _within(value: Value) -> tuple[Value, ...]:
    """The elements of a list or the members of a structure; nothing for another value."""
    if isinstance(value, Structure):
        return value.members
    return value if isinstance(value, tuple) else ()


def _value_at(values: tuple[Value, ...], path: _Path) -> Value:
    """The value at a path, None if it does not exist."""
    first, *rest = path
    if first >= len(values):
        return None
    return _value_at(_within(values[first]), tuple(rest)) if rest else values[first]


def _with_value(record: EntryCalled, path: _Path, value: Any) -> Record:
    """Return ``record`` with another list or other bytes at a path of its arguments."""
    new = tuple(value) if isinstance(value, list) else value
    return replace(record, arguments=_replaced(record.arguments, path, new))


def _replaced(values: tuple[Value, ...], path: _Path, new: Value) -> tuple[Value, ...]:
    first, *rest = path
    old = values[first]
    if rest:
        inner = _replaced(_within(old), tuple(rest), new)
        new = Structure(old.name, inner) if isinstance(old, Structure) else inner
    return (*values[:first], new, *values[first + 1 :])
