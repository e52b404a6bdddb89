"""Timing models: how long things take on the virtual clock.

A model is three plain callables; nothing else in the emulator knows about duration.  All times
are integer ticks of the adapter clock, ``TICKS_PER_SECOND`` of them a second.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from dp2emu.argument_check import checked
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.enums10 import Counter, Query
from dp2emu.errors import UsageError
from dp2emu.gpu.command.work import Work
from dp2emu.inputs import read_file

TICKS_PER_SECOND = 1_000_000_000

LONGEST = 1 << 48
"""Maximum number of ticks (three days) that a timing model may give a call, packet or delivery."""


FIFO_BASE = 1 << 16
"""The GPU's report FIFO of D3DQUERYTYPE t has number t, the one of D3D10DDI_QUERY type t has
number FIFO_BASE + t."""


class Cost(NamedTuple):
    """Ticks in which each unit of the GPU is busy with a packet; ``Overlap`` tells how many of the
    units work at the same time.
    """

    vertex_memory: int = 0
    vertex_compute: int = 0
    pixel_memory: int = 0
    pixel_compute: int = 0
    other: int = 0
    geometry_memory: int = 0
    geometry_compute: int = 0


class Overlap(msgspec.Struct, frozen=True):
    """Parallelism of vertices, geometry programs, pixels and the rest of a packet.

    At most ``units``, 1 to 4, are busy at once; ``percent`` is how much of the possible saving of
    time is realised.  Packets are not parallel.  Raises UsageError for other numbers.
    """

    units: int = 1
    percent: int = 0

    def __post_init__(self) -> None:
        if not (1 <= self.units <= 4 and 0 <= self.percent <= 100):
            raise UsageError(f"{self.units} parallel units that overlap by {self.percent} %")

    def length(self, cost: Cost) -> int:
        """The ticks of a packet: at most the sum of its units', at least the longest unit's."""
        vertices = cost.vertex_memory + cost.vertex_compute
        pixels = cost.pixel_memory + cost.pixel_compute
        geometry = cost.geometry_memory + cost.geometry_compute
        total = vertices + geometry + pixels + cost.other
        shortest = max(vertices, geometry, pixels, cost.other, -(-total // self.units))
        return total - (total - shortest) * self.percent // 100


SERIAL = Overlap()
"""The ``Overlap`` under which the units of the GPU work one at a time."""


class Rates(msgspec.Struct, frozen=True):
    """Peak rates of the emulated board as (amount, ticks)."""

    memory_bytes: tuple[int, int] = (16, 1)
    upload_bytes: tuple[int, int] = (2, 1)
    disk_bytes: tuple[int, int] = (1, 8)
    vertices: tuple[int, int] = (1, 4)
    patches: tuple[int, int] = (1, 8)
    domain_points: tuple[int, int] = (1, 4)
    geometry: tuple[int, int] = (1, 8)
    triangles: tuple[int, int] = (1, 8)
    pixels: tuple[int, int] = (4, 1)
    threads: tuple[int, int] = (4, 1)


RATES = Rates()


class Timing(msgspec.Struct, frozen=True):
    """A timing model.

    ``call(number, length)``: host ticks of the n-th call, with ``length`` command bytes.
    ``cost(number, work)``: busy ticks of the n-th packet that does work.  ``delivery(kind,
    number)``: ticks from the end of a query on the GPU until the host can see the n-th report of
    FIFO ``kind``.  ``free``: no packet takes time, so draws may be batched.
    """

    name: str
    call: Callable[[int, int], int]
    cost: Callable[[int, Work], Cost]
    delivery: Callable[[int, int], int]
    free: bool = False


@checked
def instant() -> Timing:
    """The model in which nothing takes time: every packet is done and visible when it is
    submitted.
    """
    return Timing(
        "instant",
        lambda number, length: 0,
        lambda number, work: Cost(),
        lambda kind, number: 0,
        free=True,
    )


@checked
def fixed(call: int = 1000, packet: int = 1000, delivery: int = 0) -> Timing:
    """The model in which every call, packet and delivery takes a fixed number of ticks."""
    draw = Cost(vertex_compute=packet // 2, pixel_compute=packet - packet // 2)
    other = Cost(other=packet)
    return Timing(
        f"fixed:call={call},packet={packet},delivery={delivery}",
        lambda number, length: call,
        lambda number, work: draw if work.primitives else other,
        lambda kind, number: delivery,
    )


@checked
def by_work(call: int = 1000, delivery: int = 2000) -> Timing:
    """The model in which cost follows what a packet did: vertices, pixels and bytes over the
    board's ``RATES``.

    ``call`` is the ticks between calls, ``delivery`` those from an END on the GPU to its answer.
    """
    return Timing(
        f"work:call={call},delivery={delivery}",
        lambda number, length: call + _ticks(length, RATES.upload_bytes),
        _cost_of_work,
        lambda kind, number: delivery,
    )


@checked
def seeded(seed: int) -> Timing:
    """The model of pseudo-random times by ``seed``, in ticks: 200..2,199 for a call, 0..16,383 for
    a packet and for the delivery of a report.
    """

    def draw(stream: int, number: int, bound: int) -> int:
        return _splitmix(_splitmix(seed * 3 + stream) + number) % bound

    return Timing(
        f"seeded:{seed}",
        lambda number, length: 200 + draw(0, number, 2000),
        lambda number, work: Cost(other=draw(1, number, 16384)),
        lambda kind, number: draw(2, (kind << 32) + number, 16384),
    )


@checked
def scripted(path: Path) -> Timing:
    """Times in ticks from a JSON file; the last entry of a list repeats.

    ``{"call": [ticks, ...], "packet": [ticks, ...], "delivery": {"EVENT": [ticks, ...]}}``, each
    part optional (0).  A delivery is named after a query type of D3DQUERYTYPE or
    D3D10DDI_QUERY; a name that is in both applies to both.  Raises UsageError for anything else.
    """
    script = _load(path)
    calls = _ticks_list(script.pop("call", [0]), "call")
    packets = _ticks_list(script.pop("packet", [0]), "packet")
    deliveries = _deliveries(script.pop("delivery", {}))
    if script:
        raise UsageError(f"timing script: unknown key {sorted(script)[0]!r}")
    return Timing(
        f"scripted:{path}",
        lambda number, length: _nth(calls, number),
        lambda number, work: Cost(other=_nth(packets, number)),
        lambda kind, number: _nth(deliveries.get(kind, (0,)), number),
    )


_KEYED: dict[str, Callable[..., Timing]] = {"instant": instant, "fixed": fixed, "work": by_work}


@checked
def parse_timing(text: str) -> Timing:
    """The model that ``text`` names: ``instant``, ``fixed[:call=N,packet=N,delivery=N]``,
    ``work[:call=N,delivery=N]``, ``scripted:FILE`` or ``seeded:N``.

    Raises UsageError for anything else.
    """
    name, _, rest = text.partition(":")
    if name == "scripted" and rest:
        return scripted(Path(rest))
    if name == "seeded":
        return seeded(_number(rest, text))
    if name not in _KEYED:
        raise UsageError(
            f"no timing model {text!r}: instant, fixed, work, scripted:FILE, seeded:N"
        )
    pairs = [part.partition("=") for part in rest.split(",")] if rest else []
    try:
        return _KEYED[name](**{key: _number(value, text) for key, _, value in pairs})
    except TypeError:
        raise UsageError(f"timing model {name!r} has no such setting: {rest!r}") from None


def _ticks(amount: int, rate: tuple[int, int]) -> int:
    return -(-amount * rate[1] // rate[0])


def _cost_of_work(number: int, work: Work) -> Cost:
    return Cost(
        vertex_memory=_ticks(work.vertex_bytes, RATES.memory_bytes),
        vertex_compute=_ticks(work.vertices, RATES.vertices),
        pixel_memory=_ticks(work.pixel_bytes, RATES.memory_bytes),
        pixel_compute=_ticks(work.shaded, RATES.pixels),
        other=_ticks(work.triangles, RATES.triangles)
        + _ticks(work.hull_runs, RATES.patches)
        + _ticks(work.domain_runs, RATES.domain_points)
        + _ticks(work.threads, RATES.threads)
        + _ticks(work.unordered_bytes, RATES.memory_bytes)
        + _ticks(work.paged_bytes, RATES.upload_bytes)
        + _ticks(work.disk_bytes, RATES.disk_bytes),
        geometry_memory=_ticks(work.geometry_bytes + work.stream_bytes, RATES.memory_bytes),
        geometry_compute=_ticks(work.geometry_runs, RATES.geometry),
    )


def _splitmix(state: int) -> int:
    """SplitMix64: hash a number to 64 bits, portably."""
    mask = (1 << 64) - 1
    z = (state * 0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


def _number(text: str, whole: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 18 or int(text) > LONGEST:
        raise UsageError(f"timing {whole!r}: {text!r} is no number of ticks")
    return int(text)


def _load(path: Path) -> dict[str, Any]:
    try:
        script = json.loads(read_file(path))
    except OSError as error:
        raise UsageError(f"timing script {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"timing script {path}: {error}") from None
    if not isinstance(script, dict):
        raise UsageError(f"timing script {path}: not a JSON object")
    return script


def _ticks_list(value: object, name: str) -> tuple[int, ...]:
    entries = value if isinstance(value, list) else []
    if entries and all(type(each) is int and 0 <= each <= LONGEST for each in entries):
        return tuple(entries)
    raise UsageError(f"timing script: {name!r} must be a list of tick counts")


def _deliveries(value: object) -> dict[int, tuple[int, ...]]:
    if not isinstance(value, dict):
        raise UsageError("timing script: 'delivery' must be an object of lists")
    fifos = _fifos()
    unknown = [name for name in value if name not in fifos]
    if unknown:
        raise UsageError(f"timing script: no query type {unknown[0]!r}")
    return {fifo: _ticks_list(entry, name) for name, entry in value.items()
            for fifo in fifos[name]}  # fmt: skip


def _fifos() -> dict[str, list[int]]:
    """Numbers of the report FIFOs of the query types and counters with a name, by the name."""
    found: dict[str, list[int]] = {}
    for kind in (*QueryType, *Query, *Counter):
        base = 0 if isinstance(kind, QueryType) else FIFO_BASE
        found.setdefault(kind.name, []).append(base + kind)
    return found


def _nth(values: Sequence[int], number: int) -> int:
    return values[min(number, len(values) - 1)]
