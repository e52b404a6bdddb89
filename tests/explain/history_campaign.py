"""Histories of random pixels of random draws, against the model and both engines."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from random import Random

import numpy as np

from dp2emu.explain.pixel_place import Place
from dp2emu.explain.pixel_probe import Examined, examine
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.resource.heap import Surface
from dp2emu.shader import reference
from dp2emu.shader.engines import JIT, engine
from tests.explain.history_model import Outcome, can_tell, drawn_by, outcomes, pixels_of
from tests.gpu.kernel_states import random_draws

PIXELS = 24
"""Pixels of each draw."""


def older_draws(seed: int) -> Iterator[Draw]:
    """Random draws of transformed vertices, in any state."""
    for number in range(seed, sys.maxsize):
        draws = random_draws(number)
        yield next(draws)


def surfaces_of(draw: Draw) -> list[Surface]:
    layers = draw.post_vertex.layers if draw.post_vertex is not None else ()
    outputs = (draw.output, *layers)
    found = [each for output in outputs for each in (*output.colors, output.depth)]
    found += [view.surface for view in draw.output.unordered.values()]
    return [each for each in found if each is not None]


def check(draw: Draw, pick: Random, verdicts: Counter[str], jit: bool) -> int:
    """Compare histories of some pixels of a draw with the model -> their number."""
    numbers = [number for number in range(len(draw.output.colors)) if can_tell(draw, number)]
    if not numbers:
        return 0
    number = pick.choice(numbers)
    target = draw.output.colors[number]
    assert target is not None
    places = [(pick.randrange(target.width), pick.randrange(target.height)) for _ in range(PIXELS)]
    before = [(each, each.data.copy()) for each in surfaces_of(draw)]
    found = [examine(draw, Place.of(target, 0, x, y)) for x, y in places]
    for surface, data in before:
        assert np.array_equal(surface.data, data), "a probe changed memory"
    ends = []
    for run in [reference.run, *([engine(JIT)] if jit else [])]:
        drawn_by(draw, run)
        ends.append(pixels_of(target))
        for surface, data in before:
            surface.data[:] = data
    expected = outcomes(draw, number)
    for (x, y), examined in zip(places, found, strict=True):
        assert examined is not None
        for end in ends:
            assert end[y, x].tobytes() == examined.pixel, (x, y)
        compare(examined, expected, x, y, target.samples)
        verdicts.update(str(each.verdict) for each in examined.fragments)
    return len(places)


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


def campaign(draws: Iterator[Draw], count: int, *, jit: bool, seed: int = 0) -> Counter[str]:
    """Compare ``count`` pixels -> how often each verdict was found."""
    pick, verdicts, done = Random(seed), Counter[str](), 0
    while done < count:
        draw = next(draws)
        done += check(draw, pick, verdicts, jit)
    return verdicts


def main(arguments: list[str]) -> None:
    """Compare as many pixels as the first argument says, from the seed in the second."""
    count, seed = int(arguments[0]), int(arguments[1])
    start = time.process_time()
    print(campaign(older_draws(seed), count, jit="jit" in arguments, seed=seed))
    print(f"{time.process_time() - start:.1f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
