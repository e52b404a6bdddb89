"""What declares or expands to a lot costs little before it is refused or found valid."""

from __future__ import annotations

import gzip
import io
import tracemalloc
from collections.abc import Callable
from io import BytesIO
from random import Random
from typing import Any

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard

from dp2emu.capture import open_capture, writer
from dp2emu.capture.apitrace import open_trace
from dp2emu.capture.container import build, message
from dp2emu.capture.payloads import Kind, stored
from dp2emu.capture.records import Annotation, Called, MemoryWritten
from dp2emu.capture.writer import CaptureWriter, _channel, _schema
from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.generate import generate
from dp2emu.dp2.options import Options
from dp2emu.dp2.table import TABLE, Token
from dp2emu.dp2.walk import Scan, scan
from dp2emu.errors import CaptureError, Exceeded, ShaderError
from dp2emu.limits import PLAIN_RECORDS, UNLIMITED, Limits
from dp2emu.shader.files import translate
from dp2emu.text.syntax import TextError
from dp2emu.text.textfile import TextCapture
from tests.capture.test_reader import _chunk, _file
from tests.cli.test_bombs import blob
from tests.dp2.rigging import Bench, clear, header, rectangle, triangle_list
from tests.refusals import refused, refuses
from tests.replay.authoring import called, token

MOST = 0xFFFF
MEBIBYTE = 1 << 20
VERTEX = 20


