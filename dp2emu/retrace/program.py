"""The traced program, and the table of methods: the action for each function of the interfaces."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cached_property

import msgspec

from dp2emu.capture.apitrace import TraceCall
from dp2emu.capture.records import Record
from dp2emu.errors import Dp2Error
from dp2emu.retrace.arguments import Arguments
from dp2emu.retrace.locks import Locks
from dp2emu.retrace.losses import Inexpressible, Losses
from dp2emu.retrace.objects import Objects
from dp2emu.rig.interface import Rig
from dp2emu.runtime.directdraw import DirectDraw
from dp2emu.runtime.numbers import Numbers

Action = Callable[["Program", Arguments], None]


class Method(msgspec.Struct, frozen=True):
    """A row: the function's name, what is done, and that in words.

    ``act`` None means that nothing reaches the driver.  Calls that failed in the program are
    passed over, since they had no effect, unless the row takes them (``failures``).
    """

    name: str
    act: Action | None
    says: str
    failures: bool = False


METHODS: dict[str, Method] = {}
"""Every method known, by ``Interface::Method``, and every plain function."""


def method(*names: str, failures: bool = False) -> Callable[[Action], Action]:
    """Register a function as what is done for methods; its docstring says so in words."""

    def register(act: Action) -> Action:
        for name in names:
            _add(Method(name, act, " ".join((act.__doc__ or "").split()), failures))
        return act

    return register


def inert(interface: str, methods: str, says: str) -> None:
    """Methods, separated by spaces, of which nothing reaches the driver, and why."""
    for name in methods.split():
        _add(Method(f"{interface}::{name}" if interface else name, None, says))


def lost(interface: str, methods: str, reason: str) -> None:
    """Methods that cannot be expressed: every call of them is a loss."""

    def lose(program: Program, call: Arguments) -> None:
        raise Inexpressible(reason)

    for name in methods.split():
        _add(Method(f"{interface}::{name}" if interface else name, lose, f"A loss: {reason}."))


def _add(row: Method) -> None:
    assert row.name not in METHODS, f"{row.name} has two rows"
    METHODS[row.name] = row


_SENSELESS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, struct.error)
"""What a row may run into when a damaged trace gives it values that no program passes."""


class Program:
    """What the program has made, by address, and where its calls go.  Mutable: it runs.

    ``rig`` is driven and ``record`` told everything.  ``numbers`` are handed to every session, so
    that devices that live at the same time do not share handles or contexts.  ``endings`` are
    called when the trace is over, as each device's runtime hands in what still waits.
    ``handles`` are what the program knows by a kind and a number.
    """

    def __init__(self, rig: Rig, record: Callable[[Record], None]) -> None:
        self.rig = rig
        self.record = record
        self.objects = Objects()
        self.locks = Locks()
        self.losses = Losses()
        self.numbers = Numbers()
        self.endings: list[Callable[[], None]] = []
        self._last = 0
        self.handles: dict[tuple[str, int], object] = {}

    @cached_property
    def ddraw(self) -> DirectDraw:
        """The memory that all DirectDraw objects of the program share."""
        made = DirectDraw(self.rig, record=self.record, numbers=self.numbers, answers=False)
        self.endings.append(made.finish)
        return made

    def play(self, call: TraceCall) -> None:
        """Do what a call did.  What cannot be done is a loss."""
        self._last = call.number
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
        except _SENSELESS as error:
            reason = f"values that make no sense there: {type(error).__name__}: {error}"
            self.losses.add(call.number, call.name, reason)

    def end(self) -> None:
        """The trace is over, whether the program was or not."""
        for ending in self.endings:
            try:
                ending()
            except Dp2Error as error:
                self.losses.add(self._last, "the end of the trace", str(error))
