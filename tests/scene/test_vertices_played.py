"""Vertex processing, played as scenes: element types, lights, fog and points by hand."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dp2emu.shader.sm.assemble import assemble

from .making import BLACK, NO_CULL, Play, picture

CORNERS = ((-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, -1.0))


def code(text: str) -> list[str]:
    return [f"0x{word:08x}" for word in np.frombuffer(assemble(text), "<u4")]


def color_of(tmp_path: Path) -> list[int]:
    """The only colour of the picture: red, green, blue, alpha."""
    found = picture(tmp_path).reshape(-1, 4)
    assert (found == found[0]).all()
    return found[0].tolist()


def bytes_of(color: Sequence[float]) -> Any:
    return pytest.approx([255 * min(max(c, 0.0), 1.0) for c in color], abs=0.51)


TYPES: dict[str, tuple[bytes, tuple[float, ...]]] = {
    "FLOAT1": (struct.pack("<f", 0.25), (0.25, 0, 0, 1)),
    "FLOAT2": (struct.pack("<2f", 0.25, 0.5), (0.25, 0.5, 0, 1)),
    "FLOAT3": (struct.pack("<3f", 0.25, 0.5, 0.75), (0.25, 0.5, 0.75, 1)),
    "FLOAT4": (struct.pack("<4f", 0.25, 0.5, 0.75, 0.125), (0.25, 0.5, 0.75, 0.125)),
    "D3DCOLOR": (bytes((10, 20, 30, 40)), (30 / 255, 20 / 255, 10 / 255, 40 / 255)),
    "UBYTE4": (bytes((0, 1, 0, 1)), (0, 1, 0, 1)),
    "UBYTE4 scaled": (bytes((10, 20, 30, 40)), (10 / 64, 20 / 64, 30 / 64, 40 / 64)),
    "SHORT2": (struct.pack("<2h", -5, 1), (0, 1, 0, 1)),
    "SHORT2 scaled": (struct.pack("<2h", 48, 16), (48 / 64, 16 / 64, 0, 1 / 64)),
    "SHORT4": (struct.pack("<4h", 1, 0, -1, 1), (1, 0, 0, 1)),
    "SHORT4 scaled": (struct.pack("<4h", 50, 40, 30, 20), (50 / 64, 40 / 64, 30 / 64, 20 / 64)),
    "UBYTE4N": (bytes((10, 20, 30, 40)), (10 / 255, 20 / 255, 30 / 255, 40 / 255)),
    "SHORT2N": (struct.pack("<2h", 8192, 32767), (8192 / 32767, 1, 0, 1)),
    "SHORT4N": (struct.pack("<4h", 8192, -8192, 500, 4096), (8192 / 32767, 0, 500 / 32767, 0.125)),
    "USHORT2N": (struct.pack("<2H", 8192, 65535), (0.125, 1, 0, 1)),
    "USHORT4N": (struct.pack("<4H", 8192, 57344, 500, 4096), (0.125, 0.875, 500 / 65535, 0.0625)),
    "UDEC3 scaled": (
        struct.pack("<I", 60 | 40 << 10 | 20 << 20), (60 / 64, 40 / 64, 20 / 64, 1 / 64)
    ),
    "DEC3N": (struct.pack("<I", 511 | 128 << 10 | (1024 - 200) << 20), (1, 128 / 511, 0, 1)),
    "FLOAT16_2": (struct.pack("<2e", 0.25, 0.7001953125), (0.25, 0.7001953125, 0, 1)),
    "FLOAT16_4": (struct.pack("<4e", 0.25, 0.5, 0.75, 2 ** -3), (0.25, 0.5, 0.75, 0.125)),
}  # fmt: skip
"""Stored elements and the values a shader reads from them; ``scaled`` types: 1/64 of it."""


@pytest.mark.parametrize("name", TYPES)
def test_an_element_of_each_type_is_read(play: Play, tmp_path: Path, name: str) -> None:
    data, wanted = TYPES[name]
    scale = 1 / 64 if "scaled" in name else 1.0
    place = [{"stream": 0, "offset": 4, "type": "FLOAT2", "usage": "POSITION", "index": 0}]
    element = {"stream": 0, "offset": 12, "type": name.split()[0], "usage": "TANGENT", "index": 3}
    text = "vs_2_0\ndcl_position v0\ndcl_tangent3 v7\nmov oPos, v0\nmul oD0, v7, c0\n"
    vertices = b"".join(struct.pack("<I2f", 0, x, y) + data for x, y in CORNERS)
    result = play(
        BLACK, NO_CULL, {"op": "setdecl", "id": "d"}, {"op": "setvs", "id": "v"},
        {"op": "vsf", "start": 0, "values": [[scale] * 4]},
        {"op": "draw_up", "prim": "TRIANGLESTRIP", "count": 2, "stride": 12 + len(data),
         "vertices": {"hex": vertices.hex()}},
        resources=[{"type": "decl", "id": "d", "elements": [*place, element]},
                   {"type": "vs", "id": "v", "dwords": code(text)}],
        format="D3DFMT_A8R8G8B8",
    )  # fmt: skip
    assert result.problems == ()
    assert color_of(tmp_path) == bytes_of(wanted)


DISTANCE = 3.0
PERSPECTIVE = [1.0, 0, 0, 0, 0, 1.0, 0, 0, 0, 0, 1.25, 1.0, 0, 0, -1.25, 0]
"""From depth 1 to 5 before the eye; w is the distance."""
ORTHOGRAPHIC = [1.0, 0, 0, 0, 0, 1.0, 0, 0, 0, 0, 0.2, 0, 0, 0, 0, 1.0]
"""From depth 0 to 5 before the eye."""


def linear(d: float) -> float:
    return (4.0 - d) / (4.0 - 2.0)


def exp(d: float) -> float:
    return math.exp(-d * 0.25)


def exp2(d: float) -> float:
    return math.exp(-((d * 0.25) ** 2))


FORMULAS = {"LINEAR": linear, "EXP": exp, "EXP2": exp2}


def fogged(play: Play, tmp_path: Path, projection: Sequence[float], **states: Any) -> float:
    """The remaining white in black fog, at the middle of a plane before the eye."""
    white = [[x * 9, y * 9, DISTANCE, "0xffffffff"] for x, y in CORNERS]
    numbers = {"FOGSTART": {"f": 2.0}, "FOGEND": {"f": 4.0}, "FOGDENSITY": {"f": 0.25}}
    result = play(
        BLACK, NO_CULL, {"op": "transform", "state": "PROJECTION", "matrix": projection},
        {"op": "rs", "states": {"LIGHTING": 0, "FOGENABLE": 1, "FOGCOLOR": 0, **numbers}},
        {"op": "rs", "states": states},
        {"op": "fvf", "fvf": "D3DFVF_XYZ|D3DFVF_DIFFUSE"},
        {"op": "draw_up", "prim": "TRIANGLESTRIP", "count": 2, "stride": 16,
         "vertices": {"layout": "fffI", "rows": white}},
    )  # fmt: skip
    assert result.problems == ()
    return float(picture(tmp_path)[3, 4, 0]) / 255


@pytest.mark.parametrize("mode", FORMULAS)
@pytest.mark.parametrize("table", [False, True])
def test_fog_depends_on_the_depth(play: Play, tmp_path: Path, mode: str, table: bool) -> None:
    state = {"FOGTABLEMODE" if table else "FOGVERTEXMODE": f"D3DFOG_{mode}"}
    found = fogged(play, tmp_path, PERSPECTIVE, **state)
    assert found == pytest.approx(FORMULAS[mode](DISTANCE), abs=0.003)


@pytest.mark.parametrize("mode", FORMULAS)
def test_table_fog_depends_on_z_where_w_is_1(play: Play, tmp_path: Path, mode: str) -> None:
    start = {"FOGSTART": {"f": 0.2}, "FOGEND": {"f": 1.0}, "FOGDENSITY": {"f": 1.5}}
    found = fogged(play, tmp_path, ORTHOGRAPHIC, FOGTABLEMODE=f"D3DFOG_{mode}", **start)
    z = DISTANCE / 5
    wanted = {
        "LINEAR": (1.0 - z) / 0.8,
        "EXP": math.exp(-z * 1.5),
        "EXP2": math.exp(-((z * 1.5) ** 2)),
    }
    assert found == pytest.approx(wanted[mode], abs=0.003)


@pytest.mark.parametrize("z", [-0.5, 1.5])
def test_table_fog_takes_z_before_it_is_clamped(play: Play, tmp_path: Path, z: float) -> None:
    white = [[64 * x + 32, 64 * y + 32, z, 1, "0xffffffff"] for x, y in CORNERS]
    numbers = {"FOGSTART": {"f": -1.0}, "FOGEND": {"f": 2.0}}
    result = play(
        BLACK, NO_CULL,
        {"op": "rs", "states": {"ZENABLE": 0, "FOGENABLE": 1, "FOGCOLOR": 0, **numbers}},
        {"op": "rs", "states": {"FOGTABLEMODE": "D3DFOG_LINEAR"}},
        {"op": "fvf", "fvf": "D3DFVF_XYZRHW|D3DFVF_DIFFUSE"},
        {"op": "draw_up", "prim": "TRIANGLESTRIP", "count": 2, "stride": 20,
         "vertices": {"layout": "ffffI", "rows": white}},
    )  # fmt: skip
    assert result.problems == ()
    assert picture(tmp_path)[3, 4, 0] / 255 == pytest.approx((2 - z) / 3, abs=0.003)


@pytest.mark.parametrize("mode", FORMULAS)
def test_range_fog_depends_on_the_distance(play: Play, tmp_path: Path, mode: str) -> None:
    state = {"FOGVERTEXMODE": f"D3DFOG_{mode}", "RANGEFOGENABLE": 1, "FOGSTART": {"f": 12.0}}
    found = fogged(play, tmp_path, PERSPECTIVE, FOGEND={"f": 16.0}, **state)
    way = math.sqrt(9 * 9 + 9 * 9 + DISTANCE * DISTANCE)
    wanted = {"LINEAR": (16 - way) / 4, "EXP": exp(way), "EXP2": exp2(way)}
    assert found == pytest.approx(wanted[mode], abs=0.003)


LIGHT = {
    "op": "light",
    "index": 0,
    "diffuse": [0.9, 0.5, 0.25, 1],
    "ambient": [0.02, 0.04, 0.06, 1],
}
ABOVE = (0.5, 0.25, -2.0)
"""The position of a light relative to the vertex."""


def lit(play: Play, tmp_path: Path, light: dict[str, Any], **states: Any) -> list[int]:
    """The colour of a lit point that covers the whole target."""
    corner = [[0, 0, 1, 0, 0, -1]]
    result = play(
        BLACK, {"op": "material", "diffuse": [1, 1, 1, 0.5], "ambient": [1, 1, 1, 1],
                "specular": [1, 1, 1, 1], "power": 4.0},
        {**LIGHT, **light}, {"op": "rs", "states": {"POINTSIZE": {"f": 40.0}, **states}},
        {"op": "fvf", "fvf": "D3DFVF_XYZ|D3DFVF_NORMAL"},
        {"op": "transform", "state": "PROJECTION", "matrix": ORTHOGRAPHIC},
        {"op": "draw_up", "prim": "POINTLIST", "count": 1, "stride": 24,
         "vertices": {"layout": "ffffff", "rows": corner}},
        format="D3DFMT_A8R8G8B8",
    )  # fmt: skip
    assert result.problems == ()
    return color_of(tmp_path)


def shaded(facing: float, strength: float, specular: float = 0.0) -> tuple[float, ...]:
    rgb = zip((0.9, 0.5, 0.25), (0.02, 0.04, 0.06), strict=True)
    return (*(strength * (d * facing + a) + specular for d, a in rgb), 0.5)


WAY = math.sqrt(sum(c * c for c in ABOVE))
FACING = 2.0 / WAY


@pytest.mark.parametrize("reach", [100.0, 2.0])
@pytest.mark.parametrize("attenuation", [(1.0, 0.0, 0.0), (0.5, 0.25, 0.0), (0.2, 0.1, 0.15)])
def test_point_lights_fade(
    play: Play, tmp_path: Path, reach: float, attenuation: tuple[float, float, float]
) -> None:
    place = [ABOVE[0], ABOVE[1], ABOVE[2] + 1]
    light = {"type": "POINT", "position": place, "range": reach, "attenuation": list(attenuation)}
    a0, a1, a2 = attenuation
    strength = 1 / (a0 + a1 * WAY + a2 * WAY * WAY) if reach > WAY else 0.0
    assert lit(play, tmp_path, light) == bytes_of(shaded(FACING, strength))


@pytest.mark.parametrize("falloff", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("aim", [(-0.5, -0.25, 2.0), (0.0, 0.0, 1.0), (0.5, 0.2, 1.0)])
def test_spot_lights_fade_between_their_cones(
    play: Play, tmp_path: Path, falloff: float, aim: tuple[float, float, float]
) -> None:
    light = {"type": "SPOT", "position": [0.5, 0.25, -1.0], "direction": list(aim), "range": 9.0,
             "attenuation": [1, 0, 0], "theta": 0.2, "phi": 1.2, "falloff": falloff}  # fmt: skip
    length = math.sqrt(sum(c * c for c in aim))
    rho = -sum(a * b for a, b in zip(aim, ABOVE, strict=True)) / (length * WAY)
    inner, outer = math.cos(0.1), math.cos(0.6)
    inside = min(max((rho - outer) / (inner - outer), 0.0), 1.0) ** falloff
    assert lit(play, tmp_path, light) == bytes_of(shaded(FACING, inside if rho > outer else 0.0))


@pytest.mark.parametrize("local", [0, 1])
def test_directional_lights_shine_and_glance(play: Play, tmp_path: Path, local: int) -> None:
    light = {"type": "DIRECTIONAL", "direction": [-c for c in ABOVE], "specular": [0.5] * 4}
    to_light = [c / WAY for c in ABOVE]
    half = [a + b for a, b in zip(to_light, (0, 0, -1), strict=True)]
    glance = -half[2] / math.sqrt(sum(c * c for c in half))
    found = lit(play, tmp_path, light, SPECULARENABLE=1, LOCALVIEWER=local)
    assert found == bytes_of(shaded(FACING, 1.0, 0.5 * glance**4))


@pytest.mark.parametrize("scale", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.5, 0.0, 0.25)])
def test_scaled_points_shrink_with_distance(
    play: Play, tmp_path: Path, scale: tuple[float, float, float]
) -> None:
    names = ("POINTSCALE_A", "POINTSCALE_B", "POINTSCALE_C")
    states = {name: {"f": value} for name, value in zip(names, scale, strict=True)}
    result = play(
        BLACK, {"op": "transform", "state": "PROJECTION", "matrix": PERSPECTIVE},
        {"op": "rs", "states": {"LIGHTING": 0, "POINTSCALEENABLE": 1, "POINTSIZE": {"f": 0.9},
                                **states}},
        {"op": "fvf", "fvf": "D3DFVF_XYZ|D3DFVF_DIFFUSE"},
        {"op": "draw_up", "prim": "POINTLIST", "count": 1, "stride": 16,
         "vertices": {"layout": "fffI", "rows": [[0, 0, DISTANCE, "0xffffffff"]]}},
        width=32, height=24,
    )  # fmt: skip
    assert result.problems == ()
    a, b, c = scale
    size = 24 * 0.9 * math.sqrt(1 / (a + b * DISTANCE + c * DISTANCE * DISTANCE))
    rows, columns = np.nonzero(picture(tmp_path)[..., 0])
    assert abs(np.ptp(columns) + 1 - size) <= 1
    assert abs(np.ptp(rows) + 1 - size) <= 1


def moved(x: float, y: float) -> list[float]:
    """A matrix that translates x and y."""
    return [1.0, 0, 0, 0, 0, 1.0, 0, 0, 0, 0, 1.0, 0, x, y, 0, 1.0]


MOVES = [(-0.5, 0.25), (0.75, -0.5), (0.25, 0.75), (-0.25, -0.75)]


def blended(
    play: Play, tmp_path: Path, fvf: str, layout: str, row: Sequence[Any], **states: Any
) -> tuple[int, int]:
    """The pixel, of 64 x 64, of a point blended by the four matrices of MOVES."""
    worlds = (
        {"op": "transform", "state": f"WORLD{number or ''}", "matrix": moved(*move)}
        for number, move in enumerate(MOVES)
    )
    result = play(
        BLACK, *worlds, {"op": "rs", "states": {"LIGHTING": 0, "ZENABLE": 0, **states}},
        {"op": "fvf", "fvf": fvf},
        {"op": "draw_up", "prim": "POINTLIST", "count": 1, "stride": struct.calcsize("<" + layout),
         "vertices": {"layout": layout, "rows": [row]}},
        width=64, height=64,
    )  # fmt: skip
    assert result.problems == ()
    ((row_drawn, column),) = np.argwhere(picture(tmp_path)[..., 0])
    return int(column), int(row_drawn)


def pixel(weights: Sequence[float], numbers: Sequence[int]) -> tuple[int, int]:
    """The pixel of the blended origin; the last weight completes the sum to 1."""
    full = [*weights, 1 - sum(weights)]
    x, y = (
        sum(w * MOVES[n][axis] for w, n in zip(full, numbers, strict=False)) for axis in (0, 1)
    )
    return math.ceil(32 * (1 + x) - 0.5), math.ceil(32 * (1 - y) - 0.5)


WEIGHTS = (0.3, 0.2, 0.4)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_positions_blend_by_weights(play: Play, tmp_path: Path, count: int) -> None:
    row = [0, 0, 0.5, *WEIGHTS[:count], "0xffffffff"]
    fvf, layout = f"D3DFVF_XYZB{count}|D3DFVF_DIFFUSE", "fff" + "f" * count + "I"
    found = blended(play, tmp_path, fvf, layout, row, VERTEXBLEND=count)
    assert found == pixel(WEIGHTS[:count], range(4))


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_positions_blend_by_weights_and_indices(play: Play, tmp_path: Path, count: int) -> None:
    numbers = (2, 0, 3, 1)
    index = sum(number << 8 * place for place, number in enumerate(numbers))
    row = [0, 0, 0.5, *WEIGHTS[:count], index, "0xffffffff"]
    fvf = f"D3DFVF_XYZB{count + 1}|D3DFVF_LASTBETA_UBYTE4|D3DFVF_DIFFUSE"
    found = blended(play, tmp_path, fvf, "fff" + "f" * count + "II", row,
                    VERTEXBLEND=count or 256, INDEXEDVERTEXBLENDENABLE=1)  # fmt: skip
    assert found == pixel(WEIGHTS[:count], numbers)
