"""Pixel shaders that sample, played as scenes, against colours computed by hand.

All corners of a quad have the same coordinates, and textures are sampled at their nearest texel,
so that a shader gives one colour.  Texel x, y, z of stage 1 to 3 is (32 x, 32 y, 32 z).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dp2emu.shader.sm.assemble import assemble

from .making import BLACK, NO_CULL, Play, picture

FVF4 = 0x004 | 4 << 8 | 0xAA << 16
"""XYZRHW and four sets of four coordinates."""
FIRST = (0x60, 0xA0, 0xC0, 0xE0)
"""The only texel of stage 0: red, green, blue, alpha."""
BUMPS = {"BUMPENVMAT00": 0.25, "BUMPENVMAT01": 0.5, "BUMPENVMAT10": -0.125, "BUMPENVMAT11": 0.375,
         "BUMPENVLSCALE": 0.5, "BUMPENVLOFFSET": 0.125}  # fmt: skip

Colour = tuple[float, ...]
R, G, B, A = (channel / 255 for channel in FIRST)


def argb(red: int, green: int, blue: int, alpha: int = 255) -> int:
    return alpha << 24 | red << 16 | green << 8 | blue


def textures(kind: str) -> list[dict[str, Any]]:
    """One texel for stage 0; for the other stages texels that encode their coordinates."""
    flat = [argb(32 * x, 32 * y, 0) for y in range(8) for x in range(8)]
    solid = [argb(32 * x, 32 * y, 32 * z) for z in range(8) for y in range(8) for x in range(8)]
    shapes: dict[str, dict[str, Any]] = {
        "texture": {"width": 8, "height": 8, "data": [{"u32": flat}]},
        "volume": {"width": 8, "height": 8, "depth": 8, "data": [{"u32": solid}]},
        "cube": {"edge": 1, "data": [[{"u32": [argb(32 * face, 0, 0)]}] for face in range(6)]},
    }
    format = {"format": "D3DFMT_A8R8G8B8"}
    first = {
        "type": "texture",
        "id": "one",
        "width": 1,
        "height": 1,
        "data": [{"u32": [argb(*FIRST)]}],
    }
    return [{**first, **format}, {"type": kind, "id": "many", **format, **shapes[kind]}]


def quad(coordinates: Sequence[Sequence[float]]) -> dict[str, Any]:
    flat = [number for set in coordinates for number in set]
    corners = [(-0.5, -0.5), (7.5, -0.5), (-0.5, 5.5), (7.5, 5.5)]
    rows = [[x, y, 0.5, 1, *flat] for x, y in corners]
    return {"op": "draw_up", "prim": "TRIANGLESTRIP", "count": 2, "stride": 80,
            "vertices": {"layout": "f" * 20, "rows": rows}}  # fmt: skip


def shown(
    play: Play, tmp_path: Path, text: str, coordinates: Sequence[Sequence[float]], kind: str
) -> list[int]:
    """The red, green and blue output of a pixel shader."""
    code = np.frombuffer(assemble(text), "<u4")
    shader = {"type": "ps", "id": "p", "dwords": [f"0x{word:08x}" for word in code]}
    point = {"MAGFILTER": "D3DTEXF_POINT", "MINFILTER": "D3DTEXF_POINT"}
    result = play(
        BLACK, NO_CULL, {"op": "settex", "stage": 0, "id": "one"}, {"op": "setps", "id": "p"},
        *({"op": "settex", "stage": stage, "id": "many"} for stage in (1, 2, 3)),
        *({"op": "ss", "sampler": stage, "states": point} for stage in range(4)),
        *({"op": "tss", "stage": stage, "states": {n: {"f": v} for n, v in BUMPS.items()}}
          for stage in (1, 2)),
        {"op": "fvf", "fvf": FVF4}, quad(coordinates), resources=[*textures(kind), shader],
    )  # fmt: skip
    assert result.problems == ()
    found = picture(tmp_path)[..., :3].reshape(-1, 3)
    assert (found == found[0]).all()
    return found[0].tolist()


def texel(*place: float) -> Colour:
    """The texel at coordinates from 0 to 1."""
    return tuple(32 * math.floor(8 * (c % 1)) / 255 for c in (*place, 0.0, 0.0)[:3])


def dot(x: Sequence[float], y: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(x, y, strict=False))


def times(color: Sequence[float], factor: float) -> Colour:
    return tuple(c * factor for c in color)


SETS = (
    (0.3, 0.6, 0.2, 0.9),
    (0.7, 0.1, 0.45, -0.3),
    (0.2, 0.55, 0.35, 0.8),
    (0.4, 0.3, -0.2, 0.5),
)
BX2 = (2 * R - 1, 2 * G - 1, 2 * B - 1)
PLAIN = tuple(dot(set, (R, G, B)) for set in SETS)
SIGNED = tuple(dot(set, BX2) for set in SETS)
U = SETS[1][0] + 0.25 * R - 0.125 * G
V = SETS[1][1] + 0.5 * R + 0.375 * G


def early(version: str, *lines: str, out: str = "t1") -> str:
    return "\n".join((f"ps_1_{version}", "tex t0", *lines, f"mov r0, {out}"))


MATRIX = "texm3x3pad t1, t0\ntexm3x3pad t2, t0\n"

CASES: dict[str, tuple[str, str, Colour]] = {
    "texreg2ar": (early("1", "texreg2ar t1, t0"), "texture", texel(A, R)),
    "texreg2gb": (early("1", "texreg2gb t1, t0"), "texture", texel(G, B)),
    "texreg2rgb": (early("2", "texreg2rgb t1, t0"), "texture", texel(R, G)),
    "texreg2rgb volume": (early("2", "texreg2rgb t1, t0"), "volume", texel(R, G, B)),
    "texbem": (early("1", "texbem t1, t0"), "texture", texel(U, V)),
    "texbeml": (
        early("1", "texbeml t1, t0"), "texture", times(texel(U, V), 0.5 * B + 0.125)
    ),
    "texcoord": ("ps_1_1\ntexcoord t1\nmov r0, t1", "texture", SETS[1][:3]),
    "texm3x2tex": (
        early("1", "texm3x2pad t1, t0", "texm3x2tex t2, t0", out="t2"),
        "texture", texel(PLAIN[1], PLAIN[2]),
    ),
    "texm3x2tex bx2": (
        early("1", "texm3x2pad t1, t0_bx2", "texm3x2tex t2, t0_bx2", out="t2"),
        "texture", texel(SIGNED[1], SIGNED[2]),
    ),
    "texm3x3tex": (
        early("1", MATRIX + "texm3x3tex t3, t0", out="t3"), "volume", texel(*PLAIN[1:])
    ),
    "texm3x3": (early("2", MATRIX + "texm3x3 t3, t0", out="t3"), "texture", PLAIN[1:]),
    "texdp3": (early("2", "texdp3 t1, t0"), "texture", (PLAIN[1],) * 3),
    "texdp3tex": (early("2", "texdp3tex t1, t0"), "texture", texel(PLAIN[1])),
    "texld and phase": (
        "ps_1_4\ntexcrd r0.rgb, t1\nphase\ntexld r1, r0\nmov r0, r1",
        "texture", texel(*SETS[1][:2]),
    ),
    "texld of a volume": ("ps_1_4\ntexld r1, t2\nmov r0, r1", "volume", texel(*SETS[2][:3])),
    "texld divided by w": (
        "ps_1_4\ntexld r1, t2_dw.xyw\nmov r0, r1", "texture",
        texel(SETS[2][0] / SETS[2][3], SETS[2][1] / SETS[2][3]),
    ),
    "texld divided by z": (
        "ps_1_4\ntexcrd r0.rgb, t1\nphase\ntexld r1, r0_dz\nmov r0, r1", "texture",
        texel(SETS[1][0] / SETS[1][2], SETS[1][1] / SETS[1][2]),
    ),
    "bem": (
        "ps_1_4\ntexld r0, t0\ntexcrd r1.rgb, t1\nbem r1.rg, r1, r0\nphase\n"
        "texld r1, r1\nmov r0, r1", "texture", texel(U, V),
    ),
    "texld in 2.0": (
        "ps_2_0\ndcl t1\ndcl_2d s2\ntexld r0, t1, s2\nmov oC0, r0", "texture", texel(0.7, 0.1)
    ),
    "texldp": (
        "ps_2_0\ndcl t2\ndcl_volume s2\ntexldp r0, t2, s2\nmov oC0, r0", "volume",
        texel(0.2 / 0.8, 0.55 / 0.8, 0.35 / 0.8),
    ),
    "swizzled sampler": (
        "ps_3_0\ndcl_texcoord1 v0\ndcl_2d s3\ntexld r0, v0, s3.yxzw\nmov oC0, r0", "texture",
        texel(0.1, 0.7)[:2],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_shader_outputs_the_sampled_colour(play: Play, tmp_path: Path, name: str) -> None:
    text, kind, wanted = CASES[name]
    found = shown(play, tmp_path, text, SETS, kind)
    clamped = [255 * min(max(c, 0.0), 1.0) for c in (*wanted, 0.0)[:3]]
    assert found == pytest.approx(clamped, abs=0.51)


def face(x: float, y: float, z: float) -> Colour:
    """The number of the cube face that a vector points to."""
    largest = max((abs(x), 0, x), (abs(y), 2, y), (abs(z), 4, z))
    return (32 * (largest[1] + (largest[2] < 0)) / 255, 0.0, 0.0)


def reflected(normal: Sequence[float], eye: Sequence[float]) -> Colour:
    factor = 2 * dot(normal, eye) / dot(normal, normal)
    return face(*(factor * n - e for n, e in zip(normal, eye, strict=True)))


TURNS = [
    tuple(tuple(float(n) for n in row) for row in np.random.default_rng(seed).normal(size=(4, 4)))
    for seed in range(6)
]


@pytest.mark.parametrize("sets", TURNS)
def test_cubes_are_sampled_along_products_and_reflections(
    play: Play, tmp_path: Path, sets: Sequence[Sequence[float]]
) -> None:
    normal = [dot(set, BX2) for set in sets[1:]]
    eye = (0.25, -0.5, 0.75)
    lines = "texm3x3pad t1, t0_bx2\ntexm3x3pad t2, t0_bx2\n"
    wanted = {
        f"{lines}texm3x3tex t3, t0_bx2": face(*normal),
        f"{lines}texm3x3spec t3, t0_bx2, c0": reflected(normal, eye),
        f"{lines}texm3x3vspec t3, t0_bx2": reflected(normal, [set[3] for set in sets[1:]]),
    }
    for body, color in wanted.items():
        text = early("1", body, out="t3").replace(
            "tex t0", "def c0, 0.25, -0.5, 0.75, 1\ntex t0", 1
        )
        assert shown(play, tmp_path, text, sets, "cube") == [round(255 * c) for c in color]
