"""Binary layout of capture records: one head per kind, the same in every container.

A payload is a fixed little-endian head, then byte strings whose lengths are in the head, or a
single one up to the end of the payload.  ``streams/README.rst`` specifies it; the schema of a
sealed capture is ``describe(kind)``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from enum import IntEnum
from functools import lru_cache
from itertools import accumulate
from operator import attrgetter
from typing import Any, cast

import msgspec
from construct import Struct
from msgspec.structs import astuple

from dp2emu.capture import records
from dp2emu.capture.records import Record
from dp2emu.capture.values import ENTRY, Value, pack, unpack
from dp2emu.d3d.hal import BY_ABI
from dp2emu.d3d.words import DWORD, QWORD
from dp2emu.dp2.blt import Blt
from dp2emu.dp2.call import Answer, Call
from dp2emu.errors import CaptureError
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.limits import Limits


class Kind(IntEnum):
    """Kinds of record: the tag in a raw log, the channel in a sealed capture."""

    CONTEXT = 1
    SURFACE = 2
    MEMORY = 3
    CALL = 4
    ANSWER = 5
    FRAME = 6
    ANNOTATION = 7
    TEXTURE = 8
    COLORKEY = 9
    FLIP = 10
    LOCK = 11
    MANAGED = 12
    PICTURE = 13
    OBSERVATION = 14
    BLIT = 15
    ENTRY = 16


Payload = bytes | memoryview
"""Type of the bytes of a record.  Readers pass memory views, so that a record as large as a chunk
is copied only once."""

Entry = tuple[Kind, int, Payload]
"""A record as stored in a container: kind, time in ticks, payload."""

DESTROYED, CREATED = 0, 1
"""Values of ``event`` in the payloads of contexts, surfaces and colour keys."""

PAYLOAD_BYTES = Limits().chunk_bytes - (64 << 10)
"""Largest payload written, so that its chunk stays within the default limit of readers."""

MEMORY_PIECE = 16 << 20
"""Largest number of bytes in one record of a memory write; a longer write becomes several."""

_LONGEST_NAME = 128
"""Largest size in bytes of the function name in the payload of an EntryCalled record."""
_PARTS = 4
"""Number of values in the payload of an EntryCalled record: arguments, result, error codes and
written memory.  The number of the program's API call, if known, is one more."""

HAS_COMMANDS, HAS_VERTICES = 1, 2
"""Bits of ``present`` in a call's payload: it has command bytes; it has vertex bytes (even 0)."""


class Head:
    """Codec of a payload's fixed head: the unsigned integers that a construct Struct declares."""

    def __init__(self, declaration: Any) -> None:
        self.declaration = declaration
        self.names: tuple[str, ...] = tuple(field.name for field in declaration.subcons)
        letters = [field.subcon.fmtstr.lstrip("<") for field in declaration.subcons]
        self._struct = struct.Struct("<" + "".join(letters))
        self.size = self._struct.size

    def pack(self, *values: int) -> bytes:
        """The head's bytes.  Raises CaptureError that names a value too large for its field."""
        try:
            return self._struct.pack(*values)
        except struct.error as error:
            raise CaptureError(self._misfit(values)) from error

    def unpack(self, payload: Payload) -> tuple[int, ...]:
        """The values at the start of a payload.  Raises CaptureError if it is too short."""
        if len(payload) < self.size:
            raise CaptureError(f"record of {len(payload)} bytes needs {self.size} for its head")
        return self._struct.unpack_from(payload)

    def _misfit(self, values: tuple[int, ...]) -> str:
        for field, value in zip(self.declaration.subcons, values, strict=True):
            if not 0 <= value < 1 << 8 * field.sizeof():
                return f"{field.name} {value:#x} does not fit {field.sizeof()} bytes"
        return f"{values} are not the integers {self.names}"


