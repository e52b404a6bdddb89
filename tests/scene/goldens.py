"""Comparing results with golden ones: a pixel may be off by the scene's tolerance, a count not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

DATA = Path(__file__).parents[1] / "data" / "scenes"
SCENES = sorted((DATA / "scenes").rglob("*.json"))


def names(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def read_json(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return content


def differences(scene: dict[str, Any], out: Path) -> list[str]:
    """What is wrong with the results of a scene below ``out``, in words."""
    folder = DATA / "golden" / scene["category"]
    golden = read_json(folder / f"{scene['name']}.json")
    found = read_json(out / scene["category"] / f"{scene['name']}.json")
    wrong = _queries(golden["queries"], found["queries"])
    for label, image in golden["images"].items():
        mine = out / scene["category"] / image["file"]
        outliers = _outliers(folder, image, mine, scene["compare"])
        allowed = scene["compare"].get("max_outlier_frac", 0) * image["width"] * image["height"]
        if outliers > allowed:
            wrong.append(f"{label}: {outliers} pixels")
    if golden["failed_calls"] != found["failed_calls"]:
        wrong.append(f"failed calls {found['failed_calls']}")
    return wrong


def _queries(golden: dict[str, Any], found: dict[str, Any]) -> list[str]:
    wrong = []
    for label, wanted in golden.items():
        mine = found[label]
        if wanted["hr"] is None:
            continue
        compared = wanted["hr"] == "0x00000000" and not (
            wanted.get("varies") or wanted.get("informative") or "value" not in wanted
        )
        if mine["hr"] != wanted["hr"] or (compared and mine["value"] != wanted["value"]):
            wrong.append(f"{label}: {mine}, not {wanted}")
    return wrong


def _outliers(folder: Path, image: dict[str, Any], mine: Path, compare: dict[str, Any]) -> int:
    """Pixels off by more than the tolerance, outside the mask of sub-pixel sensitive ones."""
    golden, found = _pixels(folder / image["file"]), _pixels(mine)
    assert golden.shape == found.shape
    wrong = _far(golden, found, compare["tol"])
    if compare.get("neighbour"):
        padded = np.pad(golden, ((1, 1), (1, 1), (0, 0)), mode="edge")
        height, width = wrong.shape
        for y in range(3):
            for x in range(3):
                wrong &= _far(padded[y : y + height, x : x + width], found, compare["tol"])
    if image.get("mask"):
        wrong &= _pixels(folder / image["mask"])[..., 0] == 0
    return int(np.count_nonzero(wrong))


def _far(golden: NDArray[Any], found: NDArray[Any], tolerance: int) -> NDArray[Any]:
    far: NDArray[Any] = (np.abs(golden - found) > tolerance).any(axis=-1)
    return far


def _pixels(path: Path) -> NDArray[Any]:
    with Image.open(path) as image:
        pixels = np.asarray(image, np.int32)
    return pixels.reshape(*pixels.shape[:2], -1)
