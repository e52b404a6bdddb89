"""The ``dp2emu`` command: one module per verb, each a thin layer over one library function.

Only click is imported before a verb runs: help and completion are fast.
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
from dp2emu.cli.interrupts import end_interrupted, importing, interrupted, signals_raised
from dp2emu.cli.outcome import (
    FINE,
    UNUSABLE,
    complain,
    out_of_memory,
    outcome_of,
    reader_gone,
    unusable,
)
from dp2emu.cli.streams import closed_streams_replaced
from dp2emu.cli.verbs import TRACE, VERBS, readers
from dp2emu.errors import Cancelled

_MODULES = {
    "import": "imports", "diff-images": "diff_images", "init-driver": "init_driver",
    "last-writer": "last_writer",
}  # fmt: skip
"""Module name in ``dp2emu.cli`` by verb, for verbs whose module has another name than the verb."""

EPILOG = f"""\b
Verbs that read traces of Direct3D and DirectDraw calls (apitrace):
  {", ".join(readers(TRACE))}

\b
Exit codes:
  0    fine (a fault that matches its recorded answer is fine)
  1    a difference: from recorded answers (replay --verify), between pictures,
       from the rules (conform)
  2    unusable input, output or arguments; nothing to compare
  3    the stream had faults, needs an unsupported feature, or has calls with
       losses
  124  not finished within --timeout
  130  interrupted
  141  the reader of standard output has closed it
  143  terminated
When several apply, 2 precedes 3 and 3 precedes 1.

\b
Completion, for bash (likewise zsh and fish):
  eval "$(_DP2EMU_COMPLETE=bash_source dp2emu)"
"""


class Verbs(click.Group):
    """The click group of all verbs; the module of a verb is imported only when the verb runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the verbs, in the order of use."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of verb ``name``, whose module is imported; None for an unknown verb."""
        if name not in VERBS:
            return None
        with importing():
            command = _imported(f"dp2emu.cli.{_MODULES.get(name, name)}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs and their help lines to ``formatter``, without importing the verbs."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, row.line) for name, row in VERBS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the name of a verb without importing the verbs."""
        verbs = [
            CompletionItem(verb, help=row.line)
            for verb, row in VERBS.items()
            if verb.startswith(incomplete)
        ]
        return verbs + click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> int:
        """Run a verb and return its exit code, also for errors and interrupts."""
        try:
            return outcome_of(lambda: super(Verbs, self).invoke(ctx))
        except (KeyboardInterrupt, Cancelled) as error:
            return interrupted(error)


@click.command(cls=Verbs, no_args_is_help=False, epilog=EPILOG)
@click.version_option(__version__, prog_name="dp2emu", message="%(prog)s %(version)s")
def cli() -> None:
    """A DirectX 6 to 11 display driver and its GPU: replay captured calls and command streams.

    FILE is a capture; "-" is standard input or output.  Data goes to standard output, messages to
    standard error.
    """


def _imported(name: str) -> ModuleType:
    """Import a module without garbage collections: imports allocate many objects that stay."""
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
        what = error.format_message().replace("\n\t", " ")  # a list of choices has these
        complain(f"{what} (see {where} --help)")
        return UNUSABLE
    except click.ClickException as error:
        complain(error.format_message())
        return UNUSABLE
    except click.Abort as error:
        return interrupted(error.__cause__)
    except OSError as error:  # from help or version; outcome_of handles errors of verbs
        return unusable(error)
    except MemoryError:
        return out_of_memory()
    except SystemExit as error:  # from shell completion, or if standard output is closed
        return reader_gone() if error.code else FINE
    assert isinstance(code, int)
    return code


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Entry point of the ``dp2emu`` script."""
    # NumPy's BLAS is not used, and starting its threads takes processor time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        with signals_raised():
            code = run(arguments)
    except (KeyboardInterrupt, Cancelled) as error:
        code = interrupted(error)
    except OSError as error:  # from signals_raised: outcome_of handles errors of verbs
        code = unusable(error)
    except MemoryError:
        code = out_of_memory()
    end_interrupted(code)
    sys.exit(code)
