"""What the shaders of stages read: units with their textures, uniforms, constant buffers.

Source: Direct3D 10 and 11 documentation of shader resources and constant buffers.
"""

from __future__ import annotations

from dp2emu.ddi10.kept import Kept
from dp2emu.ddi10.sampling import NOTHING, Read, read
from dp2emu.ddi10.stages import Stage
from dp2emu.gpu.memory import Surface
from dp2emu.gpu.packets import Uniforms


class Reading:
    """What the shader of a stage reads.  Mutable: it remembers what that was last."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._read: Kept[Read] = Kept()
        self._uniforms: Kept[Uniforms] = Kept()

    def read(self) -> Read:
        """Its textures, buffers and samplers."""
        stage, shader = self._stage, self._stage.shader
        if shader is None:
            return NOTHING
        units = shader.lowered.units
        views = [stage.resources.get(unit.resource or 0) for unit in units]
        memory = [view and view.resource.surface for view in views]
        least = [view and view.resource.min_lod for view in views]
        samplers = [stage.samplers.get(unit.sampler or 0) for unit in units]
        return self._read.of(
            (shader, *views, *memory, *least, *samplers),
            lambda: read(units, stage.resources, stage.samplers),
        )

    def uniforms(self) -> Uniforms:
        """What it has of its own; constant buffers are read when the GPU gets to a draw."""
        shader = self._stage.shader
        if shader is None:
            return {}
        return self._uniforms.of((shader,), lambda: shader.uniforms({}))


def constants(stage: Stage) -> dict[str, Surface]:
    """The constant buffers of a stage, by the file that they are."""
    return {f"cb{slot}": found.surface for slot, found in stage.constants.items()}
