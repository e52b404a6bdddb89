"""The decoders of command buffers: their choice, their agreement, and the error where they differ.

The slow lane executes 100,000 fuzzed calls by both decoders and both engines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import pytest
from construct import Adapter
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dp2emu import (
    Answer,
    Call,
    DecodingDisagreement,
    Device9,
    Driver,
    Op,
    Options,
    QueryType,
    SurfaceDesc,
    SurfaceKind,
    UsageError,
    open_capture,
)
from dp2emu.d3d.dp2structs import D3DHAL_DP2VIEWPORTINFO
from dp2emu.d3d.words import BYTE, dwords
from dp2emu.dp2 import parse, walk
from dp2emu.dp2.driver import UnknownCommand
from dp2emu.dp2.parsers import CHECKED, CONSTRUCT, PARSERS, WALK, parser_name
from dp2emu.dp2.queries import KINDS
from dp2emu.dp2.table import TABLE, Tail
from dp2emu.dp2.tokens import GAPS
from dp2emu.fuzz import stage
from dp2emu.fuzz.stage import Outcome, Stage
from dp2emu.replay import replay
from dp2emu.replay.player import Watcher
from dp2emu.shader import engines
from dp2emu.shader.engines import REFERENCE, can_compile

STREAMS = sorted((Path(__file__).parents[2] / "streams").glob("*.dp2"))
VIEWPORT = TABLE[Op.VIEWPORTINFO].samples[0]
ENGINES = ((engines.REFERENCE, CONSTRUCT), (engines.JIT, WALK), (engines.CHECKED, CHECKED))
SURFACE = 1


def driver_of(parser: str) -> Driver:
    driver = Driver(options=Options(engine=REFERENCE, parser=parser))
    driver.create_surface(SurfaceDesc(SURFACE, SurfaceKind.MEMORY, 1 << 16))
    driver.create_context(1)
    return driver


def device_of(parser: str) -> Device9:
    return Device9(Driver(options=Options(engine=REFERENCE, parser=parser)), 16, 16)


def submit(driver: Driver, commands: bytes, offset: int = 0) -> Answer:
    call = Call(1, SURFACE, offset, len(commands), commands=commands, dwVertexSize=16)
    return driver.submit(call)


def told(answer: Answer) -> tuple[object, ...]:
    """All of an answer, its error included."""
    return answer, str(answer.fault)


# The choice


@pytest.mark.parametrize(("engine", "parser"), ENGINES)
def test_an_engine_chooses_its_parser(engine: str, parser: str) -> None:
    assert parser_name(Options(engine=engine)) == parser


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("engine", [engine for engine, _ in ENGINES])
def test_options_choose_the_parser_by_itself(engine: str, parser: str) -> None:
    assert parser_name(Options(engine=engine, parser=parser)) == parser


def test_an_unknown_parser_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown parser 'ast'; expected construct, walk"):
        Driver(options=Options(parser="ast"))


@pytest.mark.parametrize("parser", [CONSTRUCT, WALK])
def test_a_parser_decodes_alone(parser: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the reference nor the default needs a function of the other."""
    other: Any = walk if parser == CONSTRUCT else parse
    for name in "scan", "body_of", "write_responses", "write_payload":
        monkeypatch.setattr(other, name, None)
    device = device_of(parser)
    query = device.create_query(QueryType.EVENT)
    query.end()
    assert query.wait().data == b"\1\0\0\0"


# Agreement


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_every_stream_replays_the_same_by_each_parser(path: Path) -> None:
    documents = {parser: replayed(path, Options(parser=parser)) for parser in PARSERS}
    assert documents[CONSTRUCT] == documents[WALK] == documents[CHECKED]


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_every_stream_replays_with_engine_checked(path: Path) -> None:
    if not can_compile():
        pytest.skip("needs llvmlite")
    assert replayed(path, Options(engine=engines.CHECKED)) == replayed(path, Options())


def replayed(path: Path, options: Options) -> str:
    """Replay JSON of a capture.  Raises DecodingDisagreement."""
    errors: list[Exception] = []
    document = StringIO()
    with path.open("rb") as file:
        capture = open_capture(file)
        replay(capture, options=options, document=document, watcher=Watcher(fault=errors.append))
    for error in errors:
        if isinstance(error, DecodingDisagreement):
            raise error
    return document.getvalue()


def fuzzed(random: Random, calls: int) -> Iterator[bytes]:
    """Inputs of the fuzzer, most of them mutated, with ``calls`` calls or a few more."""
    while calls > 0:
        data = stage.program(random)
        if random.random() < 0.7:
            data = stage.mutate(random, data, stage.program(random))
        calls -= len([*stage.calls_of(data)])
        yield data