_CONTEXT = Head(
    Struct(
        "event" / DWORD, "interface" / DWORD,
        "context" / QWORD, "color" / QWORD, "depth" / QWORD,
    )
)  # fmt: skip
_SURFACE = Head(
    Struct(
        "event" / DWORD, "kind" / DWORD, "handle" / QWORD, "width" / DWORD, "height" / DWORD,
        "format" / DWORD, "pitch" / DWORD, "samples" / DWORD, "usage" / DWORD,
    )
)  # fmt: skip
_TEXTURE = Head(
    Struct(
        "handle" / QWORD, "kind" / DWORD, "width" / DWORD, "height" / DWORD, "format" / DWORD,
        "pitch" / DWORD, "samples" / DWORD, "usage" / DWORD, "depth" / DWORD, "levels" / DWORD,
        "index" / DWORD, "parent" / QWORD,
    )
)  # fmt: skip
_MANAGED = Head(
    Struct(
        "handle" / QWORD, "kind" / DWORD, "width" / DWORD, "height" / DWORD, "format" / DWORD,
        "pitch" / DWORD, "samples" / DWORD, "usage" / DWORD, "depth" / DWORD, "levels" / DWORD,
    )
)  # fmt: skip
_COLOR_KEY = Head(Struct("event" / DWORD, "low" / DWORD, "high" / DWORD, "handle" / QWORD))
_FLIP = Head(Struct("front" / QWORD, "back" / QWORD))
_BLIT = Head(
    Struct(
        *(field / (QWORD if field in ("target", "source") else DWORD)
          for field in Blt.__struct_fields__)
    )
)  # fmt: skip
_LOCK = Head(Struct("handle" / QWORD))
_MEMORY = Head(Struct("handle" / QWORD, "offset" / QWORD))
_CALL = Head(
    Struct("abi" / DWORD, "present" / DWORD, "command_bytes" / DWORD, "vertex_bytes" / DWORD)
)
_DATA = {abi: Head(BY_ABI["D3DHAL_DRAWPRIMITIVES2DATA"](abi)) for abi in (32, 64)}
_inputs = attrgetter(*_DATA[32].names[:-1])
"""A function that returns the fields of a call but the last, dwErrorOffset, which is the driver's;
records of both widths have the same fields."""
_ANSWER = Head(
    Struct("ddrval" / DWORD, "dwErrorOffset" / DWORD, "dwFlags" / DWORD, "response_bytes" / DWORD)
)
_FRAME = Head(Struct("frame" / QWORD, "surface" / QWORD))
_PICTURE = Head(Struct("call" / QWORD, "how" / DWORD, "index" / DWORD, "handle" / QWORD))
_OBSERVATION = Head(Struct("call" / QWORD, "context" / QWORD, "query" / DWORD, "hr" / DWORD))
_ENTRY = Head(
    Struct("device" / QWORD, "interface" / DWORD, "name_bytes" / DWORD, "value_bytes" / DWORD)
)
_ANNOTATION = Head(Struct("key_bytes" / DWORD, "text_bytes" / DWORD))


def encode(record: Record) -> Entry:
    """The kind, time and payload of a record.  Raises CaptureError for values that do not fit."""
    of = type(record)
    kind, pack = _PACK[of] if of is not records.SurfaceCreated else _surface_packing(record)
    time = record.answer.time if of is records.Answered else record.time  # type: ignore[union-attr]
    if not 0 <= time < 1 << 64:
        raise CaptureError(f"time {time} does not fit 8 bytes")
    return kind, time, pack(record)


def _surface_packing(record: Any) -> tuple[Kind, Callable[[Any], bytes]]:
    if record.desc.managed:
        return Kind.MANAGED, _pack_managed
    if not _is_plain(record.desc):
        return Kind.TEXTURE, _pack_texture
    return _PACK[records.SurfaceCreated]


def _is_plain(desc: SurfaceDesc) -> bool:
    """Whether a surface is a single 2D level that belongs to no other surface."""
    return (desc.depth, desc.levels, desc.parent, desc.index) == (1, 1, 0, 0)


def entries(record: Record) -> list[Entry]:
    """The entries that store a record: one, or several for a huge memory write, which is split.

    Raises CaptureError like ``encode``, and for a record that exceeds the default limits of
    readers.
    """
    if type(record) is records.MemoryWritten and len(record.data) > MEMORY_PIECE:
        return list(map(stored, _pieces(record)))
    return [stored(record)]


def stored(record: Record) -> Entry:
    """The entry that stores a record which is no huge memory write; raises as ``entries``."""
    entry = encode(record)
    if len(entry[2]) > PAYLOAD_BYTES:
        raise CaptureError(f"record of {len(entry[2])} bytes, more than {PAYLOAD_BYTES}")
    return entry


