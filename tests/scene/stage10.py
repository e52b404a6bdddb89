"""Direct3D 10 and 11 scenes of a test, played and replayed as files, with their shaders."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dp2emu.dp2.options import Options
from dp2emu.scene import SceneResult, play_scene
from dp2emu.shader.sm4.assemble import assemble
from dp2emu.shader.sm4.container import Chunk, pack
from tests.golden.comparing import read_json
from tests.replay.running import Run

FLOAT4, RGBA8, FLOAT, UINT = 2, 28, 41, 42
"""DXGI formats: R32G32B32A32_FLOAT, R8G8B8A8_UNORM, R32_FLOAT, R32_UINT."""

Sign = tuple[str, int, int, int]
"""An element of a signature: semantic, D3D_NAME, register and mask."""

POSITION: Sign = ("SV_Position", 1, 0, 15)
TARGET: Sign = ("SV_Target", 0, 0, 15)


def signature(signs: Sequence[Sign], used: int) -> bytes:
    """A signature chunk of floats, and of integers for system values other than the position."""
    at, rows, names = 8 + 24 * len(signs), b"", b""
    for semantic, value, register, mask in signs:
        kind = 1 if value > 1 else 3
        rows += struct.pack("<6I", at + len(names), 0, value, kind, register, mask | used << 8)
        names += semantic.encode() + b"\0"
    return struct.pack("<II", len(signs), 8) + rows + names


def container(text: str, inputs: Sequence[Sign] = (), outputs: Sequence[Sign] = ()) -> str:
    """The container of assembly text, in hexadecimal digits."""
    lines = [line.strip() for line in text.strip().splitlines()]
    chunks = [
        Chunk("ISGN", signature(inputs, 15)),
        Chunk("OSGN", signature(outputs, 0)),
        Chunk("SHDR", assemble("\n".join(lines) + "\n")),
    ]
    return pack(chunks).hex()


VERTEX = container(
    """vs_4_0
    dcl_input_sgv v0.x, vertex_id
    dcl_output_siv o0.xyzw, position
    dcl_temps 1
    ieq r0.xy, v0.xxxx, l(1, 2, 0, 0)
    and r0.xy, r0.xyxx, l(0x40800000, 0xc0800000, 0, 0)
    add o0.xy, r0.xyxx, l(-1.000000, 1.000000, 0.000000, 0.000000)
    mov o0.zw, l(0.000000, 0.000000, 0.500000, 1.000000)
    ret""",
    [("SV_VertexID", 6, 0, 1)],
    [POSITION],
)
"""A vertex shader: three vertices, whose triangle covers every target, at depth 0.5."""


def pixel(version: str, *body: str, declared: Sequence[str] = ()) -> str:
    """A pixel shader: r0.x is the column of the pixel, r1 the constant of that number."""
    lines = [
        version,
        "dcl_constantbuffer cb0[16], dynamicIndexed",
        *declared,
        "dcl_input_ps_siv linear noperspective v0.xy, position",
        "dcl_output o0.xyzw",
        "dcl_temps 2",
        "ftoi r0.xy, v0.xyxx",
        "mov r1.xyzw, cb0[r0.x + 0].xyzw",
        *body,
        "ret",
    ]
    return container("\n".join(lines), [POSITION], [TARGET])


def reading(dimension: str, instruction: str, version: str = "ps_4_0", mode: str = "") -> str:
    """A pixel shader that reads a texture: ``instruction`` writes o0 from t0, s0 and r1."""
    declared = [
        f"dcl_sampler s0, mode_{mode or 'default'}",
        f"dcl_resource_{dimension} (float,float,float,float) t0",
    ]
    return pixel(version, instruction, declared=declared)


def floats(*values: float) -> str:
    """Floats as hexadecimal digits."""
    return np.array(values, "<f4").tobytes().hex()


def words(*values: int) -> str:
    """DWORDs as hexadecimal digits."""
    return np.array(values, "<u4").tobytes().hex()


def texel(value: int) -> str:
    """A texel of R8G8B8A8_UNORM whose channels are ``value``, ``value`` + 1 and so on."""
    return bytes(value + channel for channel in range(4)).hex()


NO_DEPTH = {"op": "CreateDepthStencilState", "name": "nodepth", "DepthEnable": 0,
            "DepthWriteMask": 0, "DepthFunc": 8, "StencilEnable": 0, "StencilReadMask": 255,
            "StencilWriteMask": 255, "StencilFailOp": 1, "StencilDepthFailOp": 1,
            "StencilPassOp": 1, "StencilFunc": 8}  # fmt: skip
RASTER = {"op": "CreateRasterizerState", "name": "raster", "FillMode": 3, "CullMode": 1,
          "FrontCounterClockwise": 0, "DepthClipEnable": 1, "ScissorEnable": 0,
          "MultisampleEnable": 0}  # fmt: skip


def drawing(
    places: Sequence[Sequence[float]], width: int = 16, height: int = 1
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Objects and calls of a draw into a target of floats; ``places`` are the constants.

    The pixel shader is ``ps``; texture view and sampler, if any, are ``srv`` and ``sampler``.
    """
    rows = [[*place, *[0.0] * (4 - len(place))] for place in places]
    rows += [[0.0] * 4] * (16 - len(rows))
    objects: list[dict[str, Any]] = [
        {"op": "CreateTexture2D", "name": "rt", "Format": FLOAT4, "Width": width,
         "Height": height, "BindFlags": 32},
        {"op": "CreateRenderTargetView", "name": "rtv", "resource": "rt"},
        {"op": "CreateVertexShader", "name": "vs", "shader": "vs"},
        {"op": "CreatePixelShader", "name": "ps", "shader": "ps"},
        {"op": "CreateBuffer", "name": "cb", "ByteWidth": 256, "BindFlags": 4,
         "hex": floats(*(value for row in rows for value in row))},
        NO_DEPTH,
        RASTER,
    ]  # fmt: skip
    calls: list[dict[str, Any]] = [
        {"op": "OMSetRenderTargets", "rtvs": ["rtv"], "dsv": None},
        {"op": "RSSetViewport", "TopLeftX": 0, "TopLeftY": 0, "Width": width, "Height": height,
         "MinDepth": 0, "MaxDepth": 1},
        {"op": "RSSetState", "state": "raster"},
        {"op": "OMSetDepthStencilState", "state": "nodepth", "StencilRef": 0},
        {"op": "IASetPrimitiveTopology", "Topology": 4},
        {"op": "VSSetShader", "shader": "vs"},
        {"op": "PSSetShader", "shader": "ps"},
        {"op": "PSSetConstantBuffer", "Slot": 0, "buffer": "cb"},
    ]  # fmt: skip
    return objects, calls


