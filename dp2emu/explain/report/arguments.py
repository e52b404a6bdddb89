"""Arguments of the tokens, and of the calls of the Direct3D 10/11 DDI, that are events."""

from __future__ import annotations

from itertools import islice

from dp2emu.capture.records import Called, EntryCalled, Record
from dp2emu.escaping import plain
from dp2emu.explain.events import Origin
from dp2emu.text.commands import token_texts
from dp2emu.text.contexts import Contexts
from dp2emu.text.entries import entry_lines

LINES = 12
"""Maximum number of lines of a token or call."""
CHARACTERS = 1_000_000
"""Maximum size of all lines of a page."""
_WIDEST = 160


class Arguments:
    """The arguments of what a playback performs.  Mutable: pass every record to ``performing``.

    ``without`` is the number of events whose arguments have no room.
    """

    def __init__(self) -> None:
        self.without = 0
        self._contexts = Contexts()
        self._record: Record | None = None
        self._tokens: list[list[str]] | None = None
        self._size = 0

    def performing(self, record: Record) -> None:
        """Note the record that is performed next."""
        if isinstance(self._record, EntryCalled):
            self._contexts.handles.see(self._record)
        self._contexts.see(record)
        self._record, self._tokens = record, None

    def lines(self, origin: Origin) -> list[str]:
        """Return the arguments of a token or function of the record that is performed, a line
        each as ``dp2emu dump`` has them; [] for another origin.
        """
        if self._size > CHARACTERS:
            self.without += 1
            return []
        lines = [plain(line)[:_WIDEST] for line in islice(self._found(origin), LINES)]
        self._size += sum(map(len, lines))
        return lines

    def _found(self, origin: Origin) -> list[str]:
        if isinstance(self._record, EntryCalled) and origin.token is None:
            lines = islice(entry_lines(self._record, self._contexts.handles), 1, LINES + 1)
            return [line for line in lines if not line.startswith("name: ")]
        if isinstance(self._record, Called) and origin.token is not None:
            if self._tokens is None:
                self._tokens = list(token_texts(self._record.call, self._contexts))
            if origin.token < len(self._tokens):
                return [line.removeprefix("- ") for line in self._tokens[origin.token][1:]]
        return []