def cost_of(action: Callable[[], object]) -> int:
    """Bytes that are held at a time, at most."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def full_token(row: Token) -> bytes:
    """A whole token with the largest count."""
    if row.tail is not None and row.head_dtype is None:
        token = generate(row, Random(row.op), n=1)
        return token[:2] + b"\xff\xff" + token[4:] * MOST
    one, two = (generate(row, Random(row.op), n=n, vertex_size=VERTEX) for n in (1, 2))
    step = len(two) - len(one)
    if not step or row.vertices is not None or row.tail is not None:
        return generate(row, Random(row.op), n=MOST, vertex_size=VERTEX)
    return one[:2] + b"\xff\xff" + one[4:] + one[-step:] * (MOST - 1)


@pytest.mark.parametrize("op", sorted(TABLE))
def test_the_largest_count_is_found_valid_for_nothing(op: int) -> None:
    data = full_token(TABLE[op])
    found: list[Scan] = []
    assert cost_of(lambda: found.append(scan(data, 0, len(data), VERTEX))) < MEBIBYTE
    assert found[0].commands[0][2] == MOST


@pytest.mark.parametrize("op", sorted(TABLE))
def test_the_largest_count_of_nothing_is_refused_for_nothing(op: int) -> None:
    data = bytes([op, 0, 0xFF, 0xFF])
    found: list[Scan] = []
    assert cost_of(lambda: found.append(scan(data, 0, len(data), 0xFFFFFFFF))) < MEBIBYTE
    assert found[0].problem is not None


@pytest.mark.parametrize("op", sorted(TABLE))
def test_all_ones_in_every_field_are_walked_for_nothing(op: int) -> None:
    token = generate(TABLE[op], Random(op), n=1, vertex_size=VERTEX)
    for at in range(4, len(token) - 3, 4):
        data = token[:at] + b"\xff" * 4 + token[at + 4 :]
        assert cost_of(lambda data=data: scan(data, 0, len(data), VERTEX)) < MEBIBYTE  # type: ignore[misc]


def test_a_chunk_of_4_gib_is_refused_by_its_head() -> None:
    bomb = _file(_chunk(b"", compression="zstd", packed=bytes(100), size=4 << 30))
    assert cost_of(lambda: list(open_capture(BytesIO(bomb)).records())) < MEBIBYTE


def test_33_kb_that_expand_to_a_gibibyte_are_refused_by_their_head() -> None:
    packer = zstandard.ZstdCompressor().compressobj(size=1 << 30)
    packed = b"".join(packer.compress(bytes(MEBIBYTE)) for _ in range(1024)) + packer.flush()
    assert len(packed) < 34_000
    bomb = _file(_chunk(b"", compression="zstd", packed=packed, size=1 << 30))
    capture = open_capture(BytesIO(bomb))
    assert cost_of(lambda: list(capture.records())) < MEBIBYTE
    assert refuses(capture.damage, "chunk_bytes")


QUAD = rectangle(0, 0, 64, 64)
RECT = (0).to_bytes(8, "little") + (64).to_bytes(4, "little") * 2


@pytest.mark.parametrize("engine", ["reference", "jit"])
@pytest.mark.parametrize(
    ("commands", "limit"),
    [
        (clear()[:2] + b"\xff\xff" + clear()[4:20] + RECT * MOST, "call_pixels"),
        (triangle_list(0, 2) * 4000, "call_pixels"),
        (triangle_list(0, 2) * 4000, "call_vertices"),
        (triangle_list(0, 2) * 4000, "call_instructions"),
        (header(8, 0) * 4000, "call_tokens"),
    ],
)
def test_what_is_valid_and_too_much_stops_at_a_named_limit(
    engine: str, commands: bytes, limit: str
) -> None:
    limits = Limits(**{limit: 1000 if limit != "call_pixels" else 1 << 16})
    bench = Bench(buffer=2 * MEBIBYTE, options=Options(engine=engine, limits=limits))
    with pytest.raises(Exceeded, match=refused(limit)):
        bench.call(commands, QUAD)


@pytest.mark.parametrize("pack", [gzip.compress, brotli.compress, zstandard.compress])
def test_a_trace_that_expands_stops_at_a_named_limit(pack: Callable[[bytes], bytes]) -> None:
    with pytest.raises(CaptureError, match=refused("inflated_bytes", 1000)):
        open_trace(BytesIO(pack(bytes(4 * MEBIBYTE))), limits=Limits(inflated_bytes=1000))


@pytest.mark.parametrize(("limits", "read"), [(Limits(), 1), (UNLIMITED, 3)])
def test_chunks_that_together_expand_too_far_are_refused(limits: Limits, read: int) -> None:
    """Each may be: 12 MiB from some hundred bytes.  A file of 16 KB could have 360 MiB of them."""
    written, out = MemoryWritten(1, 0, bytes(12 * MEBIBYTE)), BytesIO()
    with CaptureWriter(out) as writer:
        for _ in range(3):
            writer.write(written)
    assert len(out.getvalue()) < 16 << 10
    capture = open_capture(BytesIO(out.getvalue()), limits=limits)
    assert sum(isinstance(each, MemoryWritten) for each in capture.records()) == read
    assert refuses(capture.damage, "inflate_ratio", 1000) == (read < 3)


@pytest.mark.parametrize("pack", [brotli.compress, zstandard.compress])
def test_a_trace_that_expands_too_far_is_refused(pack: Callable[[bytes], bytes]) -> None:
    trace = open_trace(BytesIO(pack(blob(20 * MEBIBYTE))))
    assert not any(call.finished for call in trace.calls())
    assert refuses(trace.damage, "inflate_ratio", 1000)


NOTES = PLAIN_RECORDS + 10_000


def crowded() -> bytes:
    """A file of some hundred bytes with NOTES records."""
    kind, time, payload = stored(Annotation("a", "b"))
    note = message(kind, time, 0, payload)
    data = build(_schema(Kind.ANNOTATION), _channel(Kind.ANNOTATION)) + note * NOTES
    packed = zstandard.compress(data)
    return _file(_chunk(data, compression="zstd", packed=packed))


@pytest.mark.parametrize("limits", [Limits(), UNLIMITED])
def test_more_records_than_a_file_of_its_size_may_have_are_refused(limits: Limits) -> None:
    data = crowded()
    capture = open_capture(BytesIO(data), limits=limits)
    read = sum(isinstance(each, Annotation) for each in capture.records())
    if limits is UNLIMITED:
        assert read == NOTES
    else:
        assert PLAIN_RECORDS < read <= PLAIN_RECORDS + limits.record_ratio * len(data)
        assert refuses(capture.damage, "record_ratio", 4)


def commands_of(out: BytesIO, **limits: Any) -> list[bytes | None]:
    capture = open_capture(BytesIO(out.getvalue()), **limits)
    return [each.call.commands for each in capture.records() if isinstance(each, Called)]


def test_commands_that_repeat_count_and_writers_store_them_plainly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A call of a million bytes is stored as it is: compressed it is more than readers allow."""
    commands = token(Op.RENDERSTATE, (60, 1)) * 90_000
    for plain, expected in ((True, [commands]), (False, [])):
        if not plain:
            monkeypatch.setattr(writer, "GENEROUS", UNLIMITED)
        out = BytesIO()
        with CaptureWriter(out) as capture:
            capture.write(called(commands))
        assert (len(out.getvalue()) > len(commands)) == plain
        assert commands_of(out) == expected
        assert commands_of(out, limits=UNLIMITED) == [commands]


