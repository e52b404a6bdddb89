"""The fetches of shaders of Direct3D 10: the textures and buffers of a draw behind their units."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np

from dp2emu.gpu.arrays import F64
from dp2emu.gpu.command.bindings import TextureBinding
from dp2emu.gpu.rasterizer.multisample import POSITIONS
from dp2emu.gpu.rasterizer.spans import ONE
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.shader_resources.textures import Reads, Texturing
from dp2emu.shader.ir import Stage
from dp2emu.shader.resources import Dimension, ReadOpcode
from dp2emu.shader.resources import Unit as Asked
from dp2emu.shader.sampling import BoundProgram
from dp2emu.shader.texture.resource_reads import ReadProgram, facts, read_program, sample_answer
from dp2emu.shader.types import I32, Lanes, Mask

Files = Mapping[str, Lanes]
Words = tuple[I32, I32, I32, I32]
Look = Callable[[int, I32, F64], Words]
"""From the number of a register, lanes, and a way in pixels from their centres, shape (2, n), to
what pixel programs would read of it there."""

ELSEWHERE = (ReadOpcode.SNAPPED, ReadOpcode.AT_SAMPLE)
"""What is asked of inputs of pixel programs; the first operand is the lane then."""
_SNAPS = 16
"""Steps of a pixel for an input to be snapped to."""


class StageFetcher(msgspec.Struct, frozen=True):
    """What answers to the fetches of programs of a stage: called, or bound to programs.

    ``samples`` are those of the targets; ``bindings`` are of the units that have something.
    ``look`` finds inputs of pixels elsewhere, where there are some.
    """

    texturing: Texturing
    stage: Stage
    bindings: Mapping[int, TextureBinding]
    samples: int
    look: Look | None = None

    def answered(self, unit: int) -> BoundProgram | None:
        """The program that answers to fetches of a unit; its ports are the operands.  None for
        inputs elsewhere.
        """
        if self.texturing.asked[self.stage][unit].ask in ELSEWHERE:
            return None
        found, files = self._answer(unit)
        return BoundProgram(found.program, files, found.ports)

    def __call__(self, unit: int, operands: tuple[I32, ...], active: Mask | None) -> Words:
        """All lanes are answered, active or not."""
        asked = self.texturing.asked[self.stage][unit]
        if asked.ask in ELSEWHERE and self.look is not None:
            way = _ways(asked, operands[1:], self.samples)
            return self.look(asked.register, operands[0], way)
        found, files = self._answer(unit)
        lanes, cache = len(operands[0]) if operands else 1, self.texturing.cache
        reads = None if cache is None else Reads(lanes, active)
        given = operands if found.ports else ()
        words = found.words(self.texturing.run, given, files, lanes, reads)
        texture = self.texturing.units[self.stage].get(unit)
        if cache is not None and reads is not None and texture is not None:
            cache.look_up(texture.texture, reads.words(len(texture.files["texels"])))
        return words

    def _answer(self, number: int) -> tuple[ReadProgram, Files]:
        asked = self.texturing.asked[self.stage][number]
        if asked.resource is None:
            return _about_targets(asked, self.stage, self.samples)
        unit = self.texturing.units[self.stage].get(number)
        if unit is None:
            return facts(self.stage), _facts(0)
        files = _FILES.get(asked.ask, _whole)(asked, self.bindings[number], unit.files)
        return read_program(asked, unit.key, self.stage), files


def _ways(asked: Asked, where: Sequence[I32], samples: int) -> F64:
    """From centres of pixels to where an input is wanted, shape (2, n); a sample that there is
    not is at the centre.
    """
    if asked.ask is ReadOpcode.SNAPPED:
        return np.stack(where).astype(np.float64) / _SNAPS
    (number,) = where
    places = np.array((*POSITIONS[samples], (0, 0)), np.float64) / ONE
    known = (number >= 0) & (number < samples)
    found: F64 = places[np.where(known, number, samples)].T
    return found


def _about_targets(asked: Asked, stage: Stage, samples: int) -> tuple[ReadProgram, Files]:
    files = _places(samples) if asked.ask is ReadOpcode.SAMPLE_POSITION else _facts(samples)
    return sample_answer(asked, stage), files


def _whole(asked: Asked, binding: TextureBinding, files: Files) -> Files:
    return files


def _facts(*numbers: int) -> Files:
    facts = np.zeros(4, np.int32)
    facts[: len(numbers)] = numbers
    return {"facts": facts}


def _places(samples: int) -> Files:
    """Of the standard patterns, in pixels from the centre."""
    places = np.array(POSITIONS[samples], np.float32) / np.float32(ONE)
    return {"places": places.reshape(-1).view(np.int32)}


def _window(surface: Surface) -> I32:
    """The words of a buffer that a view shows."""
    (part,) = surface.subresources
    words: I32 = surface.words[part.offset // 4 : (part.offset + part.size) // 4]
    return words


def _raw(asked: Asked, binding: TextureBinding, files: Files) -> Files:
    return {"texels": _window(binding.surface)}


def _structured(asked: Asked, binding: TextureBinding, files: Files) -> Files:
    size = binding.surface.subresources[0].size
    numbers = np.array([binding.stride, size // max(binding.stride, 1)], np.int32)
    return {"texels": _window(binding.surface), "buffer": numbers}


def _count(asked: Asked, binding: TextureBinding, files: Files) -> Files:
    """Elements; bytes of what is raw; structures."""
    part = binding.surface.subresources[0]
    counts = {
        Dimension.RAW_BUFFER: part.size,
        Dimension.STRUCTURED_BUFFER: part.size // max(binding.stride, 1),
    }
    return _facts(*[counts.get(asked.dimension or Dimension.BUFFER, part.width)] * 4)


_FILES: dict[ReadOpcode, Callable[[Asked, TextureBinding, Files], Files]] = {
    ReadOpcode.RAW: _raw,
    ReadOpcode.STRUCTURED: _structured,
    ReadOpcode.COUNT: _count,
    ReadOpcode.SAMPLES: lambda asked, binding, files: _facts(binding.surface.samples),
    ReadOpcode.SAMPLE_POSITION: lambda asked, binding, files: _places(binding.surface.samples),
}
"""What programs read that do not read texels as samplers do."""
