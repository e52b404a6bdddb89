"""A driver in C that keeps a log: what it writes replays, also when it was killed half-way."""

from __future__ import annotations

from pathlib import Path

import pytest

from dp2emu.capture import open_capture
from dp2emu.capture.records import Answered, Called
from dp2emu.replay import replay
from dp2emu.rig.failure import RigFailure
from dp2emu.rig.served import NativeDriver
from tests.cli.running import dp2emu
from tests.native.building import library, sample_objects
from tests.rig.calls import CREATE, END, EVENT_ANSWER, opened, submitted


def logging(path: Path, *bugs: str) -> Path:
    """The sample driver, keeping its log in a file."""
    objects = [each for each in sample_objects("-fPIC", bugs=bugs) if Path(each).stem != "sample"]
    options = (f'-DSAMPLE_LOG="{path}"', *(f"-DBUG_{bug}" for bug in bugs))
    return library("-".join(("logging", *bugs)), "sample.c", *objects, options=options)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of a driver that was ended between calls, so it has no end record."""
    log = tmp_path_factory.mktemp("honest") / "honest.log"
    with NativeDriver(logging(log), forked=True) as rig:
        opened(rig)
        submitted(rig, CREATE)
        assert submitted(rig, END).response == EVENT_ANSWER
    return log


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of a driver that died in its second call."""
    log = tmp_path_factory.mktemp("killed") / "killed.log"
    with NativeDriver(logging(log, "CRASHES"), forked=True) as rig:
        opened(rig)
        submitted(rig, b"")
        with pytest.raises(RigFailure):
            submitted(rig, CREATE + END)
    return log


def test_the_log_has_each_call_with_its_answer(honest: Path) -> None:
    with open_capture(honest) as capture:
        records = list(capture.records())
    calls = [record.call for record in records if isinstance(record, Called)]
    answers = [record.answer for record in records if isinstance(record, Answered)]
    assert [call.commands for call in calls] == [CREATE, END]
    assert [answer.response for answer in answers] == [b"", EVENT_ANSWER]


def test_the_emulator_answers_the_logged_calls_alike(honest: Path) -> None:
    with open_capture(honest) as capture:
        tally = replay(capture)
    assert (tally.calls, tally.compared, tally.different, tally.faults) == (2, 2, 0, 0)


def test_the_call_that_killed_the_driver_is_in_its_log(killed: Path) -> None:
    with open_capture(killed) as capture:
        *_, last = capture.records()
        assert capture.damage is not None
    assert isinstance(last, Called)
    assert last.call.commands == CREATE + END


def test_the_log_of_a_killed_driver_converts_and_replays(killed: Path, tmp_path: Path) -> None:
    sealed = tmp_path / "sealed.dp2"
    assert dp2emu("convert", killed, sealed).code == 2
    with open_capture(sealed) as capture:
        tally = replay(capture)
    assert (tally.calls, tally.compared, tally.answered, tally.faults) == (2, 1, 1, 0)