def _pieces(record: records.MemoryWritten) -> Iterator[Record]:
    handle, offset, data, time = record.handle, record.offset, record.data, record.time
    for at in range(0, len(data), MEMORY_PIECE):
        piece = data[at : at + MEMORY_PIECE]
        yield records.MemoryWritten(handle, offset + at, piece, time)


def decode(kind: Kind, time: int, payload: Payload) -> Record:
    """The record of an entry.  Raises CaptureError if the payload is malformed."""
    return LAYOUTS[kind].unpack(payload, time)


def describe(kind: Kind) -> bytes:
    """The fields of a payload, one a line: name and type.  ASCII."""
    layout = LAYOUTS[kind]
    lines = [f"{field.name} u{8 * field.sizeof()}" for field in layout.head.declaration.subcons]
    return "\n".join([*lines, *layout.tails]).encode("ascii")


class _Simple:
    """The codec of records whose attributes are the fields of ``head``, optionally then ``data``.

    Two ``types`` of record may share a payload: its first field, ``event``, is then 0 for the
    first type and 1 for the second.  Fields that a record lacks are written as 0.
    """

    def __init__(self, head: Head, *types: type[Any], data: bool = False) -> None:
        self._head, self._types, self._data = head, types, data

    def pack(self, record: Any) -> bytes:
        """Serialize a record's head and data.  Raises CaptureError for values that do not fit."""
        values = [getattr(record, name, 0) for name in self._head.names]
        if len(self._types) > 1:
            values[0] = self._types.index(type(record))
        packed = self._head.pack(*values)
        return packed + record.data if self._data else packed

    def unpack(self, payload: Payload, time: int) -> Record:
        """The record of a payload.  Raises CaptureError for a malformed one."""
        fields = dict(zip(self._head.names, self._head.unpack(payload), strict=True))
        more: dict[str, bytes] = {}
        if self._data:
            more["data"] = bytes(payload[self._head.size :])
        else:
            _split(payload, self._head.size)
        record = self._types[0]
        if len(self._types) > 1:
            record = self._types[_is_created(fields["event"])]
            fields = {name: fields[name] for name in record.__struct_fields__ if name in fields}
        made: Record = record(**fields, **more, time=time)
        return made


_CONTEXTS = _Simple(_CONTEXT, records.ContextDestroyed, records.ContextCreated)
_COLOR_KEYS = _Simple(_COLOR_KEY, records.ColorKeyRemoved, records.ColorKeySet)
_FLIPS = _Simple(_FLIP, records.Flipped)
_LOCKS = _Simple(_LOCK, records.Locked)
_FRAMES = _Simple(_FRAME, records.FrameMarker)
_PICTURES = _Simple(_PICTURE, records.Pictured, data=True)
_OBSERVATIONS = _Simple(_OBSERVATION, records.Observed, data=True)


def _pack_surface_created(record: records.SurfaceCreated) -> bytes:
    return _SURFACE.pack(CREATED, *[getattr(record.desc, name) for name in _SURFACE.names[1:]])


def _pack_surface_destroyed(record: records.SurfaceDestroyed) -> bytes:
    return _SURFACE.pack(DESTROYED, 0, record.handle, 0, 0, 0, 0, 0, 0)


def _unpack_surface(payload: Payload, time: int) -> Record:
    fields = _surface_fields(_SURFACE, payload)
    if not _is_created(fields.pop("event")):
        return records.SurfaceDestroyed(fields["handle"], time)
    return records.SurfaceCreated(SurfaceDesc(**_with_kind(fields)), time)


def _pack_texture(record: records.SurfaceCreated) -> bytes:
    return _TEXTURE.pack(*[getattr(record.desc, name) for name in _TEXTURE.names])


def _unpack_texture(payload: Payload, time: int) -> Record:
    fields = _with_kind(_surface_fields(_TEXTURE, payload))
    return records.SurfaceCreated(SurfaceDesc(**fields), time)


def _pack_managed(record: records.SurfaceCreated) -> bytes:
    desc = record.desc
    if (desc.managed, desc.parent, desc.index) != (1, 0, 0):
        what = f"managed {desc.managed}, level {desc.index} of {desc.parent}"
        raise CaptureError(f"surface {desc.handle}: {what}")
    return _MANAGED.pack(*[getattr(desc, name) for name in _MANAGED.names])


