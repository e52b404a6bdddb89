"""Shaders by chance, and those of the recorded scenes."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.shader.reference import run
from dp2emu.shader.sm.decode import decode
from dp2emu.shader.sm.lower import Lowered, lower_pixel, lower_vertex
from dp2emu.shader.sm.versions import Stage
from dp2emu.shader.verify import verify
from dp2emu.testing.random_shaders import generate
from tests.shader.sm.lower.running import Texture

SHADERS = json.loads((Path(__file__).parents[3] / "data" / "shaders.json").read_text("utf-8"))
LANES = 8
THOROUGH = settings.default.max_examples == settings.get_profile("full").max_examples


def lower(code: bytes) -> Lowered:
    shader = decode(code)
    return (lower_vertex if shader.version.stage is Stage.VERTEX else lower_pixel)(shader)


def run_anyhow(shader: Lowered, seed: int) -> None:
    rng = np.random.default_rng(seed)
    verify(shader.program)
    inputs = {
        port.name: rng.standard_normal(LANES).astype(np.float32) * 8
        for port in shader.program.inputs
    }
    uniforms = {
        file.name: (rng.standard_normal(file.size) * 4).astype(file.type.dtype)
        for file in shader.program.files
        if file.uniform
    }
    result = run(shader.program, inputs, uniforms, LANES, sampler=Texture())
    names = {name.partition(".")[0] for name in result.outputs}
    assert names == set(shader.outputs)
    assert shader.kills or result.alive.all()


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=5000 if THOROUGH else 300)
def test_random_shaders_lower_and_run(seed: int) -> None:
    run_anyhow(lower(generate(Random(seed))), seed)


@pytest.mark.parametrize("entry", SHADERS, ids=lambda entry: entry["shader"].replace(" ", "-"))
def test_shaders_of_scenes_lower_and_run(entry: dict[str, str]) -> None:
    words = [int(word, 16) for word in entry["dwords"].split()]
    run_anyhow(lower(struct.pack(f"<{len(words)}I", *words)), 1)
