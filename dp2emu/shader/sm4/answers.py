"""Programs that answer what units of a lowered shader ask of textures and buffers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dp2emu.errors import Unsupported
from dp2emu.shader.ir import Lod, Program, Stage
from dp2emu.shader.reference import Run
from dp2emu.shader.sm4.enums import Dimension
from dp2emu.shader.sm4.lower.lowered import Ask, Unit
from dp2emu.shader.texture.bindings import LevelField, LimitField
from dp2emu.shader.texture.fetches import (
    Side,
    gather_program,
    load_program,
    lod_program,
    raw_program,
    size_program,
    structured_program,
)
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.texture.sampler import sampler_program
from dp2emu.shader.types import I32, Lanes

COMPONENTS = "xyzw"

_AXES: dict[Dimension, int] = {
    Dimension.BUFFER: 1,
    Dimension.TEXTURE1D: 1,
    Dimension.TEXTURE2D: 2,
    Dimension.TEXTURE3D: 3,
    Dimension.TEXTURECUBE: 3,
    Dimension.TEXTURE1DARRAY: 1,
    Dimension.TEXTURE2DARRAY: 2,
    Dimension.TEXTURECUBEARRAY: 3,
}
_ARRAYS = frozenset(
    {Dimension.TEXTURE1DARRAY, Dimension.TEXTURE2DARRAY, Dimension.TEXTURECUBEARRAY}
)
_WIDTH, _HEIGHT, _DEPTH = LevelField.WIDTH, LevelField.HEIGHT, LevelField.DEPTH
_SIZES: dict[Dimension, tuple[Side, Side, Side]] = {
    Dimension.BUFFER: (_WIDTH, None, None),
    Dimension.TEXTURE1D: (_WIDTH, None, None),
    Dimension.TEXTURE2D: (_WIDTH, _HEIGHT, None),
    Dimension.TEXTURE2DMS: (_WIDTH, _HEIGHT, None),
    Dimension.TEXTURE3D: (_WIDTH, _HEIGHT, _DEPTH),
    Dimension.TEXTURECUBE: (_WIDTH, _HEIGHT, None),
    Dimension.TEXTURE1DARRAY: (_WIDTH, LimitField.LAYERS, None),
    Dimension.TEXTURE2DARRAY: (_WIDTH, _HEIGHT, LimitField.LAYERS),
    Dimension.TEXTURE2DMSARRAY: (_WIDTH, _HEIGHT, LimitField.LAYERS),
    Dimension.TEXTURECUBEARRAY: (_WIDTH, _HEIGHT, None),
}
"""What resinfo gives first (shader reference 5.4)."""

_SECOND_FLOAT = {"coordinate.y": 0.5, "ddx.y": 0.0, "ddy.y": 0.0}
"""The coordinate that a texture of one axis lacks: the middle of its only row."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A program that answers a unit; ``ports`` are its inputs in the order of the operands."""

    program: Program
    ports: tuple[str, ...]

    def words(
        self, run: Run, operands: tuple[I32, ...], files: Mapping[str, Lanes]
    ) -> tuple[I32, I32, I32, I32]:
        """What the program says, lane by lane; ``files`` are those of the resource."""
        types = {port.name: port.type.dtype for port in self.program.inputs}
        lacking = {name: np.full(1, _SECOND_FLOAT.get(name, 0), types[name]) for name in types}
        given = zip(self.ports, operands, strict=True)
        inputs = {name: each.view(types[name]) for name, each in given if name in types}
        outputs = run(self.program, lacking | inputs, files, len(operands[0])).outputs
        x, y, z, w = (outputs[port.name].view(np.int32) for port in self.program.outputs)
        return x, y, z, w


@lru_cache(maxsize=1 << 8)
def answer(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    """The program for a unit; ``key`` has the format and kind of its view, and its sampler.

    A key of one dimension is of a texture that is a texel high, ``layers`` is that of the unit.
    Raises Unsupported for what is not asked of textures and buffers, and for samples of textures.
    """
    if unit.ask not in _ANSWERS or (unit.dimension not in _AXES and unit.ask is Ask.LOAD):
        raise Unsupported(f"{unit.ask.value} of textures")
    return _ANSWERS[unit.ask](unit, key, stage)


def _ports(name: str, count: int) -> list[str]:
    return [f"{name}.{c}" for c in COMPONENTS[:count]]


def _address(unit: Unit) -> list[str]:
    assert unit.dimension is not None
    slices = ["slice.x"] if unit.dimension in _ARRAYS else []
    return [*_ports("coordinate", _AXES[unit.dimension]), *slices, *_reference(unit)]


def _reference(unit: Unit) -> list[str]:
    return ["reference.x"] if unit.comparison else []


def _slopes(unit: Unit) -> list[str]:
    assert unit.dimension is not None
    return [port for name in ("ddx", "ddy") for port in _ports(name, _AXES[unit.dimension])]


def _sample(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    detail = ["lod.x"] if unit.lod is Lod.EXPLICIT else _slopes(unit)
    return Answer(sampler_program(key, unit.lod, stage), (*_address(unit), *detail))


def _gather(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    program = gather_program(key, unit.component, unit.offset, stage)
    return Answer(program, (*_address(unit), *_ports("offset", 2 * unit.offset)))


def _lod(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    assert unit.dimension is not None
    address = _ports("coordinate", _AXES[unit.dimension])
    return Answer(lod_program(key, stage), (*address, *_slopes(unit)))


def _load(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    assert unit.dimension is not None
    slices = ["layer.x"] if unit.dimension in _ARRAYS else []
    address = _ports("number", _AXES[unit.dimension])
    return Answer(load_program(key, stage), (*address, *slices, "level.x"))


def _size(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    assert unit.dimension is not None
    return Answer(size_program(_SIZES[unit.dimension], stage), ("level.x",))


def _raw(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    return Answer(raw_program(stage), ("at.x",))


def _structured(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    return Answer(structured_program(stage), ("number.x", "at.x"))


_ANSWERS: dict[Ask, Callable[[Unit, SamplerKey, Stage], Answer]] = {
    Ask.SAMPLE: _sample,
    Ask.GATHER: _gather,
    Ask.LOD: _lod,
    Ask.LOAD: _load,
    Ask.SIZE: _size,
    Ask.RAW: _raw,
    Ask.STRUCTURED: _structured,
}
