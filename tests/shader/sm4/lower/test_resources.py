"""What is asked about resources: units, operands in order, and what answers become."""

from __future__ import annotations

import numpy as np
import pytest

from dp2emu.shader.ir import Lod, TextureKind
from dp2emu.shader.resources import Dimension, ReadOpcode, Unit
from dp2emu.shader.sm4.enums import ReturnType, SamplerMode
from dp2emu.shader.sm4.lower import DeclaredSampler, Resource
from tests.shader.sm4.lower.running import (
    Surroundings,
    execute,
    floats,
    lowered,
    ps_text,
    vs_text,
    words,
)

TYPES = "(float,float,float,float)"
SHAPES = ("texture1d", "texture2d", "texture3d", "texturecube", "texture1darray",
          "texture2darray", "texturecubearray")  # fmt: skip


def head(dimension: str) -> str:
    return f"dcl_sampler s2, mode_default\ndcl_resource_{dimension} {TYPES} t5"


def float_bits(*values: float) -> list[int]:
    found: list[int] = np.array(values, np.float32).view(np.uint32).tolist()
    return found


class Run:
    """A body of a pixel shader that was run: its units, what was asked, and o0."""

    def __init__(self, body: str, declarations: str, **inputs: object) -> None:
        shader = lowered(ps_text(f"mov r0, l(1.0, 2.0, 3.0, 4.0)\n{body}", declarations))
        self.around = Surroundings()
        self.units = shader.units
        result = execute(shader, inputs, lanes=4, around=self.around)
        self.o0 = words(result, "target0")


COORDINATES = {
    "texture1d": (TextureKind.TEX2D, [1.0, 0.5]),
    "texture2d": (TextureKind.TEX2D, [1.0, 2.0]),
    "texture3d": (TextureKind.VOLUME, [1.0, 2.0, 3.0]),
    "texturecube": (TextureKind.CUBE, [1.0, 2.0, 3.0]),
}


@pytest.mark.parametrize("dimension", COORDINATES)
@pytest.mark.parametrize(
    ("line", "lod", "arguments"),
    [
        ("sample o0, r0, t5, s2", Lod.IMPLICIT, []),
        ("sample_b o0, r0, t5, s2, l(7.0)", Lod.BIAS, [7.0]),
        ("sample_b o0, r0, t5, s2, l(99.0)", Lod.BIAS, [np.float32(15.99)]),
        ("sample_b o0, r0, t5, s2, l(-99.0)", Lod.BIAS, [-16.0]),
        ("sample_l o0, r0, t5, s2, r0.w", Lod.EXPLICIT, [4.0]),
    ],
)
def test_plain_textures_are_sampled(
    dimension: str, line: str, lod: Lod, arguments: list[float]
) -> None:
    kind, coordinates = COORDINATES[dimension]
    run = Run(line, head(dimension))
    assert run.around.samples == [(0, kind, coordinates, lod, arguments)]
    assert run.units == (Unit(ReadOpcode.SAMPLE, 5, 2, Dimension[dimension.upper()], lod=lod),)
    assert floats(run.o0)[:2] == coordinates[:2]


@pytest.mark.parametrize(
    ("dimension", "arguments"),
    [
        ("texture1d", [7, 0, 3, 0]),
        ("texture2d", [7, 8, 3, 4]),
        ("texture3d", [7, 8, 9, 3, 4, 5]),
        ("texturecube", [7, 8, 9, 3, 4, 5]),
    ],
)
def test_gradients_are_as_many_as_coordinates(dimension: str, arguments: list[float]) -> None:
    line = "sample_d o0, r0, t5, s2, l(7.0, 8.0, 9.0, 0.0), l(3.0, 4.0, 5.0, 0.0)"
    (sample,) = Run(line, head(dimension)).around.samples
    assert sample[3:] == (Lod.GRADIENT, arguments)


def test_texels_are_behind_the_swizzle_of_the_resource() -> None:
    assert floats(Run("sample o0, r0, t5.yxzw, s2", head("texture3d")).o0) == [2, 1, 3, 0.5]
    assert floats(Run("sample o0.yw, r0, t5.yxzw, s2", head("texture3d")).o0) == [0, 1, 0, 0.5]


ARRAYS = {
    "texture1darray": ([1.0, 2.0], 1),
    "texture2darray": ([1.0, 2.0, 3.0], 2),
    "texturecubearray": ([1.0, 2.0, 3.0, 4.0], 3),
}


