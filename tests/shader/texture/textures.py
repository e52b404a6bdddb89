"""Textures of random A8R8G8B8 texels, as the model and as a sampler program see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dp2emu.shader.ir import Lod, Stage, TextureKind
from dp2emu.shader.reference import run
from dp2emu.shader.texture.bindings import (
    level_rows,
    limits_of,
    numbers_of,
    srgb_to_linear_table,
    weights_of,
)
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.texture.sampler import sampler_program
from tests.shader.texture.model import Cell, Color, Image, Texture, f32

NAN, INF = float("nan"), float("inf")


@dataclass
class Memory:
    """A texture of the model and the same in the files of a program."""

    texture: Texture
    files: dict[str, NDArray[Any]]


def color_of(word: int) -> Color:
    return tuple(f32((word >> shift & 255) / 255) for shift in (16, 8, 0, 24))


def memory(
    random: Random,
    kind: TextureKind,
    sides: Cell,
    levels: int = 1,
    *,
    bias: float = 0.0,
    first: int = 0,
    border: int = 0x80FF4020,
) -> Memory:
    """``sides`` are three for a volume, else two."""
    words: list[int] = []
    rows, images = [], []
    for _ in range(6 if kind is TextureKind.CUBE else 1):
        chain = []
        for level in range(levels):
            width, height, depth = (max(s >> level, 1) for s in (*sides, 1)[:3])
            everywhere = product(range(depth), range(height), range(width))
            cells = [(x, y, z)[: len(sides)] for z, y, x in everywhere]
            rows.append((len(words) * 4, width * 4, width * height * 4, width, height, depth))
            texels = [random.getrandbits(32) for _ in cells]
            words += texels
            chain.append(Image((width, height, depth)[: len(sides)],
                               dict(zip(cells, map(color_of, texels), strict=True))))  # fmt: skip
        images.append(chain)
    texture = Texture(images, color_of(border), f32(bias), first)
    return Memory(texture, {
        "texels": np.array(words, np.uint32).view(np.int32),
        "levels": level_rows(rows),
        "numbers": numbers_of(bias, border),
        "limits": limits_of(levels, first),
        "palette": np.zeros(256, np.int32),
        "linear": srgb_to_linear_table(),
        "weights": weights_of(),
    })  # fmt: skip


def sampled(
    key: SamplerKey,
    files: dict[str, NDArray[Any]],
    places: Sequence[Sequence[float]],
    by: Lod = Lod.EXPLICIT,
    stage: Stage = Stage.PIXEL,
    **arguments: Sequence[Sequence[float]],
) -> list[Color]:
    """What a sampler program gives at each place.  Arguments by name: ``lod``, ``ddx``, ``ddy``,
    each a list of components for every place.
    """
    inputs = {}
    for name, values in {"coordinate": places, **arguments}.items():
        for component, lane in zip("xyzw", zip(*values, strict=True), strict=False):
            inputs[f"{name}.{component}"] = np.array(lane, np.float32)
    program = sampler_program(key, by, stage)
    outputs = run(program, inputs, files, len(places)).outputs
    lanes = [outputs[f"texel.{component}"].tolist() for component in "xyzw"]
    return list(zip(*lanes, strict=True))