def test_the_first_records_are_compressed_however_often_they_repeat() -> None:
    """No reader refuses them, whatever their number for each byte is."""
    commands = token(Op.RENDERSTATE, (60, 1)) * 10_000
    out = BytesIO()
    with CaptureWriter(out) as capture:
        capture.write(called(commands))
    assert len(out.getvalue()) < len(commands) / 50
    assert commands_of(out) == [commands]


def test_a_capture_that_expands_stops_at_a_named_limit() -> None:
    chunk = _chunk(b"", compression="zstd", packed=zstandard.compress(bytes(2000)), size=2000)
    capture = open_capture(BytesIO(_file(chunk)), limits=Limits(inflated_bytes=1000))
    assert list(capture.records()) == []
    assert refuses(capture.damage, "inflated_bytes", 1000)


NOP, COMMENT = b"\0\0\0\0", b"\xfe\xff\0\0"
MODEL_3, MODEL_4 = b"\0\3\xfe\xff", b"\x40\0\0\0"


def words(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(4, "little") for number in numbers)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (MODEL_3 + NOP * MEBIBYTE, "code of more than 4194304 bytes"),
        (MODEL_3 + NOP * 40_000, "more than 32768 instructions"),
        (MODEL_3 + COMMENT * 40_000, "more than 32768 comments"),
        (MODEL_3 + words(0x7FFFFFFE), "the code ends early"),
        (MODEL_4 + words(2 * MEBIBYTE) + words(0x0100003A) * 2 * MEBIBYTE, "code of more than"),
        (MODEL_4 + words(0xFFFFFFFF, 0x35, 0xFFFFFFFF), "are not the length of this code"),
        (b"vs_3_0\n" + b"nop\n" * 300_000, "line 262145: more than 262144 lines"),
        (b"vs_3_0\ndword " + b"9," * MEBIBYTE, "line 2: longer than 1048576 characters"),
        (b"vs_3_0\n" + (b"dword " + b"9," * 300_000 + b"9\n") * 5, "line 5: code of more than"),
        (b"9," * MEBIBYTE, "line 1: longer than 1048576 characters"),
        (b"0x9," * 2 * MEBIBYTE, "code of more than 4194304 bytes"),
    ],
)  # fmt: skip
def test_a_large_shader_is_refused(data: bytes, what: str) -> None:
    with pytest.raises(ShaderError, match=what):
        translate(data)


@pytest.mark.parametrize("data", [b"vs_3_0\n" + b"\n" * 16 * MEBIBYTE, b"9," * 8 * MEBIBYTE])
def test_a_large_text_of_a_shader_is_refused_for_little(data: bytes) -> None:
    def refused() -> None:
        with pytest.raises(ShaderError):
            translate(data)

    assert cost_of(refused) < 64 * MEBIBYTE


TEXT = "dp2emu-text version=1 form=sealed compression=none\n"


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ('annotation\n  key: "' + "a" * 900_000 + "\n", "line 3: nothing starts with"),
        ('annotation\n  key: "' + "\\n" * 450_000 + "\n", "line 3: nothing starts with"),
        ("call\n  RENDERSTATE\n" + "- a=1\n" * 70_000, "line 65541: more than 65537 items"),
    ],
)
def test_a_large_text_of_a_capture_is_refused_for_little(body: str, what: str) -> None:
    def refused() -> None:
        with pytest.raises(TextError, match=what):
            list(TextCapture(io.StringIO(TEXT + body)).records())

    assert cost_of(refused) < 64 * MEBIBYTE
