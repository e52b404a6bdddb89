"""Random lanes of random programs and draws: the last values of their traces are the stored bits.

python -m tests.explain.lane_trials programs --count 10000
python -m tests.explain.lane_trials draws --count 10000
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from random import Random
from typing import Any

import click
import numpy as np

from dp2emu.dp2.shaders import lowered_pixel, lowered_vertex
from dp2emu.errors import Exceeded, Unsupported
from dp2emu.explain.lanes import Pixel, stored_values, trace_pixel, trace_thread
from dp2emu.explain.rehearsal import resolved, restored
from dp2emu.explain.shader_trace import Run, ShaderTrace, trace
from dp2emu.fuzz import draws, draws10, hostile
from dp2emu.gpu.command.packets import Dispatch, Draw, Packet
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.gpu.draw.probe import WitnessProbe
from dp2emu.gpu.input_assembler.indirect_arguments import direct_dispatch
from dp2emu.shader import ir
from dp2emu.shader.engines import JIT, REFERENCE, engine
from dp2emu.shader.ops import canonical
from dp2emu.shader.program_cache import programs_cached
from dp2emu.shader.reference import Environment
from dp2emu.shader.sm import decode
from dp2emu.shader.sm.versions import Stage
from dp2emu.shader.sm4.lower import Lowered4, lower
from dp2emu.shader.sm4.versions import Version
from dp2emu.shader.types import Lanes
from dp2emu.testing.random_shaders import generate
from tests.shader.sm4.lower.running import Surroundings
from tests.shader.sm4.lower.test_random import BUILT, built

LANES = 8
COMPILED = 8
"""One of this many random programs is compiled; the others run on the reference engine again."""
PIXELS = 16
"""Pixels that are tried of each draw."""


@programs_cached(lambda found: len(found.program.slots), len)
def lowered10(code: bytes, seed: int, version: Version) -> Lowered4:
    """A random program of shader model 4 or 5; ``code`` is without what is refused."""
    return lower(built(seed, version))


class Wrong(AssertionError):
    """A last value that is not what was stored."""


# Programs


def programs(seed: int) -> tuple[str, ir.Program]:
    """A random program of shader models 1 to 5, and the name of its version."""
    rng = Random(seed)
    if rng.random() < 0.5:
        code = generate(rng)
        version = decode(code).version
        made = lowered_vertex(code) if version.stage is Stage.VERTEX else lowered_pixel(code, None)
        return version.name, made.program
    version10 = rng.choice(BUILT)
    return version10.name, lowered10(b"", rng.getrandbits(32), version10).program


def numbers(rng: np.random.Generator, type: Any, count: int) -> Lanes:
    """Random lanes of a type."""
    found: Lanes = (rng.standard_normal(count) * 4).astype(type.dtype)
    return found


def try_program(seed: int, lanes: int = LANES) -> Counter[str]:
    """Trace some lanes of a random program; returns their number by version.

    Raises Wrong if a last value is not the output of the program on another run.
    """
    name, program = programs(seed)
    rng, around = np.random.default_rng(seed), Surroundings()
    inputs = {port.name: numbers(rng, port.type, LANES) for port in program.inputs}
    files = {f.name: numbers(rng, f.type, min(f.size, 4096)) for f in program.files if f.uniform}
    environment = Environment(around.sample, None, around.fetch, around)
    found = engine(JIT if seed % COMPILED == 0 else REFERENCE)(
        program, inputs, files, LANES, None, around.sample, None, around.fetch, around
    )
    run = Run(program, inputs, files, LANES, environment)
    for lane in range(lanes):
        made, _ = trace(run, lane, f"seed {seed}, lane {lane}", name)
        check_outputs(made, found.outputs, lane)
        if made.final.killed is bool(found.alive[lane]):
            raise Wrong(f"seed {seed}: killed {made.final.killed}")
    return Counter({name: lanes})


def check_outputs(made: ShaderTrace, outputs: Mapping[str, Lanes], lane: int) -> None:
    """Check that the last write of each output in a trace has the stored bits."""
    last = {value.name: value for step in made.steps for value in step.writes}
    final = {value.name: value for value in made.final.outputs}
    for name, lanes in outputs.items():
        bits = int.from_bytes(lanes[lane : lane + 1].tobytes(), "little")
        if final[name].bits != bits:
            raise Wrong(f"{made.lane}: {name} is {final[name]}, not {bits:#x}")
        if name in last and _seen(last[name].bits, lanes) != bits:
            raise Wrong(f"{made.lane}: the last write of {name} is {last[name]}, not {bits:#x}")


def _seen(bits: int, lanes: Lanes) -> int:
    """The bits of a value as an output has them: NaNs are canonical."""
    if lanes.dtype != np.float32:
        return bits
    return int(canonical(np.array([bits], np.uint32).view(np.float32)).view(np.uint32)[0])


# Draws


class Watch:
    """Traces random lanes of the packets that are executed, before each is.  Mutable."""

    def __init__(self, rng: Random, pixels: int) -> None:
        self._rng, self._pixels = rng, pixels
        self.tally: Counter[str] = Counter()

    def __call__(self, packet: Packet, at: int) -> None:
        """Try some lanes of a packet."""
        with suppress(Unsupported):
            if isinstance(packet, Dispatch):
                self.thread(packet)
            elif isinstance(packet, Draw):
                self.pixels(packet)

    def thread(self, packet: Dispatch) -> None:
        """Trace a thread of a dispatch; memory must be as before."""
        given = direct_dispatch(packet)
        sizes = [g * t for g, t in zip(given.groups, given.threads, strict=True)]
        if not all(sizes):
            return
        x, y, z = (self._rng.randrange(size) for size in sizes)
        before = [view.surface.words.copy() for view in packet.unordered.values()]
        made = trace_thread(packet, (x, y, z))
        after = [view.surface.words for view in packet.unordered.values()]
        for one, other in zip(before, after, strict=True):
            if (one != other).any():
                raise Wrong(f"{made.lane}: memory has changed")
        self.tally["thread"] += bool(made.steps)

    def pixels(self, packet: Draw) -> None:
        """Trace pixels of a draw, and compare what was stored with the compiled draw."""
        draw = resolved(packet)
        seen: set[tuple[int, int]] = set()

        def passed(x: Any, y: Any) -> None:
            seen.update(zip(x.tolist(), y.tolist(), strict=True))

        with restored(draw), np.errstate(all="ignore"):
            execute_draw(draw, Counters(), probe=WitnessProbe(passed))
        chosen = [
            Pixel(*at) for at in self._rng.sample(sorted(seen), min(len(seen), self._pixels))
        ]
        with restored(draw):
            if chosen:
                execute_draw(draw, Counters(), run=engine(JIT))
            found = [stored_values(draw, pixel) for pixel in chosen]
        for pixel, values in zip(chosen, found, strict=True):
            self.compare(trace_pixel(packet, pixel), values)

    def compare(self, made: ShaderTrace, found: Mapping[tuple[str, int], bytes]) -> None:
        """Compare the stored bits of a trace with those of the compiled draw."""
        for each in made.final.stored:
            bits = found[each.target, each.sample].hex()
            # Later primitives that fail may change the stencil, never the colour.
            if bits != each.end or (each.target != "depth" and bits != each.after):
                raise Wrong(f"{made.lane}: {each}, not {bits}")
        kind = "fixed" if made.disassembly[0] == "pixel" else made.disassembly[0]
        self.tally[kind] += 1


@cache
def _players() -> tuple[draws._Played, draws10._Played]:
    sizes = draws.VARIANTS, hostile.SCENES
    return draws._Played(*sizes), draws10._Played(*sizes)


def try_draws(seed: int, pixels: int = PIXELS) -> Counter[str]:
    """Trace lanes of random draws of both interfaces; returns their number by version."""
    rng = Random(seed)
    watch = Watch(rng, pixels)
    old, new = _players()
    play: Callable[[bytes], Any] = old if seed % 2 else new
    taps = (old._driver.gpu if seed % 2 else new._adapter.gpu).packet_taps
    taps.append(watch)
    try:
        with suppress(Exceeded):  # as in a campaign; the draws before are traced
            play(hostile.seed(rng))
    finally:
        taps.remove(watch)
    return watch.tally


def _programs(count: int, first: int) -> Iterator[Counter[str]]:
    for seed in range(first, first + count // LANES):
        yield try_program(seed)


def _draws(count: int, first: int) -> Iterator[Counter[str]]:
    seed = first
    while count > 0:
        found = try_draws(seed)
        seed, count = seed + 1, count - found.total()
        yield found


TRIALS = {"programs": _programs, "draws": _draws}


@click.command()
@click.argument("what", type=click.Choice([*TRIALS]))
@click.option("--count", default=10000, help="Lanes to try.")
@click.option("--first", default=0, help="First seed.")
def main(what: str, count: int, first: int) -> None:
    """Try random lanes, and print how many there were of each version."""
    total: Counter[str] = Counter()
    for found in TRIALS[what](count, first):
        total += found
    click.echo(f"{total.total()} lanes: {dict(sorted(total.items()))}")


if __name__ == "__main__":
    main()
