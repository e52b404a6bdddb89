"""Whether a golden scene always gives the same bytes, whichever way it is played."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dp2emu.capture import open_capture
from dp2emu.errors import SceneError
from dp2emu.gpu.device.timing import seeded
from dp2emu.replay import Pictures, Watcher, replay
from dp2emu.runtime.session import COMMAND_BYTES
from dp2emu.scene import play_scene

PORTIONS = (80, 256, 1000)
"""Sizes of command buffers, in bytes, that must give the same results as the usual one."""

Files = dict[str, bytes]


def unsteady(path: Path, out: Path) -> list[str]:
    """What differs when a scene is played again, in other portions, and from its capture."""
    capture = out / "first.dp2"
    out.mkdir(parents=True, exist_ok=True)
    first = _files(path, out / "first", capture=capture)
    return [
        *_differing(first, _files(path, out / "again"), "when played again"),
        *_portions(path, out, first),
        *_late(path, out, first),
        *_replays(capture, out, first, f"{path.stem}.png"),
    ]


def _portions(path: Path, out: Path, first: Files) -> Iterator[str]:
    for size in PORTIONS:
        found = _files(path, out / str(size), command_bytes=size)
        yield from _differing(first, found, f"in buffers of {size} bytes")


def _late(path: Path, out: Path, first: Files) -> Iterator[str]:
    """Pictures must not depend on when the GPU gets to its work; single answers may."""
    found = _files(path, out / "late", timing=seeded(7))
    pictures = [{name: data for name, data in files.items() if not name.endswith(".json")}
                for files in (first, found)]  # fmt: skip
    yield from _differing(pictures[0], pictures[1], "under other timing")


def _replays(capture: Path, out: Path, first: Files, final: str) -> Iterator[str]:
    """The answers, and the last picture, must be those of the scene; both replays the same."""
    once, twice = (_replayed(capture, out / f"replay{number}") for number in (1, 2))
    yield from _differing(once, twice, "when its capture is replayed again")
    if once["faults"]:
        yield f"replayed: {once['faults'].decode()}"
    shown = {data for name, data in once.items() if name.endswith(".png")}
    if final in first and first[final] not in shown:
        yield "shows another picture when replayed"


def _replayed(capture: Path, folder: Path) -> Files:
    """Pictures and JSON of a replay, and what went wrong or was answered differently."""
    document, faults = io.StringIO(), list[str]()
    with open_capture(capture) as opened:
        replay(
            opened,
            document=document,
            pictures=Pictures(folder, all_targets=True),
            watcher=Watcher(lambda error: faults.append(str(error)),
                            lambda difference: faults.append(str(difference))),
        )  # fmt: skip
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    return files | {"json": document.getvalue().encode(), "faults": "; ".join(faults).encode()}


def _differing(first: Files, found: Files, when: str) -> Iterator[str]:
    names = sorted(name for name in first.keys() | found if first.get(name) != found.get(name))
    if names:
        yield f"differs {when}: {', '.join(names)}"


def _files(path: Path, out: Path, *, command_bytes: int = COMMAND_BYTES, **options: Any) -> Files:
    """Every file of the results; the buffer grows until the largest command fits."""
    while True:
        try:
            result = play_scene(path, out, command_bytes=command_bytes, **options)
        except SceneError as error:
            if "do not fit a command buffer" not in str(error):
                raise
            command_bytes *= 2
        else:
            return {file.name: file.read_bytes() for file in result.files}
