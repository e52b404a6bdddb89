"""Targets that read files and messages: captures, their text, shaders, responses, drivers."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Hashable, Iterator
from itertools import islice
from random import Random

from dp2emu.capture import CaptureWriter, LogWriter, open_capture
from dp2emu.capture.payloads import Kind
from dp2emu.capture.rawlog import MAGIC, RECORD, pack
from dp2emu.dp2.table import Op
from dp2emu.errors import Dp2Error, ResponseError
from dp2emu.fuzz import mutations, stage
from dp2emu.fuzz.mutations import Mutation
from dp2emu.fuzz.target import Broken, Target
from dp2emu.limits import FUZZING
from dp2emu.rig.served import Served
from dp2emu.rig.wire import Message, Reply, receive
from dp2emu.runtime.responses import parse_responses
from dp2emu.shader import sm, sm4
from dp2emu.shader.files import translate
from dp2emu.shader.sm.lower import lower_pixel, lower_vertex
from dp2emu.shader.sm.versions import Stage
from dp2emu.shader.sm4.lower import lower
from dp2emu.testing.random_shaders import generate
from dp2emu.testing.random_shaders4 import generate as generate4
from dp2emu.text.answers import response_blocks
from dp2emu.text.dump import TextWriter
from dp2emu.text.textfile import TextCapture

_RECORDS = 2000

# Captures


def capture(data: bytes) -> Hashable:
    """Read all records of a capture of any binary form; as text they are the same."""
    opened = open_capture(io.BytesIO(data), limits=FUZZING)
    records = list(islice(opened.records(), _RECORDS))
    text = io.StringIO()
    writer = TextWriter(text)
    for record in records:
        writer.write(record)
    text.seek(0)
    if [*TextCapture(text).records()] != records:
        raise Broken("the text has other records")
    kinds = frozenset(type(record).__name__ for record in records)
    return opened.kind, kinds, opened.damage and opened.damage.what


def capture_file(rng: Random) -> bytes:
    """A capture of some calls: sealed, packed or not, or a driver's log."""
    records = stage.records(stage.program(rng))[rng.choice((0, 10, -3)) :]
    out = io.BytesIO()
    kind = rng.randrange(3)
    with (
        LogWriter(out)
        if kind == 0
        else CaptureWriter(out, compression=("zstd", "none")[kind - 1]) as writer
    ):
        for record in records:
            writer.write(record)
    return out.getvalue()


def mutate_capture(rng: Random, data: bytes, other: bytes) -> bytes:
    """Change bytes; of a log mostly inside a record, whose checksum is made right again."""
    if data.startswith(MAGIC) and rng.random() < 0.7:
        records = list(_log_records(data))
        if records:
            at = rng.randrange(len(records))
            tag, time, payload = records[at]
            records[at] = tag, time, mutations.mutate(rng, payload, other)
            return MAGIC + b"".join(pack(*each) for each in records)
    return mutations.mutate(rng, data, other)


