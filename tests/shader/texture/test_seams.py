"""Cubes are continuous across the edges of their faces."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import CmpFunc, TextureFilter
from dp2emu.shader.ir import Lod, Stage, TextureKind
from dp2emu.shader.reference import run
from dp2emu.shader.texture.bindings import (
    level_rows,
    limits_of,
    linear_light,
    sampler_numbers,
    weights_of,
)
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.texture.resource_reads import gather_program
from dp2emu.shader.texture.sampler import sampler_program

Direction = tuple[float, float, float]
LINEAR = TextureFilter.LINEAR
KEY = SamplerKey(
    TextureKind.CUBE, DxgiFormat.R32_FLOAT, mag=LINEAR, min=LINEAR, levels=True, seams=True
)


class Cube:
    """Cubes of random texels, of some levels."""

    def __init__(self, side: int, levels: int = 1, cubes: int = 1) -> None:
        random = np.random.default_rng(side)
        rows, texels, offset = [], [], 0
        self.faces: list[NDArray[np.float32]] = []
        for _, level in product(range(6 * cubes), range(levels)):
            size = side >> level
            data = random.random((size, size), np.float32)
            rows.append((offset, 4 * size, 4 * size * size, size, size, 1))
            texels.append(data.ravel())
            offset += data.nbytes
            self.faces.append(data)
        self.files = {
            "texels": np.concatenate(texels).view(np.int32),
            "levels": level_rows(rows),
            "numbers": sampler_numbers(0.0, (0.0,) * 4),
            "limits": limits_of(levels, 0, layers=cubes),
            "palette": np.zeros(256, np.int32),
            "linear": linear_light(),
            "weights": weights_of(),
        }

    def sampled(
        self, places: Sequence[Direction], key: SamplerKey = KEY, **more: float
    ) -> list[float]:
        lanes = np.array(places, np.float32).T
        inputs = {f"coordinate.{c}": lane.copy() for c, lane in zip("xyz", lanes, strict=True)}
        inputs |= {name.replace("_", "."): np.full(1, v, np.float32) for name, v in more.items()}
        inputs.setdefault("lod.x", np.zeros(1, np.float32))
        program = sampler_program(key, Lod.EXPLICIT, Stage.PIXEL)
        outputs = run(program, inputs, self.files, len(places)).outputs
        return [float(v) for v in outputs["texel.x"]]


def edges() -> list[tuple[int, int, float, float]]:
    """Two axes that are as long as each other, and their signs."""
    pairs = [(a, b) for a in range(3) for b in range(a + 1, 3)]
    return [(*pair, *signs) for pair in pairs for signs in product((-1.0, 1.0), (-1.0, 1.0))]


@pytest.mark.parametrize("side", [1, 2, 5, 8])
@pytest.mark.parametrize("edge", edges())
def test_both_sides_of_an_edge_have_the_same(
    edge: tuple[int, int, float, float], side: int
) -> None:
    """Seen from either face the place on the edge is mixed of the same four texels."""
    first, second, sign, other = edge
    random, cube = Random(side), Cube(side)
    for _ in range(12):
        place = [random.uniform(-0.97, 0.97)] * 3
        sides = []
        for near, far in ((1.0, 0.9999999), (0.9999999, 1.0)):
            place[first], place[second] = sign * near, other * far
            sides.append((place[0], place[1], place[2]))
        one, two = cube.sampled(sides)
        assert abs(one - two) < 2 / 256


def test_a_corner_is_the_mean_of_its_three_texels() -> None:
    for side in (1, 2, 4):
        cube = Cube(side)
        for signs in product((-1.0, 1.0), repeat=3):
            near = [tuple(0.9999999 if n != axis else 1.0 for n in range(3)) for axis in range(3)]
            places = [tuple(a * b for a, b in zip(signs, each, strict=True)) for each in near]
            found = cube.sampled(places)  # type: ignore[arg-type]
            assert max(found) - min(found) < 2 / 256
            corners = [face[i, j] for face in cube.faces for i in (0, -1) for j in (0, -1)]
            means = [
                abs(found[0] - (float(a) + float(b) + float(c)) / 3)
                for a in corners for b in corners for c in corners
            ] if side == 2 else [0.0]  # fmt: skip
            assert min(means) < 1 / 256


def test_inside_of_a_face_nothing_changes() -> None:
    cube, random = Cube(8), Random(1)
    places = [(1.0, random.uniform(-0.8, 0.8), random.uniform(-0.8, 0.8)) for _ in range(40)]
    plain = SamplerKey(TextureKind.CUBE, DxgiFormat.R32_FLOAT, mag=LINEAR, min=LINEAR, levels=True)
    assert cube.sampled(places) == cube.sampled(places, plain)


def test_levels_and_slices_have_seams_of_their_own() -> None:
    cube = Cube(4, levels=2, cubes=2)
    key = SamplerKey(
        TextureKind.CUBE, DxgiFormat.R32_FLOAT, mag=LINEAR, min=LINEAR,
        mip=TextureFilter.POINT, levels=True, layers=True, seams=True,
    )  # fmt: skip
    edge: list[Direction] = [(1.0, 0.2, 0.9999999), (0.9999999, 0.2, 1.0)]
    seen = set()
    for level, slice in product((0.0, 1.0), (0.0, 1.0)):
        one, two = cube.sampled(edge, key, lod_x=level, slice_x=slice)
        assert abs(one - two) < 2 / 256
        seen.add(round(one, 4))
    assert len(seen) == 4


def test_comparisons_are_filtered_across_seams() -> None:
    cube = Cube(4)
    key = SamplerKey(
        TextureKind.CUBE, DxgiFormat.R32_FLOAT, mag=LINEAR, min=LINEAR, levels=True, seams=True,
        compare=CmpFunc.LESS,
    )  # fmt: skip
    edge: list[Direction] = [(1.0, 0.3, -0.9999999), (0.9999999, 0.3, -1.0)]
    one, two = cube.sampled(edge, key, reference_x=0.5)
    assert abs(one - two) < 2 / 256


def test_texels_are_gathered_across_seams() -> None:
    """Seen from both sides the four are the same, in another order."""
    cube, random = Cube(4), Random(3)
    for first, second, sign, other in edges():
        place = [random.uniform(-0.7, 0.7)] * 3
        found = []
        for near, far in ((1.0, 0.9999999), (0.9999999, 1.0)):
            place[first], place[second] = sign * near, other * far
            inputs = {
                f"coordinate.{c}": np.float32([v]) for c, v in zip("xyz", place, strict=True)
            }
            program = gather_program(KEY, 0, False, Stage.PIXEL)
            outputs = run(program, inputs, cube.files, 1).outputs
            found.append(sorted(float(outputs[f"word.{c}"].view(np.float32)[0]) for c in "xyzw"))
        assert found[0] == found[1]
        assert len(set(found[0])) == 4
