"""The command as a whole: verbs, errors, exit codes, start-up."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import click
import pytest

from dp2emu import __version__
from dp2emu.capture.records import Annotation
from dp2emu.cli import EPILOG, VERBS, cli, run
from dp2emu.cli.outcome import DIFFERS, FAULTS, FINE, READER_GONE, UNUSABLE, outcome_of, worst
from dp2emu.errors import CaptureError, Fault, Unsupported
from tests.cli.running import dp2emu
from tests.replay.authoring import SETTING, called, clear, sealed

ROOT = Path(__file__).parents[2]
UNNEEDED = ("PIL", "rich", "dp2emu.runtime.device9", "dp2emu.shader.sm4", "dp2emu.ddi10",
            "dp2emu.scene", "dp2emu.retrace")  # fmt: skip
HEAVY = ("numpy", "construct", "rich", "PIL", "mcap", "zstandard")


def python(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    """A new interpreter in the project's folder."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        **options,  # type: ignore[call-overload]
    )


def test_help_names_every_verb_and_exit_code() -> None:
    ran = dp2emu("--help")
    assert ran.code == FINE and ran.err == ""
    text = ran.out.decode()
    assert all(f"  {verb} " in text for verb in VERBS)
    for code in (FINE, DIFFERS, UNUSABLE, FAULTS, 130, 143, READER_GONE):
        assert f"  {code} " in text
    assert "_DP2EMU_COMPLETE" in EPILOG


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(verb: str) -> None:
    ran = dp2emu(verb, "--help")
    assert ran.code == FINE and ran.out.startswith(f"Usage: dp2emu {verb} ".encode())


@pytest.mark.parametrize("verb", VERBS)
def test_options_of_verbs_are_explained(verb: str) -> None:
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None
    options = [each for each in command.params if isinstance(each, click.Option)]
    assert all(option.help for option in options)


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("info", "--help")])
def test_help_that_cannot_be_written_is_one_line(arguments: tuple[str, ...]) -> None:
    class Full(io.BytesIO):
        def write(self, data: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    err = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    out = io.TextIOWrapper(Full(), "utf-8", write_through=True)
    with patch.object(sys, "stdout", out), patch.object(sys, "stderr", err):
        code = run(arguments)
    assert code == UNUSABLE
    assert err.buffer.getvalue() == b"dp2emu: -: No space left on device\n"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("replay", "-"), UNUSABLE),
        (("assemble", "-", "-o", "none"), UNUSABLE),
        (("info", "streams/first_light.dp2"), UNUSABLE),
        (("dump", "streams/first_light.dp2"), UNUSABLE),
        (("convert", "streams/first_light.dp2", "-", "--to", "log"), UNUSABLE),
        (("replay", "streams/first_light.dp2"), FINE),
        (("replay", "none"), UNUSABLE),
    ],
)
@pytest.mark.parametrize("closed", [("stdin", "stdout"), ("stdin", "stdout", "stderr")])
def test_closed_standard_streams_are_no_traceback(
    arguments: tuple[str, ...], expected: int, closed: tuple[str, ...]
) -> None:
    with ExitStack() as stack:
        stack.enter_context(patch.object(sys, "stderr", io.StringIO()))
        for name in closed:
            stack.enter_context(patch.object(sys, name, None))
        there = [ROOT / each if each.startswith("streams") else each for each in arguments]
        assert run([str(each) for each in there]) == expected
        assert [getattr(sys, name) for name in closed] == [None] * len(closed)


def test_error_that_quotes_the_input_at_length_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.dp2"
    path.write_bytes(sealed(Annotation("timing", "x" * 5_000_000), *SETTING))
    ran = dp2emu("replay", path)
    assert ran.code == UNUSABLE
    assert len(ran.err) < 2100 and ran.err.endswith(" ...\n")


def test_version_is_said() -> None:
    assert dp2emu("--version") == (FINE, f"dp2emu {__version__}\n".encode(), "")


def test_module_is_the_command() -> None:
    ran = python("-m", "dp2emu", "--version")
    assert (ran.returncode, ran.stdout) == (0, f"dp2emu {__version__}\n")


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\nfrom dp2emu.cli import run\nrun(['--help'])\nrun(['--version'])\n"
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    assert python("-c", script).stderr == "[]\n"


