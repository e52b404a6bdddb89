"""Ctrl-C while the command starts prints one line, whichever import it interrupts."""

from __future__ import annotations

import configparser
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.loading import ROOT

HOOK = '''
"""Interrupts this process when it looks for a module, named or numbered in the order in which they
are looked for, or when that module's lock is released."""

import os
import signal
import sys

# nohup lets its children ignore this one.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def interrupt():
    os.kill(os.getpid(), getattr(signal, os.environ["SIGNAL"]))


def watch(frame, event, argument):
    if event == "call" and frame.f_code.co_name == "cb":
        sys.setprofile(None)
        interrupt()


class Finder:
    count = 0

    @staticmethod
    def find_spec(name, path=None, target=None):
        Finder.count += 1
        if os.environ["MODULE"] in (name, str(Finder.count)):
            sys.meta_path.remove(Finder)
            if os.environ["MOMENT"] == "release":
                sys.setprofile(watch)
            else:
                interrupt()


sys.meta_path.insert(0, Finder)
'''
"""``sitecustomize``, which Python imports before the command."""

SCRIPT = """
import re
import sys
from {module} import {function}
if __name__ == '__main__':
    sys.argv[0] = re.sub(r'(-script\\.pyw|\\.exe)?$', '', sys.argv[0])
    sys.exit({function}())
"""
"""The script that pip writes for a console entry point."""

MODULES = (
    "dp2emu.cli", "click", "click.core", "dp2emu.errors", "dp2emu.cli.verbs", "dp2emu.cli.replay",
    "numpy", "construct", "msgspec", "dp2emu.capture", "dp2emu.gpu", "dp2emu.replay",
)  # fmt: skip
"""Modules that a start of ``replay`` imports, in about this order."""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """The installed command."""
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg")
    entry = settings["options.entry_points"]["console_scripts"].strip()
    name, _, place = entry.partition(" = ")
    module, _, function = place.partition(":")
    (tmp_path / name).write_text(SCRIPT.format(module=module, function=function))
    return tmp_path / name


def started(
    folder: Path, *command: object, module: str, moment: str = "find", number: str = "SIGINT"
) -> tuple[int, str, str]:
    """(exit code, standard output, standard error) of a start that is interrupted."""
    hooks = folder / "hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "sitecustomize.py").write_text(HOOK)
    paths = os.pathsep.join([str(hooks), str(ROOT), *sys.path])
    told = {"MODULE": module, "MOMENT": moment, "SIGNAL": number, "PYTHONPATH": paths}
    arguments = [str(word) for word in command]
    capture = str(ROOT / "streams" / "first_light.dp2")
    ran = subprocess.run(
        [sys.executable, *arguments, "replay", capture, "--json", "-"],
        capture_output=True, text=True, check=False, cwd=folder, env={**os.environ, **told},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    return ran.returncode, ran.stdout, ran.stderr


@pytest.mark.parametrize("module", MODULES)
def test_ctrl_c_during_an_import_of_a_start_prints_one_line(module: str, tmp_path: Path) -> None:
    ended = started(tmp_path, "-m", "dp2emu", module=module)
    assert ended == (130, "", "dp2emu: interrupted\n")


@pytest.mark.parametrize("module", ["dp2emu.cli", "click", "dp2emu.cli.replay", "numpy"])
def test_ctrl_c_during_an_import_of_the_script_prints_one_line(
    module: str, script: Path, tmp_path: Path
) -> None:
    assert started(tmp_path, script, module=module) == (130, "", "dp2emu: interrupted\n")


IMPORTS = 460
"""Fewer modules than a start of ``replay`` looks for."""


def check_numbered(number: int, folder: Path) -> None:
    moment = ("find", "release")[number % 2]
    code, out, err = started(folder, "-m", "dp2emu", module=str(number), moment=moment)
    assert (code, out, err.count("\n")) == (130, "", 1)
    assert err.startswith("dp2emu: ") and err.endswith("interrupted\n")


@pytest.mark.parametrize("number", [40, 181, 320, IMPORTS])
def test_ctrl_c_during_any_import_of_a_start_prints_one_line(number: int, tmp_path: Path) -> None:
    check_numbered(number, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(20, IMPORTS, 7))
def test_ctrl_c_during_each_import_of_a_start_prints_one_line(number: int, tmp_path: Path) -> None:
    check_numbered(number, tmp_path)


@pytest.mark.parametrize("moment", ["find", "release"])
def test_ctrl_c_during_an_import_of_a_draw_prints_one_line(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first program that is compiled imports LLVM, unless its code is cached."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    code, _, err = started(tmp_path, "-m", "dp2emu", module="llvmlite.binding", moment=moment)
    assert (code, err.count("\n")) == (130, 1)
    assert err.startswith("dp2emu: ") and err.endswith(": interrupted\n")


@pytest.mark.parametrize("module", ["click", "numpy"])
def test_an_interrupt_in_a_callback_of_an_import_is_not_lost(module: str, tmp_path: Path) -> None:
    """Python drops the exceptions of the callbacks that release the locks of modules."""
    ended = started(tmp_path, "-m", "dp2emu", module=module, moment="release")
    assert ended == (130, "", "dp2emu: interrupted\n")


@pytest.mark.parametrize(("number", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_other_signals_during_a_start_print_one_line(
    number: str, code: int, tmp_path: Path
) -> None:
    ended, out, err = started(tmp_path, "-m", "dp2emu", module="click", number=number)
    assert (ended, out, err.count("\n")) == (code, "", 1)
