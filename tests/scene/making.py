"""Small scenes for tests, and readers of their results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from dp2emu.scene import SceneResult
from tests.golden.comparing import read_json

Play = Callable[..., SceneResult]

FVF = {"op": "fvf", "fvf": "D3DFVF_XYZRHW|D3DFVF_DIFFUSE"}
BLACK = {"op": "clear", "color": "0xff000000"}
NO_CULL = {"op": "rs", "states": {"CULLMODE": "D3DCULL_NONE"}}


def scene(*commands: Any, resources: Any = (), **device: Any) -> dict[str, Any]:
    return {
        "schema": 1, "category": "made", "name": "here",
        "device": {"width": 8, "height": 6, **device},
        "resources": list(resources), "commands": list(commands),
    }  # fmt: skip


def rows(left: int, top: int, right: int, bottom: int, color: str = "0xffff0000") -> Any:
    places = [(left, top), (right, top), (left, bottom), (right, bottom)]
    return {"layout": "ffffI", "rows": [[x - 0.5, y - 0.5, 0.5, 1, color] for x, y in places]}


def strip(*box: int, color: str = "0xffff0000") -> dict[str, Any]:
    vertices = rows(*box, color=color)
    return {"op": "draw_up", "prim": "TRIANGLESTRIP", "count": 2, "stride": 20,
            "vertices": vertices}  # fmt: skip


def document(tmp_path: Path) -> dict[str, Any]:
    return read_json(tmp_path / "made" / "here.json")


def picture(tmp_path: Path, suffix: str = ".png") -> Any:
    with Image.open(tmp_path / "made" / f"here{suffix}") as image:
        return np.asarray(image)