@pytest.mark.parametrize("dimension", ARRAYS)
@pytest.mark.parametrize(
    ("line", "lod", "extra"),
    [
        ("sample o0, r0, t5, s2", Lod.GRADIENT, "slopes"),
        ("sample_b o0, r0, t5, s2, l(7.0)", Lod.GRADIENT, "slopes"),
        ("sample_l o0, r0, t5, s2, l(7.0)", Lod.EXPLICIT, "7"),
        ("sample_d o0, r0, t5, s2, r0, r0", Lod.GRADIENT, "given"),
    ],
)
def test_arrays_are_fetched_with_their_slice(
    dimension: str, line: str, lod: Lod, extra: str
) -> None:
    address, axes = ARRAYS[dimension]
    operands = {"slopes": [0.0] * 2 * axes, "7": [7.0], "given": [1.0, 2.0, 3.0][:axes] * 2}
    run = Run(line, head(dimension))
    assert run.around.fetches == [(0, float_bits(*address, *operands[extra]))]
    assert run.units == (Unit(ReadOpcode.SAMPLE, 5, 2, Dimension[dimension.upper()], lod=lod),)


@pytest.mark.parametrize(("bias", "scale"), [(2.0, 4.0), (-1.0, 0.5), (-99.0, 2.0**-16)])
def test_a_bias_makes_slopes_longer(bias: float, scale: float) -> None:
    shader = lowered(ps_text(f"sample_b o0, v1, t5, s2, l({bias})", head("texture1darray")))
    around = Surroundings()
    execute(shader, {"v1.x": [0, 1, 4, 5]}, lanes=4, around=around)
    ((_, operands),) = around.fetches
    assert operands[2:] == float_bits(scale, 4 * scale)


def test_differences_of_coordinates_are_of_the_quad() -> None:
    shader = lowered(ps_text("sample o0, v1, t5, s2", head("texture2darray")))
    around = Surroundings()
    execute(shader, {"v1.x": [0, 1, 4, 5], "v1.y": [0, 0, 2, 2]}, lanes=4, around=around)
    ((_, operands),) = around.fetches
    assert operands[3:] == float_bits(1, 0, 4, 2)


@pytest.mark.parametrize("dimension", ["texture1d", "texture2d", "texturecube", *ARRAYS])
@pytest.mark.parametrize("opcode", ["sample_c", "sample_c_lz"])
def test_comparisons_have_their_reference_after_the_address(dimension: str, opcode: str) -> None:
    address = {"texture1d": [1.0], "texture2d": [1.0, 2.0], "texturecube": [1.0, 2.0, 3.0]}
    address |= {name: list(each) for name, (each, _) in ARRAYS.items()}
    axes = {"texture1d": 1, "texture2d": 2, "texturecube": 3}
    axes |= {name: each for name, (_, each) in ARRAYS.items()}
    lod = Lod.EXPLICIT if opcode == "sample_c_lz" else Lod.GRADIENT
    extra = [0.0] if opcode == "sample_c_lz" else [0.0] * 2 * axes[dimension]
    run = Run(f"{opcode} o0.x, r0, t5, s2, l(0.25)", head(dimension))
    assert run.around.fetches == [(0, float_bits(*address[dimension], 0.25, *extra))]
    dimensions = Dimension[dimension.upper()]
    assert run.units == (Unit(ReadOpcode.SAMPLE, 5, 2, dimensions, lod=lod, comparison=True),)


def test_offsets_of_texels_are_told_along_the_axes() -> None:
    def texel(dimension: str) -> tuple[int, int, int]:
        run = Run("sample_aoffimmi(1,-2,3) o0, r0, t5, s2", head(dimension))
        return run.units[0].texel

    assert texel("texture1d") == (1, 0, 0)
    assert texel("texture2d") == (1, -2, 0)
    assert texel("texture3d") == (1, -2, 3)
    assert texel("texturecube") == (0, 0, 0)
    assert texel("texture1darray") == (1, 0, 0)
    assert texel("texture2darray") == (1, -2, 0)


@pytest.mark.parametrize(
    ("line", "operands", "fields"),
    [
        ("gather4 o0, r0, t5, s2", float_bits(1, 2), {}),
        ("gather4 o0, r0, t5, s2.x", float_bits(1, 2), {}),
        ("gather4 o0, r0, t5, s2.z", float_bits(1, 2), {"component": 2}),
        ("gather4_c o0, r0, t5, s2.x, l(0.5)", float_bits(1, 2, 0.5), {"comparison": True}),
        (
            "gather4_po o0, r0, l(31, -32, 0, 0), t5, s2.y",
            [*float_bits(1, 2), 31, 2**32 - 32],
            {"offset": True, "component": 1},
        ),
        (
            "gather4_po_c o0, r0, l(33, 64, 0, 0), t5, s2.x, l(0.5)",
            [*float_bits(1, 2, 0.5), 2**32 - 31, 0],
            {"offset": True, "comparison": True},
        ),
    ],
)
def test_gathered_texels(line: str, operands: list[int], fields: dict[str, int]) -> None:
    run = Run(line, head("texture2d"))
    assert run.around.fetches == [(0, operands)]
    assert run.units == (Unit(ReadOpcode.GATHER, 5, 2, Dimension.TEXTURE2D, **fields),)  # type: ignore[arg-type]
    assert run.o0 == [0, 1, 2, 3]


