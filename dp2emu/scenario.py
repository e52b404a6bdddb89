"""Scenarios: machine events and limits for a session, from a TOML or JSON file.

One file serves the command (``--scenario FILE``) and the fixtures of the pytest plugin::

    timing = "fixed:call=1000,packet=4000"

    [buffers]
    commands = 256          # bytes of the command surface, which answers have to fit too

    [delivery]              # ticks from an END on the GPU to the answer, report by report;
    EVENT = [0, 90000]      # the last number applies to all further reports
    OCCLUSION = [5000]

    [clock]
    changes = [3, 17]       # calls before which the clock changes: intervals become disjoint

    [lost]
    call = 20               # the first call that is not executed
    calls = 4               # the number of such calls; without it all further calls

    [memory]                # limits of surfaces
    surfaces = 64
    surface_bytes = 1048576
    total_bytes = 4194304

    [residency]             # Direct3D 10 and 11: bytes of GPU memory, shared memory and disk
    gpu = 1048576
    shared = 1048576
    disk = 4194304

Calls are those of D3dDrawPrimitives2, and for Direct3D 10 and 11 those of any function.  Answers
of one query type are delivered in order; answers of different types may overtake each other.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from dp2emu.argument_check import checked
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.ddi10.adapter import Adapter, Cause
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.errors import UsageError
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.device.timing import LONGEST, Timing, instant, parse_timing
from dp2emu.gpu.resource.memory_residency import Budgets
from dp2emu.inputs import read_file
from dp2emu.limits import MEMORY, Limits
from dp2emu.shader import reference
from dp2emu.shader.reference import Run

COMMAND_BYTES = range(64, (1 << 24) + 1)
"""Range of valid sizes of a command surface in bytes."""

_CALLS = range(1 << 32)
_LISTED = 1 << 16
"""Maximum number of entries of a list in a scenario."""
_BYTES = 1 << 22
_TOML_BYTES = 1 << 19
"""Maximum size in bytes of a scenario file that is TOML, not JSON."""
_DOTS = 8
"""Maximum number of dots in a line of a scenario file in TOML."""


@checked
class Scenario(msgspec.Struct, frozen=True):
    """Machine events and limits of a session.

    ``timing`` is the timing model, None for the caller's; ``deliveries`` has, by D3DQUERYTYPE, the
    ticks from the END to the answer of each report in turn, instead of the model's.
    ``command_bytes`` None leaves the size of command surfaces to the program.  ``clock_changes``
    and ``lost`` are numbers of calls, from 0; a lost call is not executed and returns
    DDERR_SURFACELOST, and no answers are lost.  ``memory`` has upper bounds by the names of
    limits.
    """

    timing: Timing | None = None
    deliveries: Mapping[int, tuple[int, ...]] | None = None
    command_bytes: int | None = None
    clock_changes: frozenset[int] = frozenset()
    lost: range = range(0)
    memory: Mapping[str, int] = msgspec.field(default_factory=dict)
    budgets: Budgets = msgspec.field(default_factory=Budgets)

    def timed(self, otherwise: Timing | None = None) -> Timing:
        """The scenario's timing model, or ``otherwise`` if it has none, with the scenario's
        delivery times in place of the model's.

        The result keeps the name of the model: captures cannot express deliveries.
        """
        model = self.timing or otherwise or instant()
        listed = self.deliveries
        if not listed:
            return model

        def delivery(kind: int, number: int) -> int:
            times = listed.get(kind)
            return times[min(number, len(times) - 1)] if times else model.delivery(kind, number)

        return replace(model, delivery=delivery)

    def bounds(self, otherwise: Limits) -> Limits:
        """A copy of ``otherwise`` in which each limit that the scenario sets lower is lowered."""
        lower = {name: min(most, getattr(otherwise, name)) for name, most in self.memory.items()}
        return replace(otherwise, **lower)

    def driver(self, options: Options | None = None, timing: Timing | None = None) -> Driver:
        """An emulated driver in this scenario; ``timing`` applies if the scenario has none."""
        return StagedDriver(self, options, timing)

    def adapter(
        self, run: Run = reference.run, timing: Timing | None = None, *, checking: bool = False
    ) -> Adapter:
        """A Direct3D 10 and 11 adapter in this scenario; ``run`` is the engine, and with
        ``checking`` the adapter verifies the rules that a runtime must keep.

        The first lost call removes the adapter for good.
        """
        gpu = Gpu(self.timed(timing), self.bounds(Limits()), run, budgets=self.budgets)
        return StagedAdapter(self, gpu, checking=checking)


class StagedDriver(Driver):
    """An emulated driver that undergoes a scenario's events.  Mutable: it counts calls."""

    def __init__(
        self, scenario: Scenario, options: Options | None = None, timing: Timing | None = None
    ) -> None:
        options = options or Options()
        super().__init__(scenario.timed(timing), options, scenario.bounds(options.limits))
        self.scenario = scenario
        self._number = 0

    def submit(self, call: Call) -> Answer:
        """D3dDrawPrimitives2; DDERR_SURFACELOST while the device is lost."""
        number = self._number
        self._number += 1
        if number in self.scenario.clock_changes:
            self.gpu.change_clock()
        if number not in self.scenario.lost:
            return super().submit(call)
        self.gpu.advance(self.gpu.timing.call(number, call.dwCommandLength))
        hr = int(HResult.DDERR_SURFACELOST)
        return Answer(hr, call.dwCommandOffset, self.gpu.now, b"", call.dwFlags)