def _unpack_managed(payload: Payload, time: int) -> Record:
    fields = _with_kind(_surface_fields(_MANAGED, payload))
    return records.SurfaceCreated(SurfaceDesc(**fields, managed=1), time)


def _surface_fields(head: Head, payload: Payload) -> dict[str, Any]:
    """A surface's payload, which is a head only, as values by their names in ``SurfaceDesc``."""
    fields = dict(zip(head.names, head.unpack(payload), strict=True))
    _split(payload, head.size)
    return fields


def _with_kind(fields: dict[str, Any]) -> dict[str, Any]:
    """Return ``fields`` with ``kind`` as a SurfaceKind; CaptureError for an unknown one."""
    kind = fields["kind"]
    if kind not in SurfaceKind._value2member_map_:
        raise CaptureError(f"surface {fields['handle']} is of unknown kind {kind}")
    return {**fields, "kind": SurfaceKind(kind)}


def _pack_memory(record: records.MemoryWritten) -> bytes:
    return _MEMORY.pack(record.handle, record.offset) + record.data


def _unpack_memory(payload: Payload, time: int) -> Record:
    handle, offset = _MEMORY.unpack(payload)
    return records.MemoryWritten(handle, offset, bytes(payload[_MEMORY.size :]), time)


def _pack_blit(record: records.Blitted) -> bytes:
    return _BLIT.pack(*astuple(record.blt))


def _unpack_blit(payload: Payload, time: int) -> Record:
    values = _BLIT.unpack(payload)
    _split(payload, _BLIT.size)
    return records.Blitted(Blt(*values), time)


def _pack_call(record: records.Called) -> bytes:
    call = record.call
    if record.abi not in _DATA:
        raise CaptureError(f"abi {record.abi} is neither 32 nor 64")
    data = _DATA[record.abi]
    commands, vertices = call.commands or b"", call.vertices or b""
    present = HAS_COMMANDS * (call.commands is not None)
    present |= HAS_VERTICES * (call.vertices is not None)
    head = _CALL.pack(record.abi, present, len(commands), len(vertices))
    fields = data.pack(*_inputs(call), 0)
    return b"".join((head, fields, commands, vertices))


def _unpack_call(payload: Payload, time: int) -> Record:
    abi, present, command_bytes, vertex_bytes = _CALL.unpack(payload)
    if abi not in _DATA:
        raise CaptureError(f"call of abi {abi}")
    if present & ~(HAS_COMMANDS | HAS_VERTICES):
        raise CaptureError(f"call with unknown bits in present, {present:#x}")
    data = _DATA[abi]
    _, raw, *memory = _split(payload, _CALL.size, data.size, command_bytes, vertex_bytes)
    fields = dict(zip(data.names, data.unpack(raw), strict=True))
    del fields["dwErrorOffset"]  # output of the driver: the caller's value is garbage
    commands = _present(memory[0], present & HAS_COMMANDS)
    vertices = _present(memory[1], present & HAS_VERTICES)
    return records.Called(Call(**fields, commands=commands, vertices=vertices), abi, time)


def _pack_answer(record: records.Answered) -> bytes:
    answer = record.answer
    head = _ANSWER.pack(answer.ddrval, answer.dwErrorOffset, answer.dwFlags, len(answer.response))
    return head + answer.response


def _unpack_answer(payload: Payload, time: int) -> Record:
    ddrval, error_offset, flags, response_bytes = _ANSWER.unpack(payload)
    _, response = _split(payload, _ANSWER.size, response_bytes)
    return records.Answered(Answer(ddrval, error_offset, time, bytes(response), flags))


def _pack_annotation(record: records.Annotation) -> bytes:
    try:
        key, text = record.key.encode(), record.text.encode()
    except UnicodeEncodeError as error:
        raise CaptureError(f"annotation {record.key!a} is not text: {error.reason}") from error
    return _ANNOTATION.pack(len(key), len(text)) + key + text


