"""The ``dp2emu`` command: a verb per file, each a thin shell around one library function.

Nothing but click is imported until a verb runs, so that help and completion answer at once.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import NoReturn

import click
from click.shell_completion import CompletionItem

from dp2emu import __version__
from dp2emu.cli.ending import signals_raised
from dp2emu.cli.outcome import UNUSABLE, complain, interrupted, outcome_of, reader_gone, unusable
from dp2emu.cli.streams import closed_streams_replaced

VERBS = {
    "replay": "Run a capture and report its answers and pictures.",
    "batch": "Replay many captures, each in a process that is watched.",
    "import": "Turn a program's Direct3D calls into a capture.",
    "info": "Say what a capture holds.",
    "state": "Show all device state at a point of a capture.",
    "pixel": "List the draws that made a pixel.",
    "dump": "Show a capture as text, or its tokens as JSON lines.",
    "assemble": "Turn dump's text back into a capture.",
    "convert": "Rewrite a capture in another form.",
    "shader": "Disassemble or assemble a shader.",
    "conform": "Try whether a driver follows the rules.",
    "fuzz": "Look for inputs that break what is promised of all.",
    "minimize": "Make a capture smaller that still fails.",
    "scene": "Play Direct3D 9 scene files.",
    "diff-images": "Compare pictures.",
}
"""Every verb, with its line in the list of commands; module ``dp2emu.cli.VERB`` has the rest."""
_MODULES = {"import": "imports", "diff-images": "diff_images"}
"""The modules of verbs whose names cannot be those of one."""

EPILOG = """\b
Exit codes:
  0    fine (a fault that matches its recorded answer is fine)
  1    something differs: from what was recorded (replay --verify), or pictures,
       or a driver from the rules (conform)
  2    unusable input, output or arguments
  3    the stream had faults, needs what is not built, or has calls with losses
  130  interrupted
  141  the reader of standard output went away
  143  terminated
When several apply, 2 goes before 3 and 3 before 1.

\b
Completion, for bash (zsh and fish alike):
  eval "$(_DP2EMU_COMPLETE=bash_source dp2emu)"
"""


class Verbs(click.Group):
    """A group whose verbs are imported when they are run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs, in the order of use."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a verb."""
        if name not in VERBS:
            return None
        command = _imported(f"dp2emu.cli.{_MODULES.get(name, name)}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a verb without importing any."""
        verbs = [
            CompletionItem(verb, help=line)
            for verb, line in VERBS.items()
            if verb.startswith(incomplete)
        ]
        return verbs + click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> int:
        """Run a verb; whatever it ends in becomes an exit code."""
        try:
            return outcome_of(lambda: super(Verbs, self).invoke(ctx))
        except KeyboardInterrupt as error:
            return interrupted(error)


@click.command(cls=Verbs, no_args_is_help=False, epilog=EPILOG)
@click.version_option(__version__, prog_name="dp2emu", message="%(prog)s %(version)s")
def cli() -> None:
    """The DirectX 6 to 9 display driver and its GPU: replay captured command streams.

    FILE is a capture; "-" is standard input or output.  Data goes to standard output, everything
    said about it to standard error.
    """


def _imported(name: str) -> ModuleType:
    """A module, without looking for garbage meanwhile: imports make many objects that stay."""
    if not gc.isenabled():
        return import_module(name)
    gc.disable()
    try:
        return import_module(name)
    finally:
        gc.freeze()
        gc.enable()


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command with ``arguments`` (default: the process's); returns the exit code."""
    with closed_streams_replaced():
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        code = cli.main(arguments, prog_name="dp2emu", standalone_mode=False)
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "dp2emu"
        complain(f"{error.format_message()} (see {where} --help)")
        return UNUSABLE
    except click.ClickException as error:
        complain(error.format_message())
        return UNUSABLE
    except click.Abort as error:
        return interrupted(error.__cause__)
    except OSError as error:  # from help or version; verbs have dealt with theirs
        return unusable(error)
    except SystemExit:  # as click ends when nobody reads them
        return reader_gone()
    assert isinstance(code, int)
    return code


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Entry point of the ``dp2emu`` script."""
    # The threads of NumPy's BLAS, which nothing here uses, are busy for a while when they start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        with signals_raised():
            code = run(arguments)
    except KeyboardInterrupt as error:
        code = interrupted(error)
    sys.exit(code)
