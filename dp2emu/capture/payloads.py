"""What a record is as bytes: one head per kind, declared once, the same in every container.

A payload is a fixed little-endian head and then bytes whose lengths the head tells (or, for a
memory write, all that remain).  ``streams/README.rst`` is the specification in words; the sealed
form carries ``describe(kind)`` as its schema.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from enum import IntEnum
from typing import Any, cast

import msgspec
from construct import Struct
from msgspec.structs import astuple

from dp2emu.capture.records import (
    Annotation,
    Answered,
    Blitted,
    Called,
    ColorKeyRemoved,
    ColorKeySet,
    ContextCreated,
    ContextDestroyed,
    EntryCalled,
    Flipped,
    FrameMarker,
    Locked,
    MemoryWritten,
    Observed,
    Pictured,
    PictureKind,
    Record,
    SurfaceCreated,
    SurfaceDestroyed,
)
from dp2emu.capture.values import ENTRY, Value, pack, unpack
from dp2emu.d3d.hal import BY_ABI
from dp2emu.d3d.words import DWORD, QWORD
from dp2emu.dp2.blt import Blt
from dp2emu.dp2.call import Answer, Call
from dp2emu.errors import CaptureError
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.limits import Limits


class Kind(IntEnum):
    """The kinds of record: tag of a log record, channel of a sealed capture."""

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
"""Readers give views, so that a record as large as a chunk is copied once only."""

Entry = tuple[Kind, int, Payload]
"""A record as containers hold it: kind, time in ticks, payload."""

DESTROYED, CREATED = 0, 1
"""``event`` of context, surface and colour key payloads."""

PAYLOAD_BYTES = Limits().chunk_bytes - (64 << 10)
"""Largest payload written, so that its chunk stays within the default limit of readers."""

MEMORY_PIECE = 16 << 20
"""Bytes of a memory write beyond which writers store it as several."""

_LONGEST_NAME = 128
"""Bytes of the name of a function."""
_PARTS = 4
"""What the values of an entry are: arguments, result, codes, and memory that was written."""

HAS_COMMANDS, HAS_VERTICES = 1, 2
"""``present`` of a call payload: empty memory and no memory are not the same."""


class Head:
    """A record of unsigned integers: the construct that declares it and a fast reading of it."""

    def __init__(self, declaration: Any) -> None:
        self.declaration = declaration
        self.names: tuple[str, ...] = tuple(field.name for field in declaration.subcons)
        letters = [field.subcon.fmtstr for field in declaration.subcons]
        self._struct = struct.Struct("<" + "".join(letter.lstrip("<") for letter in letters))
        self.size = self._struct.size

    def pack(self, *values: int) -> bytes:
        """The head's bytes.  Raises CaptureError naming the value that does not fit its field."""
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
    kind, pack = _packing(record)
    time = record.answer.time if isinstance(record, Answered) else record.time
    if not 0 <= time < 1 << 64:
        raise CaptureError(f"time {time} does not fit 8 bytes")
    return kind, time, pack(record)


def _packing(record: Record) -> tuple[Kind, Callable[[Any], bytes]]:
    if isinstance(record, SurfaceCreated) and record.desc.managed:
        return Kind.MANAGED, _pack_managed
    if isinstance(record, SurfaceCreated) and not _plain(record.desc):
        return Kind.TEXTURE, _pack_texture
    return _PACK[type(record)]


def _plain(desc: SurfaceDesc) -> bool:
    """Whether a surface has a single level, of its own and without slices."""
    return (desc.depth, desc.levels, desc.parent, desc.index) == (1, 1, 0, 0)


def entries(record: Record) -> list[Entry]:
    """What a writer stores for a record: one entry, or several for a huge memory write.

    The pieces of a split write do the same one after the other.  Raises CaptureError like
    ``encode``, and for a record that no reader with default limits would take.
    """
    stored = [encode(piece) for piece in _pieces(record)]
    for _, _, payload in stored:
        if len(payload) > PAYLOAD_BYTES:
            raise CaptureError(f"record of {len(payload)} bytes, more than {PAYLOAD_BYTES}")
    return stored


