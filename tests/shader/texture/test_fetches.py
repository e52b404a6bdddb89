"""What is asked of textures and buffers without sampling them, and what Direct3D 10 samples."""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import CmpFunc, Format, TextureAddress, TextureFilter
from dp2emu.shader.ir import Lod, Program, Stage, TextureKind
from dp2emu.shader.reference import run
from dp2emu.shader.texture.bindings import (
    LevelField,
    LimitField,
    level_rows,
    limits_of,
    sampler_numbers,
    srgb_to_linear_table,
    weights_of,
)
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.texture.resource_reads import (
    gather_program,
    load_program,
    lod_program,
    raw_program,
    size_program,
    structured_program,
)
from tests.shader.texture import model
from tests.shader.texture.textures import color_of, memory, sampled

Files = dict[str, NDArray[Any]]
TEX2D, CUBE, VOLUME = TextureKind.TEX2D, TextureKind.CUBE, TextureKind.VOLUME
WRAP, LINEAR = TextureAddress.WRAP, TextureFilter.LINEAR
BORDER = (0.25, 2.0, -3.0, 0.5)
COMPARED = {
    CmpFunc.NEVER: lambda x, y: False,
    CmpFunc.LESS: lambda x, y: x < y,
    CmpFunc.EQUAL: lambda x, y: x == y,
    CmpFunc.LESSEQUAL: lambda x, y: x <= y,
    CmpFunc.GREATER: lambda x, y: x > y,
    CmpFunc.NOTEQUAL: lambda x, y: x != y,
    CmpFunc.GREATEREQUAL: lambda x, y: x >= y,
    CmpFunc.ALWAYS: lambda x, y: True,
}


class Array:
    """Slices of random texels, 32 bits each, as files and by slice, level, and place."""

    def __init__(self, seed: int, sides: tuple[int, ...], levels: int, layers: int) -> None:
        random, words, rows = Random(seed), [], []
        self.texels: dict[tuple[int, ...], int] = {}
        for layer, level in itertools.product(range(layers), range(levels)):
            width, height, depth = (max(s >> level, 1) for s in (*sides, 1)[:3])
            rows.append((len(words) * 4, width * 4, width * height * 4, width, height, depth))
            for z, y, x in itertools.product(range(depth), range(height), range(width)):
                words.append(random.getrandbits(32))
                self.texels[layer, level, x, y, z] = words[-1]
        self.files: Files = {
            "texels": np.array(words, np.uint32).view(np.int32),
            "levels": level_rows(rows),
            "numbers": sampler_numbers(0.0, BORDER, (0.0, 1000.0)),
            "limits": limits_of(levels, 0, layers=layers),
            "palette": np.zeros(256, np.int32),
            "linear": srgb_to_linear_table(),
            "weights": weights_of(),
        }


def answered(program: Program, files: Files, **inputs: Sequence[float]) -> list[tuple[int, ...]]:
    """Four words for each lane; inputs by name, with _ for the point."""
    types = {port.name: port.type.dtype for port in program.inputs}
    lanes = max(len(each) for each in inputs.values())
    given = {}
    for name, values in inputs.items():
        port = name.replace("_", ".")
        if port in types and types[port] == np.int32:
            given[port] = np.array(values, np.int64).astype(np.uint32).view(np.int32)
        elif port in types:
            given[port] = np.array(values, types[port])
    outputs = run(program, given, files, lanes).outputs
    words = (outputs[f"word.{c}"].view(np.uint32).tolist() for c in "xyzw")
    return list(zip(*words, strict=True))


def bits(*values: float) -> tuple[int, ...]:
    return tuple(np.array(values, np.float32).view(np.uint32).tolist())


NUMBERS = (0, 1, 3, 4, 7, 8, 2**31, 2**32 - 1)


@pytest.mark.parametrize(
    ("kind", "sides", "layers"),
    [(TEX2D, (8, 4), 1), (TEX2D, (5, 3), 3), (VOLUME, (4, 3, 5), 1), (TEX2D, (8, 1), 4)],
)
def test_texels_are_loaded_by_number_and_are_0_outside(
    kind: TextureKind, sides: tuple[int, ...], layers: int
) -> None:
    texture = Array(1, sides, 3, layers)
    key = SamplerKey(kind, Format.A8R8G8B8, levels=True, layers=layers > 1)
    lanes = list(itertools.product(NUMBERS, NUMBERS, (0, 2, 9), (0, 1, 2, 3, 2**31), (0, 2, 4)))
    x, y, z, level, layer = zip(*lanes, strict=True)
    found = answered(load_program(key, Stage.VERTEX), texture.files, number_x=x, number_y=y,
                     number_z=z, level_x=level, layer_x=layer)  # fmt: skip
    for lane, words in zip(lanes, found, strict=True):
        u, v, w, mip, slice = lane
        place = (slice if layers > 1 else 0, mip, u, v, w if kind is VOLUME else 0)
        known = place in texture.texels
        wanted = color_of(texture.texels[place]) if known else (0.0,) * 4
        assert words == bits(*wanted), lane


