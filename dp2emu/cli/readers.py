"""The verb ``dp2emu readers``: tell which events read bytes of a resource."""

from __future__ import annotations

from dp2emu.cli.captures import capture_verb
from dp2emu.cli.paths import verb_command
from dp2emu.cli.resource_accesses import accesses_verb
from dp2emu.explain.writers_report import readers_document, readers_lines


@verb_command("readers")
@capture_verb("readers")
@accesses_verb(readers_document, readers_lines)
def command() -> None:
    """Tell which events read bytes of a resource.

    RESOURCE is a handle as in the list of events, or object:N for an object of Direct3D 10 or 11.
    RANGE is 64-127, 64- or 64, in bytes.
    """
