"""Direct3D 9 operations: their effects, and arguments they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dp2emu.errors import SceneError
from dp2emu.shader.sm.assemble import assemble

from .making import BLACK, FVF, NO_CULL, Play, document, picture, rows, strip


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ({"op": "nothing"}, "command 0: unknown op 'nothing'"),
        ({}, "command 0: missing key 'op'"),
        (5, "command 0: expected an object"),
        ({"op": "clear", "colour": 1}, "clear.: unknown key 'colour'"),
        ({"op": "clear", "flags": ["depth"]}, "expected some of target"),
        ({"op": "draw", "prim": "QUADS", "count": 1}, "prim: .*'QUADS'"),
        ({"op": "stream", "stream": 0, "id": "backbufer", "stride": 4}, "name of a surface"),
        ({"op": "indices", "id": "backbuffer"}, "name of an index buffer of the scene"),
        ({"op": "issue", "id": "q", "flag": "END"}, "name of a query of the scene, got 'q'"),
        ({"op": "readback", "surface": "backbuffer", "label": "../x"}, "file name"),
        ({"op": "readback", "surface": "backbuffer", "label": "final"}, None),
        ({"op": "transform", "state": "WORLD256", "matrix": [0] * 16}, "state"),
        ({"op": "viewport", "x": -1, "y": 0, "width": 1, "height": 1}, "x: .*-1"),
    ],
)
def test_a_command_that_breaks_the_schema_is_an_error_with_its_index(
    play: Play, command: Any, what: str | None
) -> None:
    with pytest.raises(SceneError, match=what or "label 'final' is used twice"):
        play(command)


def test_vertices_shorter_than_the_draw_are_an_error(play: Play) -> None:
    with pytest.raises(SceneError, match="80 bytes of vertices"):
        play(FVF, {**strip(0, 0, 8, 6), "count": 3})


def test_a_readback_shows_the_surface_at_that_command(play: Play, tmp_path: Path) -> None:
    other = {"type": "rt", "id": "r", "width": 5, "height": 4, "format": "D3DFMT_R5G6B5"}
    alpha = {"type": "rt", "id": "a", "width": 8, "height": 6, "format": "D3DFMT_A8R8G8B8"}
    look = {"op": "readback", "surface": "backbuffer", "label": "before"}
    result = play(
        BLACK, look, FVF, NO_CULL, strip(0, 0, 8, 6), {"op": "setds", "surface": None},
        {"op": "setrt", "surface": "r"}, {"op": "clear", "flags": ["target"], "color": -1},
        {"op": "readback", "surface": "r", "label": "other"}, {"op": "setrt", "surface": "a"},
        {"op": "clear", "flags": ["target"], "color": "0x01020304"},
        {"op": "readback", "surface": "a", "label": "alpha"}, resources=[other, alpha],
    )  # fmt: skip
    assert result.problems == ()
    assert (picture(tmp_path, ".before.png") == 0).all()
    assert (picture(tmp_path) == (255, 0, 0)).all()
    assert picture(tmp_path, ".other.png").shape == (4, 5, 3)
    assert (picture(tmp_path, ".other.png") == 255).all()
    assert (picture(tmp_path, ".alpha.png") == (2, 3, 4, 1)).all()
    assert document(tmp_path)["images"]["other"]["file"] == "here.other.png"


def test_a_depth_readback_is_raw_words(play: Play, tmp_path: Path) -> None:
    play({"op": "clear", "z": 0.25}, {"op": "readback", "surface": "depth", "label": "z"},
         depth="D3DFMT_D32F_LOCKABLE")  # fmt: skip
    raw = (tmp_path / "made" / "here.z.raw").read_bytes()
    assert (np.frombuffer(raw, "<f4") == 0.25).all()
    assert len(raw) == 8 * 6 * 4


def test_bindings_may_be_null(play: Play) -> None:
    result = play(
        {"op": "settex", "stage": 0, "id": None}, {"op": "setvs", "id": None},
        {"op": "setps", "id": None}, {"op": "setdecl", "id": None},
        {"op": "indices", "id": None}, {"op": "stream", "stream": 1, "id": None},
        {"op": "streamfreq", "stream": 0, "value": 1}, BLACK,
    )  # fmt: skip
    assert result.problems == ()


def test_indexed_draws_from_buffers(play: Play, tmp_path: Path) -> None:
    result = play(
        BLACK, FVF, NO_CULL, {"op": "stream", "stream": 0, "id": "v", "offset": 20, "stride": 20},
        {"op": "indices", "id": "i"},
        {"op": "draw_indexed", "prim": "TRIANGLESTRIP", "base": -2, "min": 1, "num_vertices": 4,
         "start": 1, "count": 2},
        resources=[
            {"type": "vb", "id": "v", "fvf": "D3DFVF_XYZRHW|D3DFVF_DIFFUSE",
             "data": {**rows(1, 2, 5, 6)}},
            {"type": "ib", "id": "i", "format": "D3DFMT_INDEX32",
             "data": {"u32": [9, 1, 2, 3, 4]}},
        ],
    )  # fmt: skip
    assert result.problems == ()
    assert picture(tmp_path).any()


def test_transforms_and_planes_do_not_affect_screen_space_vertices(
    play: Play, tmp_path: Path
) -> None:
    matrix = [0.0] * 16
    result = play(
        BLACK, FVF, NO_CULL, {"op": "transform", "state": "WORLD", "matrix": matrix},
        {"op": "transform", "state": "PROJECTION", "matrix": matrix},
        {"op": "transform", "state": "WORLD3", "matrix": matrix},
        {"op": "clipplane", "index": 0, "plane": [1, 0, 0, 0]}, strip(0, 0, 8, 6),
    )  # fmt: skip
    assert result.problems == ()
    assert (picture(tmp_path) == (255, 0, 0)).all()


def test_lights_materials_and_constants_are_set(play: Play) -> None:
    result = play(
        {"op": "material", "diffuse": [1, 1, 1, 1], "power": 4},
        {"op": "light", "index": 2, "type": "POINT", "attenuation": [1, 0, 0], "range": 10},
        {"op": "lightenable", "index": 2, "enable": False},
        {"op": "vsf", "start": 0, "values": [[1, 2, 3, 4]]},
        {"op": "vsi", "start": 0, "values": [[1, -2, 3, 4]]},
        {"op": "vsb", "start": 0, "values": [0, True]},
        {"op": "psf", "start": 0, "values": [[1, 2, 3, 4]]},
        {"op": "psi", "start": 0, "values": [[1, 2, 3, 4]]},
        {"op": "psb", "start": 0, "values": [1]}, BLACK,
    )  # fmt: skip
    assert result.problems == ()


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ({"op": "light", "index": 0}, "missing key 'type'"),
        ({"op": "light", "index": 0, "type": "SUN"}, "type: .*'SUN'"),
        (
            {"op": "light", "index": 0, "type": "SPOT", "position": [1, 2]},
            "position: expected 3 entries",
        ),
        ({"op": "material", "diffuse": [1, 2, 3]}, "diffuse: expected 4 entries"),
        ({"op": "vsf", "start": 0, "values": [[1, 2, 3]]}, "values: expected 4 entries"),
        ({"op": "psi", "start": 0, "values": [[1, 2, 3]]}, "values: expected 4 entries, got 3"),
        ({"op": "psb", "start": 0, "values": [2]}, "values: expected true or false, got 2"),
        ({"op": "vsi", "start": 0, "values": [[1, 2, 3, 0.5]]}, "values: expected an integer"),
        ({"op": "setvs", "id": "backbuffer"}, "name of a vertex shader of the scene"),
        ({"op": "setps", "id": "none"}, "name of a pixel shader of the scene"),
        ({"op": "setdecl", "id": "none"}, "name of a vertex declaration of the scene"),
    ],
)
def test_records_that_break_the_schema_name_the_field(play: Play, command: Any, what: str) -> None:
    with pytest.raises(SceneError, match=what):
        play(command)


INSTANCED = (
    {"type": "decl", "id": "d", "elements": [
        {"stream": 0, "offset": 0, "type": "FLOAT2", "usage": "POSITION", "index": 0},
        {"stream": 1, "offset": 4, "type": "FLOAT2", "usage": "TEXCOORD", "index": 0},
        {"stream": 2, "offset": 0, "type": "D3DCOLOR", "usage": "COLOR", "index": 0}]},
    {"type": "vs", "id": "v", "dwords": [f"0x{word:08x}" for word in np.frombuffer(assemble(
        "vs_3_0\ndcl_position v0\ndcl_texcoord v1\ndcl_color v2\ndcl_position o0\ndcl_color o1\n"
        "mov r0, v0\nadd r0.xy, v0, v1\nmov o0, r0\nmov o1, v2\n"), "<u4").tolist()]},
    {"type": "vb", "id": "square", "data": {"layout": "ff", "rows": [
        [-1.125, 0.834], [-0.875, 0.834], [-1.125, 1.168], [-0.875, 1.168]]}},
    {"type": "vb", "id": "places", "data": {"layout": "Iff", "rows": [
        [0, x / 4, -y / 3] for y, x in ((0, 1), (1, 2), (2, 3), (4, 4))]}},
    {"type": "vb", "id": "colors", "data": {"u32": [0xFF0000FF, 0xFF00FF00]}},
    {"type": "ib", "id": "i", "format": "D3DFMT_INDEX16", "data": {"u16": [0, 1, 2, 2, 1, 3]}},
)  # fmt: skip
"""A square of one pixel at each of four places; each pair has its own colour."""


def test_indexed_primitives_repeat_and_streams_advance_with_them(
    play: Play, tmp_path: Path
) -> None:
    frequencies = ("D3DSTREAMSOURCE_INDEXEDDATA|0x4", 0x80000001, 0x80000002)
    play(
        BLACK, NO_CULL, {"op": "setdecl", "id": "d"}, {"op": "setvs", "id": "v"},
        {"op": "indices", "id": "i"},
        *({"op": "stream", "stream": n, "id": name, "stride": size}
          for n, (name, size) in enumerate((("square", 8), ("places", 12), ("colors", 4)))),
        *({"op": "streamfreq", "stream": n, "value": f} for n, f in enumerate(frequencies)),
        {"op": "draw_indexed", "prim": "TRIANGLELIST", "num_vertices": 4, "count": 2},
        resources=INSTANCED,
    )  # fmt: skip
    found = picture(tmp_path)[..., :3]
    wanted = np.zeros_like(found)
    for y, x, channel in ((0, 1, 2), (1, 2, 2), (2, 3, 1), (4, 4, 1)):
        wanted[y, x, channel] = 255
    assert (found == wanted).all()


@pytest.mark.parametrize(("stream", "value"), [(0, 0), (1, 0xC0000001), (0, 0x80000001)])
def test_an_invalid_stream_frequency_is_a_failed_call(
    play: Play, tmp_path: Path, stream: int, value: int
) -> None:
    assert not play({"op": "streamfreq", "stream": stream, "value": value}).problems
    assert document(tmp_path)["failed_calls"][0]["hr"] == "0x8876086c"
