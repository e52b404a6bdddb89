"""Holding the results of a scene of Direct3D 10 or 11 against the golden ones.

A value agrees with a number if it is that, with a range if it lies in it, with a choice if it is
one of it, and with nothing, which is for what is not specified, always.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tests.golden.comparing import Verdict, name_of, read_json

HERE = Path(__file__).parent
SCENES = sorted((HERE / "scenes").rglob("*.json"))

_RGBA8 = 28


def verdict(path: Path, out: Path) -> Verdict:
    """The verdict on the results of a scene in ``out``."""
    golden = read_json(HERE / "golden" / f"{name_of(path)}.json")
    found = read_json(out / path.name)
    result = Verdict()
    for check in (_queries, _steps, _created, _predication, _buffers):
        for note in check(golden, found):
            result.fail(note)
    for note in _images(golden, found, HERE / "golden" / path.parent.name):
        result.fail(note)
    return result


def agrees(value: Any, wanted: Any) -> bool:
    """Whether a value is what is wanted of it."""
    if not isinstance(wanted, dict):
        return wanted is None or bool(value == wanted)
    if "any_of" in wanted:
        return value in wanted["any_of"]
    if "min" in wanted:
        return isinstance(value, int) and wanted["min"] <= value <= wanted["max"]
    return isinstance(value, dict) and all(
        name in value and agrees(value[name], part) for name, part in wanted.items()
    )


def _queries(golden: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    for row in golden["queries"]:
        value = found["queries"].get(str(row["call"]))
        if not agrees(value, row["expected"]):
            yield f"call {row['call']} ({row['type']}): {value}, not {row['expected']}"


def _steps(golden: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    seen = {step["call"]: step["hr"] for step in found["steps"]}
    for step in golden.get("steps", ()):
        allowed = step.get("allowed_hr", [step.get("windows_hr")])
        hr = seen.get(step["call"])
        if hr not in allowed:
            yield f"call {step['call']} ({step['state']}): {hr}, not {' or '.join(allowed)}"


def _created(golden: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    for name, hr in golden.get("create", {}).items():
        if found["create"].get(name) != hr:
            yield f"creating {name}: {found['create'].get(name)}, not {hr}"


def _predication(golden: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    if golden.get("get_predication", []) != found["get_predication"]:
        yield f"predication {found['get_predication']}, not {golden.get('get_predication')}"


def _buffers(golden: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    """Masks are 00 for bytes that are not specified."""
    for name, data in golden.get("buffers", {}).items():
        wanted, seen = bytes.fromhex(data), bytes.fromhex(found["buffers"].get(name, ""))
        mask = bytes.fromhex(golden.get("buffer_masks", {}).get(name, "ff" * len(wanted)))
        rows = zip_longest(wanted, seen, mask)
        if any(counts and old != new for old, new, counts in rows):
            yield f"buffer {name} differs"


def _images(golden: dict[str, Any], found: dict[str, Any], folder: Path) -> Iterator[str]:
    for name, image in golden.get("images", {}).items():
        wanted = _pixels(folder / image["file"])
        seen = np.frombuffer(bytes.fromhex(found["images"].get(name, "")), np.uint8)
        if seen.size != wanted.size:
            yield f"image {name} has {seen.size} bytes, not {wanted.size}"
            continue
        near = golden["tolerance"]["channel"] if image["format"] == _RGBA8 else 0
        texel = 4 if image["format"] == _RGBA8 else 16
        apart = np.abs(seen.astype(np.int32) - wanted).reshape(-1, texel).max(axis=1) > near
        if apart.sum() > golden["tolerance"]["pixels"]:
            yield f"image {name}: {apart.sum()} pixels differ"


def _pixels(path: Path) -> NDArray[np.int32]:
    """The bytes of a picture, rows tight."""
    if path.suffix != ".png":
        return np.frombuffer(path.read_bytes(), np.uint8).astype(np.int32)
    with Image.open(path) as image:
        return np.asarray(image.convert("RGBA"), np.int32).reshape(-1)
