"""Targets of files and messages: captures, texts, shaders, responses, rigs, traces."""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Callable, Hashable, Iterator
from itertools import islice
from random import Random

from dp2emu.capture import CaptureWriter, LogWriter, open_capture
from dp2emu.capture.apitrace import open_trace
from dp2emu.capture.payloads import Kind
from dp2emu.capture.rawlog import MAGIC, RECORD, pack
from dp2emu.capture.records import Called, Record
from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.parsers import CHECKED
from dp2emu.errors import DecodingDisagreement, Dp2Error, ResponseError
from dp2emu.fuzz import mutations, stage
from dp2emu.fuzz.cost import Bound, Size
from dp2emu.fuzz.growth import Growth, doubled, doubled_lines, repeated
from dp2emu.fuzz.long_shaders import doubled_code, long_shader
from dp2emu.fuzz.mutations import Mutation
from dp2emu.fuzz.target import Broken, Target
from dp2emu.limits import FUZZING
from dp2emu.retrace import Import, all_methods
from dp2emu.rig.served import Served
from dp2emu.rig.wire import Message, Reply, receive
from dp2emu.runtime.responses import parse_responses
from dp2emu.shader import ir, sm, sm4
from dp2emu.shader.files import translate
from dp2emu.shader.jit import writer
from dp2emu.shader.jit.bodies import body
from dp2emu.shader.sm.lower import lower_pixel, lower_vertex
from dp2emu.shader.sm.versions import Stage
from dp2emu.shader.sm4.lower import lower
from dp2emu.testing.random_shaders import generate
from dp2emu.testing.random_shaders4 import generate as generate4
from dp2emu.text.answers import response_blocks
from dp2emu.text.textfile import TextCapture

_RECORDS = 2000
_INSTRUCTION = 16
"""Bytes of an instruction, as a guess."""
_STATEMENT = 8
_LABEL = re.compile(r"^\s*label (l\d+)", re.MULTILINE)
_CALL = re.compile(r"^\s*call.*\b(l\d+)", re.MULTILINE)
_CALL_DEPTH = 6
_EXPANDED = 2 * (1 << 14) // _INSTRUCTION
"""Most instructions of a shader that is lowered, calls expanded: a few bytes may call whole
functions, and the bound on the cost of an input is by its bytes."""
_LONG = 1 << 15
_LONGEST_CODE = 1 << 14
"""Most bytes of a shader that is grown."""
_LONGEST_SHARE = 0.25
"""Share of the new shaders that are as long as any, whatever grows."""

# Captures


def capture(data: bytes) -> Hashable:
    """Check that a capture of any binary form has the same records as its text."""
    opened = open_capture(io.BytesIO(data), limits=FUZZING)
    records = list(islice(opened.records(), _RECORDS))
    return opened.kind, _kinds(records), opened.damage and opened.damage.what


def _kinds(records: list[Record]) -> frozenset[str]:
    """Return the names of the record types.  Raises Broken if text conversion changes records."""
    again = io.StringIO(stage.text_of(records))
    if [*TextCapture(again).records()] != records:
        raise Broken("the text has other records")
    return frozenset(type(record).__name__ for record in records)


def capture_file(rng: Random) -> bytes:
    """Return random calls as a capture file, compressed or not, or as a driver's log file."""
    records = stage.records(stage.program(rng))[rng.choice((0, 10, -3)) :]
    out = io.BytesIO()
    kind = rng.choice(("", "zstd", "none"))
    sink = CaptureWriter(out, compression=kind) if kind else LogWriter(out)
    with sink as writer:
        for record in records:
            writer.write(record)
    return out.getvalue()


