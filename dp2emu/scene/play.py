"""Functions that play a scene file and write its results: pictures, JSON, a capture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dp2emu.argument_check import checked
from dp2emu.capture.records import Record
from dp2emu.capture.writer import CaptureWriter
from dp2emu.dp2.options import Options
from dp2emu.errors import Dp2Error
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.device.timing import Timing
from dp2emu.outputs import whole_output
from dp2emu.places import working_at
from dp2emu.runtime.session import COMMAND_BYTES
from dp2emu.scenario import Scenario
from dp2emu.scene import d3d9, d3d10
from dp2emu.scene.d3d9 import MAKERS as MAKERS9
from dp2emu.scene.document import is_direct3d_10, parse_scene9, parse_scene10, read_json
from dp2emu.scene.objects10 import MAKERS as MAKERS10
from dp2emu.scene.player import Problem, SceneResult

SHADERS = "shaders"
"""Name of the folder of compiled shaders, which is beside the folder of a scene file."""

_Source = Path | str | Mapping[str, Any]


@checked
def play_scene(
    source: _Source,
    out: Path | str,
    *,
    capture: Path | str | None = None,
    timing: Timing | None = None,
    options: Options | None = None,
    command_bytes: int = COMMAND_BYTES,
    scenario: Scenario | None = None,
) -> SceneResult:
    """Play a scene (``source``: a file, or its content) and write its results below ``out``.

    Files: ``category/name.json``, ``category/name.png`` and a picture for each label; for Direct3D
    10 and 11 those of ``play_scene10``.  ``capture`` is the path of a sealed capture of the
    session to write; ``timing`` and ``options`` are the driver's.  ``command_bytes`` is the size
    of the command buffer: it decides how commands are split over calls and must hold the largest
    of them.  ``scenario`` adds events; its timing and command buffer size take precedence.  If the
    emulator lacks a feature or the driver refuses an operation, that is in the result's
    ``problems`` and no files are written.  Raises SceneError for a file that is not a scene, and
    OSError.
    """
    scenario = scenario or Scenario()
    driver = scenario.driver(options, timing)
    command_bytes = scenario.command_bytes or command_bytes
    with _errors_in(source):
        document = read_json(source)
        if is_direct3d_10(document):
            return _play10(document, source, out, None, driver.gpu, capture)
        scene = parse_scene9(document)
        with _recording(capture) as record:
            try:
                player = d3d9.Player9(scene, driver, command_bytes, record)
            except Dp2Error as error:
                problems = (Problem(-1, "device", error),)
                return SceneResult(scene.category, scene.name, (), problems, {}, {})
            folder = Path(out) / scene.category
            return player.play(scene, MAKERS9, d3d9.OPERATIONS, folder)


@checked
def play_scene10(
    source: _Source,
    out: Path | str,
    *,
    shaders: Path | str | None = None,
    gpu: Gpu | None = None,
    capture: Path | str | None = None,
) -> SceneResult:
    """Play a Direct3D 10 or 11 scene (``source``: a file, or its content) and write its results
    into ``out``: ``name.json``, and pictures of the render targets and textures that it reads.

    ``shaders`` is the folder of compiled shaders, by default ``shaders`` beside the folder of a
    file.  ``capture`` saves the calls of the driver's functions as a sealed capture.  What the
    emulator lacks is in the result's ``problems``, and no files are written.  Raises SceneError
    for a file that is not a scene, ShaderError and OSError.
    """
    with _errors_in(source):
        return _play10(read_json(source), source, out, shaders, gpu, capture)


def _play10(
    document: Mapping[str, Any],
    source: _Source,
    out: Path | str,
    shaders: Path | str | None,
    gpu: Gpu | None,
    capture: Path | str | None,
) -> SceneResult:
    scene = parse_scene10(document)
    folder = None if shaders is None else Path(shaders)
    if folder is None and not isinstance(source, Mapping):
        folder = Path(source).parent.parent / SHADERS
    with _recording(capture) as record:
        player = d3d10.Player10(scene, gpu, folder, record)
        return player.play(scene, MAKERS10, d3d10.OPERATIONS, Path(out))


@contextmanager
def _errors_in(source: _Source) -> Iterator[None]:
    """A context that adds the scene file's name to a Dp2Error or an interrupt raised in it."""
    name = None if isinstance(source, Mapping) else str(source)
    try:
        with working_at(lambda: {"stream": name}):
            yield
    except Dp2Error as error:
        raise error.at(stream=name) from None


@contextmanager
def _recording(capture: Path | str | None) -> Iterator[Callable[[Record], None] | None]:
    """Create a capture file, or replace it when all is recorded; yields the function that appends
    records, None without a file.
    """
    if capture is None:
        yield None
    else:
        with whole_output(capture) as file, CaptureWriter(file) as writer:
            yield writer.write
