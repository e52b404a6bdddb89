"""A capture that fails becomes a small one that fails the same way."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from io import BytesIO
from pathlib import Path

import pytest
from msgspec.structs import replace

from dp2emu.capture import open_capture
from dp2emu.capture.records import (
    Called,
    ContextCreated,
    ContextDestroyed,
    EntryCalled,
    MemoryWritten,
    Record,
    SurfaceCreated,
    SurfaceDestroyed,
)
from dp2emu.capture.values import Memory, Structure
from dp2emu.conform import kit, run_kit
from dp2emu.conform.report import recorded
from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.call import Answer
from dp2emu.errors import Dp2Error, UsageError
from dp2emu.fuzz import stage
from dp2emu.fuzz.findings import sealed
from dp2emu.fuzz.minimize import Check, minimize
from dp2emu.rig import Rig
from dp2emu.rig.served import PipeRig
from tests.cli.running import dp2emu
from tests.conform.test_planted import MISTAKES, WRONG
from tests.dp2.rigging import END, create, issue
from tests.native.building import served_sample

NOISE = b"".join(issue(1, END) for _ in range(20))
BUGS = {bug: mistake.cases for bug, mistake in MISTAKES.items()} | {
    "CRASHES": ("error.offset.4.*",)
}
"""Mistakes planted in the sample driver, and a case that shows each."""
LARGE = b"\0" + create(1, 9) + NOISE + stage.CALL + create(2, 9) + NOISE


def answers(records: Sequence[Record], rig: Rig) -> list[tuple[int, int, bytes] | str]:
    """What a rig says to all calls; what it refuses otherwise counts too."""
    heard: list[tuple[int, int, bytes] | str] = []
    for record in records:
        try:
            answer = perform(record, rig)
        except Dp2Error as error:
            heard.append(type(error).__name__)
            continue
        if answer is not None:
            heard.append((answer.ddrval, answer.dwErrorOffset, answer.response))
    return heard


def perform(record: Record, rig: Rig) -> Answer | None:
    match record:
        case Called(call):
            return rig.submit(call)
        case SurfaceCreated(desc):
            rig.create_surface(desc)
        case SurfaceDestroyed(handle):
            rig.destroy_surface(handle)
        case ContextCreated(context, interface, color, depth):
            rig.create_context(context, interface=interface, color=color, depth=depth)
        case ContextDestroyed(context):
            rig.destroy_context(context)
        case MemoryWritten(handle, offset, data):
            rig.write(handle, offset, data)
    return None


@pytest.mark.parametrize(
    "bug", ["CLEAR_LENGTH", "RESTART_ADDS", "STALE_INDICES", "UNKNOWN_SKIPPED"]
)
def test_a_planted_mistake_needs_less_than_4_kib(bug: str) -> None:
    check_planted(bug, 60)


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_every_planted_mistake_needs_less_than_4_kib(bug: str) -> None:
    check_planted(bug, 400)


def check_planted(bug: str, tries: int) -> None:
    """A case that names the mistake, behind calls that have nothing to do with it."""
    served = str(served_sample(bug)), str(served_sample())
    pattern = BUGS[bug][0]
    with PipeRig(served[0]) as rig:
        tried = run_kit(kit(pattern.split("*")[0]), rig)
        case = next(each.case for each in tried if each.verdict in WRONG)
    records = [*noise(), *recorded(case)]

    def fails(some: Sequence[Record]) -> bool:
        with PipeRig(served[0]) as wrong, PipeRig(served[1]) as right:
            return answers(some, wrong) != answers(some, right)

    assert fails(records)
    kept = minimize(records, fails, tries)
    assert fails(kept)
    assert len(sealed(kept)) < 4096
    assert calls(kept) <= calls(recorded(case))


def noise() -> list[Record]:
    """Calls that are over, with all that they needed."""
    records = stage.records(LARGE)
    handles = [record.desc.handle for record in records if isinstance(record, SurfaceCreated)]
    return [*records, ContextDestroyed(1), *map(SurfaceDestroyed, handles)]


def calls(records: Sequence[Record]) -> int:
    return sum(isinstance(record, Called) for record in records)


def test_calls_tokens_and_bytes_go_that_are_not_needed() -> None:
    def fails(some: Sequence[Record]) -> bool:
        commands = b"".join(r.call.commands or b"" for r in some if isinstance(r, Called))
        return commands.count(bytes((Op.CREATEQUERY,))) >= 2

    kept = minimize(stage.records(LARGE), fails)
    assert fails(kept)
    commands = [r.call.commands for r in kept if isinstance(r, Called)]
    assert sum(map(len, commands)) == 2
    assert all(r.call.dwCommandLength == len(r.call.commands) for r in kept)
    assert not any(r.call.vertices for r in kept)


def test_the_command_makes_a_file_smaller_by_what_a_check_says(tmp_path: Path) -> None:
    large, small = tmp_path / "large.dp2", tmp_path / "small.dp2"
    large.write_bytes(sealed(stage.records(LARGE)))
    ended = dp2emu("minimize", str(large), "--check", "sh -c 'test $(wc -c < {}) -lt 1000'",
                   "-o", str(small), "--tries", "300")  # fmt: skip
    assert ended.code == 0
    assert 1000 <= small.stat().st_size < large.stat().st_size
    assert open_capture(BytesIO(small.read_bytes())).damage is None


def test_a_check_that_ends_with_0_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "any.dp2"
    path.write_bytes(sealed(stage.records(LARGE)))
    ended = dp2emu("minimize", str(path), "--check", "true", "-o", str(tmp_path / "out.dp2"))
    assert (ended.code, ended.out) == (2, b"")
    assert f"{path} does not fail the check: 'true' ends with 0 for it" in ended.err
    assert not (tmp_path / "out.dp2").exists()


@pytest.mark.parametrize(
    ("check", "ending"),
    [
        ("false", "ends with 1"),
        ("sh -c 'test -lt 2000'", "ends with 2"),  # if a shell has expanded $(wc -c < {}) already
        ("sh -c 'exec no-such-program {}'", "ends with 127"),
        ("sh -c 'kill -9 $$'", "ends with -9"),
    ],
)
def test_a_check_that_an_empty_capture_fails_too_is_refused(
    check: str, ending: str, tmp_path: Path
) -> None:
    path = tmp_path / "any.dp2"
    path.write_bytes(sealed(stage.records(LARGE)))
    ended = dp2emu("minimize", str(path), "--check", check, "-o", str(tmp_path / "out.dp2"))
    assert (ended.code, ended.out) == (2, b"")
    assert "the check does not depend on the capture" in ended.err
    assert f"{ending} for an empty capture as for {path}" in ended.err
    assert not (tmp_path / "out.dp2").exists()


def test_an_empty_capture_is_not_minimized(tmp_path: Path) -> None:
    path = tmp_path / "empty.dp2"
    path.write_bytes(sealed([]))
    ended = dp2emu("minimize", str(path), "--check", "false", "-o", str(tmp_path / "out.dp2"))
    assert (ended.code, ended.out) == (2, b"")
    assert f"{path} has no record to leave out" in ended.err


@pytest.mark.parametrize("command", ["", "'", "no-such-program-here"])
def test_a_check_that_is_no_command_is_refused(command: str) -> None:
    with pytest.raises(UsageError), closing(Check(command)) as check:
        check.first(stage.records(LARGE))


def test_a_check_that_hangs_fails_like_one_that_hangs() -> None:
    check = Check("sleep 60", timeout=0.2)
    assert check.first(stage.records(LARGE))
    assert check(stage.records(LARGE)[:3])
    check.close()


def test_functions_of_direct3d_11_lose_arguments_outcomes_and_bytes() -> None:
    data = Structure("SubresourceUP", (bytes(range(64)), 64, 64))
    desc = Structure("CreateResource", ((Structure("MipInfo", (64,)),), (data, data), 1))
    made = EntryCalled(1, 110, "CreateResource", (desc, Memory(1, 16), 0), codes=(5,))
    drawn = EntryCalled(1, 110, "Draw", (3, 0), result=(1, 2), written=((0, b"1"),))

    def fails(some: Sequence[Record]) -> bool:
        calls = [each for each in some if isinstance(each, EntryCalled)]
        wanted = [each for each in calls if each.entry == "CreateResource"]
        return any(each.codes and 7 in found for each in wanted for found in blobs(each))

    def blobs(record: EntryCalled) -> list[bytes]:
        desc = record.arguments[0]
        assert isinstance(desc, Structure) and isinstance(desc.members[1], tuple)
        rows = [each for each in desc.members[1] if isinstance(each, Structure)]
        return [each for row in rows for each in row.members if isinstance(each, bytes)]

    small = Structure("CreateResource", ((), (Structure("SubresourceUP", (b"\7", 64, 64)),), 1))
    (kept,) = minimize([drawn, made, drawn, made], fails)
    assert kept == replace(made, arguments=(small, Memory(1, 16), 0))