def grow_capture(rng: Random, data: bytes) -> bytes:
    """Return a capture of calls whose records take twice as many bytes as ``data``."""
    records = list(stage.records(stage.grow(rng, stage.program(rng))))
    setting, calls = records[: len(stage.SURFACES) + 4], records[len(stage.SURFACES) + 4 :]
    size = sum(len(each.call.commands or b"") + 64 for each in calls if isinstance(each, Called))
    out = io.BytesIO()
    with LogWriter(out) if rng.random() < 0.5 else CaptureWriter(out) as writer:
        for record in (*setting, *calls * max(2 * len(data) // size, 1)):
            writer.write(record)
    return out.getvalue()


def mutate_capture(rng: Random, data: bytes, other: bytes) -> bytes:
    """Mutate a capture file: any bytes, or a payload of a log, whose checksum is corrected."""
    if data.startswith(MAGIC) and rng.random() < 0.7:
        records = list(_log_records(data))
        if records:
            at = rng.randrange(len(records))
            tag, time, payload = records[at]
            records[at] = tag, time, mutations.mutate(rng, payload, other)
            return MAGIC + b"".join(pack(*each) for each in records)
    return mutations.mutate(rng, data, other)


def _log_records(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield tag, time in ticks and payload of each complete record in the bytes of a log file."""
    at = len(MAGIC)
    while at + RECORD.size <= len(data):
        tag, length, time, _ = RECORD.unpack(data[at : at + RECORD.size])
        at += RECORD.size
        if length > len(data) - at:
            return
        yield tag, time, data[at : at + length]
        at += length


# Text


def text(data: bytes) -> Hashable:
    """Check that reading a text, and the text written from its records, gives the same records."""
    opened = TextCapture(io.StringIO(data.decode("utf-8", "replace")))
    return _kinds(list(islice(opened.records(), _RECORDS)))


def text_file(rng: Random) -> bytes:
    """Return the last records of a random capture, as capture text."""
    return stage.text_of(stage.records(stage.program(rng))[-4:]).encode()


def mutate_text(rng: Random, data: bytes, other: bytes) -> bytes:
    """Mutate the bytes of a text, or one line: remove or change it, or insert one of ``other``."""
    if rng.random() < 0.5:
        return mutations.mutate(rng, data, other)
    lines, others = data.split(b"\n"), other.split(b"\n")
    at = rng.randrange(len(lines))
    kind = rng.randrange(4)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(at, rng.choice(others))
    elif kind == 2:
        lines[at] = lines[at].replace(b"0", rng.choice((b"-1", b"4294967295", b"0.5", b"[")), 1)
    else:
        lines[at] = mutations.mutate(rng, lines[at], rng.choice(others))
    return b"\n".join(lines)


# Shaders


def shader(data: bytes) -> Hashable:
    """Check that a shader's text assembles to the same code, and that lowering and the code
    generation of the compiled engine do not crash.
    """
    shown = translate(data)
    if isinstance(shown, bytes):
        return len(shown) // 16
    if translate(shown.encode(), as_text=True) != data:
        raise Broken("the text assembles to other bytes")
    if expanded(shown) > _EXPANDED:
        return "calls expanded", shown.count("\n")
    return _lowered(data), shown.count("\n")


def expanded(text: str) -> int:
    """Return the number of lines of a shader's text with calls expanded, some 2**60 at most.

    >>> expanded("vs_2_0\\ncall l0\\ncall l0\\nret\\nlabel l0\\nnop\\nnop\\nret")
    10
    """
    main, *functions = _LABEL.split(text)
    bodies = {"": main} | dict(zip(functions[::2], functions[1::2], strict=True))
    sizes: dict[str, int] = {}
    # Functions call others, in any order, only a few deep.
    for _ in range(_CALL_DEPTH):
        sizes = {
            name: lines.count("\n") + sum(sizes.get(each, 0) for each in _CALL.findall(lines))
            for name, lines in bodies.items()
        }
    return sizes[""]


def _lowered(data: bytes) -> str:
    """Lower a shader to a program, and that to LLVM text; return the error as text, empty if there
    is none.
    """
    try:
        program = _program(data)
    except Dp2Error as error:
        return f"{type(error).__name__} {error.what[:20]}"
    if not ir.accesses(program):
        names = tuple(port.name for port in program.inputs)
        body(program, names, target=writer.Target(), masked=True, name="body")
    return ""


def _program(data: bytes) -> ir.Program:
    if data[1:2] == b"\0":
        return lower(sm4.decode(data)).program
    decoded = sm.decode(data)
    of_stage = lower_pixel if decoded.version.stage is Stage.PIXEL else lower_vertex
    return of_stage(decoded).program


def statement_bytes(data: bytes) -> int:
    """Return the size of a shader for the bound on its cost: ``_STATEMENT`` bytes for each
    statement of its program, since one instruction may be many.
    """
    try:
        shown = translate(data)
        if isinstance(shown, str) and expanded(shown) <= _EXPANDED:
            return max(len(data), _STATEMENT * sum(1 for _ in ir.walk(_program(data).statements)))
    except Exception:  # whatever it is, the trial finds it too
        return len(data)
    return len(data)


def code(rng: Random) -> bytes:
    """Return a valid shader of any version."""
    make = generate4 if rng.random() < 0.5 else generate
    return make(rng, length=rng.randrange(1, 8))


def grow_code(rng: Random, data: bytes) -> bytes:
    """Return a valid shader about twice as long as ``data``: with more of its instructions, random
    code, or all alike.
    """
    made = doubled_code(rng, data) if rng.random() < 0.5 else None
    if made is not None and len(made) <= _LONGEST_CODE:
        return made
    # What a pass takes too long for may be seen near the longest alone; doubling comes there late.
    long = rng.random() < _LONGEST_SHARE
    size = _LONGEST_CODE if long else max(2 * len(data), 64) << rng.randrange(3)
    length = min(size, _LONGEST_CODE) // _INSTRUCTION
    while True:
        if rng.random() < 0.25:
            made = (generate4 if rng.random() < 0.5 else generate)(rng, length=length)
        else:
            made = long_shader(rng, length)
        if len(made) <= _LONGEST_CODE:
            return made
        length -= length // 8 or 1


def mutate_words(rng: Random, data: bytes, other: bytes) -> bytes:
    """Mutate shader code: any bytes, or change, remove, repeat or insert some of its DWORDs."""
    if rng.random() < 0.25 or len(data) < 8:
        return mutations.mutate(rng, data, other)
    words = [data[at : at + 4] for at in range(0, len(data), 4)]
    others = [other[at : at + 4] for at in range(0, len(other), 4)] or [bytes(4)]
    at, kind = rng.randrange(1, len(words)), rng.randrange(5)
    if kind == 0:
        del words[at : at + rng.randrange(1, 4)]
    elif kind == 1:
        words[at:at] = words[at : at + rng.randrange(1, 4)]
    elif kind == 2:
        start = rng.randrange(len(others))
        words[at:at] = others[start : start + rng.randrange(1, 6)]
    else:
        words[at] = mutations.mutate(rng, words[at], rng.choice(others))[:4].ljust(4, b"\0")
    return b"".join(words)


# Responses


def responses(data: bytes) -> Hashable:
    """Check that the readers of responses, construct among them, find the same blocks."""
    blocks = list(response_blocks(data))
    whole = sum(block.place.end - block.place.offset for block in blocks) == len(data)
    try:
        found = parse_responses(data, _payload_size, CHECKED)
    except DecodingDisagreement as error:
        raise Broken(error.what) from None
    except ResponseError as error:
        return len(blocks), error.what[:24]
    if not whole:
        raise Broken("a reader accepts what the other does not")
    records = sum(b.place.n for b in blocks if b.codec.op == Op.RESPONSEQUERY)
    if records != len(found.records):
        raise Broken(f"{len(found.records)} answers in blocks of {records}")
    return len(blocks), records, found.more


_PAYLOADS = (4, 8, 4, 1, 16, None)
"""Payload sizes in bytes: an answer to query id n has the size at index n modulo the length.  None
means that the receiver does not know the query."""


def _payload_size(query: int) -> int | None:
    return _PAYLOADS[query % len(_PAYLOADS)]


def response_bytes(rng: Random) -> bytes:
    """Return a random response buffer: one to three blocks as a driver writes them."""
    data = b"".join(_block(rng) for _ in range(rng.randrange(1, 4)))
    more = struct.pack("<BBHI", Op.RESPONSECONTINUE, 0, 0, 8)
    return data + more if rng.random() < 0.3 else data


def _block(rng: Random) -> bytes:
    queries = [rng.randrange(5) for _ in range(rng.randrange(4))]
    sizes = [_PAYLOADS[query] or 0 for query in queries]
    records = b"".join(
        struct.pack("<II", query, size) + rng.randbytes(size)
        for query, size in zip(queries, sizes, strict=True)
    )
    head = struct.pack("<BBHI", Op.RESPONSEQUERY, 0, len(queries), 8 + len(records))
    return head + records


# Served rigs


class _Canned(Served):
    """A rig as of a driver in another process, except that its replies are the fuzzing input."""

    def __init__(self, data: bytes) -> None:
        super().__init__(("unused",))
        self._replies = io.BytesIO(data)
        self._abi, self._payload_bytes = 64, 1 << 16

    def _start(self) -> None:
        """Do nothing, where the base class starts a process: replies come from the input."""

    def _exchange(self, tag: int, payload: object, before: bytes = b"") -> Message:
        try:
            return receive(self._take)
        except EOFError:
            raise Dp2Error("the driver has ended") from None

    def _take(self, size: int) -> bytes:
        data = self._replies.read(size)
        if len(data) < size:
            raise EOFError
        return data


def rig(data: bytes) -> Hashable:
    """Check that operations on a driver return or raise Dp2Error, whatever the driver replies."""
    driver = _Canned(data)
    results: list[Hashable] = []
    call = next(stage.calls_of(b"\0"))
    steps: tuple[Callable[[], object], ...] = (
        lambda: driver.create_surface(stage.SURFACES[0]),
        lambda: driver.create_context(1),
        lambda: driver.submit(call).ddrval,
        lambda: len(driver.read(1, 0, 16)),
        driver.finish,
    )
    for step in steps:
        try:
            results.append(repr(step()))
        except Dp2Error as error:
            results.append(f"{type(error).__name__} {error.what[:16]}")
    return tuple(results)


def replies(rng: Random) -> bytes:
    """Return the bytes of valid replies, as a driver in another process sends them."""
    done = struct.pack("<I", rng.choice((0, 0, 0, 0x80070057, 0xE0000001)))
    answer = struct.pack("<4I", 0, 8, 1, 8) + rng.randbytes(8)
    memory = struct.pack("<QQ", 1, 0) + rng.randbytes(16)
    ok = (Reply.DONE, done)
    sent = (ok, ok, (Kind.ANSWER, answer), (Kind.MEMORY, memory), ok)
    return b"".join(pack(tag, 0, payload) for tag, payload in sent)


def mutate_replies(rng: Random, data: bytes, other: bytes) -> bytes:
    """Mutate a driver's replies: any bytes, or one payload, whose checksum is corrected."""
    return mutate_capture(rng, MAGIC + data, other)[len(MAGIC) :]


# Traces of API calls

_VERSION = 5
_ENTER, _LEAVE = b"\0", b"\1"
_ARGUMENT, _RESULT = b"\1", b"\2"
_CREATE = "Direct3DCreate9"
_NAMES = (_CREATE, *sorted(all_methods()))
_POINTERS = 4
"""Exclusive upper bound of the object pointers, in units of 4096, in a random apitrace stream; it
is small, so that calls name the same objects."""


def trace(data: bytes) -> Hashable:
    """Import apitrace events; return the number of records and the damage that was found."""
    imported = Import(open_trace(io.BytesIO(stored(data)), limits=FUZZING))
    number = sum(1 for _ in islice(imported.records(), _RECORDS))
    return number, imported.damage and imported.damage.what


def stored(data: bytes) -> bytes:
    """Return ``data`` as an apitrace file: a snappy container with one uncompressed chunk."""
    literals = (data[at : at + 60] for at in range(0, len(data), 60))
    packed = _uint(len(data)) + b"".join(bytes((len(p) - 1 << 2,)) + p for p in literals)
    return b"at" + struct.pack("<I", len(packed)) + packed


def events(rng: Random) -> bytes:
    """Return a random apitrace event stream: its version, a call of Direct3DCreate9, and some
    random calls with random arguments.
    """
    known: dict[str, int] = {}
    calls = [_CREATE, *rng.choices(_NAMES, k=rng.randrange(1, 8))]
    return _uint(_VERSION) + b"".join(
        b"".join(_call(rng, number, name, known)) for number, name in enumerate(calls)
    )


def mutate_events(rng: Random, data: bytes, other: bytes) -> bytes:
    """Mutate an apitrace event stream: the bytes after its version, or cut it at a random byte and
    append random calls.
    """
    if rng.random() < 0.2:
        return data[: rng.randrange(1, len(data) + 1)] + events(rng)[1:]
    changed = mutations.mutate(rng, data[1:], other[1:])
    return (data[:1] or b"\5") + changed


def grow_events(rng: Random, data: bytes) -> bytes:
    """Make an event stream about twice as long: random calls, or the same bytes again."""
    if rng.random() < 0.3:
        return data + repeated(data[1:], len(data))
    known: dict[str, int] = {}
    calls, size = [_uint(_VERSION)], 0
    for number in range(1 << 12):
        calls.append(
            b"".join(_call(rng, number, rng.choice(_NAMES) if number else _CREATE, known))
        )
        size += len(calls[-1])
        if size > 2 * len(data):
            break
    return b"".join(calls)


def _call(rng: Random, number: int, name: str, known: dict[str, int]) -> Iterator[bytes]:
    count = rng.randrange(6)
    yield _ENTER + _uint(0)
    if name in known:
        yield _uint(known[name])
    else:
        known[name] = len(known)
        yield _uint(known[name]) + _string(name) + _uint(count)
        yield from (_string(f"a{index}") for index in range(count))
    for index in range(count):
        yield _ARGUMENT + _uint(index) + _value(rng, 0)
    yield b"\0" + _LEAVE + _uint(number) + _RESULT + _value(rng, 0) + b"\0"


def _value(rng: Random, depth: int) -> bytes:
    kind = rng.randrange(9 if depth < 3 else 7)
    if kind == 0:
        return b"\0"
    if kind < 3:
        return b"\4" + _uint(rng.choice((0, 1, 2, 8, 64, 21, 0xFFFFFFFF, rng.getrandbits(32))))
    if kind == 3:
        return b"\5" + struct.pack("<f", rng.uniform(-2, 2))
    if kind == 4:
        blob = rng.randbytes(rng.choice((0, 4, 64)))
        return b"\x08" + _uint(len(blob)) + blob
    if kind < 7:
        return b"\x0d" + _uint(0x1000 * rng.randrange(1, _POINTERS))
    items = [_value(rng, depth + 1) for _ in range(rng.randrange(3))]
    return b"\x0b" + _uint(len(items)) + b"".join(items)


def _uint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def _string(text: str) -> bytes:
    return _uint(len(text)) + text.encode()


def _target(
    name: str, what: str, trial: Callable[[bytes], Hashable], seed: Callable[[Random], bytes],
    mutate: Mutation, most: int, cover: tuple[str, ...], suffix: str, cost: Bound, grow: Growth,
    longest: int, pace: float = 0.25, size: Size = len,
) -> Target:  # fmt: skip
    return Target(
        name, what, lambda: trial, seed, mutate, most, tuple(f"dp2emu.{each}" for each in cover),
        suffix=suffix, cost=cost, grow=grow, longest=longest, pace=pace, size=size,
    )  # fmt: skip


TARGETS = (
    _target("capture", "read captures, and as text the same", capture, capture_file,
            mutate_capture, 8192, ("capture",), ".dp2",
            Bound(4.0, 0.1, 64.0, 1.0), grow_capture, 2 * _LONG),
    _target("text", "read the text of captures", text, text_file,
            mutate_text, 4096, ("text",), ".txt",
            Bound(0.2, 0.02, 32.0, 1.0), doubled_lines, 2 * _LONG),
    _target("responses", "both readers of responses agree", responses, response_bytes,
            mutations.mutate, 256, ("runtime.responses",), ".response",
            Bound(0.1, 0.1, 32.0, 1.0), doubled, _LONG),
    _target("shader", "shaders to text and back, and lowered", shader, code,
            mutate_words, 1024, ("shader",), ".bin",
            Bound(0.5, 0.08, 64.0, 4.0), grow_code, _LONGEST_CODE, 4.0, statement_bytes),
    _target("rig", "replies of a driver elsewhere", rig, replies,
            mutate_replies, 512, ("rig",), ".replies",
            Bound(0.1, 0.05, 32.0, 1.0), doubled, _LONG),
    _target("trace", "read a trace of API calls and import it", trace, events,
            mutate_events, 4096, ("capture.apitrace", "retrace"), ".events",
            Bound(0.2, 0.05, 32.0, 1.0), grow_events, _LONG),
)  # fmt: skip