def _pieces(record: Record) -> list[Record]:
    if not isinstance(record, MemoryWritten) or len(record.data) <= MEMORY_PIECE:
        return [record]
    handle, offset, data, time = record.handle, record.offset, record.data, record.time
    return [
        MemoryWritten(handle, offset + at, data[at : at + MEMORY_PIECE], time)
        for at in range(0, len(data), MEMORY_PIECE)
    ]


def decode(kind: Kind, time: int, payload: Payload) -> Record:
    """The record of an entry.  Raises CaptureError if the payload is none of that kind."""
    return LAYOUTS[kind].unpack(payload, time)


def describe(kind: Kind) -> bytes:
    """The fields of a payload, one a line: name and type.  ASCII."""
    layout = LAYOUTS[kind]
    lines = [f"{field.name} u{8 * field.sizeof()}" for field in layout.head.declaration.subcons]
    return "\n".join([*lines, *layout.tails]).encode("ascii")


def _pack_context_created(record: ContextCreated) -> bytes:
    return _CONTEXT.pack(CREATED, record.interface, record.context, record.color, record.depth)


def _pack_context_destroyed(record: ContextDestroyed) -> bytes:
    return _CONTEXT.pack(DESTROYED, 0, record.context, 0, 0)


def _unpack_context(payload: Payload, time: int) -> Record:
    event, interface, context, color, depth = _CONTEXT.unpack(payload)
    _split(payload, _CONTEXT.size)
    if _created(event):
        return ContextCreated(context, interface, color, depth, time)
    return ContextDestroyed(context, time)


def _pack_surface_created(record: SurfaceCreated) -> bytes:
    desc = record.desc
    return _SURFACE.pack(
        CREATED, desc.kind, desc.handle, desc.width, desc.height,
        desc.format, desc.pitch, desc.samples, desc.usage,
    )  # fmt: skip


def _pack_surface_destroyed(record: SurfaceDestroyed) -> bytes:
    return _SURFACE.pack(DESTROYED, 0, record.handle, 0, 0, 0, 0, 0, 0)


def _unpack_surface(payload: Payload, time: int) -> Record:
    event, kind, handle, width, height, format, pitch, samples, usage = _SURFACE.unpack(payload)
    _split(payload, _SURFACE.size)
    if not _created(event):
        return SurfaceDestroyed(handle, time)
    known = _surface_kind(handle, kind)
    desc = SurfaceDesc(handle, known, width, height, format, pitch, samples, usage)
    return SurfaceCreated(desc, time)


def _surface_kind(handle: int, kind: int) -> SurfaceKind:
    if kind not in SurfaceKind._value2member_map_:
        raise CaptureError(f"surface {handle} is of unknown kind {kind}")
    return SurfaceKind(kind)


def _pack_texture(record: SurfaceCreated) -> bytes:
    return _TEXTURE.pack(*[getattr(record.desc, name) for name in _TEXTURE.names])


def _unpack_texture(payload: Payload, time: int) -> Record:
    return SurfaceCreated(SurfaceDesc(**_texture_fields(_TEXTURE, payload)), time)


def _pack_managed(record: SurfaceCreated) -> bytes:
    desc = record.desc
    if (desc.managed, desc.parent, desc.index) != (1, 0, 0):
        what = f"managed {desc.managed}, level {desc.index} of {desc.parent}"
        raise CaptureError(f"surface {desc.handle}: {what}")
    return _MANAGED.pack(*[getattr(desc, name) for name in _MANAGED.names])


def _unpack_managed(payload: Payload, time: int) -> Record:
    return SurfaceCreated(SurfaceDesc(**_texture_fields(_MANAGED, payload), managed=1), time)


def _texture_fields(head: Head, payload: Payload) -> dict[str, Any]:
    """The head's values by their names in ``SurfaceDesc``."""
    fields: dict[str, Any] = dict(zip(head.names, head.unpack(payload), strict=True))
    _split(payload, head.size)
    fields["kind"] = _surface_kind(fields["handle"], fields["kind"])
    return fields


