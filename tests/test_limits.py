"""Every limit that can be set stops what it is about, and its error says its name."""

from __future__ import annotations

import re
from io import BufferedReader, BytesIO
from pathlib import Path

import pytest
from click import Context
from msgspec.structs import asdict, replace
from PIL import Image

from dp2emu.cli import cli, run
from dp2emu.cli.verbs import VERBS
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format, QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.errors import Exceeded, Fault, UsageError
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.limits import FUZZING, NAMES, UNLIMITED, Limits, parse_limits
from dp2emu.replay import replay
from dp2emu.shader.engines import ENGINES
from dp2emu.shader.sm.assemble import assemble
from dp2emu.text import open_any
from tests.dp2.rigging import (
    Bench,
    clear,
    create,
    header,
    rectangle,
    render_state,
    token,
    triangle_list,
)
from tests.refusals import refused, refuses

STREAMS = Path(__file__).parents[1] / "streams"
FIRST_LIGHT = str(STREAMS / "first_light.dp2")
QUAD = rectangle(0, 0, 10, 10)


def test_low_limits_are_low_throughout() -> None:
    for each in Limits.__struct_fields__:
        assert 0 < getattr(FUZZING, each) <= getattr(Limits(), each)


@pytest.mark.parametrize("name", NAMES)
def test_a_limit_is_set_by_its_name(name: str) -> None:
    assert getattr(parse_limits([f"{name}=0x10"]), name) == 16
    assert parse_limits([f"{name}=3", f"{name}=5"], FUZZING) != FUZZING


@pytest.mark.parametrize(
    "text", ["", "surfaces", "surfaces=", "surfaces=x", "surfaces=0", "surfaces=-1", "cats=3",
             f"surfaces={1 << 63}", f"extent={(1 << 14) + 1}", "nesting=129", "surfaces=1.5"],
)  # fmt: skip
def test_what_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="limit"):
        parse_limits([text])


@pytest.mark.parametrize(
    ("name", "most"),
    [("extent", 1 << 14), ("surface_bytes", 1 << 30), ("nesting", 128), ("threads", 2**63 - 1)],
)
def test_a_limit_can_be_put_as_far_as_there_is_arithmetic_for(name: str, most: int) -> None:
    assert getattr(parse_limits([f"{name}={most}"]), name) == most
    assert getattr(parse_limits([f"{name}=1"]), name) == 1
    with pytest.raises(UsageError, match=f"is no number from 1 to {most}"):
        parse_limits([f"{name}={most + 1}"])


def test_none_sets_every_limit_to_its_highest_value() -> None:
    assert parse_limits(["none"]) == UNLIMITED
    assert parse_limits(["surfaces=3", "none"]) == UNLIMITED
    assert parse_limits(["none", "surfaces=3"]) == replace(UNLIMITED, surfaces=3)
    for name in NAMES:
        assert parse_limits([f"{name}={getattr(UNLIMITED, name)}"]) != Limits() or (
            getattr(UNLIMITED, name) == getattr(Limits(), name)
        )
        with pytest.raises(UsageError, match="is no number"):
            parse_limits([f"{name}={getattr(UNLIMITED, name) + 1}"])