def test_what_a_format_lacks_is_the_same_out_of_range() -> None:
    files = Array(2, (2, 1), 1, 1).files
    program = load_program(SamplerKey(TEX2D, Format.X8R8G8B8), Stage.VERTEX)
    found = answered(program, files, number_x=[0, 2], number_y=[0, 0], level_x=[0, 0])
    assert [words[3] for words in found] == list(bits(1.0, 1.0))
    assert found[1][:3] == (0, 0, 0)


WHOLE = [
    (DxgiFormat.R16G16_UINT, 0x8012ABCD, (0xABCD, 0x8012, 0, 1)),
    (DxgiFormat.R16G16_SINT, 0x8012ABCD, (0xFFFFABCD, 0xFFFF8012, 0, 1)),
    (DxgiFormat.R8G8B8A8_UINT, 0x8012ABCD, (0xCD, 0xAB, 0x12, 0x80)),
    (DxgiFormat.R8G8B8A8_SINT, 0x8012ABCD, (0xFFFFFFCD, 0xFFFFFFAB, 0x12, 0xFFFFFF80)),
    (DxgiFormat.R10G10B10A2_UINT, 0x8012ABCD, (0x3CD, 0xAA, 1, 2)),
    (DxgiFormat.R32_SINT, 0x8012ABCD, (0x8012ABCD, 0, 0, 1)),
    (DxgiFormat.X24_TYPELESS_G8_UINT, 0x8012ABCD, (0, 0x80, 0, 1)),
]


@pytest.mark.parametrize(("format", "word", "wanted"), WHOLE)
def test_integers_are_loaded_and_gathered_as_they_are(
    format: DxgiFormat, word: int, wanted: tuple[int, ...]
) -> None:
    texels = np.array([word], np.uint32).view(np.int32)
    files = {**Array(2, (1, 1), 1, 1).files, "texels": texels}
    key = SamplerKey(TEX2D, format)
    found = answered(
        load_program(key, Stage.VERTEX), files, number_x=[0], number_y=[0], level_x=[0]
    )
    assert found == [wanted]
    for component in range(4):
        program = gather_program(key, component, False, Stage.PIXEL)
        (four,) = answered(program, files, coordinate_x=[0.5], coordinate_y=[0.5])
        assert four == (wanted[component],) * 4


def test_the_border_of_gathered_integers_is_cut_off() -> None:
    border = (TextureAddress.BORDER,) * 3
    key = SamplerKey(TEX2D, DxgiFormat.R32_UINT, border)
    files = {**Array(2, (1, 1), 1, 1).files, "texels": np.array([7], np.int32)}
    files["numbers"] = sampler_numbers(0.0, (2.75, -3.5, 0.0, 1.0), (0.0, 0.0))
    program = gather_program(key, 0, False, Stage.PIXEL)
    (four,) = answered(program, files, coordinate_x=[0.25], coordinate_y=[0.25])
    assert four == (2, 7, 2, 2)


@pytest.mark.parametrize("layers", [1, 3])
def test_samples_lie_side_by_side(layers: int) -> None:
    """Each texel is its number in a texture of 2 by 2 pixels of four samples."""
    texels = np.arange(16 * layers, dtype=np.int32)
    rows = [(64 * layer, 32, 64, 2, 2, 1) for layer in range(layers)]
    files = {
        **Array(1, (1, 1), 1, 1).files,
        "texels": texels,
        "levels": level_rows(rows),
        "limits": limits_of(1, 0, layers=layers, samples=4),
    }
    key = SamplerKey(TEX2D, DxgiFormat.R32_UINT, layers=layers > 1)
    program = load_program(key, Stage.PIXEL, multisampled=True)
    lanes = list(itertools.product(range(3), range(3), range(5), range(layers + 1)))
    x, y, sample, layer = map(list, zip(*lanes, strict=True))
    found = answered(program, files, number_x=x, number_y=y, sample_x=sample, layer_x=layer)
    for (u, v, s, n), words in zip(lanes, found, strict=True):
        slice = n if layers > 1 else 0
        known = u < 2 and v < 2 and s < 4 and slice < layers
        assert words[0] == (16 * slice + 8 * v + 4 * u + s if known else 0)


