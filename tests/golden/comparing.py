"""Holding the results of a scene against the golden ones: a verdict, and why.

A pixel matches when every channel is within the scene's ``tol`` of the golden one or, where the
scene says ``neighbour``, of any golden pixel next to it.  Golden masks mark pixels whose value
depends on sub-pixel precision: mismatches only there are EDGE.  Raw words of targets that a PNG
cannot hold are compared as numbers.  Query counts of multisampled targets are samples in the
goldens and pixels in a driver's answers.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

HERE = Path(__file__).parent
SCENES = sorted((HERE / "scenes").rglob("*.json"))
PASS, EDGE, FAIL = "PASS", "EDGE", "FAIL"

_S_OK = "0x00000000"
_NOT_AVAILABLE = "0x8876086a"
_NEVER_CALLED = "0xdeadbeef"
"""What the goldens say of an Issue whose query could not be created."""
_FLOATS = {111: "<f2", 112: "<f2", 113: "<f2", 114: "<f4", 115: "<f4", 116: "<f4"}
"""D3DFORMAT of a float target -> type of its channels."""


@dataclass(slots=True)
class Verdict:
    """How a scene came out, and in words what is not as the golden results have it."""

    kind: str = PASS
    notes: list[str] = field(default_factory=list)

    def fail(self, note: str) -> None:
        self.kind = FAIL
        self.notes.append(note)

    def edge(self, note: str) -> None:
        self.kind = FAIL if self.kind == FAIL else EDGE
        self.notes.append(note)


def name_of(path: Path) -> str:
    """``family/scene`` of a scene file."""
    return f"{path.parent.name}/{path.stem}"


def read_json(path: Path) -> dict[str, Any]:
    """The content of a JSON file that holds an object."""
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return content


def verdict(scene: dict[str, Any], out: Path, goldens: Path = HERE / "golden") -> Verdict:
    """The verdict on the results of a scene below ``out``."""
    folder, mine = goldens / scene["category"], out / scene["category"]
    golden = read_json(folder / f"{scene['name']}.json")
    found = read_json(mine / f"{scene['name']}.json")
    result = Verdict()
    for label, image in golden["images"].items():
        seen = found["images"].get(label)
        if seen is None:
            result.fail(f"no picture {label}")
            continue
        load = _load_png if "file" in image else _load_floats
        mask = _png(folder / image["mask"])[..., 0] != 0 if image.get("mask") else None
        _judge(result, scene["compare"], label, load(folder, image), load(mine, seen), mask)
    for check in (_queries, _values, _issues, _failed_calls):
        for note in check(scene, golden, found):
            result.fail(note)
    return result


# Pictures


def _judge(
    result: Verdict, compare: dict[str, Any], label: str,
    golden: NDArray[Any], seen: NDArray[Any], mask: NDArray[np.bool_] | None,
) -> None:  # fmt: skip
    if golden.shape[-1] == 3:
        seen = seen[..., :3]  # alpha may be shown where the golden picture leaves it out
    if golden.shape != seen.shape:
        result.fail(f"{label}: rows, columns and channels are {seen.shape}, not {golden.shape}")
        return
    wrong = _mismatches(golden, seen, compare)
    allowed = compare.get("max_outlier_frac", 0) * wrong.size
    inside = wrong & mask if mask is not None else np.zeros_like(wrong)
    apart, within = np.count_nonzero(wrong & ~inside), np.count_nonzero(inside)
    note = f"{label}: {apart} pixels wrong outside the mask and {within} inside, of {wrong.size}"
    if apart > allowed:
        result.fail(note)
    elif within > allowed:
        result.edge(note)


def _mismatches(
    golden: NDArray[Any], seen: NDArray[Any], compare: dict[str, Any]
) -> NDArray[np.bool_]:
    """bool (height, width): no golden pixel that counts is near enough."""
    wrong = _far(golden, seen, compare["tol"])
    if not compare.get("neighbour") or not wrong.any():
        return wrong
    padded = np.pad(golden, ((1, 1), (1, 1), (0, 0)), mode="edge")
    height, width = wrong.shape
    for y in range(3):
        for x in range(3):
            wrong &= _far(padded[y : y + height, x : x + width], seen, compare["tol"])
    return wrong


def _far(golden: NDArray[Any], seen: NDArray[Any], tolerance: int) -> NDArray[np.bool_]:
    same = (golden == seen) | ((golden != golden) & (seen != seen))
    with np.errstate(invalid="ignore"):
        far: NDArray[np.bool_] = ~(same | (np.abs(golden - seen) <= tolerance))
    return far.any(axis=-1)


def _load_png(folder: Path, image: dict[str, Any]) -> NDArray[np.int32]:
    return _png(folder / image["file"])


def _png(path: Path) -> NDArray[np.int32]:
    """int32 (height, width, channels)."""
    with Image.open(path) as image:
        pixels = np.asarray(image, np.int32)
    return pixels.reshape(*pixels.shape[:2], -1)


def _load_floats(folder: Path, image: dict[str, Any]) -> NDArray[np.float64]:
    """float64 (height, width, channels) of a float target; 255 is full scale, as in a PNG."""
    if "raw_b64z" in image:
        data = zlib.decompress(base64.b64decode(image["raw_b64z"]))
    else:
        data = (folder / image.get("raw", image["file"])).read_bytes()
    numbers = np.frombuffer(data, _FLOATS[image["d3dformat"]])
    return numbers.reshape(image["height"], image["width"], -1).astype(np.float64) * 255


# Everything else


def _queries(
    scene: dict[str, Any], golden: dict[str, Any], found: dict[str, Any]
) -> Iterator[str]:
    kinds = {r["id"]: r["query"] for r in scene["resources"] if r["type"] == "query"}
    tolerances = scene["compare"].get("query_tol", {})
    for label, wanted in golden["queries"].items():
        mine = found["queries"].get(label)
        if mine is None:
            yield f"no query result {label}"
        elif wanted["hr"] is not None and mine["hr"] != wanted["hr"]:
            yield f"query {label}: hr {mine['hr']}, not {wanted['hr']}"
        elif _is_compared(wanted):
            value = _count(scene, kinds[wanted["query"]], wanted["value"])
            if abs((mine["value"] or 0) - value) > tolerances.get(label, 0):
                yield f"query {label}: {mine['value']}, not {value}"


def _is_compared(wanted: dict[str, Any]) -> bool:
    open_choice = wanted.get("varies") or wanted.get("informative")
    return wanted["hr"] == _S_OK and not open_choice and isinstance(wanted.get("value"), int)


def _count(scene: dict[str, Any], kind: str, value: int) -> int:
    """What a driver answers where the golden result counts samples."""
    samples = scene["device"].get("multisample", 0)
    return ceil(value / samples) if samples > 1 and kind == "OCCLUSION" else value


def _values(scene: dict[str, Any], golden: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    informative = {c.get("label") for c in scene["commands"] if c.get("informative")}
    for label, wanted in golden["values"].items():
        mine = found["values"].get(label)
        is_open = label in informative or wanted["hr"] == _NOT_AVAILABLE
        if mine is None or (mine != wanted and not is_open):
            yield f"value {label}: {mine}, not {wanted}"


def _issues(scene: dict[str, Any], golden: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    for label, wanted in golden["issues"].items():
        mine = found["issues"].get(label)
        if wanted not in (mine, _NEVER_CALLED):
            yield f"issue {label}: {mine}, not {wanted}"


def _failed_calls(
    scene: dict[str, Any], golden: dict[str, Any], found: dict[str, Any]
) -> Iterator[str]:
    if golden["failed_calls"] != found["failed_calls"]:
        yield f"failed calls {found['failed_calls']}, not {golden['failed_calls']}"