def _log_records(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Tag, time and payload of each whole record of a log."""
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
    """Read a capture's text; what it says is written and read as the same."""
    opened = TextCapture(io.StringIO(data.decode("utf-8", "replace")))
    records = list(islice(opened.records(), _RECORDS))
    again = io.StringIO()
    writer = TextWriter(again)
    for record in records:
        writer.write(record)
    again.seek(0)
    if [*TextCapture(again).records()] != records:
        raise Broken("the text has other records")
    return frozenset(type(record).__name__ for record in records)


def text_file(rng: Random) -> bytes:
    """The text of some calls."""
    out = io.StringIO()
    writer = TextWriter(out)
    for record in stage.records(stage.program(rng))[-4:]:
        writer.write(record)
    return out.getvalue().encode()


def mutate_text(rng: Random, data: bytes, other: bytes) -> bytes:
    """Change bytes, or lines."""
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
    """Code as text is the same code again, and what is accepted can be lowered."""
    shown = translate(data)
    if isinstance(shown, bytes):
        return len(shown) // 16
    if translate(shown.encode(), as_text=True) != data:
        raise Broken("the text assembles to other bytes")
    return _lowered(data), shown.count("\n")


def _lowered(data: bytes) -> str:
    """How the lowering of code that can be decoded ends."""
    lower: Callable[[bytes], object] = _lower4 if data[1:2] == b"\0" else _lower
    try:
        lower(data)
    except Dp2Error as error:
        return f"{type(error).__name__} {error.what[:20]}"
    return ""


def _lower(data: bytes) -> object:
    decoded = sm.decode(data)
    return (lower_pixel if decoded.version.stage is Stage.PIXEL else lower_vertex)(decoded)


def _lower4(data: bytes) -> object:
    return lower(sm4.decode(data))


def code(rng: Random) -> bytes:
    """A valid shader of any version."""
    make = generate4 if rng.random() < 0.5 else generate
    return make(rng, length=rng.randrange(1, 8))


def mutate_words(rng: Random, data: bytes, other: bytes) -> bytes:
    """Change DWORDs, which code is made of, or bytes."""
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
    """Both readers of responses find the same blocks."""
    blocks = list(response_blocks(data))
    whole = sum(block.place.end - block.place.offset for block in blocks) == len(data)
    try:
        found = parse_responses(data, lambda query: _PAYLOADS[query % len(_PAYLOADS)])
    except ResponseError as error:
        return len(blocks), error.what[:24]
    if not whole:
        raise Broken("a reader accepts what the other does not")
    records = sum(b.place.n for b in blocks if b.codec.op == Op.RESPONSEQUERY)
    if records != len(found.records):
        raise Broken(f"{len(found.records)} answers in blocks of {records}")
    return len(blocks), records, found.more


_PAYLOADS = (4, 8, 4, 1, 16, None)
"""Sizes of answers by query id; one is no query."""


def response_bytes(rng: Random) -> bytes:
    """Some blocks, as a driver writes them."""
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


# Drivers elsewhere


class _Canned(Served):
    """A driver whose replies are the input."""

    def __init__(self, data: bytes) -> None:
        super().__init__(("nobody",))
        self._replies = io.BytesIO(data)
        self._abi, self._room = 64, 1 << 16

    def _start(self) -> None:
        """There is nothing to start."""

    def _exchange(self, tag: int, payload: object, before: bytes = b"") -> Message:
        try:
            return receive(self._take)
        except EOFError:
            raise Dp2Error("the driver is gone") from None

    def _take(self, size: int) -> bytes:
        data = self._replies.read(size)
        if len(data) < size:
            raise EOFError
        return data


def rig(data: bytes) -> Hashable:
    """Whatever a driver elsewhere replies is an answer or an error."""
    driver = _Canned(data)
    heard: list[Hashable] = []
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
            heard.append(repr(step()))
        except Dp2Error as error:
            heard.append(f"{type(error).__name__} {error.what[:16]}")
    return tuple(heard)


def replies(rng: Random) -> bytes:
    """What a driver would reply."""
    done = struct.pack("<I", rng.choice((0, 0, 0, 0x80070057, 0xE0000001)))
    answer = struct.pack("<4I", 0, 8, 1, 8) + rng.randbytes(8)
    memory = struct.pack("<QQ", 1, 0) + rng.randbytes(16)
    said = (Reply.DONE, done)
    told = (said, said, (Kind.ANSWER, answer), (Kind.MEMORY, memory), said)
    return b"".join(pack(tag, 0, payload) for tag, payload in told)


def mutate_replies(rng: Random, data: bytes, other: bytes) -> bytes:
    """Change a payload, whose checksum is made right again, or bytes."""
    return mutate_capture(rng, MAGIC + data, other)[len(MAGIC) :]


def _target(
    name: str, what: str, trial: Callable[[bytes], Hashable], seed: Callable[[Random], bytes],
    mutate: Mutation, most: int, cover: str, suffix: str,
) -> Target:  # fmt: skip
    return Target(
        name, what, lambda: trial, seed, mutate, most, (f"dp2emu.{cover}",), suffix=suffix
    )


TARGETS = (
    _target("capture", "read captures, and as text the same", capture, capture_file,
            mutate_capture, 8192, "capture", ".dp2"),
    _target("text", "read the text of captures", text, text_file, mutate_text, 4096, "text",
            ".txt"),
    _target("responses", "both readers of responses agree", responses, response_bytes,
            mutations.mutate, 256, "runtime.responses", ".response"),
    _target("shader", "shaders to text and back, and lowered", shader, code, mutate_words, 1024,
            "shader", ".bin"),
    _target("rig", "replies of a driver elsewhere", rig, replies, mutate_replies, 512, "rig",
            ".replies"),
)  # fmt: skip