@pytest.mark.parametrize("component", range(4))
@pytest.mark.parametrize("offset", [False, True])
def test_gathered_texels_go_round_from_the_lower_left(component: int, offset: bool) -> None:
    random = Random(component)
    texture = Array(3, (5, 4), 2, 3)
    key = SamplerKey(TEX2D, Format.A8R8G8B8, levels=True, layers=True)
    lanes = [
        (model.f32(random.uniform(-1, 2)), model.f32(random.uniform(-1, 2)),
         random.uniform(-1, 4), random.randrange(-32, 32), random.randrange(-32, 32))
        for _ in range(60)
    ]  # fmt: skip
    x, y, slices, right, down = zip(*lanes, strict=True)
    found = answered(gather_program(key, component, offset, Stage.PIXEL), texture.files,
                     coordinate_x=x, coordinate_y=y, slice_x=slices, offset_x=right,
                     offset_y=down)  # fmt: skip
    for (u, v, number, by, below), words in zip(lanes, found, strict=True):
        by, below = (by, below) if offset else (0, 0)
        left = (model.fixed(WRAP, u, 5, centred=True) >> 8) + by
        top = (model.fixed(WRAP, v, 4, centred=True) >> 8) + below
        layer = min(max(round(number), 0), 2)
        wanted = [
            color_of(texture.texels[layer, 0, (left + i) % 5, (top + j) % 4, 0])[component]
            for i, j in ((0, 1), (1, 1), (1, 0), (0, 0))
        ]
        assert words == bits(*wanted)


def test_slices_are_rounded_to_even_and_held() -> None:
    texture = Array(4, (1, 1), 1, 4)
    key = SamplerKey(TEX2D, Format.A8R8G8B8, layers=True)
    slices = [-math.inf, -1.0, 0.4, 0.5, 1.5, 2.5, 2.6, 3.4, 9.0, math.inf, math.nan]
    found = sampled(key, texture.files, [(0.5, 0.5)] * len(slices), slice=[[s] for s in slices])
    wanted = [0, 0, 0, 0, 2, 2, 3, 3, 3, 3, 0]
    assert found == [color_of(texture.texels[n, 0, 0, 0, 0]) for n in wanted]


def test_slices_of_cubes_are_six_faces_each() -> None:
    texture = Array(5, (1, 1), 1, 12)
    texture.files["limits"] = limits_of(1, 0, layers=2)
    key = SamplerKey(CUBE, Format.A8R8G8B8, layers=True)
    at = [(1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0)]
    found = sampled(key, texture.files, at * 2, slice=[[0.0]] * 3 + [[1.0]] * 3)
    wanted = [color_of(texture.texels[n, 0, 0, 0, 0]) for n in (0, 3, 5, 6, 9, 11)]
    assert found == wanted


@pytest.mark.parametrize("address", TextureAddress)
@pytest.mark.parametrize("filter", [TextureFilter.POINT, LINEAR])
@pytest.mark.parametrize("offset", [(-8, 7, 0), (3, -1, 0), (0, 5, 0)])
def test_offsets_are_whole_texels_before_address_modes(
    address: TextureAddress, filter: TextureFilter, offset: tuple[int, int, int]
) -> None:
    random = Random(6)
    texture = memory(random, TEX2D, (8, 4))
    plain = SamplerKey(TEX2D, Format.A8R8G8B8, (address,) * 3, filter, filter)
    at = [(random.randrange(-64, 128) / 64, random.randrange(-64, 128) / 64) for _ in range(60)]
    shifted = [(u + offset[0] / 8, v + offset[1] / 4) for u, v in at]
    found = sampled(replace(plain, offset=offset), texture.files, at)
    assert found == sampled(plain, texture.files, shifted)


@pytest.mark.parametrize("function", CmpFunc)
def test_references_compare_with_texels(function: CmpFunc) -> None:
    data = np.frombuffer(struct.pack("<4H", 0, 32768, 65535, 100), np.int32)
    files: Files = {**Array(7, (1, 1), 1, 1).files, "texels": data,
                    "levels": level_rows([(0, 8, 8, 4, 1, 1)])}  # fmt: skip
    key = SamplerKey(TEX2D, Format.D16, compare=function)
    codes = (0, 32768, 65535, 100)
    lanes = list(itertools.product(range(4), (-1.0, 0.0, 0.5, 100 / 65535, 1.0, 2.0)))
    found = sampled(key, files, [((x + 0.5) / 4, 0.5) for x, _ in lanes],
                    reference=[[r] for _, r in lanes])  # fmt: skip
    for (x, reference), color in zip(lanes, found, strict=True):
        code = round(min(max(reference, 0.0), 1.0) * 65535)
        assert color == (float(COMPARED[function](code, codes[x])),) * 4


def test_comparisons_with_floats_are_not_clamped() -> None:
    data = np.array([2.5], np.float32).view(np.int32)
    files: Files = {**Array(7, (1, 1), 1, 1).files, "texels": data}
    key = SamplerKey(TEX2D, Format.R32F, compare=CmpFunc.LESS)
    found = sampled(key, files, [(0.5, 0.5)] * 2, reference=[[2.0], [3.0]])
    assert [color[0] for color in found] == [1.0, 0.0]


