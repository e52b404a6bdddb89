"""The verb ``dp2emu state``: show all device state at a point of a capture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import click

from dp2emu.cli.captures import Opened, capture_verb, opened_capture, tell_damage
from dp2emu.cli.number_range import IntRange
from dp2emu.cli.options import with_driver_options
from dp2emu.cli.outcome import FINE, Faults
from dp2emu.cli.paths import INPUT, OUTPUT, verb_command
from dp2emu.cli.streams import text_output
from dp2emu.dp2.options import Options
from dp2emu.dp2.states.inspect import Facts
from dp2emu.errors import Absent, UsageError
from dp2emu.explain.address import MEANING, Address, parse_address
from dp2emu.explain.kept import KeptRecords
from dp2emu.explain.setters import follows, last_setters
from dp2emu.explain.state import (
    Looked,
    changes_json,
    changes_text,
    differences_json,
    differences_text,
    found_setters,
    state_at,
)
from dp2emu.replay.player import Recording
from dp2emu.snapshot import snapshot_text


@verb_command("state", more=MEANING)
@capture_verb("state")
@click.option(
    "--at", "where", metavar="EVENT", required=True,
    help="After a call (12), before a token of it (12:3), or as a draw or other event uses it.",
)  # fmt: skip
@click.option(
    "--against", metavar="EVENT", help="Show what changed from --at to this address instead."
)
@click.option(
    "--against-file", "other", metavar="FILE", type=INPUT,
    help="Show what differs in another capture, there at --against, by default at --at.",
)  # fmt: skip
@click.option(
    "--set", "again", is_flag=True,
    help="With --against, also show what was set and has the same value at both.",
)  # fmt: skip
@click.option(
    "--png", "pictures", metavar="DIR", type=OUTPUT,
    help="Write a picture of each bound texture and target.",
)  # fmt: skip
@click.option(
    "--rows", metavar="N", type=IntRange(0, 1 << 20), default=0,
    help="Show the first N vertices of the bound buffers, as the declaration says.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
@with_driver_options
def command(
    opened: Opened,
    where: str,
    against: str | None,
    other: str | None,
    again: bool,
    pictures: str | None,
    rows: int,
    as_json: bool,
    options: Options,
) -> int:
    """Show all device state at a point of a capture.

    The capture is replayed up to this point.  Shows the context or Direct3D 10/11 device of the
    call.  --against tells which token or call set each fact that changed.  --against-file does the
    same for what differs in another capture.
    """
    if again and (against is None or other is not None):
        raise click.UsageError("--set needs --against, and no --against-file")
    at = parse_address(where)
    ending = at if against is None else parse_address(against)
    look = _Look(rows, None if pictures is None else Path(pictures), options, opened.faults)
    capture, damage = opened.repeated, FINE
    if other is not None:
        with opened_capture(other) as second:
            text = look.differences(capture, at, KeptRecords(second), ending, other, as_json)
            damage = tell_damage(second)
    elif against is not None:
        text = look.changes(capture, at, ending, again, as_json)
    else:
        facts = look.state(capture, at)
        text = _json(facts) if as_json else snapshot_text(facts)
    with text_output("-") as out:
        out.write(text)
    return damage


class _Look(NamedTuple):
    """How states are taken: with the first ``rows`` vertices, and pictures in a folder; faults
    on the way are noted in ``faults``.
    """

    rows: int
    pictures: Path | None
    options: Options
    faults: Faults

    def state(self, capture: Recording, address: Address, folder: str = "") -> Facts:
        """The state at an address, with pictures in a ``folder`` inside of that for pictures."""
        pictures = None if self.pictures is None else self.pictures / folder
        looked, note = Looked(self.rows, pictures), self.faults.note
        return state_at(capture, address, options=self.options, fault=note, looked=looked)

    def changes(
        self, capture: Recording, at: Address, against: Address, again: bool, as_json: bool
    ) -> str:
        """The text of what changed between two places of a capture."""
        before = self.state(capture, at, "at")
        self.faults.clear()  # those on the way to the later place come again
        after = self.state(capture, against, "against")
        if not follows(before, after):
            if again:
                raise UsageError("--set: --against is not later in the same context or device")
            return self._differences(capture, before, capture, after, as_json)
        setters = found_setters(capture, before, after, options=self.options, again=again)
        if as_json:
            return _json(changes_json(before, after, setters, again=again))
        return changes_text(before, after, setters, again=again)

    def differences(
        self,
        capture: Recording,
        at: Address,
        other: Recording,
        there: Address,
        file: str,
        as_json: bool,
    ) -> str:
        """The text of what differs between states of two captures, the other from ``file``."""
        here = self.state(capture, at, "at")
        try:
            found = self.state(other, there, "against")
        except Absent as error:
            raise error.at(stream=file) from None
        return self._differences(capture, here, other, found, as_json)

    def _differences(
        self, capture: Recording, here: Facts, other: Recording, found: Facts, as_json: bool
    ) -> str:
        """The text of what differs between states, each fact with what set it last in either."""
        set_here = last_setters(capture, here, options=self.options)
        set_there = last_setters(other, found, options=self.options)
        if as_json:
            return _json(differences_json(here, found, set_here, set_there))
        return differences_text(here, found, set_here, set_there)


def _json(document: Facts) -> str:
    return json.dumps(document, indent=1) + "\n"
