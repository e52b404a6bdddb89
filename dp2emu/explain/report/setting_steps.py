"""What sets the state: each token and call of the DDI between the events of a playback."""

from __future__ import annotations

from dp2emu.capture.records import Called, EntryCalled, Record
from dp2emu.dp2.call import Call
from dp2emu.dp2.table import Token
from dp2emu.explain.events import Origin
from dp2emu.explain.playback import Stage
from dp2emu.explain.report.states import Changes, StateSteps

STEPS = 2_000
"""Maximum number of states that are compared between events, to know what set a change."""

BETWEEN = 16
"""Maximum number of them between two events: their cost grows with the state, too."""


class SettingSteps:
    """Compares the state before each token and call, as far as ``STEPS`` allow.

    Mutable: it has the last token or call, and what changed since the last event.  ``exhausted``
    tells whether some changes have no setter, as the maximum numbers did not suffice.
    """

    def __init__(self, states: StateSteps) -> None:
        self._states = states
        self._pending: dict[str, Changes] = {}
        self._setter: str | None = None
        self._origin: Origin | None = None
        self._tokens = 0
        self._steps = 0
        self._between = 0
        self._gaps: set[str] = set()
        self.exhausted = False

    def performing(self, record: Record, stage: Stage, *, wanted: bool) -> None:
        """Note what the last token or call set, before a record is performed; ``wanted`` tells
        whether the next event is on the page.
        """
        if isinstance(record, Called):
            self._tokens = 0
            context, call = record.call.dwhContext, stage.player.tally.calls
            self._next(Origin("", token=0, device=context), f"{call} D3dDrawPrimitives2", stage,
                       wanted)  # fmt: skip
        elif isinstance(record, EntryCalled) and record.device:
            name = f"{stage.player.tally.entries} {record.entry}"
            self._next(Origin("", device=record.device), name, stage, wanted)

    def token(self, call: Call, token: Token, stage: Stage, *, wanted: bool) -> None:
        """Note what the last token or call set, before a token is executed."""
        name = f"{stage.player.tally.calls}:{self._tokens} {token.name}"
        self._tokens += 1
        self._next(Origin("", token=0, device=call.dwhContext), name, stage, wanted)

    def _next(self, origin: Origin, setter: str, stage: Stage, wanted: bool) -> None:
        """Note what the last token or call set; ``setter`` is the next one."""
        if self._origin is not None:
            self._compare(self._origin, stage)
        compares = wanted and self._steps < STEPS and self._between < BETWEEN
        self.exhausted |= wanted and not compares
        self._steps += compares
        self._between += compares
        self._origin = origin if compares else None
        if not compares:
            self._gaps.add(str(origin.device))
        self._setter = setter if self._origin is not None else None

    def _compare(self, origin: Origin, stage: Stage) -> None:
        facts = stage.facts(origin, queries=False)
        if facts:
            context = str(origin.device)
            found = self._states.changes(context, facts, self.setter_in(context))
            self._gaps.discard(context)
            self._pending.setdefault(context, {}).update(found)

    def issued(self, origin: Origin, changes: Changes) -> Changes:
        """What changed in the state since the last event, with what the last token or call set."""
        # The state behind this token or call is known.
        self._origin = None
        self._between = 0
        self._gaps.discard(str(origin.device))
        return self._pending.pop(str(origin.device), {}) | changes

    def setter_in(self, context: str) -> str | None:
        """The last token or call, None if one before it in a context was not compared."""
        return None if context in self._gaps else self._setter