def _unpack_annotation(payload: Payload, time: int) -> Record:
    _, key, text = _split(payload, _ANNOTATION.size, *_ANNOTATION.unpack(payload))
    try:
        return records.Annotation(str(key, "utf-8"), str(text, "utf-8"), time)
    except UnicodeDecodeError as error:
        raise CaptureError(f"annotation is not UTF-8: {error.reason}") from error


def _pack_picture(record: records.Pictured) -> bytes:
    _check_picture(record)
    return _PICTURES.pack(record)


def _unpack_picture(payload: Payload, time: int) -> Record:
    record = _PICTURES.unpack(payload, time)
    _check_picture(cast(records.Pictured, record))
    return record


def _check_picture(record: records.Pictured) -> None:
    if record.how not in records.PictureKind._value2member_map_:
        raise CaptureError(f"picture of call {record.call} is of unknown kind {record.how}")


def _pack_entry(record: records.EntryCalled) -> bytes:
    parts: tuple[Value, ...] = record.arguments, record.result, record.codes, record.written
    if type(record.arguments) is not tuple or (record.codes, record.written) != _NOTHING:
        parts = _outcome(parts)
    if record.call is not None:
        parts = (*parts, _api_call(record.call))
    name, values = _entry_name(record.entry), pack(parts)
    return _ENTRY.pack(record.device, record.interface, len(name), len(values)) + name + values


_NOTHING: tuple[tuple[int, ...], tuple[Value, ...]] = (), ()
"""Error codes and written memory of most calls."""


@lru_cache(maxsize=1024)
def _entry_name(entry: str) -> bytes:
    """The bytes of a function's name.  Raises CaptureError if it names none."""
    if not ENTRY.fullmatch(entry):
        raise CaptureError(f"{entry[:40]!a} names no function")
    return entry.encode()


@lru_cache(maxsize=1024)
def _entry_text(name: bytes) -> str:
    """A function's name from its bytes.  Raises CaptureError if it names none."""
    entry = str(name, "latin-1")
    if len(name) > _LONGEST_NAME or not ENTRY.fullmatch(entry):
        raise CaptureError(f"{entry[:40]!a} names no function")
    return entry


def _unpack_entry(payload: Payload, time: int) -> Record:
    device, interface, name_bytes, value_bytes = _ENTRY.unpack(payload)
    _, name, data = _split(payload, _ENTRY.size, name_bytes, value_bytes)
    entry = _entry_text(bytes(name[: _LONGEST_NAME + 1]))
    parts, call = unpack(data), None
    if isinstance(parts, tuple) and len(parts) == _PARTS + 1:
        parts, call = parts[:_PARTS], _api_call(parts[_PARTS])
    return records.EntryCalled(device, interface, entry, *_outcome(parts), time, call)


def _api_call(value: Value) -> int:
    """The number of an API call.  Raises CaptureError if ``value`` is none of 8 bytes."""
    if not isinstance(value, int) or not 0 <= value < 1 << 64:
        raise CaptureError(f"API call {value!r:.40} is no number of 8 bytes")
    return value


_Outcome = tuple[tuple[Value, ...], Value, tuple[int, ...], tuple[tuple[int, bytes], ...]]


def _outcome(value: Value) -> _Outcome:
    """The value of an EntryCalled's payload as (arguments, result, codes, written memory).

    Raises CaptureError if it is anything else.
    """
    if not isinstance(value, tuple) or len(value) != _PARTS:
        raise CaptureError("an entry whose values are no list of four or five")
    arguments, _, codes, written = value
    if not (
        isinstance(arguments, tuple) and isinstance(codes, tuple) and isinstance(written, tuple)
    ):
        raise CaptureError("arguments, codes and written memory of an entry are lists")
    numbers = not codes or all(isinstance(code, int) for code in codes)
    if not numbers or not all(map(_is_written, written)):
        raise CaptureError("codes are numbers, and written memory its number and bytes")
    return cast(_Outcome, value)


def _is_written(value: Value) -> bool:
    return isinstance(value, tuple) and [type(part) for part in value] == [int, bytes]


def _split(payload: Payload, *sizes: int) -> list[Payload]:
    """Cut a payload into pieces of ``sizes`` bytes; CaptureError unless they add up to it."""
    if sum(sizes) != len(payload):
        raise CaptureError(f"record of {len(payload)} bytes, its head speaks of {sum(sizes)}")
    ends = zip(sizes, accumulate(sizes), strict=True)
    return [payload[end - size : end] for size, end in ends]


