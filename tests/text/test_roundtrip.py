"""dump and assemble are each other's inverse, whatever the bytes."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.capture import BareOptions, CaptureWriter, open_capture
from dp2emu.capture.records import (
    Answered,
    Called,
    ContextCreated,
    MemoryWritten,
    Record,
    SurfaceCreated,
)
from dp2emu.dp2.call import Answer, Call
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from tests.capture.samples import (
    CHAIN,
    ENTRIES,
    EVERYTHING,
    KEYS,
    MANAGED,
    RECORDS,
    SEEN,
    SEEN10,
    TEXTURES,
    log,
    sealed,
)
from tests.text.samples import (
    RESPONSE,
    SMALL,
    VERTEX,
    XYZRHW_DIFFUSE,
    assembled,
    calls,
    command_bytes,
    opened,
    text_of,
)

STREAMS = sorted((Path(__file__).parents[2] / "streams").glob("*.dp2"))
_OFFSETS = st.integers(0, 9)
_STREAMS = _OFFSETS.flatmap(lambda at: st.tuples(command_bytes(start=at), st.just(at)))


@given(st.lists(RECORDS, max_size=4))
def test_any_sealed_capture_comes_back(records: list[Record]) -> None:
    data = sealed(records, compression="none")
    assert assembled(text_of(data)) == data


@given(st.lists(RECORDS, max_size=4))
def test_any_log_comes_back(records: list[Record]) -> None:
    data = log(records)
    assert assembled(text_of(data)) == data


@given(st.lists(_STREAMS, max_size=3))
def test_any_command_stream_comes_back(streams: list[tuple[bytes, int]]) -> None:
    data = sealed(calls(streams), compression="none")
    assert assembled(text_of(data)) == data


@given(command_bytes())
def test_hex_comments_change_nothing(commands: bytes) -> None:
    data = sealed(calls([(commands, 0)]), compression="none")
    assert assembled(text_of(data, hex=True)) == data


@given(command_bytes(), st.integers(0, 300), st.sampled_from([0, 1, 20, 33, 2**32 - 1]))
def test_a_length_that_lies_and_any_vertex_size_come_back(
    commands: bytes, length: int, vertex_size: int
) -> None:
    call = Call(1, 2, 0, length, dwVertexSize=vertex_size, commands=commands, vertices=commands)
    data = sealed([Called(call)], compression="none")
    assert assembled(text_of(data)) == data


@given(st.lists(st.tuples(st.integers(0, len(RESPONSE) - 1), st.integers(0, 255)), max_size=3),
       st.integers(0, len(RESPONSE)))  # fmt: skip
def test_any_response_comes_back(changes: list[tuple[int, int]], length: int) -> None:
    response = bytearray(RESPONSE)
    for at, byte in changes:
        response[at] = byte
    data = sealed([Answered(Answer(0, length, 0, bytes(response[:length])))], compression="none")
    assert assembled(text_of(data)) == data


@given(command_bytes())
def test_a_bare_buffer_comes_back(commands: bytes) -> None:
    bare = BareOptions(fvf=XYZRHW_DIFFUSE, vertices=VERTEX)
    assert assembled(text_of(commands, bare=bare)) == commands


@pytest.mark.parametrize(
    "records",
    [[], SMALL, EVERYTHING, TEXTURES, KEYS, CHAIN, MANAGED, SEEN, SEEN10 + ENTRIES],
    ids=["empty", "small", "everything", "textures", "keys", "chain", "managed", "seen", "10"],
)
@pytest.mark.parametrize("compression", ["zstd", "none"])
def test_compression_comes_back(records: list[Record], compression: str) -> None:
    data = sealed(records, compression=compression)
    assert assembled(text_of(data)) == data


@pytest.mark.parametrize("chunk_bytes", [1, 50, 100, 300, 4 << 20])
def test_chunks_come_back(chunk_bytes: int) -> None:
    writes: list[Record] = [MemoryWritten(2, 0, bytes(40)) for _ in range(6)]
    data = sealed([*SMALL, *writes], compression="none", chunk_bytes=chunk_bytes)
    assert assembled(text_of(data)) == data


SOME = (0.1, 0.4, 0.4, 0.4, 1.25, 0.5)


@pytest.mark.parametrize(
    ("chunk_bytes", "fractions"), [(64 << 10, SOME), (1 << 20, SOME), (4 << 20, (1.25,))]
)
def test_large_chunks_come_back(chunk_bytes: int, fractions: tuple[float, ...]) -> None:
    sizes = [size for each in fractions for size in (round(each * chunk_bytes), 9)]
    writes = [MemoryWritten(2, 0, bytes(size)) for size in sizes]
    data = sealed(writes, chunk_bytes=chunk_bytes)
    assert assembled(text_of(data)) == data


def test_no_text_makes_a_chunk_that_readers_refuse() -> None:
    out = BytesIO()
    with CaptureWriter(out) as writer:
        writer.start_chunk(2**32 - 1)
        for _ in range(40):
            writer.write(MemoryWritten(2, 0, bytes(1 << 20)))
    capture = opened(out.getvalue())
    assert max(capture.chunk.size for _ in capture.records()) < 32 << 20


def test_a_flushed_chunk_comes_back() -> None:
    out = BytesIO()
    with CaptureWriter(out) as writer:
        for record in SMALL:
            writer.write(record)
            writer.flush()
    assert assembled(text_of(out.getvalue())) == out.getvalue()


def test_signalling_nans_and_minus_zero_come_back() -> None:
    matrix = bytes.fromhex("010080ff 00000080 010080 7f ffffffff") * 4
    commands = bytes.fromhex("24000100 02000000") + matrix
    data = sealed(calls([(commands, 0)]))
    text = text_of(data)
    assert "_11=nan(0xff800001) _12=-0.0 _13=nan(0x7f800001) _14=nan(0xffffffff)" in text
    assert assembled(text) == data


def test_the_vertex_size_depends_on_the_application() -> None:
    """FVF bit 0x2000 is a fog value in DirectX 9 and nothing before (wire format, "Vertex
    formats")."""
    for interface, size in ((7, 20), (9, 24)):
        commands = bytes.fromhex("18000100") + bytes(2 * size)
        call = Call(1, 2, 0, len(commands), dwVertexType=0x2044, commands=commands)
        data = sealed([ContextCreated(1, interface), Called(call)])
        assert "raw" not in text_of(data)
        assert assembled(text_of(data)) == data


def test_indentation_and_blank_lines_do_not_matter() -> None:
    data = sealed(SMALL)
    lines = [line.strip() for line in text_of(data).splitlines() if line.strip()]
    assert assembled("\n".join(lines)) == data
    assert assembled("\r\n \r\n".join(lines)) == data


def test_memory_may_be_written_as_numbers() -> None:
    text = """dp2emu-text version=1
        surface handle=3 kind=VERTEXBUFFER width=20
        memory handle=3
            data: 1.5 -1 7 D3DPT_TRIANGLEFAN "0a 0B0c"
    """
    data = bytes.fromhex("0000c03f ffffffff 07000000 06000000 0a0b0c")
    desc = SurfaceDesc(3, SurfaceKind.VERTEXBUFFER, 20)
    assert assembled(text) == sealed([SurfaceCreated(desc), MemoryWritten(3, 0, data)])


def test_counts_and_lengths_follow_from_what_is_written() -> None:
    text = """dp2emu-text version=1
        call dwhContext=1
          RENDERSTATE
            - RenderState=D3DRS_ZFUNC dwState=D3DCMP_LESS
            - RenderState=D3DRENDERSTATE_TEXTUREMAPBLEND dwState=1
          INDEXEDTRIANGLEFAN wVStart=2
            wV: 0 1 2
          raw
            bytes: "ff"
    """
    commands = bytes.fromhex(
        "08000200 17000000 02000000 15000000 01000000 16000100 0200 0000 0100 0200 ff"
    )
    assert assembled(text) == sealed(
        [Called(Call(1, dwCommandLength=len(commands), commands=commands))]
    )


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_every_stream_comes_back(path: Path) -> None:
    data = path.read_bytes()
    with open_capture(path) as capture:
        for _ in capture.records():
            pass
        assert (assembled(text_of(data)) == data) is (capture.damage is None)
