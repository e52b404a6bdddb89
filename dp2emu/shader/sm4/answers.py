"""Programs that answer what units of a lowered shader ask of textures and buffers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from dp2emu.errors import Unsupported
from dp2emu.records import dataclass
from dp2emu.shader.ir import Assign, Constant, Input, Lod, Program, Stage, Statement
from dp2emu.shader.reference import Run, Watch
from dp2emu.shader.sampling import COMPONENTS
from dp2emu.shader.sm4.enums import Dimension
from dp2emu.shader.sm4.lower.lowered import Ask, Unit
from dp2emu.shader.sm4.shapes import CUBES, SHAPES, Shape
from dp2emu.shader.texture.bindings import LevelField, LimitField
from dp2emu.shader.texture.fetches import (
    Side,
    facts_program,
    gather_program,
    load_program,
    lod_program,
    place_program,
    raw_program,
    size_program,
    structured_program,
)
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.texture.sampler import sampler_program
from dp2emu.shader.types import I32, Lanes, Type

_SIDES = (LevelField.WIDTH, LevelField.HEIGHT, LevelField.DEPTH)
_OF_SAMPLES = frozenset({Dimension.TEXTURE2DMS, Dimension.TEXTURE2DMSARRAY})
_SECOND_FLOAT = {"coordinate.y": 0.5, "ddx.y": 0.0, "ddy.y": 0.0}
"""The coordinate that a texture of one axis lacks: the middle of its only row."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A program that answers a unit; ``ports`` are its inputs in the order of the operands."""

    program: Program
    ports: tuple[str, ...]

    @classmethod
    def of(cls, program: Program, ports: tuple[str, ...]) -> Answer:
        """A program that reads no more than the operands: what a texture of one axis lacks are
        constants.
        """
        inputs = tuple(port for port in program.inputs if port.name in ports)
        statements = tuple(_given(program, each, ports) for each in program.statements)
        return cls(replace(program, inputs=inputs, statements=statements), ports)

    def words(
        self,
        run: Run,
        operands: tuple[I32, ...],
        files: Mapping[str, Lanes],
        lanes: int = 1,
        watch: Watch | None = None,
    ) -> tuple[I32, I32, I32, I32]:
        """What the program says, for as many ``lanes`` as the operands have if there are any;
        ``files`` are those of the resource.
        """
        types = {port.name: port.type.dtype for port in self.program.inputs}
        given = zip(self.ports, operands, strict=True)
        inputs = {name: each.view(types[name]) for name, each in given if name in types}
        count = len(operands[0]) if operands else lanes
        outputs = run(self.program, inputs, files, count, watch=watch).outputs
        x, y, z, w = (outputs[port.name].view(np.int32) for port in self.program.outputs)
        return x, y, z, w


def _given(program: Program, statement: Statement, ports: tuple[str, ...]) -> Statement:
    """A statement at the program's top, where all of its inputs are read."""
    if not isinstance(statement, Input) or statement.port in ports:
        return statement
    type = program.slots[statement.slot]
    number = Constant.of(type, _SECOND_FLOAT.get(statement.port, 0))
    return Assign(statement.slot, "imov" if type is Type.I32 else "mov", (number,))


@lru_cache(maxsize=1 << 8)
def answer(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    """The program for a unit; ``key`` has the format and kind of its view, and its sampler.

    A key of one dimension is of a texture that is a texel high, ``layers`` is that of the unit.
    Raises Unsupported for what is not asked of textures and buffers.
    """
    if unit.ask not in _ANSWERS:
        raise Unsupported(f"{unit.ask.value} of textures")
    return _ANSWERS[unit.ask](unit, key, stage)


def about_samples(unit: Unit, stage: Stage) -> Answer:
    """The program for what is the same for all formats: counts, and where samples are."""
    if unit.ask is Ask.SAMPLE_POSITION:
        return Answer(place_program(stage), ("number.x",))
    return facts(stage)


def facts(stage: Stage) -> Answer:
    """A program that tells what it is told, whatever the operands."""
    return Answer(facts_program(stage), ())


def _ports(name: str, count: int) -> list[str]:
    return [f"{name}.{c}" for c in COMPONENTS[:count]]


def _shape(unit: Unit) -> Shape:
    assert unit.dimension is not None
    return SHAPES[unit.dimension]


def _address(unit: Unit) -> list[str]:
    slices = ["slice.x"] * _shape(unit).slices
    return [*_ports("coordinate", _shape(unit).axes), *slices, *["reference.x"] * unit.comparison]


def _slopes(unit: Unit) -> list[str]:
    return [port for name in ("ddx", "ddy") for port in _ports(name, _shape(unit).axes)]


def _sample(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    detail = ["lod.x"] if unit.lod is Lod.EXPLICIT else _slopes(unit)
    return Answer.of(sampler_program(key, unit.lod, stage), (*_address(unit), *detail))


def _gather(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    program = gather_program(key, unit.component, unit.offset, stage)
    return Answer.of(program, (*_address(unit), *_ports("offset", 2 * unit.offset)))


def _lod(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    address = _ports("coordinate", _shape(unit).axes)
    return Answer.of(lod_program(key, stage), (*address, *_slopes(unit)))


def _load(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    slices = ["layer.x"] * _shape(unit).slices
    multisampled = unit.dimension in _OF_SAMPLES
    last = "sample.x" if multisampled else "level.x"
    program = load_program(key, stage, multisampled=multisampled)
    return Answer.of(program, (*_ports("number", _shape(unit).axes), *slices, last))


def _size(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    """Lengths, then slices; of arrays of cubes those are not told."""
    shape = _shape(unit)
    told = shape.slices and unit.dimension not in CUBES
    sides: list[Side] = [*_SIDES[: shape.lengths], *[LimitField.LAYERS] * told, None, None]
    return Answer(size_program(sides[0], sides[1], sides[2], stage), ("level.x",))


def _raw(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    return Answer(raw_program(stage), ("at.x",))


def _same_for_all(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    return about_samples(unit, stage)


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
    Ask.COUNT: _same_for_all,
    Ask.SAMPLES: _same_for_all,
    Ask.SAMPLE_POSITION: _same_for_all,
}