DRAW = {"op": "Draw", "VertexCount": 3, "StartVertexLocation": 0}


class Stage:
    """A folder with the files of a scene, and an engine.  Mutable: scenes write their results."""

    def __init__(self, folder: Path, engine: str) -> None:
        self.folder = folder
        self.options = Options(engine=engine)
        self.shaders: dict[str, str] = {"vs": VERTEX}

    def run(self, objects: Sequence[Any], calls: Sequence[Any], api: str) -> SceneResult:
        """Play a scene file beside its folder of shaders, and save its capture."""
        for name, code in self.shaders.items():
            self._write(f"shaders/{name}.json", {"dxbc": code})
        scene = {"name": "here", "category": "made", "api": api, "resources": objects,
                 "calls": calls}  # fmt: skip
        path = self._write("scenes/here.json", scene)
        return play_scene(path, self.out, options=self.options, capture=self.folder / "here.dp2")

    def play(self, objects: Sequence[Any], *calls: Any, api: str = "d3d11") -> dict[str, Any]:
        """The results of a scene without problems, whose replayed capture has the same."""
        result = self.run(objects, calls, api)
        assert [str(problem) for problem in result.problems] == []
        replayed = Run(file=(self.folder / "here.dp2").read_bytes(), options=self.options)
        assert (replayed.faults, replayed.differences) == ([], [])
        assert replayed.tally.compared > 0
        return read_json(self.out / "here.json")

    def draw(
        self,
        objects: Sequence[Any],
        places: Sequence[Sequence[float]],
        api: str = "d3d11",
        width: int = 16,
        height: int = 1,
    ) -> NDArray[np.float32]:
        """The pixels, (height, width, 4), that shader ``ps`` draws with ``srv`` and ``sampler``.
        """  # fmt: skip
        more, calls = drawing(places, width, height)
        names = {each["name"] for each in objects}
        for op, key in (("ShaderResource", "srv"), ("Sampler", "sampler")):
            if key in names:
                argument = "view" if key == "srv" else key
                calls.append({"op": f"PSSet{op}", "Slot": 0, argument: key})
        found = self.play([*more, *objects], *calls, DRAW, api=api)
        assert [found["failed_calls"], *set(found["create"].values())] == [[], "0x00000000"]
        data = np.frombuffer(bytes.fromhex(found["images"]["rt"]), "<f4")
        return data.reshape(height, width, 4)

    @property
    def out(self) -> Path:
        """The folder of the results."""
        return self.folder / "out"

    def _write(self, name: str, content: object) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
        return path
