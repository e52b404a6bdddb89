"""Playing a golden scene of Direct3D 10 or 11 and saying how it came out."""

from __future__ import annotations

import json
from pathlib import Path

from dp2emu.errors import Unsupported
from dp2emu.gpu.compile.thread_pool import cores
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.scene import play_scene10
from dp2emu.shader.engines import JIT, engine
from tests.golden.comparing import Verdict
from tests.shader.sm4.making import recorded

from .comparing import verdict
from .listed import WAITING, WAITS


def write_shaders(folder: Path) -> Path:
    """Put the recorded shaders into a folder, as scenes find them beside theirs."""
    folder.mkdir(parents=True, exist_ok=True)
    for row in recorded():
        (folder / f"{row['shader']}.json").write_text(json.dumps({"dxbc": row["dxbc"]}))
    return folder


def played(path: Path, out: Path, shaders: Path, name: str = JIT) -> Verdict:
    """Play a scene into ``out`` by the engine with a name and compare, whatever the lists say."""
    result = play_scene10(path, out, shaders=shaders, gpu=Gpu(run=engine(name), threads=cores()))
    if not result.problems:
        return verdict(path, out)
    found = Verdict()
    for problem in result.problems:
        found.fail(str(problem))
    errors = [problem.error for problem in result.problems]
    if all(isinstance(error, Unsupported) and error.what in WAITING for error in errors):
        found.kind = WAITS
    return found
