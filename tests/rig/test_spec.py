"""Rigs by name, and a recording that answers as one."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from dp2emu.capture import CaptureWriter
from dp2emu.capture.records import Answered, Called
from dp2emu.dp2.call import Call
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.errors import UsageError
from dp2emu.rig import Rig, spec
from dp2emu.rig.recorded import RecordedRig
from dp2emu.rig.served import NativeDriver, PipeRig
from dp2emu.rig.spec import check_spec, open_rig, using_rig
from dp2emu.runtime.session import Session
from tests.cli.running import dp2emu
from tests.native.building import sample, served_sample
from tests.rig.calls import CREATE, END, EVENT_ANSWER, opened, submitted


def raw_call(session: Session, tokens: bytes) -> None:
    """Submit a call with these bytes, and record its answer unchecked."""
    call = Call(session.context, lpDDCommands=1, dwCommandLength=len(tokens), commands=tokens)
    session._log(Called(call))
    session._log(Answered(session.rig.submit(call)))


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """The emulator's answers to a session of two calls."""
    path = tmp_path / "recorded.dp2"
    with CaptureWriter(path) as capture:
        session = Session(Driver(), record=capture.write, command_bytes=256)
        session.open()
        for tokens in (CREATE, END):
            raw_call(session, tokens)
        session.close()
    return path


def test_the_emulator_takes_options_by_name() -> None:
    rig = open_rig("emulator", options=Options(strict=True))
    assert isinstance(rig, Driver) and rig.options.strict


@pytest.mark.parametrize("name", ["emulator", "emulator:", "native:missing.so", "recorded:none"])
def test_what_is_a_rig_by_name_is_known_without_opening_it(name: str) -> None:
    assert check_spec(name) is None


def test_libraries_commands_and_captures_are_rigs_by_name(recording: Path) -> None:
    with using_rig(f"native:{sample()}") as rig:
        assert isinstance(rig, NativeDriver)
        assert submitted(opened(rig), CREATE + END).response == EVENT_ANSWER
    assert not rig.alive
    with using_rig(f"pipe:{served_sample()}") as rig:
        assert isinstance(rig, PipeRig)
        assert submitted(opened(rig), CREATE + END).response == EVENT_ANSWER
    assert isinstance(open_rig(f"recorded:{recording}"), RecordedRig)


@pytest.mark.parametrize("name", ["nothing", "native", "pipe:", "recorded:", "emulator:x", ""])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        open_rig(name)


def made(argument: str) -> Rig:
    """A rig that an installed package might have."""
    return Driver(options=Options(strict=argument == "strict"))


def test_installed_rigs_are_found_by_their_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("mine", f"{__name__}:made", spec.GROUP)
    monkeypatch.setattr(
        spec,
        "entry_points",
        lambda **asked: [point] if asked.get("name", "mine") == "mine" else [],
    )
    rig = open_rig("mine:strict")
    assert isinstance(rig, Driver) and rig.options.strict
    with pytest.raises(UsageError, match="emulator, mine, native"):
        open_rig("yours")


def test_a_recording_answers_as_it_was_answered(recording: Path) -> None:
    rig = open_rig(f"recorded:{recording}")
    session = Session(rig, command_bytes=256)
    session.open()
    raw_call(session, CREATE)
    with pytest.raises(UsageError, match="other dwCommandLength, commands"):
        raw_call(session, CREATE + CREATE)
    raw_call(session, END)
    assert rig.read(1, 0, 20) == EVENT_ANSWER
    with pytest.raises(UsageError, match="no answer is left"):
        raw_call(session, END)


def test_replay_drives_a_rig_by_name(recording: Path) -> None:
    for name in (f"native:{sample()}", f"pipe:{served_sample()}", f"recorded:{recording}"):
        ran = dp2emu("replay", recording, "--rig", name, "--verify")
        assert (ran.code, "2 of 2 answers as recorded" in ran.err) == (0, True), ran.err


def test_replay_tells_what_a_rig_fails_by(recording: Path) -> None:
    ran = dp2emu("replay", recording, "--rig", f"native:{sample('CRASHES')}")
    assert ran.code == 3
    assert "call 0, offset 0x0, CREATEQUERY: crash: SIGSEGV" in ran.err


def test_replay_refuses_a_rig_that_is_none(recording: Path) -> None:
    assert dp2emu("replay", recording, "--rig", "nothing").code == 2
