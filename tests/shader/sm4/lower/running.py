"""Assembly text run on lanes: what the tests of this folder are written with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dp2emu.shader.ir import Lod, TextureKind
from dp2emu.shader.reference import Result, run
from dp2emu.shader.sm4 import assemble, decode
from dp2emu.shader.sm4.lower import Lowered4, lower
from dp2emu.shader.types import F32, I32, Lanes, Mask

COMPONENTS = "xyzw"


class Surroundings:
    """What answers samples and fetches, and keeps them.

    A sample gives its coordinates and then 0.5, a fetch 1000 times its unit and on, an access
    the same from 5 on.
    """

    def __init__(self) -> None:
        self.samples: list[tuple[int, TextureKind, list[float], Lod, list[float]]] = []
        self.fetches: list[tuple[int, list[int]]] = []
        self.accesses: list[tuple[int, list[int]]] = []

    def sample(
        self,
        sampler: int,
        kind: TextureKind,
        coordinates: tuple[F32, ...],
        lod: Lod,
        arguments: tuple[F32, ...],
        active: Mask | None,
    ) -> tuple[F32, F32, F32, F32]:
        places, extra = ([float(x[0]) for x in each] for each in (coordinates, arguments))
        self.samples.append((sampler, kind, places, lod, extra))
        half = np.full(1, 0.5, np.float32)
        x, y, z, w = (*coordinates, half, half)[:4]
        return x, y, z, w

    def fetch(
        self, unit: int, operands: tuple[I32, ...], active: Mask | None
    ) -> tuple[I32, I32, I32, I32]:
        self.fetches.append((unit, [int(x[0]) & 0xFFFFFFFF for x in operands]))
        x, y, z, w = (np.array([1000 * unit + n], np.int32) for n in range(4))
        return x, y, z, w

    def access(
        self, unit: int, operands: tuple[I32, ...], active: Mask | None
    ) -> tuple[I32, I32, I32, I32]:
        self.accesses.append((unit, [int(x[0]) & 0xFFFFFFFF for x in operands]))
        x, y, z, w = (np.array([1000 * unit + 5 + n], np.int32) for n in range(4))
        return x, y, z, w

    def saved(self) -> tuple[Lanes, ...]:
        return ()

    def restore(self, saved: tuple[Lanes, ...]) -> None:
        self.accesses.clear()


def lowered(text: str) -> Lowered4:
    return lower(decode(assemble(text)))


def execute(
    shader: Lowered4,
    inputs: Mapping[str, Any] | None = None,
    uniforms: Mapping[str, Any] | None = None,
    *,
    lanes: int = 1,
    around: Surroundings | None = None,
    mask: Mask | None = None,
) -> Result:
    """Run a program; inputs and uniforms that are not given are 0."""
    program, around = shader.program, around or Surroundings()
    given = {
        port.name: np.broadcast_to(
            _lanes((inputs or {}).get(port.name, 0), port.type.dtype), lanes
        )
        for port in program.inputs
    }
    files: dict[str, Lanes] = {
        file.name: _lanes((uniforms or {}).get(file.name, []), file.type.dtype)
        for file in program.files
        if file.uniform
    }
    if "icb" in files:
        files["icb"] = _lanes(shader.immediates, np.dtype(np.int32))
    return run(program, given, files, lanes, mask, around.sample, None, around.fetch, around)


def _lanes(values: Any, dtype: np.dtype[Any]) -> Lanes:
    if dtype == np.int32:
        return np.asarray(values, np.int64).astype(np.uint32).view(np.int32)
    return np.asarray(values, dtype)


def words(result: Result, name: str, lane: int = 0) -> list[int]:
    """The bits of an output register in a lane; of components that it lacks 0."""
    found = []
    for component in COMPONENTS:
        values = result.outputs.get(f"{name}.{component}")
        found.append(0 if values is None else int(values.view(np.uint32)[lane]))
    return found


def floats(bits: Iterable[int]) -> list[float]:
    return np.array(list(bits), np.uint32).view(np.float32).tolist()  # type: ignore[no-any-return]


def registers(**values: Sequence[Any]) -> dict[str, Any]:
    """Ports from whole registers."""
    return {f"{n}.{c}": x for n, v in values.items() for c, x in zip(COMPONENTS, v, strict=False)}


HEAD = """dcl_input v0.xyzw
dcl_input v1.xyzw
dcl_input v2.xyzw
dcl_input v3.xyzw
dcl_output o0.xyzw
dcl_output o1.xyzw
dcl_temps 8
"""


def vs_text(body: str, declarations: str = "", version: str = "vs_5_0") -> str:
    return f"{version}\n{declarations}\n{HEAD}\n{body}\nret\n"


def vs(body: str, declarations: str = "", version: str = "vs_5_0", **options: Any) -> list[int]:
    """The bits of o0 after a body, in a single lane."""
    return words(execute(lowered(vs_text(body, declarations, version)), **options), "o0")


PIXEL_HEAD = """dcl_input_ps linear v1.xyzw
dcl_input_ps constant v2.xyzw
dcl_output o0.xyzw
dcl_temps 8
"""


def ps_text(body: str, declarations: str = "", version: str = "ps_5_0") -> str:
    return f"{version}\n{declarations}\n{PIXEL_HEAD}\n{body}\nret\n"


def ps(body: str, declarations: str = "", version: str = "ps_5_0", **options: Any) -> list[int]:
    """The bits of the first target after a body, in the first lane of a quad."""
    shader = lowered(ps_text(body, declarations, version))
    return words(execute(shader, lanes=4, **options), "target0")
