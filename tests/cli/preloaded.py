"""All that verbs import, for processes that are forked from one that has it."""

from importlib import import_module

import dp2emu.replay
import dp2emu.retrace
import dp2emu.rig.spec
import dp2emu.runtime
import dp2emu.text  # noqa: F401
from dp2emu.cli import VERBS, cli
from tests.cli import processes  # noqa: F401

for verb in VERBS:
    cli.get_command(None, verb)  # type: ignore[arg-type]
import_module("PIL.Image")