def test_level_of_detail_is_two_numbers_and_zeros() -> None:
    run = Run("lod o0, r0, t5, s2", head("texture2darray"))
    assert run.around.fetches == [(0, float_bits(1, 2, 0, 0, 0, 0))]
    assert run.units[0].opcode is ReadOpcode.LOD
    # The answers 0 and 1 are floats too small for arithmetic.
    assert run.o0 == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("dimension", "operands"),
    [
        ("buffer", [1, 0]),
        ("texture1d", [1, 4]),
        ("texture2d", [1, 2, 4]),
        ("texture3d", [1, 2, 3, 4]),
        ("texture1darray", [1, 2, 4]),
        ("texture2darray", [1, 2, 3, 4]),
    ],
)
def test_texels_are_loaded_by_their_numbers(dimension: str, operands: list[int]) -> None:
    run = Run("ld o0, l(1, 2, 3, 4), t5.wzyx", head(dimension))
    assert run.around.fetches == [(0, operands)]
    assert run.units == (Unit(ReadOpcode.LOAD, 5, None, Dimension[dimension.upper()]),)
    assert run.o0 == [3, 2, 1, 0]


def test_offsets_are_added_to_numbers_with_wrap() -> None:
    run = Run("ld_aoffimmi(-2,3,0) o0, l(1, -1, 3, 4), t5", head("texture2darray"))
    assert run.around.fetches == [(0, [2**32 - 1, 2, 3, 4])]
    assert run.units[0].texel == (0, 0, 0)


@pytest.mark.parametrize(
    ("dimension", "operands"),
    [("texture2dms(4)", [1, 2, 9]), ("texture2dmsarray(4)", [1, 2, 3, 9])],
)
def test_texels_of_samples_are_loaded(dimension: str, operands: list[int]) -> None:
    run = Run("ldms o0, l(1, 2, 3, 4), t5, l(9)", head(dimension))
    assert run.around.fetches == [(0, operands)]


def test_bytes_and_structures_are_loaded() -> None:
    run = Run("ld_raw o0, l(12), t5.yxwz", "dcl_resource_raw t5")
    assert (run.around.fetches, run.o0) == ([(0, [12])], [1, 0, 3, 2])
    assert run.units == (Unit(ReadOpcode.RAW, 5, None, Dimension.RAW_BUFFER),)
    run = Run("ld_structured o0, l(3), l(8), t5.xyzw", "dcl_resource_structured t5, 16")
    assert (run.around.fetches, run.o0) == ([(0, [3, 8])], [0, 1, 2, 3])
    assert run.units == (Unit(ReadOpcode.STRUCTURED, 5, None, Dimension.STRUCTURED_BUFFER),)


class Sizes(Surroundings):
    """A texture of 8 x 4 x 2 and 3 levels."""

    def fetch(self, unit, operands, active):  # type: ignore[no-untyped-def]
        super().fetch(unit, operands, active)
        return tuple(np.array([n], np.int32) for n in (8, 4, 2, 3))


@pytest.mark.parametrize(
    ("form", "dimension", "wanted"),
    [
        ("", "texture3d", [8.0, 4.0, 2.0, 3.0]),
        ("_rcpFloat", "texture1d", [0.125, 4.0, 2.0, 3.0]),
        ("_rcpFloat", "texture2d", [0.125, 0.25, 2.0, 3.0]),
        ("_rcpFloat", "texture3d", [0.125, 0.25, 0.5, 3.0]),
        ("_rcpFloat", "texture1darray", [0.125, 4.0, 2.0, 3.0]),
        ("_rcpFloat", "texture2darray", [0.125, 0.25, 2.0, 3.0]),
        ("_rcpFloat", "texturecube", [0.125, 0.25, 2.0, 3.0]),
    ],
)
def test_sizes_are_floats_or_their_reciprocals(
    form: str, dimension: str, wanted: list[float]
) -> None:
    shader = lowered(ps_text(f"resinfo{form} o0, l(1), t5", head(dimension)))
    around = Sizes()
    assert floats(words(execute(shader, lanes=4, around=around), "target0")) == wanted
    assert around.fetches == [(0, [1])]
    assert shader.units == (Unit(ReadOpcode.SIZE, 5, None, Dimension[dimension.upper()]),)