def test_borders_are_any_floats() -> None:
    files = Array(8, (2, 2), 1, 1).files
    key = SamplerKey(TEX2D, Format.A8R8G8B8, (TextureAddress.BORDER,) * 3)
    assert sampled(key, files, [(2.0, 0.5)]) == [BORDER]


@pytest.mark.parametrize(
    ("given", "lods", "level"),
    [(0.0, (1.0, 9.0), 1), (3.0, (0.0, 2.0), 2), (1.0, (0.0, 9.0), 1), (3.0, (0.0, 0.0), 0)],
)
def test_levels_lie_in_the_samplers_range(
    given: float, lods: tuple[float, float], level: int
) -> None:
    texture = Array(9, (8, 8), 4, 1)
    texture.files["numbers"] = sampler_numbers(0.0, BORDER, lods)
    key = SamplerKey(TEX2D, Format.A8R8G8B8, mip=TextureFilter.POINT, levels=True, ranged=True)
    found = sampled(key, texture.files, [(0.01, 0.01)], lod=[[given]])
    assert found == [color_of(texture.texels[0, level, 0, 0, 0])]


@pytest.mark.parametrize(
    ("slope", "bias", "held", "level"),
    [(1.0, 0.0, 3.0, 3.0), (0.5, 0.5, 2.5, 2.5), (8.0, 0.0, 3.0, 6.0), (1 / 64, 0.0, 1.0, -3.0)],
)
def test_level_of_detail_is_told_held_and_as_it_is(
    slope: float, bias: float, held: float, level: float
) -> None:
    texture = Array(10, (8, 8), 4, 1)
    texture.files["numbers"] = sampler_numbers(bias, BORDER, (1.0, 5.0))
    key = SamplerKey(TEX2D, Format.A8R8G8B8, levels=True, ranged=True)
    found = answered(lod_program(key, Stage.PIXEL), texture.files, coordinate_x=[0.0],
                     coordinate_y=[0.0], ddx_x=[slope], ddx_y=[0.0], ddy_x=[0.0],
                     ddy_y=[0.0])  # fmt: skip
    assert found == [(*bits(held, level), 0, 0)]


def test_sizes_are_of_a_level_and_levels_are_always_told() -> None:
    texture = Array(11, (8, 4, 2), 3, 1)
    sides = (LevelField.WIDTH, LevelField.HEIGHT, LevelField.DEPTH)
    found = answered(size_program(*sides, Stage.VERTEX), texture.files, level_x=[0, 1, 2, 3, -1])
    assert found == [(8, 4, 2, 3), (4, 2, 1, 3), (2, 1, 1, 3), (0, 0, 0, 3), (0, 0, 0, 3)]
    texture = Array(11, (8, 4), 1, 5)
    program = size_program(LevelField.WIDTH, LimitField.LAYERS, None, Stage.VERTEX)
    assert answered(program, texture.files, level_x=[0]) == [(8, 5, 0, 1)]


def test_words_are_read_from_bytes_and_are_0_beyond() -> None:
    files: Files = {"texels": np.array([1, 2, 3, 4, 5], np.int32)}
    found = answered(raw_program(Stage.VERTEX), files, at_x=[0, 4, 12, 20, 2**32 - 4])
    assert found == [(1, 2, 3, 4), (2, 3, 4, 5), (4, 5, 0, 0), (0,) * 4, (0,) * 4]


def test_words_of_structures_end_with_them() -> None:
    files: Files = {
        "texels": np.arange(1, 13, dtype=np.int32),
        "buffer": np.array([12, 4], np.int32),
    }
    lanes = [(0, 0), (1, 0), (1, 4), (3, 8), (4, 0), (0, 12), (2**31, 0), (0, 2**32 - 4)]
    number, at = zip(*lanes, strict=True)
    found = answered(structured_program(Stage.VERTEX), files, number_x=number, at_x=at)
    assert found == [(1, 2, 3, 0), (4, 5, 6, 0), (5, 6, 0, 0), (12, 0, 0, 0), *[(0,) * 4] * 4]


def test_arrays_have_gradients_like_others() -> None:
    texture = Array(12, (8, 8), 4, 2)
    key = SamplerKey(TEX2D, Format.A8R8G8B8, mip=TextureFilter.POINT, levels=True, layers=True)
    found = sampled(key, texture.files, [(0.01, 0.01)], Lod.GRADIENT, slice=[[1.0]],
                    ddx=[[0.5, 0.0]], ddy=[[0.0, 0.0]])  # fmt: skip
    assert found == [color_of(texture.texels[1, 2, 0, 0, 0])]
