"""Playing a scene of Direct3D 10 or 11 from its file to its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from dp2emu.capture.recorder import Recorder
from dp2emu.capture.records import Annotation
from dp2emu.capture.writer import CaptureWriter
from dp2emu.ddi10.adapter import Adapter
from dp2emu.errors import Dp2Error, SceneError
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.runtime10 import Device
from dp2emu.scene.document import read_json
from dp2emu.scene.fields import Fields
from dp2emu.scene.results import SceneResult
from dp2emu.scene.values import text
from dp2emu.scene10.document import SHADERS, Library, Scene, take_apart
from dp2emu.scene10.ops import OPS
from dp2emu.scene10.player import Player
from dp2emu.scene10.resources import MAKERS


def play_scene10(
    source: Path | str | Mapping[str, Any],
    out: Path | str,
    *,
    shaders: Path | str | None = None,
    gpu: Gpu | None = None,
    capture: Path | str | None = None,
) -> SceneResult:
    """Play a scene (``source``: a file, or its content) and write NAME.json and pictures into
    ``out``.

    ``shaders`` is the folder of compiled shaders, by default ``shaders`` beside the folder of a
    file.  ``capture`` saves the calls of the driver's functions as a sealed capture.  What is not
    built is in the result's ``problems``, and then no files are written.  Raises SceneError for
    what is no scene, ShaderError and OSError.
    """
    stream = None if isinstance(source, Mapping) else str(source)
    try:
        scene = take_apart(read_json(source))
        folder = _beside(source) if shaders is None else Path(shaders)
        with ExitStack() as stack:
            adapter: Adapter | Recorder = Adapter(gpu)
            if capture is not None:
                writer = stack.enter_context(CaptureWriter(capture))
                adapter = _recorded(Adapter(gpu), scene, writer)
            return _play(scene, Path(out), Library(folder), adapter)
    except Dp2Error as error:
        raise error.at(stream=stream) from None


def _recorded(adapter: Adapter, scene: Scene, writer: CaptureWriter) -> Recorder:
    recorder = Recorder(adapter, writer.write)
    recorder.put(Annotation("title", f"{scene.category}/{scene.name}"))
    return recorder


def _beside(source: Path | str | Mapping[str, Any]) -> Path | None:
    return None if isinstance(source, Mapping) else Path(source).parent.parent / SHADERS


def _play(scene: Scene, out: Path, library: Library, adapter: Adapter | Recorder) -> SceneResult:
    player = Player(Device(adapter, scene.api), library)
    done = _run(player, scene)
    results = player.results
    files = results.write(out, scene.name) if done else ()
    problems = tuple(player.problems)
    return SceneResult(scene.category, scene.name, files, problems, results.queries, {})


def _run(player: Player, scene: Scene) -> bool:
    """Make objects, play calls, read targets back; False if it had to stop early."""
    for value in scene.resources:
        _, fields, create = _opened(value, "resource", MAKERS)
        player.make(fields, create)
    for index, value in enumerate(scene.calls):
        player.index = index
        if not player.perform(*_opened(value, f"call {index}", OPS)):
            return False
    player.index = len(scene.calls)
    return player.perform("end of scene", Fields({}, "end of scene"), _read_targets)


def _read_targets(player: Player, fields: Fields) -> None:
    player.device.call("SetPredication", None, 0)
    for name, resource in player.targets():
        player.results.add_image(name, resource, player.device.read(resource))
    player.device.finish()


def _opened(
    value: object, where: str, table: Mapping[str, Callable[..., Any]]
) -> tuple[str, Fields, Callable[..., Any]]:
    """The name of an operation, its arguments and what it does.

    Raises SceneError for one that there is not.
    """
    fields = Fields(value, where)
    name = fields.take("op", text)
    if name not in table:
        raise SceneError(f"{where}: {name!r} is no operation")
    fields.where = f"{where} ({name})"
    return name, fields, table[name]
