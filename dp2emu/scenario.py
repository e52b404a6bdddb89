"""Scenarios as data: what a machine does to a program, from a TOML or JSON file.

One file serves the command (``--scenario FILE``) and the fixtures of the pytest plugin::

    timing = "fixed:call=1000,packet=4000"

    [buffers]
    commands = 256          # bytes of the command surface, which answers have to fit too

    [delivery]              # ticks from an END on the GPU to the answer, report after report;
    EVENT = [0, 90000]      # the last one goes on for ever
    OCCLUSION = [5000]

    [clock]
    changes = [3, 17]       # calls before which the clock is disturbed: intervals are disjoint

    [lost]
    call = 20               # from this call on nothing is executed, ...
    calls = 4               # ... for so many calls; without it for ever

    [memory]                # bounds of what surfaces may take
    surfaces = 64
    surface_bytes = 1048576
    total_bytes = 4194304

    [residency]             # bytes of what the GPU reaches, of shared memory and of disk, for
    gpu = 1048576           # Direct3D 10 and 11
    shared = 1048576
    disk = 4194304

Calls are those of D3dDrawPrimitives2, of Direct3D 10 and 11 those of any function.  Answers of one
type never overtake each other, whatever their deliveries; those of others do.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from os import PathLike
from pathlib import Path
from typing import Any

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
from dp2emu.records import dataclass
from dp2emu.shader import reference
from dp2emu.shader.reference import Run

COMMAND_BYTES = range(64, (1 << 24) + 1)
"""Sizes a command surface may have."""

_CALLS = range(1 << 32)
_LISTED = 1 << 16
"""Entries of a list, at most."""
_BYTES = 1 << 22
_TOML_BYTES = 1 << 19
"""Size of a scenario file, at most; what reads TOML takes a hundred times as much memory."""
_DOTS = 8
"""In a line of TOML, at most: scenarios have no numbers with points, and no deep tables."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """What happens besides the calls.

    ``timing`` is the model, None for what there is without a scenario; ``deliveries`` are ticks by
    D3DQUERYTYPE and number of the report, before its own.  ``command_bytes`` None leaves the size
    of command surfaces to the program.  ``clock_changes`` and ``lost`` are numbers of calls, from
    0; a lost call is answered with DDERR_SURFACELOST and not executed, and loses no answers.
    ``memory`` bounds what surfaces may take, by the names of limits.
    """

    timing: Timing | None = None
    deliveries: Mapping[int, tuple[int, ...]] | None = None
    command_bytes: int | None = None
    clock_changes: frozenset[int] = frozenset()
    lost: range = range(0)
    memory: Mapping[str, int] = field(default_factory=dict)
    budgets: Budgets = field(default_factory=Budgets)

    def timed(self, otherwise: Timing | None = None) -> Timing:
        """The timing model with the scenario's deliveries; ``otherwise`` if it names none.

        Its name is that of the model: captures can name no deliveries.
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
        """Limits where ``otherwise`` are those without a scenario: the lower ones count."""
        lower = {name: min(most, getattr(otherwise, name)) for name, most in self.memory.items()}
        return replace(otherwise, **lower)

    def driver(self, options: Options | None = None, timing: Timing | None = None) -> Driver:
        """An emulated driver to which this happens; ``timing`` counts if the scenario has none."""
        return StagedDriver(self, options, timing)

    def adapter(
        self, run: Run = reference.run, timing: Timing | None = None, *, checking: bool = False
    ) -> Adapter:
        """An adapter of Direct3D 10 and 11 to which this happens; ``run`` is the engine,
        and with ``checking`` every broken promise of the runtime is an error.

        From the call on that is lost the adapter is removed, and it never comes back.
        """
        gpu = Gpu(self.timed(timing), self.bounds(Limits()), run, budgets=self.budgets)
        return StagedAdapter(self, gpu, checking=checking)


class StagedDriver(Driver):
    """The emulator in a scenario.  Mutable: it counts calls."""

    def __init__(
        self, scenario: Scenario, options: Options | None = None, timing: Timing | None = None
    ) -> None:
        options = options or Options()
        super().__init__(scenario.timed(timing), options, scenario.bounds(options.limits))
        self.scenario = scenario
        self._number = 0

    def submit(self, call: Call) -> Answer:
        """D3dDrawPrimitives2, unless the device is lost just now."""
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
    """An adapter in a scenario.  Mutable: it counts calls of functions."""

    def __init__(self, scenario: Scenario, gpu: Gpu, *, checking: bool = False) -> None:
        super().__init__(gpu, checking=checking)
        self.scenario = scenario
        self._number = 0
        if scenario.lost:
            self.remove(scenario.lost.start)

    def count_call(self) -> bool:
        """A function is called: whether the adapter is there for it."""
        if self._number in self.scenario.clock_changes:
            self.disturb(Cause.POWER)
        self._number += 1
        return super().count_call()


def load_scenario(path: str | PathLike[str]) -> Scenario:
    """Read a scenario file: JSON if its name ends so, else TOML.

    Raises UsageError for what is no scenario, and OSError.
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
    """Raises ValueError for keys of very many parts too: tomllib takes their number squared."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.count(".") > _DOTS:
            raise ValueError(f"line {number} has more than {_DOTS} dots")
    return tomllib.loads(text)


def parse_scenario(data: object, folder: Path | None = None) -> Scenario:
    """A scenario from plain data.  ``folder`` is where a timing script is looked for.

    Raises UsageError for unknown keys and for values that cannot be meant.

    >>> parse_scenario({"lost": {"call": 2, "calls": 3}}).lost
    range(2, 5)
    """
    fields: dict[str, Any] = {}
    for name, value in _table(data, "scenario", _PARTS).items():
        fields |= _PARTS[name](value, folder)
    return Scenario(**fields)


def _table(value: object, name: str, known: Mapping[str, object]) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{name} is no table")
    for key in value:
        if key not in known:
            raise UsageError(f"{name}: unknown key {str(key)[:80]!r}")
    return value


def _number(value: object, name: str, allowed: range) -> int:
    if type(value) is not int or value not in allowed:
        what = f"a number from {allowed.start} to {allowed.stop - 1}"
        raise UsageError(f"{name} must be {what}")
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
    table = _table(value, "residency", dict.fromkeys(Budgets.__dataclass_fields__))
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
"""What a scenario consists of."""
