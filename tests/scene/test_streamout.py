"""Scenes with stream output: appended and drawn again, and replayed from a capture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dp2emu.scene import play_scene10
from tests.golden10.playing import write_shaders
from tests.replay.running import Run

BEGIN = [(-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]
RED = (1.0, 0.0, 0.0, 1.0)
ENTRIES = [
    {"Stream": 0, "SemanticName": name, "SemanticIndex": 0, "StartComponent": 0,
     "ComponentCount": 4, "OutputSlot": 0}
    for name in ("SV_Position", "COLOR")
]  # fmt: skip
RASTER = {"FillMode": 3, "CullMode": 1, "FrontCounterClockwise": 0, "DepthClipEnable": 1,
          "ScissorEnable": 0, "MultisampleEnable": 0}  # fmt: skip
DEPTH = {"DepthEnable": 0, "DepthWriteMask": 1, "DepthFunc": 2, "StencilEnable": 0,
         "StencilReadMask": 255, "StencilWriteMask": 255, "StencilFailOp": 1,
         "StencilDepthFailOp": 1, "StencilPassOp": 1, "StencilFunc": 8}  # fmt: skip
APPEND = 0xFFFFFFFF


def vertices() -> str:
    rows = [[x, y, 0.5, 1.0, *RED] for x, y in BEGIN]
    return np.array(rows, "<f4").tobytes().hex()


OBJECTS: list[dict[str, Any]] = [
    {"op": "CreateTexture2D", "name": "rt", "Format": 28, "Width": 64, "Height": 64,
     "SampleCount": 1, "BindFlags": 32, "hex": None},
    {"op": "CreateRenderTargetView", "name": "rtv", "resource": "rt"},
    {"op": "CreateVertexShader", "name": "vs", "shader": "vs_pass"},
    {"op": "CreatePixelShader", "name": "ps", "shader": "ps_color"},
    {"op": "CreateGeometryShaderWithStreamOutput", "name": "so", "shader": "vs_pass",
     "BufferStrides": [32], "RasterizedStream": 0, "entries": ENTRIES},
    {"op": "CreateRasterizerState", "name": "rs", **RASTER},
    {"op": "CreateDepthStencilState", "name": "ds", **DEPTH},
    {"op": "CreateInputLayout", "name": "il", "shader": "vs_pass", "elements": [
        {"SemanticName": name, "SemanticIndex": 0, "Format": 2, "InputSlot": 0,
         "AlignedByteOffset": offset, "InputSlotClass": 0, "InstanceDataStepRate": 0}
        for name, offset in (("POSITION", 0), ("COLOR", 16))]},
    {"op": "CreateBuffer", "name": "vb", "ByteWidth": 128, "BindFlags": 1, "hex": vertices()},
    {"op": "CreateBuffer", "name": "out", "ByteWidth": 256, "BindFlags": 17, "hex": None},
    {"op": "CreateQuery", "name": "occ", "Query": 1, "MiscFlags": 0},
    {"op": "CreateQuery", "name": "stats", "Query": 6, "MiscFlags": 0},
]  # fmt: skip

PREPARED: list[dict[str, Any]] = [
    {"op": "OMSetRenderTargets", "rtvs": ["rtv"], "dsv": None},
    {"op": "RSSetViewport", "TopLeftX": 0, "TopLeftY": 0, "Width": 64, "Height": 64,
     "MinDepth": 0, "MaxDepth": 1},
    {"op": "RSSetState", "state": "rs"},
    {"op": "OMSetDepthStencilState", "state": "ds", "StencilRef": 0},
    {"op": "ClearRenderTargetView", "view": "rtv", "r": 0, "g": 0, "b": 0, "a": 0},
    {"op": "IASetInputLayout", "layout": "il"},
    {"op": "VSSetShader", "shader": "vs"},
    {"op": "GSSetShader", "shader": "so"},
    {"op": "IASetVertexBuffer", "Slot": 0, "buffer": "vb", "Stride": 32, "Offset": 0},
    {"op": "IASetPrimitiveTopology", "Topology": 1},
]  # fmt: skip


def streamed(*targets: list[object]) -> dict[str, Any]:
    return {"op": "SOSetTargets", "targets": list(targets)}


def points(count: int, start: int) -> dict[str, Any]:
    return {"op": "Draw", "VertexCount": count, "StartVertexLocation": start}


AGAIN: list[dict[str, Any]] = [
    streamed(["out", 0]), points(2, 0), streamed(), streamed(["out", APPEND]),
    {"op": "Begin", "query": "stats"}, points(2, 2), {"op": "End", "query": "stats"},
    {"op": "GetData", "query": "stats"}, streamed(),
    {"op": "GSSetShader", "shader": None}, {"op": "PSSetShader", "shader": "ps"},
    {"op": "IASetVertexBuffer", "Slot": 0, "buffer": "out", "Stride": 32, "Offset": 0},
    {"op": "IASetPrimitiveTopology", "Topology": 5},
    {"op": "Begin", "query": "occ"}, {"op": "DrawAuto"}, {"op": "End", "query": "occ"},
    {"op": "GetData", "query": "occ"}, {"op": "ReadBuffer", "buffer": "out"},
]  # fmt: skip


@pytest.fixture(scope="module")
def shaders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_shaders(tmp_path_factory.mktemp("shaders"))


def played(
    api: str, calls: list[dict[str, Any]], folder: Path, shaders: Path
) -> tuple[dict[str, Any], Path]:
    """The results of a scene, and the path of its capture."""
    scene = {"name": "s", "category": "c", "api": api, "resources": OBJECTS,
             "calls": PREPARED + calls}  # fmt: skip
    saved = folder / f"{api}.dp2"
    result = play_scene10(scene, folder, shaders=shaders, capture=saved)
    assert result.problems == ()
    return json.loads((folder / "s.json").read_text()), saved


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
def test_appended_vertices_are_drawn_by_drawauto(api: str, tmp_path: Path, shaders: Path) -> None:
    found, _ = played(api, AGAIN, tmp_path, shaders)
    stats, occlusion = found["queries"].values()
    assert stats == {"NumPrimitivesWritten": 2, "PrimitivesStorageNeeded": 2}
    assert occlusion == 64 * 64
    assert found["buffers"]["out"] == vertices() + "00" * 128


def test_a_replayed_capture_streams_the_same(tmp_path: Path, shaders: Path) -> None:
    _, saved = played("d3d11", AGAIN, tmp_path, shaders)
    found = Run(file=saved.read_bytes())
    assert (found.faults, found.differences) == ([], [])
    assert found.tally.compared > 10


@pytest.mark.parametrize("bound", [True, False])
def test_a_buffer_bound_to_stream_output_is_not_an_input(
    bound: bool, tmp_path: Path, shaders: Path
) -> None:
    calls = [
        streamed(["out", 0]), points(4, 0), *([] if bound else [streamed()]),
        {"op": "GSSetShader", "shader": None}, {"op": "PSSetShader", "shader": "ps"},
        {"op": "IASetVertexBuffer", "Slot": 0, "buffer": "out", "Stride": 32, "Offset": 0},
        {"op": "IASetPrimitiveTopology", "Topology": 5},
        {"op": "Begin", "query": "occ"}, {"op": "DrawAuto"}, {"op": "End", "query": "occ"},
        {"op": "GetData", "query": "occ"},
    ]  # fmt: skip
    found, _ = played("d3d11", calls, tmp_path, shaders)
    assert list(found["queries"].values()) == [0 if bound else 64 * 64]
