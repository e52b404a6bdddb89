"""Texture coordinates against the formulas in float64."""

from __future__ import annotations

import random

import numpy as np
import pytest

from dp2emu.d3d.enums import TexGen
from dp2emu.shader.fixed.records import FixedVertex, TextureOutput
from tests.shader.fixed import model
from tests.shader.fixed.vertices import a_state, a_vertex, outputs

VERTICES = [a_vertex(random.Random(seed)) for seed in range(30)]
STATE = a_state(random.Random(42))


def check(key: FixedVertex) -> None:
    found = outputs(key, STATE, VERTICES)
    for number in range(len(key.textures)):
        wanted = [model.texcoord(key, STATE, vertex, number) for vertex in VERTICES]
        assert np.abs(found[f"texcoord{number}"] - wanted).max() < 2e-5


@pytest.mark.parametrize("count", range(5))
@pytest.mark.parametrize("components", range(5))
def test_sets_of_the_vertex_through_a_matrix(components: int, count: int) -> None:
    check(FixedVertex(textures=(TextureOutput(TexGen.PASSTHRU, 3, components, count),)))


@pytest.mark.parametrize("count", range(5))
@pytest.mark.parametrize("source", [source for source in TexGen if source])
def test_generated_coordinates(source: TexGen, count: int) -> None:
    stage = TextureOutput(source, count=count)
    check(FixedVertex(normal=True, normalize=True, textures=(stage,)))
    check(FixedVertex(normal=True, textures=(stage,)))
    check(FixedVertex(textures=(stage,)))


def test_each_stage_has_the_matrix_of_its_number() -> None:
    stages = (
        TextureOutput(set=1),
        TextureOutput(set=0, count=2),
        TextureOutput(TexGen.SPHEREMAP),
        TextureOutput(TexGen.CAMERASPACEPOSITION, count=3),
        TextureOutput(set=1, count=1),
    )
    check(FixedVertex(normal=True, normalize=True, textures=stages))