def _pack_color_key_set(record: ColorKeySet) -> bytes:
    return _COLOR_KEY.pack(CREATED, record.low, record.high, record.handle)


def _pack_color_key_removed(record: ColorKeyRemoved) -> bytes:
    return _COLOR_KEY.pack(DESTROYED, 0, 0, record.handle)


def _unpack_color_key(payload: Payload, time: int) -> Record:
    event, low, high, handle = _COLOR_KEY.unpack(payload)
    _split(payload, _COLOR_KEY.size)
    return (
        ColorKeySet(handle, low, high, time) if _created(event) else ColorKeyRemoved(handle, time)
    )


def _pack_flip(record: Flipped) -> bytes:
    return _FLIP.pack(record.front, record.back)


def _unpack_flip(payload: Payload, time: int) -> Record:
    front, back = _FLIP.unpack(payload)
    _split(payload, _FLIP.size)
    return Flipped(front, back, time)


def _pack_blit(record: Blitted) -> bytes:
    return _BLIT.pack(*astuple(record.blt))


def _unpack_blit(payload: Payload, time: int) -> Record:
    values = _BLIT.unpack(payload)
    _split(payload, _BLIT.size)
    return Blitted(Blt(*values), time)


def _pack_lock(record: Locked) -> bytes:
    return _LOCK.pack(record.handle)


def _unpack_lock(payload: Payload, time: int) -> Record:
    (handle,) = _LOCK.unpack(payload)
    _split(payload, _LOCK.size)
    return Locked(handle, time)


def _pack_memory(record: MemoryWritten) -> bytes:
    return _MEMORY.pack(record.handle, record.offset) + record.data


def _unpack_memory(payload: Payload, time: int) -> Record:
    handle, offset = _MEMORY.unpack(payload)
    return MemoryWritten(handle, offset, bytes(payload[_MEMORY.size :]), time)


def _pack_call(record: Called) -> bytes:
    call = record.call
    if record.abi not in _DATA:
        raise CaptureError(f"abi {record.abi} is neither 32 nor 64")
    data = _DATA[record.abi]
    commands, vertices = call.commands or b"", call.vertices or b""
    present = HAS_COMMANDS * (call.commands is not None)
    present |= HAS_VERTICES * (call.vertices is not None)
    return b"".join(
        (
            _CALL.pack(record.abi, present, len(commands), len(vertices)),
            data.pack(*[getattr(call, name, 0) for name in data.names]),
            commands,
            vertices,
        )
    )


def _unpack_call(payload: Payload, time: int) -> Record:
    abi, present, command_bytes, vertex_bytes = _CALL.unpack(payload)
    if abi not in _DATA:
        raise CaptureError(f"call of abi {abi}")
    if present & ~(HAS_COMMANDS | HAS_VERTICES):
        raise CaptureError(f"call with unknown bits in present, {present:#x}")
    data = _DATA[abi]
    _, raw, commands, vertices = _split(
        payload, _CALL.size, data.size, command_bytes, vertex_bytes
    )
    fields = dict(zip(data.names, data.unpack(raw), strict=True))
    del fields["dwErrorOffset"]  # the driver's to write; what the caller left there means nothing
    call = Call(
        **fields,
        commands=_present(commands, present & HAS_COMMANDS),
        vertices=_present(vertices, present & HAS_VERTICES),
    )
    return Called(call, abi, time)


def _pack_answer(record: Answered) -> bytes:
    answer = record.answer
    head = _ANSWER.pack(answer.ddrval, answer.dwErrorOffset, answer.dwFlags, len(answer.response))
    return head + answer.response


def _unpack_answer(payload: Payload, time: int) -> Record:
    ddrval, error_offset, flags, response_bytes = _ANSWER.unpack(payload)
    _, response = _split(payload, _ANSWER.size, response_bytes)
    return Answered(Answer(ddrval, error_offset, time, bytes(response), flags))


def _pack_frame(record: FrameMarker) -> bytes:
    return _FRAME.pack(record.frame, record.surface)


