"""Histories of random pixels of random draws, against the model and both engines."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count as count_up
from itertools import groupby
from random import Random

import numpy as np
from msgspec.structs import replace

from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.errors import Dp2Error, Unsupported
from dp2emu.explain.pixel_place import Place
from dp2emu.explain.pixel_probe import Examined, examine, reach_of
from dp2emu.fuzz import draws, draws10, hostile
from dp2emu.gpu.command.packets import Draw, IndirectDraw, Packet
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.input_assembler.indirect_arguments import direct_draw
from dp2emu.gpu.input_assembler.vertex_fetch import measured
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.shader_resources.constant_buffers import with_constants
from dp2emu.shader import reference
from dp2emu.shader.engines import JIT, REFERENCE, engine
from tests.explain.history_model import Outcome, can_tell, drawn_by, outcomes, pixels_of
from tests.gpu.kernel_states import random_draw

PIXELS = 24
"""Pixels of each draw."""


DRAWS = 16
"""Draws of an input that are compared, the first ones: a campaign sees more inputs."""

MOST_PRIMITIVES = 100
"""Primitives of the largest draws that are tried."""

Check = Callable[[Draw], None]
Source = Callable[[int, Check], None]


def of_any_state(seed: int, check: Check) -> None:
    """A random draw of transformed vertices, in any state, without an interface."""
    check(random_draw(seed))


def of_directx_9(seed: int, check: Check) -> None:
    """The first draws of a hostile input of DirectX 6 to 9, through the driver."""
    driver = Driver(options=Options(engine=REFERENCE), limits=draws.LIMITS)
    tap = _Tap(check)
    driver.gpu.packet_taps.append(tap)
    for record in draws.records_of(_input(seed)):
        if tap.left:
            with suppress(Dp2Error):
                draws.perform(driver, record)
    with suppress(Dp2Error):  # work beyond a limit
        driver.finish()


def of_direct3d_10(seed: int, check: Check) -> None:
    """The first draws of a hostile input of Direct3D 10 and 11, through its driver interface."""
    gpu = Gpu(run=engine(REFERENCE), limits=draws10.LIMITS)
    tap = _Tap(check)
    gpu.packet_taps.append(tap)
    adapter = draws10.Adapter(gpu)
    chosen, rng = hostile.parts(_input(seed), draws10.VARIANTS)
    scene = draws10._Scene(draws10._Device(adapter), draws10.Variant.of(chosen), rng)
    for _ in scene.play():
        if not tap.left:
            break
    with suppress(Dp2Error):
        adapter.finish()


SOURCES = (of_any_state, of_directx_9, of_direct3d_10)


def _input(seed: int) -> bytes:
    return Random(seed).randbytes(hostile.VARIANT_BYTES + hostile.SEED_BYTES)


class _Tap:
    """Checks the first draws that a GPU executes, before each is.  Mutable."""

    def __init__(self, check: Check) -> None:
        self._check = check
        self.left = DRAWS

    def __call__(self, packet: Packet, start: int) -> None:
        """Check a packet that is a draw of few primitives."""
        with suppress(Unsupported):
            draw = direct_draw(packet) if isinstance(packet, IndirectDraw) else packet
            if self.left and isinstance(draw, Draw) and draw.input.count <= MOST_PRIMITIVES:
                self.left -= 1
                self._check(draw)


def surfaces_of(draw: Draw) -> list[Surface]:
    layers = draw.post_vertex.layers if draw.post_vertex is not None else ()
    outputs = (draw.output, *layers)
    found = [each for output in outputs for each in (*output.colors, output.depth)]
    found += [view.surface for view in draw.output.unordered.values()]
    return [each for each in found if each is not None]


def check(draw: Draw, pick: Random, verdicts: Counter[str], jit: bool) -> int:
    """Compare histories of some pixels of a draw with the model -> their number."""
    draw = with_constants(measured(draw))
    if draw.post_vertex is not None:
        # What the draw streams out would be in its way when it is drawn again.
        output = replace(draw.post_vertex.output, layouts={})
        draw = replace(draw, post_vertex=replace(draw.post_vertex, output=output))
    numbers = [number for number in range(len(draw.output.colors)) if can_tell(draw, number)]
    if not numbers:
        return 0
    number = pick.choice(numbers)
    target = draw.output.colors[number]
    assert target is not None
    before = [(each, each.data.copy()) for each in surfaces_of(draw)]
    expected = outcomes(draw, number)
    for surface, data in before:
        surface.data[:] = data
    places = [*chosen_pixels(expected, target, pick)]
    found = [examine(draw, Place.of(target, 0, x, y)) for x, y in places]
    reach = reach_of(draw)
    again = [examine(draw, Place.of(target, 0, x, y), reach=reach) for x, y in places[:4]]
    assert repr(again) == repr(found[:4]), "known reach changes a history"
    depths = [*depth_histories(draw, places[:4])]
    for surface, data in before:
        assert np.array_equal(surface.data, data), "a probe changed memory"
    ends = []
    for run in [reference.run, *([engine(JIT)] if jit else [])]:
        drawn_by(draw, run)
        ends.append(pixels_of(target))
        for place, examined in depths:
            assert place.read() == examined.pixel, f"depth at {place.x}, {place.y}"
        for surface, data in before:
            surface.data[:] = data
    for (x, y), examined in zip(places, found, strict=True):
        assert examined is not None
        for end in ends:
            assert end[y, x].tobytes() == examined.pixel, (x, y)
        compare(examined, expected, x, y, target.samples)
        verdicts.update(str(each.verdict) for each in examined.fragments)
    return len(places)


def depth_histories(draw: Draw, places: list[tuple[int, int]]) -> Iterator[tuple[Place, Examined]]:
    """Histories of pixels of the depth surface of a draw; each fragment begins with what the one
    before left.
    """
    depth = draw.output.depth
    for x, y in places if depth is not None else ():
        if depth is None or x >= depth.width or y >= depth.height:
            continue
        place = Place.of(depth, 0, x, y)
        examined = examine(draw, place)
        assert examined is not None
        size, now = place.row.size, place.read()
        parts = [now[start : start + size] for start in range(0, len(now), size)]
        for fragment in examined.fragments:
            if fragment.before is not None and fragment.after is not None:
                assert fragment.before == parts[fragment.sample]
                parts[fragment.sample] = fragment.after
        assert b"".join(parts) == examined.pixel
        yield place, examined


def chosen_pixels(
    expected: list[Outcome], target: Surface, pick: Random
) -> Iterator[tuple[int, int]]:
    """Random pixels, most of them covered by a primitive; few of a draw that covers none."""
    covered = np.zeros((target.height, target.width), bool)
    for outcome in expected:
        covered |= (outcome.verdicts != "coverage").any(axis=-1)
    rows, columns = np.nonzero(covered)
    for number in range(PIXELS if len(rows) else 2):
        if len(rows) and number % 4:
            place = pick.randrange(len(rows))
            yield int(columns[place]), int(rows[place])
        else:
            yield pick.randrange(target.width), pick.randrange(target.height)


def compare(examined: Examined, expected: list[Outcome], x: int, y: int, samples: int) -> None:
    """Raise AssertionError if fragments of a pixel differ from the model's."""
    for sample in range(samples):
        own = [each for each in examined.fragments if each.sample == sample]
        model = [each for each in expected if each.verdicts[y, x, sample] != "coverage"]
        seen = [each for each in own if str(each.verdict) != "coverage"]
        groups = [list(group) for _, group in groupby(own, lambda f: (f.instance, f.primitive))]
        told = [(each.key[2], each.verdicts[y, x, sample]) for each in model]
        single = all(len(group) == 1 for group in groups)
        if single:
            ours = [(f.primitive, str(f.verdict)) for f in seen]
            assert ours == told, f"{x}, {y}, sample {sample}: {ours} and not {told}"
        for each in own:
            if str(each.verdict) == "coverage":
                assert any(e.key[2] == each.primitive and e.verdicts[y, x, sample] == "coverage"
                           for e in expected) or not single, (x, y, sample, each)  # fmt: skip
        for fragment, outcome in zip(seen, model, strict=single) if single else ():
            if str(fragment.verdict) == "written":
                assert fragment.before == outcome.before[y, x, sample].tobytes()
                assert fragment.after == outcome.after[y, x, sample].tobytes()


class _Enough(Exception):
    """As many pixels were compared as are wanted."""


def campaign(source: Source, count: int, *, jit: bool, seed: int = 0) -> Counter[str]:
    """Compare ``count`` pixels of draws of a source -> how often each verdict was found."""
    pick, verdicts, done = Random(seed), Counter[str](), 0

    def checked(draw: Draw) -> None:
        nonlocal done
        done += check(draw, pick, verdicts, jit)
        if done >= count:
            raise _Enough

    with suppress(_Enough):
        for number in count_up(seed):
            try:
                source(number, checked)
            except AssertionError as error:
                raise AssertionError(f"{source.__name__}({number}): {error}") from error
    return verdicts


def main(arguments: list[str]) -> None:
    """Compare as many pixels of the source with a name as the second argument says, from a seed
    on.
    """
    name, count, seed = arguments[0], int(arguments[1]), int(arguments[2])
    source = next(each for each in SOURCES if each.__name__ == name)
    start = time.process_time()
    verdicts = campaign(source, count, jit="jit" in arguments, seed=seed)
    print(name, count, dict(verdicts), f"{time.process_time() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