def run(calls: int, seed: int) -> int:
    """Execute fuzzed calls by both decoders and engines; returns the number of faults."""
    faults = 0
    engine = engines.CHECKED if can_compile() else REFERENCE
    for data in fuzzed(Random(seed), calls):
        # One driver for all would meet the limits of a capture.
        checked = Stage(engine, CHECKED)
        checked.enter(data)
        outcomes = checked.play(data)
        assert not [each for each in outcomes if "Disagreement" in each.raised], data.hex()
        faults += sum(each.ddrval != 0 for each in outcomes)
    return faults


def test_fuzzed_calls_are_decoded_the_same() -> None:
    assert run(400, 1) > 100


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_a_hundred_thousand_fuzzed_calls_are_decoded_the_same(seed: int) -> None:
    assert run(25_000, seed) > 5_000


@given(st.randoms(use_true_random=False))
def test_fuzzed_calls_leave_the_same_by_each_parser(random: Random) -> None:
    """Errors, their places, partial execution, responses and all memory."""
    data = next(fuzzed(random, 1))
    assert left_by(CONSTRUCT, data) == left_by(WALK, data)


def left_by(parser: str, data: bytes) -> tuple[list[Outcome], list[bytes]]:
    played = Stage(REFERENCE, parser)
    played.enter(data)
    return played.play(data), played.memory()


BAD: dict[str, bytes] = {
    "a header cut off": VIEWPORT + b"\x1c\0\1",
    "an unassigned opcode": VIEWPORT + b"\xff\0\1\0",
    "an opcode of responses": VIEWPORT + b"\x58\0\1\0",
    "the exit opcode": VIEWPORT + b"\x0b\0\0\0" + b"\xff" * 8,
    "an item cut off": VIEWPORT + VIEWPORT[:-1],
    "a head cut off": VIEWPORT + b"\x2a\0\0\0" + bytes(15),
    "implied items cut off": VIEWPORT + TABLE[Op.CLEAR].samples[-1][:-1],
    "data behind an item cut off": VIEWPORT + TABLE[Op.CREATEPIXELSHADER].samples[0][:-1],
    "more data than memory": VIEWPORT + b"\x25\0\1\0" + bytes(4) + b"\xff" * 4,
    "a second item behind cut data": VIEWPORT + b"\x25\0\2\0" + bytes(4) + b"\xff" * 4,
    "vertices cut off": VIEWPORT + b"\x18\0\1\0" + bytes(31),
    "a refused token": VIEWPORT + TABLE[Op.EXT].samples[0],
}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("offset", [0, 1, 7])
@pytest.mark.parametrize("what", BAD)
def test_errors_are_the_same_by_each_parser(what: str, offset: int, strict: bool) -> None:
    answers = []
    for parser in PARSERS:
        driver = driver_of(parser)
        driver.options = replace(driver.options, strict=strict)
        executed: list[tuple[int, Op]] = []
        driver.command_taps.append(partial(note, executed))
        answers.append((told(submit(driver, BAD[what], offset)), executed))
        assert executed[0] == (offset, Op.VIEWPORTINFO)
    assert answers[0] == answers[1] == answers[2]


def note(executed: list[tuple[int, Op]], call: Call, offset: int, token: Any, n: int) -> None:
    executed.append((offset, token.op))


@pytest.mark.parametrize("parser", PARSERS)
def test_unknown_commands_are_handed_over(parser: str) -> None:
    driver = driver_of(parser)
    seen: list[UnknownCommand] = []

    def skip(unknown: UnknownCommand) -> int:
        seen.append(unknown)
        return unknown.offset + 8

    driver.unknown_command = skip
    executed: list[tuple[int, Op]] = []
    driver.command_taps.append(partial(note, executed))
    assert submit(driver, VIEWPORT + b"\xfe\0\1\0\0\0\0\0" + VIEWPORT, 5).ddrval == 0
    assert [(each.offset, each.opcode) for each in seen] == [(25, 0xFE)]
    assert [offset for offset, _ in executed] == [5, 33]


@pytest.mark.parametrize("parser", PARSERS)
def test_every_query_type_has_the_same_payload(parser: str) -> None:
    def results(parser: str) -> list[object]:
        device = device_of(parser)
        queries = [device.create_query(QueryType(kind)) for kind in KINDS]
        device.clear(color=1)
        for query in queries:
            query.end()
        return [query.wait() for query in queries]

    assert results(parser) == results(WALK)


# Disagreement


