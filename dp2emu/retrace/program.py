"""The traced program as far as the trace has been read."""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.capture.apitrace import TraceCall
from dp2emu.capture.records import Record
from dp2emu.errors import Dp2Error
from dp2emu.retrace.arguments import Arguments
from dp2emu.retrace.locks import Locks
from dp2emu.retrace.losses import Losses
from dp2emu.retrace.methods import METHODS
from dp2emu.retrace.objects import Objects
from dp2emu.rig import Rig
from dp2emu.runtime.numbers import Numbers


class Program:
    """What the program has made, by address, and where its calls go.  Mutable: it runs.

    ``rig`` is driven and ``record`` told everything.  ``numbers`` are handed to every session, so
    that devices that live at the same time do not share handles or contexts.
    """

    def __init__(self, rig: Rig, record: Callable[[Record], None]) -> None:
        self.rig = rig
        self.record = record
        self.objects = Objects()
        self.locks = Locks()
        self.losses = Losses()
        self.numbers = Numbers()

    def play(self, call: TraceCall) -> None:
        """Do what a call did.  What cannot be done is a loss."""
        row = METHODS.get(call.name)
        if row is None:
            self.losses.add(call.number, call.name, "not a function that is known")
            return
        arguments = Arguments(call, self.objects)
        if row.act is None or (arguments.failed and not row.failures):
            return
        if not call.finished:
            self.losses.add(call.number, call.name, "the trace does not tell how it ended")
            return
        try:
            row.act(self, arguments)
        except Dp2Error as error:
            self.losses.add(call.number, call.name, str(error))