def test_sizes_may_be_integers() -> None:
    shader = lowered(ps_text("resinfo_uint o0, l(1), t5.wxyz", head("texture2d")))
    assert words(execute(shader, lanes=4, around=Sizes()), "target0") == [3, 8, 4, 2]


def test_buffers_have_a_count() -> None:
    shader = lowered(ps_text("bufinfo o0, t5", "dcl_resource_raw t5"))
    assert words(execute(shader, lanes=4, around=Sizes()), "target0") == [8] * 4
    assert shader.units == (Unit(ReadOpcode.COUNT, 5, None, Dimension.RAW_BUFFER),)


@pytest.mark.parametrize(
    ("line", "wanted", "unit"),
    [
        ("sampleinfo_uint o0, rasterizer", [8, 0, 0, 0], Unit(ReadOpcode.SAMPLES)),
        ("sampleinfo o0, rasterizer", [0x41000000, 0, 0, 0], Unit(ReadOpcode.SAMPLES)),
        (
            "sampleinfo_uint o0, t5",
            [8, 0, 0, 0],
            Unit(ReadOpcode.SAMPLES, 5, None, Dimension.TEXTURE2DMS),
        ),
        ("samplepos o0.zw, rasterizer, l(2)", [0, 0, 0, 0], Unit(ReadOpcode.SAMPLE_POSITION)),
    ],
)
def test_samples_are_asked_about(line: str, wanted: list[int], unit: Unit) -> None:
    shader = lowered(ps_text(line, head("texture2dms(4)")))
    assert words(execute(shader, lanes=4, around=Sizes()), "target0") == wanted
    assert shader.units == (unit,)


def test_inputs_are_evaluated_elsewhere() -> None:
    run = Run("eval_snapped o0, v1.yxzw, l(7, -8, 0, 0)", "")
    assert run.around.fetches == [(0, [7, 2**32 - 8])]
    assert (run.units, run.o0) == ((Unit(ReadOpcode.SNAPPED, register=1),), [1, 0, 2, 3])
    run = Run("eval_snapped o0, v1, l(8, 23, 0, 0)", "")
    assert run.around.fetches == [(0, [2**32 - 8, 7])]
    run = Run("eval_sample_index o0, -v1, l(3)", "")
    assert run.around.fetches == [(0, [3])]
    assert (run.units, run.o0[0]) == ((Unit(ReadOpcode.AT_SAMPLE, register=1),), 0x80000000)


def test_inputs_at_the_centroid_are_inputs() -> None:
    body = "eval_centroid o0.x, v1.y\neval_centroid o0.y, v4.x"
    shader = lowered(ps_text(body, "dcl_input_ps linear noperspective sample v4.x"))
    names = {port.name for port in shader.program.inputs}
    assert {"centroid.v1.y", "centroid.noperspective.v4.x"} <= names
    assert shader.units == ()


@pytest.mark.parametrize(
    "line",
    ["eval_centroid o0.x, v2.x", "eval_snapped o0.x, v2.x, l(1, 1, 0, 0)",
     "eval_sample_index o0.x, v2.x, l(1)"],
)  # fmt: skip
def test_what_is_constant_is_so_everywhere(line: str) -> None:
    run = Run(line, "", **{"v2.x": 0x7F812345})
    assert (run.units, run.o0[0]) == ((), 0x7F812345)


def test_equal_questions_share_a_unit() -> None:
    body = "ld o0, r0, t5\nld r1, r0, t5\nsample r2, r0, t5, s2\nadd o0, r1, r2"
    shader = lowered(ps_text(body, head("texture2d")))
    assert [unit.opcode for unit in shader.units] == [ReadOpcode.LOAD, ReadOpcode.SAMPLE]
    assert shader.resources == (Resource(5, Dimension.TEXTURE2D, (ReturnType.FLOAT,) * 4),)
    assert shader.samplers == (DeclaredSampler(2, SamplerMode.MODE_DEFAULT),)


def test_vertices_sample_at_a_level() -> None:
    shader = lowered(vs_text("sample_l o0, v0, t5, s2, l(1.0)", head("texture2d")))
    around = Surroundings()
    execute(shader, around=around)
    assert around.samples == [(0, TextureKind.TEX2D, [0.0, 0.0], Lod.EXPLICIT, [1.0])]


@pytest.mark.parametrize("dimension", SHAPES)
def test_every_shape_has_a_level_of_detail(dimension: str) -> None:
    axes = 1 if "1d" in dimension else 2 if "2d" in dimension else 3
    run = Run("lod o0, r0, t5, s2", head(dimension))
    assert run.around.fetches == [(0, float_bits(*[1.0, 2.0, 3.0][:axes], *[0.0] * 2 * axes))]
