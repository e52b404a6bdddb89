"""Playing a scene from its file to its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import dp2emu.scene.asking
import dp2emu.scene.surfaces  # noqa: F401  (both register commands)
from dp2emu.capture.records import TIMING, Record
from dp2emu.capture.writer import CaptureWriter
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.errors import Dp2Error, SceneError
from dp2emu.gpu.device.timing import Timing
from dp2emu.runtime import Device9
from dp2emu.runtime.session import COMMAND_BYTES
from dp2emu.scenario import Scenario
from dp2emu.scene.document import Scene, is_of_direct3d_10, read_json, take_apart
from dp2emu.scene.fields import Fields
from dp2emu.scene.ops import OPS
from dp2emu.scene.player import Player
from dp2emu.scene.resources import make_resource
from dp2emu.scene.results import FINAL, Problem, SceneResult
from dp2emu.scene.values import text


def play_scene(
    source: Path | str | Mapping[str, Any],
    out: Path | str,
    *,
    capture: Path | str | None = None,
    timing: Timing | None = None,
    options: Options | None = None,
    command_bytes: int = COMMAND_BYTES,
    scenario: Scenario | None = None,
) -> SceneResult:
    """Play a scene (``source``: a file, or its content) and write its results below ``out``.

    Files: ``category/name.png``, a picture more for each label, ``category/name.json``; of scenes
    of Direct3D 10 and 11, which ``play_scene10`` plays, ``name.json`` and pictures. ``capture``
    saves the session as a sealed capture; ``timing`` and ``options`` are the driver's;
    ``command_bytes`` is the size of the command buffer, which decides how commands are split over
    calls and must hold the largest of them; ``scenario`` is what happens besides, whose timing and
    size count before those. What the scene needs and the emulator lacks, or the driver refuses, is
    in the result's ``problems``; files are then written only if everything else could still be
    done.  Raises SceneError for a file that is no scene, and OSError.
    """
    scenario = scenario or Scenario()
    driver = scenario.driver(options, timing)
    command_bytes = scenario.command_bytes or command_bytes
    stream = None if isinstance(source, Mapping) else str(source)
    try:
        document = read_json(source)
        if is_of_direct3d_10(document):
            return _play_other(source, out, driver, capture)
        scene = take_apart(document)
        with ExitStack() as stack:
            record: Callable[[Record], None] | None = None
            if capture is not None:
                record = stack.enter_context(CaptureWriter(capture)).write
            device = partial(_device, scene, driver, record, command_bytes)
            return _play(scene, Path(out), driver, device)
    except Dp2Error as error:
        raise error.at(stream=stream) from None


def _play_other(
    source: Path | str | Mapping[str, Any],
    out: Path | str,
    driver: Driver,
    capture: Path | str | None,
) -> SceneResult:
    """A scene of Direct3D 10 or 11, on the GPU of the driver."""
    from dp2emu.scene10 import play_scene10  # its half of the package is not needed otherwise

    return play_scene10(source, out, gpu=driver.gpu, capture=capture)


def _play(
    scene: Scene, out: Path, driver: Driver, make_device: Callable[[], Device9]
) -> SceneResult:
    try:
        device = make_device()
    except Dp2Error as error:
        problems = (Problem(-1, "device", error),)
        return SceneResult(scene.category, scene.name, (), problems, {}, {})
    player = Player(driver, device)
    device.session.annotate("title", f"{scene.category}/{scene.name}")
    device.session.annotate(TIMING, driver.gpu.timing.name)
    done = _run(player, scene)
    results = player.results
    files = results.write(out, scene.category, scene.name) if done else ()
    return SceneResult(
        scene.category, scene.name, files, tuple(player.problems), results.queries, results.values
    )


def _device(
    scene: Scene,
    driver: Driver,
    record: Callable[[Record], None] | None,
    command_bytes: int,
) -> Device9:
    return Device9(
        driver,
        scene.width,
        scene.height,
        format=scene.format,
        depth=scene.depth,
        samples=scene.samples,
        command_bytes=command_bytes,
        record=record,
    )


def _run(player: Player, scene: Scene) -> bool:
    """Play resources, commands and the end of the scene; False if it had to stop early."""
    for value in scene.resources:
        fields = Fields(value, "resource")
        if not player.perform(_word(value, "type"), fields, make_resource):
            return False
    player.device.begin_scene()
    for index, value in enumerate(scene.commands):
        player.index = index
        fields = Fields(value, f"command {index}")
        name = fields.take("op", _op_name)
        fields.where += f" ({name})"
        if not player.perform(name, fields, OPS[name]):
            return False
    player.index = len(scene.commands)
    return player.perform("end of scene", Fields({}, "end of scene"), _finisher(scene))


def _finisher(scene: Scene) -> Callable[[Player, Fields], None]:
    def finish(player: Player, fields: Fields) -> None:
        device = player.device
        if device.in_scene:
            device.end_scene()
        if scene.read_back:
            player.observe(device.back_buffer, FINAL)
        device.present()
        player.driver.finish()

    return finish


def _word(value: object, key: str) -> str:
    word = value.get(key) if isinstance(value, dict) else None
    return word if isinstance(word, str) else "resource"


def _op_name(value: object) -> str:
    name = text(value)
    if name not in OPS:
        raise SceneError(f"{name!r} is no command")
    return name