def test_a_replay_imports_nothing_that_it_has_no_need_of() -> None:
    script = (
        "import sys\nfrom dp2emu.cli import run\n"
        "run(['replay', 'streams/first_light.dp2', '--json', '-'])\n"
        f"print([name for name in {UNNEEDED} if name in sys.modules], file=sys.stderr)"
    )
    assert python("-c", script).stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize(("told", "found"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")])
def test_the_command_starts_no_threads_of_numpy_unless_told_to(
    told: dict[str, str], found: str
) -> None:
    script = (
        "import os\nfrom dp2emu.cli import main\n"
        "try:\n    main(['--version'])\n"
        "finally:\n    print(os.environ['OPENBLAS_NUM_THREADS'])"
    )
    others = {name: text for name, text in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    ran = python("-c", script, env={**others, **told})
    assert ran.stdout.splitlines()[-1] == found


def test_completing_a_verb_imports_nothing_heavy() -> None:
    script = (
        "import sys\nfrom dp2emu.cli import run\n"
        "try:\n    run([])\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    asked = {"_DP2EMU_COMPLETE": "bash_complete", "COMP_WORDS": "dp2emu repl", "COMP_CWORD": "1"}
    ran = python("-c", script, env={**os.environ, **asked})
    assert (ran.stdout, ran.stderr) == ("plain,replay\n", "[]\n")


@pytest.mark.parametrize(
    "arguments",
    [(), ("paint",), ("replay",), ("replay", "x", "--fast"), ("info", "x", "--size", "big")],
)
def test_usage_errors_are_one_line_and_code_2(arguments: tuple[str, ...]) -> None:
    ran = dp2emu(*arguments)
    assert (ran.code, ran.out) == (UNUSABLE, b"")
    assert ran.err.startswith("dp2emu: ") and ran.err.count("\n") == 1


@pytest.mark.parametrize("verb", ["replay", "info", "dump"])
def test_file_that_is_not_there_is_one_line(verb: str, tmp_path: Path) -> None:
    ran = dp2emu(verb, tmp_path / "none.dp2")
    assert ran.code == UNUSABLE
    assert ran.err == f"dp2emu: {tmp_path / 'none.dp2'}: No such file or directory\n"


@pytest.mark.parametrize("verb", ["replay", "info", "dump"])
def test_folder_is_no_capture(verb: str, tmp_path: Path) -> None:
    ran = dp2emu(verb, tmp_path)
    assert ran.code == UNUSABLE and ran.err.count("\n") == 1


@pytest.mark.parametrize("verb", ["replay", "info", "dump"])
def test_foreign_file_says_what_was_expected(verb: str, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"\0hello world")
    ran = dp2emu(verb, path)
    assert ran.code == UNUSABLE
    assert "sealed" in ran.err and "(--bare)" in ran.err and ran.err.count("\n") == 1


def test_worst_code_counts() -> None:
    assert worst(FAULTS, UNUSABLE, DIFFERS) == UNUSABLE
    assert worst(DIFFERS, FAULTS, FINE) == FAULTS
    assert worst(FINE, DIFFERS) == DIFFERS
    assert worst() == FINE


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CaptureError("cut"), UNUSABLE),
        (Unsupported("fog"), FAULTS),
        (Fault(1, "no"), FAULTS),
        (OSError(28, "No space left on device", "out"), UNUSABLE),
        (MemoryError(), UNUSABLE),
        (SystemError("error return without exception set"), UNUSABLE),
        (BrokenPipeError(), READER_GONE),
    ],
)
def test_errors_become_codes(error: Exception, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def verb() -> int:
        raise error

    monkeypatch.setattr(sys, "stdout", io.StringIO())  # it may be let go of
    assert outcome_of(verb) == code


def test_error_line_stays_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def verb() -> int:
        raise CaptureError("two\nlines \x1b[31m", stream="f")

    outcome_of(verb)
    assert capsys.readouterr().err == "dp2emu: f: two lines \\x1b[31m\n"


def test_an_interrupt_is_one_line() -> None:
    script = (
        "from unittest.mock import patch\nfrom dp2emu.cli import cli, run\n"
        "with patch.object(type(cli), 'get_command', side_effect=KeyboardInterrupt):\n"
        "    raise SystemExit(run(['info', 'x']))"
    )
    ran = python("-c", script)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "dp2emu: interrupted\n")


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    path = tmp_path / "a.dp2"
    path.write_bytes(sealed(*SETTING, *[called(clear(n)) for n in range(2000)]))
    return path


def test_reader_that_goes_away_is_quiet(capture: Path) -> None:
    command = [sys.executable, "-m", "dp2emu", "replay", str(capture), "--json", "-"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        err = process.stderr.read()
    assert (process.returncode, err) == (READER_GONE, b"")


class Full(io.RawIOBase):
    """A disk without room, until it gets some."""

    room = False

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return len(memoryview(data))  # type: ignore[arg-type]


def test_full_disk_is_one_line(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    disk = Full()
    with patch.object(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(disk))):
        assert run(["info", str(capture)]) == UNUSABLE
        disk.room = True
        sys.stdout.close()
    assert capsys.readouterr().err == "dp2emu: -: No space left on device\n"


@pytest.mark.parametrize(
    "line",
    [
        "fuzz --seconds nan",
        "fuzz --timeout nan --execs 1",
        "minimize f --check false -o f --timeout nan",
        "batch f --seconds nan",
        "diff-images a b --share nan",
    ],
)
def test_what_is_not_a_number_is_in_no_range(line: str) -> None:
    ran = dp2emu(*line.split())
    assert (ran.code, "nan is not a number" in ran.err) == (2, True), ran


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("pixel FILE -1 0", "expected 0 or more for X and Y, got -1"),
        ("readers FILE 4 -5", "expected 0 or more for RESOURCE and RANGE, got -5"),
        ("mesh FILE -3", "expected 0 or more for EVENT, got -3"),
        ("pixel FILE 1 1 -q", "No such option '-q'."),
        ("replay FILE -1", "No such option '-1'."),
        ("pixel FILE a 0", "Invalid value for 'X': 'a' is not a whole number."),
        ("pixel FILE 0 70000", "Invalid value for 'Y': 70000 is not in the range 0<=x<=65535."),
        ("state FILE --at 0 --rows 1.5", "'1.5' is not a whole number."),
        (
            "debug FILE E3",
            "Missing argument '{pixel|vertex|primitive|thread}'."
            " Choose from: pixel, vertex, primitive, thread (see ",
        ),
    ],
)
def test_a_wrong_argument_is_told_what_is_expected(line: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "a.dp2"
    path.write_bytes(sealed(*SETTING, called(clear(1))))
    ran = dp2emu(*line.replace("FILE", str(path)).split())
    assert (ran.code, ran.out) == (2, b"")
    assert what in ran.err