@pytest.fixture
def declare(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """A function that changes a row of the table; the walk was compiled from the old row."""

    def change(op: Op, **members: Any) -> None:
        monkeypatch.setitem(TABLE, op, replace(TABLE[op], **members))
        forget()

    yield change
    monkeypatch.undo()
    forget()


def forget() -> None:
    for derived in parse.token_construct, parse.extent_construct, parse.arrays_of:
        derived.cache_clear()


def disagreement(commands: bytes, offset: int = 0) -> DecodingDisagreement:
    with pytest.raises(DecodingDisagreement) as caught:
        submit(driver_of(CHECKED), commands, offset)
    return caught.value


def test_a_token_of_another_size_is_noticed(declare: Callable[..., None]) -> None:
    declare(Op.ZRANGE, items=D3DHAL_DP2VIEWPORTINFO)
    zrange = TABLE[Op.ZRANGE].samples[0]
    assert str(disagreement(VIEWPORT + zrange + VIEWPORT, 2)) == (
        "offset 0x16, ZRANGE: construct finds ZRANGE with count 1, 20 bytes, "
        "the walk ZRANGE with count 1, 12 bytes"
    )
    assert str(disagreement(VIEWPORT + zrange)) == (
        "offset 0x14, ZRANGE: construct finds an error (the payload needs 16 bytes or more, "
        "8 are left), the walk ZRANGE with count 1, 12 bytes"
    )


def test_a_token_that_only_one_knows_is_noticed(
    declare: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(TABLE, Op.ZRANGE)
    monkeypatch.setitem(GAPS, Op.ZRANGE, "unassigned")
    forget()
    assert str(disagreement(VIEWPORT + b"\x20\0\1\0" + bytes(8))) == (
        "offset 0x14, ZRANGE: construct finds an error (opcode 32 is no command (unassigned)), "
        "the walk ZRANGE with count 1, 12 bytes"
    )


def test_a_field_that_differs_is_noticed(declare: Callable[..., None]) -> None:
    declare(Op.VIEWPORTINFO, items=dwords("dwY dwX dwWidth dwHeight"))
    data = VIEWPORT[:4] + bytes([1, 0, 0, 0, 2, 0, 0, 0]) + VIEWPORT[12:]
    error = disagreement(TABLE[Op.ZRANGE].samples[0] + data, 4)
    assert str(error) == (
        "offset 0x10, VIEWPORTINFO: items[0].dwX is 2 by construct and 1 by the walk"
    )


class Inverted(Adapter):  # type: ignore[misc]
    """A number whose bits construct inverts."""

    def _decode(self, obj: int, context: Any, path: str) -> int:
        return obj ^ 0xFF


def test_a_byte_that_differs_is_noticed(declare: Callable[..., None]) -> None:
    (name, _, number), *_ = TABLE[Op.EXT].tail.parts
    declare(Op.EXT, tail=Tail(((name, Inverted(BYTE), number),)))
    assert str(disagreement(TABLE[Op.EXT].samples[0])) == (
        "offset 0x0, EXT: byte 0 of the data behind items[0] is 0x55 by construct and 0xaa by "
        "the walk"
    )


def test_the_first_difference_is_reported(declare: Callable[..., None]) -> None:
    """A field comes before a later token, although tokens are found before fields are read."""
    declare(Op.ZRANGE, items=D3DHAL_DP2VIEWPORTINFO)
    declare(Op.VIEWPORTINFO, items=dwords("dwY dwX dwWidth dwHeight"))
    data = VIEWPORT[:4] + bytes([1, 0, 0, 0, 2, 0, 0, 0]) + VIEWPORT[12:]
    assert "VIEWPORTINFO: items[0].dwX" in str(disagreement(data + TABLE[Op.ZRANGE].samples[0]))


def test_a_response_byte_that_differs_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = parse.RESPONSE_BLOCK.build

    def build(block: dict[str, Any]) -> bytes:
        return bytes(real({**block, "header": {**block["header"], "bReserved": 1}}))

    monkeypatch.setattr(parse.RESPONSE_BLOCK, "build", build)
    device = device_of(CHECKED)
    query = device.create_query(QueryType.EVENT)
    query.end()
    with pytest.raises(DecodingDisagreement) as caught:
        query.wait()
    assert caught.value.what == "byte 1 of the responses is 0x01 by construct and 0x00 by the walk"


def test_a_replay_reports_call_offset_and_token(
    declare: Callable[..., None], tmp_path: Path
) -> None:
    declare(Op.RENDERSTATE, items=dwords("dwState RenderState"))
    errors: list[Any] = []
    with (STREAMS[0].parent / "first_light.dp2").open("rb") as file:
        options = Options(parser=CHECKED)
        replay(open_capture(file), options=options, watcher=Watcher(fault=errors.append))
    error = errors[0]
    assert isinstance(error, DecodingDisagreement)
    assert (error.call, error.token) == (0, "RENDERSTATE")
    assert error.offset is not None and "items[0].RenderState is " in error.what