def _unpack_frame(payload: Payload, time: int) -> Record:
    frame, surface = _FRAME.unpack(payload)
    _split(payload, _FRAME.size)
    return FrameMarker(frame, surface, time)


def _pack_annotation(record: Annotation) -> bytes:
    try:
        key, text = record.key.encode(), record.text.encode()
    except UnicodeEncodeError as error:
        raise CaptureError(f"annotation {record.key!a} is not text: {error.reason}") from error
    return _ANNOTATION.pack(len(key), len(text)) + key + text


def _unpack_annotation(payload: Payload, time: int) -> Record:
    _, key, text = _split(payload, _ANNOTATION.size, *_ANNOTATION.unpack(payload))
    try:
        return Annotation(str(key, "utf-8"), str(text, "utf-8"), time)
    except UnicodeDecodeError as error:
        raise CaptureError(f"annotation is not UTF-8: {error.reason}") from error


def _pack_picture(record: Pictured) -> bytes:
    how = _picture_kind(record.call, record.how)
    head = _PICTURE.pack(record.call, how, record.index, record.handle)
    return head + record.data


def _unpack_picture(payload: Payload, time: int) -> Record:
    call, how, index, handle = _PICTURE.unpack(payload)
    data = bytes(payload[_PICTURE.size :])
    return Pictured(call, _picture_kind(call, how), handle, index, data, time)


def _picture_kind(call: int, how: int) -> int:
    if how not in PictureKind._value2member_map_:
        raise CaptureError(f"picture of call {call} is of unknown kind {how}")
    return how


def _pack_observation(record: Observed) -> bytes:
    head = _OBSERVATION.pack(record.call, record.context, record.query, record.hr)
    return head + record.data


def _unpack_observation(payload: Payload, time: int) -> Record:
    call, context, query, hr = _OBSERVATION.unpack(payload)
    return Observed(call, context, query, hr, bytes(payload[_OBSERVATION.size :]), time)


def _pack_entry(record: EntryCalled) -> bytes:
    if not ENTRY.fullmatch(record.entry):
        raise CaptureError(f"{record.entry[:40]!a} names no function")
    parts = (record.arguments, record.result, record.codes, record.written)
    values = pack(_outcome(parts))
    name = record.entry.encode()
    return _ENTRY.pack(record.device, record.interface, len(name), len(values)) + name + values


def _unpack_entry(payload: Payload, time: int) -> Record:
    device, interface, name_bytes, value_bytes = _ENTRY.unpack(payload)
    _, name, data = _split(payload, _ENTRY.size, name_bytes, value_bytes)
    entry = str(name[:_LONGEST_NAME], "latin-1")
    if name_bytes > _LONGEST_NAME or not ENTRY.fullmatch(entry):
        raise CaptureError(f"{entry[:40]!a} names no function")
    arguments, result, codes, written = _outcome(unpack(data))
    return EntryCalled(device, interface, entry, arguments, result, codes, written, time)


_Outcome = tuple[tuple[Value, ...], Value, tuple[int, ...], tuple[tuple[int, bytes], ...]]


def _outcome(value: Value) -> _Outcome:
    """Arguments, result, codes and written memory of an entry, if a value is that."""
    if not isinstance(value, tuple) or len(value) != _PARTS:
        raise CaptureError("an entry whose values are no list of four")
    arguments, result, codes, written = value
    lists = (arguments, codes, written)
    if not all(isinstance(part, tuple) for part in lists):
        raise CaptureError("arguments, codes and written memory of an entry are lists")
    numbers = all(isinstance(code, int) for code in cast(tuple[Value, ...], codes))
    if not numbers or not all(map(_is_written, cast(tuple[Value, ...], written))):
        raise CaptureError("codes are numbers, and written memory its number and bytes")
    return cast(_Outcome, (arguments, result, codes, written))


def _is_written(value: Value) -> bool:
    types = [type(part) for part in value] if isinstance(value, tuple) else []
    return types == [int, bytes]