def _is_created(event: int) -> bool:
    if event not in (DESTROYED, CREATED):
        raise CaptureError(f"unknown event {event}")
    return event == CREATED


def _present(data: Payload, present: int) -> bytes | None:
    if data and not present:
        raise CaptureError(f"{len(data)} bytes of memory marked as not present")
    return bytes(data) if present else None


class Layout(msgspec.Struct, frozen=True):
    """A payload's layout: codec of its head, function that parses it, texts on later fields."""

    head: Head
    unpack: Callable[[Payload, int], Record]
    tails: tuple[str, ...] = ()


_CALL_TAILS = (
    "data D3DHAL_DRAWPRIMITIVES2DATA[abi]",
    "commands bytes[command_bytes]",
    "vertices bytes[vertex_bytes]",
)
_ANNOTATION_TAILS = ("key utf8[key_bytes]", "text utf8[text_bytes]")
_ENTRY_TAILS = ("name utf8[name_bytes]", "values value[value_bytes]")

LAYOUTS: dict[Kind, Layout] = {
    Kind.CONTEXT: Layout(_CONTEXT, _CONTEXTS.unpack),
    Kind.SURFACE: Layout(_SURFACE, _unpack_surface),
    Kind.MEMORY: Layout(_MEMORY, _unpack_memory, ("data bytes",)),
    Kind.CALL: Layout(_CALL, _unpack_call, _CALL_TAILS),
    Kind.ANSWER: Layout(_ANSWER, _unpack_answer, ("response bytes[response_bytes]",)),
    Kind.FRAME: Layout(_FRAME, _FRAMES.unpack),
    Kind.ANNOTATION: Layout(_ANNOTATION, _unpack_annotation, _ANNOTATION_TAILS),
    Kind.TEXTURE: Layout(_TEXTURE, _unpack_texture),
    Kind.COLORKEY: Layout(_COLOR_KEY, _COLOR_KEYS.unpack),
    Kind.FLIP: Layout(_FLIP, _FLIPS.unpack),
    Kind.LOCK: Layout(_LOCK, _LOCKS.unpack),
    Kind.MANAGED: Layout(_MANAGED, _unpack_managed),
    Kind.PICTURE: Layout(_PICTURE, _unpack_picture, ("data bytes",)),
    Kind.OBSERVATION: Layout(_OBSERVATION, _OBSERVATIONS.unpack, ("data bytes",)),
    Kind.ENTRY: Layout(_ENTRY, _unpack_entry, _ENTRY_TAILS),
    Kind.BLIT: Layout(_BLIT, _unpack_blit),
}
"""The Layout of the payload of each kind of record.  A new type of record also needs an entry in
``_PACK``."""

_PACK: dict[type, tuple[Kind, Callable[[Any], bytes]]] = {
    records.ContextCreated: (Kind.CONTEXT, _CONTEXTS.pack),
    records.ContextDestroyed: (Kind.CONTEXT, _CONTEXTS.pack),
    records.SurfaceCreated: (Kind.SURFACE, _pack_surface_created),
    records.SurfaceDestroyed: (Kind.SURFACE, _pack_surface_destroyed),
    records.ColorKeySet: (Kind.COLORKEY, _COLOR_KEYS.pack),
    records.ColorKeyRemoved: (Kind.COLORKEY, _COLOR_KEYS.pack),
    records.Flipped: (Kind.FLIP, _FLIPS.pack),
    records.Locked: (Kind.LOCK, _LOCKS.pack),
    records.Blitted: (Kind.BLIT, _pack_blit),
    records.MemoryWritten: (Kind.MEMORY, _pack_memory),
    records.Called: (Kind.CALL, _pack_call),
    records.Answered: (Kind.ANSWER, _pack_answer),
    records.FrameMarker: (Kind.FRAME, _FRAMES.pack),
    records.Annotation: (Kind.ANNOTATION, _pack_annotation),
    records.Pictured: (Kind.PICTURE, _pack_picture),
    records.Observed: (Kind.OBSERVATION, _OBSERVATIONS.pack),
    records.EntryCalled: (Kind.ENTRY, _pack_entry),
}