def test_an_error_names_the_limit_the_amount_and_the_option() -> None:
    bench = Bench(options=Options(limits=Limits(call_pixels=10_000)))
    with pytest.raises(Exceeded) as raised:
        bench.call(clear() * 2)
    assert raised.value.what == (
        "limit call_pixels: 8,192 pixels so far and 8,192 more, at most 10,000; "
        "raise it with --limit call_pixels=N"
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_refusal_has_the_same_form(name: str) -> None:
    assert refuses(Limits().refusal(name, 1 << 50), name, getattr(Limits(), name))
    assert refuses(Limits().refusal(name, None), name, getattr(Limits(), name))
    assert "raise it with" not in UNLIMITED.refusal(name, 1 << 63)


READING = [name for name, row in VERBS.items() if row.reads]


@pytest.mark.parametrize("verb", READING)
def test_every_verb_that_reads_files_takes_limits(verb: str) -> None:
    context = Context(cli)
    command = cli.get_command(context, verb)
    assert command is not None
    assert "--limit" in {option for each in command.params for option in each.opts}
    with pytest.raises(UsageError, match="is not none and not NAME=VALUE"):
        command.make_context(verb, ["--limit", "cats=3"], resilient_parsing=False)


def test_what_is_no_limit_is_not_told_at_length() -> None:
    for text in ("x" * 500, "surfaces=" + "9" * 500):
        with pytest.raises(UsageError) as caught:
            parse_limits([text])
        shown = re.search(r"'(.*?)'", str(caught.value))
        assert shown is not None
        assert shown[1] == text.removeprefix("surfaces=")[:80]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("limit", "commands", "done"),
    [
        ("call_tokens", header(8, 0) * 3, 2),
        ("capture_tokens", header(8, 0) * 3, 2),
        ("call_draws", triangle_list(0, 2) * 3, 2),
        ("call_vertices", triangle_list(0, 2), 5),
        ("capture_vertices", triangle_list(0, 2), 5),
        ("call_pixels", triangle_list(0, 2), 99),
        ("capture_pixels", triangle_list(0, 2), 99),
        ("call_pixels", clear(), 64 * 64 * 2 - 1),
        ("capture_pixels", clear(), 64 * 64 * 2 - 1),
        ("call_instructions", triangle_list(0, 2), 99),
        ("capture_instructions", triangle_list(0, 2), 99),
    ],
)
def test_work_beyond_a_limit_ends_with_its_name(
    engine: str, limit: str, commands: bytes, done: int
) -> None:
    bench = Bench(options=Options(engine=engine, limits=parse_limits([f"{limit}={done}"])))
    with pytest.raises(Exceeded, match=refused(limit, done)) as raised:
        bench.call(commands, QUAD)
        bench.call(commands, QUAD)
    assert raised.value.limit == limit


@pytest.mark.parametrize("engine", ENGINES)
def test_work_up_to_a_limit_is_done(engine: str) -> None:
    limits = Limits(
        call_draws=2, call_vertices=12, call_pixels=400, call_tokens=2, capture_pixels=800
    )
    bench = Bench(options=Options(engine=engine, limits=limits))
    for _ in range(3):
        bench.ok(triangle_list(0, 2) * 2, QUAD)
    assert bench.driver.read(1, 0, 3) == b"\xff\xff\xff"


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_stops_at_the_same_draw(engine: str) -> None:
    bench = Bench(options=Options(engine=engine, limits=Limits(capture_pixels=1000)))
    drawn = 0
    with pytest.raises(Exceeded):
        while drawn < 100:
            bench.ok(triangle_list(0, 2), QUAD)
            drawn += 1
    assert drawn == 9  # the bound of the next is more than what is left


def test_each_call_has_its_own_work() -> None:
    bench = Bench(options=Options(limits=Limits(call_pixels=64 * 64)))
    for _ in range(10):
        bench.ok(token(42, 1, 0, 1.0, 0, 0, 0, 64, 64))


@pytest.mark.parametrize(
    ("limit", "desc"),
    [
        ("surfaces", SurfaceDesc(9, SurfaceKind.MEMORY, 4)),
        ("surface_bytes", SurfaceDesc(9, SurfaceKind.MEMORY, 1 << 20)),
        ("surface_bytes", SurfaceDesc(9, SurfaceKind.SURFACE, 512, 512, int(Format.A8R8G8B8))),
        ("extent", SurfaceDesc(9, SurfaceKind.SURFACE, 1025, 1, int(Format.A8R8G8B8))),
        ("total_bytes", SurfaceDesc(9, SurfaceKind.MEMORY, 60000)),
    ],
)
def test_surfaces_beyond_a_limit_are_refused_with_its_name(limit: str, desc: SurfaceDesc) -> None:
    most = Limits(surfaces=3, surface_bytes=1 << 16, extent=1024, total_bytes=90000)
    others = {name: getattr(most if name == limit else Limits(), name) for name in NAMES}
    bench = Bench(limits=Limits(**others))
    with pytest.raises(Fault, match=refused(limit, getattr(most, limit))):
        bench.driver.create_surface(desc)


def test_commands_beyond_a_limit_are_refused_with_its_name() -> None:
    answer = Bench(limits=Limits(call_bytes=8)).call(header(8, 0) * 3)
    assert refuses(answer.fault, "call_bytes", 8)


@pytest.mark.parametrize("limit", ["chunk_bytes", "record_bytes"])
def test_files_beyond_a_limit_are_refused_with_its_name(limit: str) -> None:
    data = Path(FIRST_LIGHT).read_bytes() if limit == "chunk_bytes" else bytes(17)
    kind = None if limit == "chunk_bytes" else "bare"
    with BufferedReader(BytesIO(data)) as stream:
        capture = open_any(stream, kind=kind, limits=parse_limits([f"{limit}=16"]))
        tally = replay(capture)
    assert refuses(tally.damage, limit, 16)


