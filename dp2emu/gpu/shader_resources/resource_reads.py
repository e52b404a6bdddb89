"""Resource reads of Direct3D 10 shaders: the program of each read, run on the bound resource."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np

from dp2emu.gpu.arrays import F64
from dp2emu.gpu.command.bindings import TextureBinding
from dp2emu.gpu.rasterizer.multisample import POSITIONS
from dp2emu.gpu.rasterizer.spans import ONE
from dp2emu.gpu.shader_resources.textures import Reads, Texturing
from dp2emu.shader.ir import Stage
from dp2emu.shader.resources import Dimension, ReadOpcode, Unit
from dp2emu.shader.sampling import BoundProgram
from dp2emu.shader.texture.resource_reads import ReadProgram, facts, read_program, sample_answer
from dp2emu.shader.types import I32, Lanes, Mask

Files = Mapping[str, Lanes]
Words = tuple[I32, I32, I32, I32]
EvaluateInput = Callable[[int, I32, F64], Words]
"""Function that interpolates a pixel shader input; parameters: register number, lanes, and offsets
from pixel centres in pixels, float64 (2, n).  Returns the words of the input."""

ELSEWHERE = (ReadOpcode.SNAPPED, ReadOpcode.AT_SAMPLE)
"""Resource read opcodes that interpolate a pixel shader input at an offset or at a sample, not at
the pixel centre; their operand 0 is the lane's number."""
_SNAPS = 16
"""Steps per pixel of the offsets that eval_snapped takes: offset n is n / 16 pixels."""


class StageFetcher(msgspec.Struct, frozen=True):
    """The callback that executes the resource reads of a shader stage's programs.

    ``bindings`` are the bound resources by unit, ``samples`` the sample count of the targets;
    ``evaluate`` interpolates the inputs of a pixel program at other positions.
    """

    texturing: Texturing
    stage: Stage
    bindings: Mapping[int, TextureBinding]
    samples: int
    evaluate: EvaluateInput | None = None

    def answered(self, unit: int) -> BoundProgram | None:
        """Return the program that executes read ``unit``, with its uniform files and inputs.

        None for a unit that interpolates a pixel shader input.
        """
        if self.texturing.read_units[self.stage][unit].opcode in ELSEWHERE:
            return None
        found, files = self._answer(unit)
        return BoundProgram(found.program, files, found.ports)

    def __call__(self, unit: int, operands: tuple[I32, ...], active: Mask | None) -> Words:
        """Execute read ``unit`` for all lanes, active or not; return four words per lane."""
        read = self.texturing.read_units[self.stage][unit]
        if read.opcode in ELSEWHERE and self.evaluate is not None:
            offsets = _offsets(read, operands[1:], self.samples)
            return self.evaluate(read.register, operands[0], offsets)
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
        read = self.texturing.read_units[self.stage][number]
        if read.resource is None:
            positions = read.opcode is ReadOpcode.SAMPLE_POSITION
            files = _places(self.samples) if positions else _facts(self.samples)
            return sample_answer(read, self.stage), files
        unit = self.texturing.units[self.stage].get(number)
        if unit is None:
            return facts(self.stage), _facts(0)
        make = _FILES.get(read.opcode)
        files = unit.files if make is None else make(read, self.bindings[number])
        return read_program(read, unit.key, self.stage), files


def _offsets(read: Unit, where: Sequence[I32], samples: int) -> F64:
    """Return where a read interpolates its input: offsets from pixel centres, float64 (2, n).

    A sample number out of range means the centre.
    """
    if read.opcode is ReadOpcode.SNAPPED:
        return np.stack(where).astype(np.float64) / _SNAPS
    (number,) = where
    places = np.array((*POSITIONS[samples], (0, 0)), np.float64) / ONE
    known = (number >= 0) & (number < samples)
    found: F64 = places[np.where(known, number, samples)].T
    return found


def _facts(*numbers: int) -> Files:
    facts = np.zeros(4, np.int32)
    facts[: len(numbers)] = numbers
    return {"facts": facts}


def _places(samples: int) -> Files:
    """Return the uniform file of the standard sample positions, in pixels from the centre."""
    places = np.array(POSITIONS[samples], np.float32) / np.float32(ONE)
    return {"places": places.reshape(-1).view(np.int32)}


def _raw(read: Unit, binding: TextureBinding) -> Files:
    """Return the uniform file ``texels``: the 32-bit words of a raw buffer view."""
    (part,) = binding.surface.subresources
    return {"texels": binding.surface.words[part.offset // 4 : (part.offset + part.size) // 4]}


def _structured(read: Unit, binding: TextureBinding) -> Files:
    size = binding.surface.subresources[0].size
    numbers = np.array([binding.stride, size // max(binding.stride, 1)], np.int32)
    return {**_raw(read, binding), "buffer": numbers}


def _count(read: Unit, binding: TextureBinding) -> Files:
    """Return uniform file ``facts`` of a buffer: its elements, its structures, or raw bytes."""
    part = binding.surface.subresources[0]
    counts = {
        Dimension.RAW_BUFFER: part.size,
        Dimension.STRUCTURED_BUFFER: part.size // max(binding.stride, 1),
    }
    return _facts(*[counts.get(read.dimension or Dimension.BUFFER, part.width)] * 4)


_FILES: dict[ReadOpcode, Callable[[Unit, TextureBinding], Files]] = {
    ReadOpcode.RAW: _raw,
    ReadOpcode.STRUCTURED: _structured,
    ReadOpcode.COUNT: _count,
    ReadOpcode.SAMPLES: lambda read, binding: _facts(binding.surface.samples),
    ReadOpcode.SAMPLE_POSITION: lambda read, binding: _places(binding.surface.samples),
}
"""Opcode -> function that returns the uniform files of its read program, from unit and binding.

Programs of other opcodes read the files of a texture and sampler."""
