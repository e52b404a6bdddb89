"""The verb ``dp2emu last-writer``: tell which events wrote bytes of a resource last."""

from __future__ import annotations

from dp2emu.cli.captures import capture_verb
from dp2emu.cli.paths import verb_command
from dp2emu.cli.resource_accesses import accesses_verb
from dp2emu.explain.writers_report import writers_document, writers_lines


@verb_command("last-writer")
@capture_verb("last-writer")
@accesses_verb(writers_document, writers_lines)
def command() -> None:
    """Tell which events wrote bytes of a resource last.

    RESOURCE is a handle as in the list of events, or object:N for an object of Direct3D 10 or 11.
    RANGE is 64-127, 64- or 64, in bytes.
    """