def _split(payload: Payload, *sizes: int) -> list[Payload]:
    """The payload cut into pieces of these sizes, which must be all of it."""
    if sum(sizes) != len(payload):
        raise CaptureError(f"record of {len(payload)} bytes, its head speaks of {sum(sizes)}")
    pieces: list[Payload] = []
    start = 0
    for size in sizes:
        pieces.append(payload[start : start + size])
        start += size
    return pieces


def _created(event: int) -> bool:
    if event not in (DESTROYED, CREATED):
        raise CaptureError(f"unknown event {event}")
    return event == CREATED


def _present(data: Payload, present: int) -> bytes | None:
    if data and not present:
        raise CaptureError(f"{len(data)} bytes of memory marked as not present")
    return bytes(data) if present else None


class Layout(msgspec.Struct, frozen=True):
    """How one kind of record is laid out: its head, and in words what follows the head."""

    head: Head
    unpack: Callable[[Payload, int], Record]
    tails: tuple[str, ...] = ()


LAYOUTS: dict[Kind, Layout] = {
    Kind.CONTEXT: Layout(_CONTEXT, _unpack_context),
    Kind.SURFACE: Layout(_SURFACE, _unpack_surface),
    Kind.MEMORY: Layout(_MEMORY, _unpack_memory, ("data bytes",)),
    Kind.CALL: Layout(
        _CALL,
        _unpack_call,
        (
            "data D3DHAL_DRAWPRIMITIVES2DATA[abi]",
            "commands bytes[command_bytes]",
            "vertices bytes[vertex_bytes]",
        ),
    ),
    Kind.ANSWER: Layout(_ANSWER, _unpack_answer, ("response bytes[response_bytes]",)),
    Kind.FRAME: Layout(_FRAME, _unpack_frame),
    Kind.ANNOTATION: Layout(
        _ANNOTATION, _unpack_annotation, ("key utf8[key_bytes]", "text utf8[text_bytes]")
    ),
    Kind.TEXTURE: Layout(_TEXTURE, _unpack_texture),
    Kind.COLORKEY: Layout(_COLOR_KEY, _unpack_color_key),
    Kind.FLIP: Layout(_FLIP, _unpack_flip),
    Kind.LOCK: Layout(_LOCK, _unpack_lock),
    Kind.MANAGED: Layout(_MANAGED, _unpack_managed),
    Kind.PICTURE: Layout(_PICTURE, _unpack_picture, ("data bytes",)),
    Kind.OBSERVATION: Layout(_OBSERVATION, _unpack_observation, ("data bytes",)),
    Kind.ENTRY: Layout(
        _ENTRY, _unpack_entry, ("name utf8[name_bytes]", "values value[value_bytes]")
    ),
    Kind.BLIT: Layout(_BLIT, _unpack_blit),
}
"""Every kind of record.  A new kind is a new row here and, of a new record, in ``_PACK``."""

_PACK: dict[type, tuple[Kind, Callable[[Any], bytes]]] = {
    ContextCreated: (Kind.CONTEXT, _pack_context_created),
    ContextDestroyed: (Kind.CONTEXT, _pack_context_destroyed),
    SurfaceCreated: (Kind.SURFACE, _pack_surface_created),
    SurfaceDestroyed: (Kind.SURFACE, _pack_surface_destroyed),
    ColorKeySet: (Kind.COLORKEY, _pack_color_key_set),
    ColorKeyRemoved: (Kind.COLORKEY, _pack_color_key_removed),
    Flipped: (Kind.FLIP, _pack_flip),
    Locked: (Kind.LOCK, _pack_lock),
    Blitted: (Kind.BLIT, _pack_blit),
    MemoryWritten: (Kind.MEMORY, _pack_memory),
    Called: (Kind.CALL, _pack_call),
    Answered: (Kind.ANSWER, _pack_answer),
    FrameMarker: (Kind.FRAME, _pack_frame),
    Annotation: (Kind.ANNOTATION, _pack_annotation),
    Pictured: (Kind.PICTURE, _pack_picture),
    Observed: (Kind.OBSERVATION, _pack_observation),
    EntryCalled: (Kind.ENTRY, _pack_entry),
}