def test_the_command_takes_limits(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", FIRST_LIGHT, "--limit", "call_pixels=10"]) == 3
    assert refuses(capfd.readouterr().err, "call_pixels", 10)
    assert run(["info", FIRST_LIGHT, "--limit", "chunk_bytes=10"]) == 2
    assert refuses(capfd.readouterr().err, "chunk_bytes", 10)
    assert run(["batch", FIRST_LIGHT, "--limit", "surfaces=1"]) == 3
    assert run(["replay", FIRST_LIGHT, "--limit", "call_pixels"]) == 2
    assert "and not NAME=VALUE" in capfd.readouterr().err


def test_limits_of_shaders_texts_and_pictures(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    picture, text, shader = (tmp_path / name for name in ("a.png", "a.txt", "a.vs"))
    Image.new("RGB", (20, 10)).save(picture)
    assert run(["dump", FIRST_LIGHT]) == 0
    text.write_text(capfd.readouterr().out, "utf-8")
    shader.write_bytes(assemble("vs_2_0\nmov oPos, c0\n"))
    capture = str(tmp_path / "a.dp2")
    for arguments, name, most in (
        (["diff-images", str(picture), str(picture)], "extent", 19),
        (["assemble", str(text), "-o", capture], "record_bytes", 8),
        (["dump", str(text)], "record_bytes", 8),
        (["shader", str(shader)], "shader_bytes", 7),
    ):
        assert run([*arguments, "--limit", f"{name}={most}"]) != 0
        assert refuses(capfd.readouterr().err, name, most)
        assert run([*arguments, "--limit", "none"]) == 0


def test_a_driver_takes_the_limits_of_its_options() -> None:
    assert Driver(options=Options(limits=FUZZING)).gpu.heap.limits is FUZZING


@pytest.mark.parametrize(
    ("limit", "commands"),
    [
        ("objects", token(35, 1) + token(35, 2)),
        ("queries", create(1, QueryType.EVENT) + create(2, QueryType.EVENT)),
        ("settings", token(Op.STATESET, 0, 1, 0) + render_state(27, 1) + render_state(28, 1)),
    ],
)
def test_what_a_context_keeps_beyond_a_limit_is_refused_with_its_name(
    limit: str, commands: bytes
) -> None:
    answer = Bench(limits=parse_limits([f"{limit}=1"])).call(commands)
    assert answer.ddrval == HResult.DDERR_OUTOFMEMORY
    assert refuses(answer.fault, limit, 1)


_UNITS = {"MiB": 1 << 20, "GiB": 1 << 30}


def _number(text: str) -> int:
    """``64 MiB``, ``65,536`` or two to a power."""
    power = re.fullmatch(r"2\\ :sup:`(\d+)`", text)
    if power:
        return 1 << int(power[1])
    number, _, unit = text.replace(",", "").partition(" ")
    return int(number) * _UNITS.get(unit, 1)


def test_the_security_note_has_every_limit_with_its_default() -> None:
    note = (STREAMS.parent / "docs" / "security.rst").read_text("utf-8")
    rows = re.findall(r"^([a-z]+_?[a-z]*)  +(2\\ :sup:`\d+`|[\d,]+(?: [MG]iB)?)", note, re.M)
    assert {name: _number(text) for name, text in rows} == asdict(Limits())


def test_limits_for_fuzzing_leave_room_for_what_a_stream_does() -> None:
    tried = asdict(FUZZING)
    assert tried["extent"] ** 2 * 16 == tried["surface_bytes"] == tried["total_bytes"] >> 4
    for kind in ("tokens", "vertices", "pixels", "instructions", "operations"):
        assert tried[f"capture_{kind}"] == 16 * tried[f"call_{kind}"]
    assert tried["call_vertices"] == tried["call_bytes"] == 4 * tried["call_tokens"] == 1 << 16
    assert tried["call_pixels"] == 4 * tried["extent"] ** 2
    assert tried["call_instructions"] == 64 * tried["call_pixels"]
    assert (tried["surfaces"], tried["nesting"]) == (64, 16)


def test_files_under_the_limits_for_fuzzing_are_of_a_few_mebibytes() -> None:
    tried = asdict(FUZZING)
    names = ("chunk_bytes", "record_bytes", "trace_bytes", "signature_bytes")
    assert [tried[name] for name in names] == [1 << 20] * 4
    assert tried["inflated_bytes"] == 4 << 20