class StagedAdapter(Adapter):
    """A Direct3D 10/11 adapter that undergoes a scenario's events.  Mutable: it counts calls."""

    def __init__(self, scenario: Scenario, gpu: Gpu, *, checking: bool = False) -> None:
        super().__init__(gpu, checking=checking)
        self.scenario = scenario
        self._number = 0
        if scenario.lost:
            self.remove(scenario.lost.start)

    def count_call(self) -> bool:
        """Count a call; False if the adapter is removed."""
        if self._number in self.scenario.clock_changes:
            self.disturb(Cause.POWER)
        self._number += 1
        return super().count_call()


@checked
def load_scenario(path: str | PathLike[str]) -> Scenario:
    """Read a scenario file: JSON if its name ends in ``.json``, else TOML.

    Raises UsageError for a file that is not a scenario, and OSError.
    """
    as_json = str(path).endswith(".json")
    read, most = (json.loads, _BYTES) if as_json else (_toml, _TOML_BYTES)
    try:
        data = read(read_file(path, most).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"scenario {path}: {error}") from None
    try:
        return parse_scenario(data, Path(path).parent)
    except UsageError as error:
        raise UsageError(f"scenario {path}: {error.what}") from None


def _toml(text: str) -> Any:
    """Parse TOML.  Raises ValueError also for long dotted keys, where tomllib is quadratic."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.count(".") > _DOTS:
            raise ValueError(f"expected at most {_DOTS} dots in line {number}")
    return tomllib.loads(text)


def parse_scenario(data: object, folder: Path | None = None) -> Scenario:
    """A scenario from parsed JSON or TOML.  ``folder`` is the folder of its timing script.

    Raises UsageError for unknown keys and invalid values.

    >>> parse_scenario({"lost": {"call": 2, "calls": 3}}).lost
    range(2, 5)
    """
    fields: dict[str, Any] = {}
    for name, value in _table(data, "scenario", _PARTS).items():
        fields |= _PARTS[name](value, folder)
    return Scenario(**fields)


def _table(value: object, name: str, known: Mapping[str, object]) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{name}: expected a table")
    for key in value:
        if key not in known:
            raise UsageError(f"{name}: unknown key {str(key)[:80]!r}")
    return value


def _number(value: object, name: str, allowed: range) -> int:
    if type(value) is not int or value not in allowed:
        raise UsageError(f"{name} must be a number from {allowed.start} to {allowed.stop - 1}")
    return value


def _numbers(value: object, name: str, allowed: range) -> tuple[int, ...]:
    if not isinstance(value, list) or not 0 < len(value) <= _LISTED:
        raise UsageError(f"{name} must be a list of numbers")
    return tuple(_number(each, name, allowed) for each in value)


def _timing(value: object, folder: Path | None) -> dict[str, Any]:
    if not isinstance(value, str):
        raise UsageError("timing must be the name of a model")
    name, _, script = value.partition(":")
    if name == "scripted" and script and folder is not None:
        value = f"scripted:{folder / script}"
    return {"timing": parse_timing(value)}


def _buffers(value: object, folder: Path | None) -> dict[str, Any]:
    table = _table(value, "buffers", {"commands": int})
    if "commands" not in table:
        return {}
    return {"command_bytes": _number(table["commands"], "buffers.commands", COMMAND_BYTES)}


def _delivery(value: object, folder: Path | None) -> dict[str, Any]:
    table = _table(value, "delivery", QueryType.__members__)
    ticks = range(LONGEST + 1)
    return {
        "deliveries": {
            int(QueryType[name]): _numbers(times, f"delivery.{name}", ticks)
            for name, times in table.items()
        }
    }


def _clock(value: object, folder: Path | None) -> dict[str, Any]:
    table = _table(value, "clock", {"changes": list})
    if "changes" not in table:
        return {}
    return {"clock_changes": frozenset(_numbers(table["changes"], "clock.changes", _CALLS))}


def _lost(value: object, folder: Path | None) -> dict[str, Any]:
    table = _table(value, "lost", {"call": int, "calls": int})
    first = _number(table.get("call", 0), "lost.call", _CALLS)
    count = _number(table.get("calls", _CALLS.stop - 1), "lost.calls", _CALLS)
    return {"lost": range(first, first + count)}


def _memory(value: object, folder: Path | None) -> dict[str, Any]:
    most = Limits()
    table = _table(value, "memory", dict.fromkeys(MEMORY))
    given = {
        name: _number(bound, f"memory.{name}", range(1, getattr(most, name) + 1))
        for name, bound in table.items()
    }
    return {"memory": given}


def _residency(value: object, folder: Path | None) -> dict[str, Any]:
    table = _table(value, "residency", dict.fromkeys(Budgets.__struct_fields__))
    most = range(1, (1 << 48) + 1)
    given = {name: _number(bound, f"residency.{name}", most) for name, bound in table.items()}
    return {"budgets": Budgets(**given)}


_PARTS: dict[str, Callable[[object, Path | None], dict[str, Any]]] = {
    "timing": _timing,
    "buffers": _buffers,
    "delivery": _delivery,
    "clock": _clock,
    "lost": _lost,
    "memory": _memory,
    "residency": _residency,
}
"""Function that parses the value of a scenario's top-level key into fields of ``Scenario``, by
key."""
