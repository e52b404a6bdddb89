"""What draws of a state have in common, found once: targets, textures and the kernel."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from dp2emu.gpu.packets import Draw
from dp2emu.gpu.setup import POINT_SIZE
from dp2emu.gpu.shade import varyings_of
from dp2emu.gpu.targets import Targets
from dp2emu.gpu.texture_cache import TextureCache
from dp2emu.gpu.texturing import Texturing, fetcher, samples_targets
from dp2emu.recall import Together
from dp2emu.records import dataclass
from dp2emu.shader.engines import REFERENCE, name_of
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.reference import Run

if TYPE_CHECKING:
    from dp2emu.gpu.kernel.running import Drawing


@dataclass(frozen=True, slots=True)
class Setting:
    """What draws of a state have in common: what they write and read, and the kernel that draws
    them, if there is one.
    """

    targets: Targets
    texturing: Texturing
    kernel: Drawing | None

    @classmethod
    def of(cls, draw: Draw, cache: TextureCache | None, run: Run, threads: int) -> Setting:
        """That of a draw.  Raises Unsupported for state that is not built."""
        targets, texturing = Targets.of(draw, run), Texturing.of(draw, cache, run)
        if name_of(run) == REFERENCE:
            return cls(targets, texturing, None)
        from dp2emu.gpu.kernel import running

        sampler, reads = texturing.sampler(Stage.PIXEL), fetcher(draw, texturing, Stage.PIXEL)
        names = geometry_names(draw.pipeline.pixel)
        kernel = running.drawing(draw, targets, sampler, reads, threads, names)
        return cls(targets, texturing, kernel)


_settings: Together[Setting] = Together()


def setting_of(draw: Draw, cache: TextureCache | None, run: Run, threads: int) -> Setting:
    """Settings come again; they are kept unless they hold copies or the model of a cache."""
    if cache is not None:
        return Setting.of(draw, cache, run, threads)
    pipeline, surfaces = draw.pipeline, (*draw.colors, draw.depth)
    bindings = (*draw.textures.values(), *draw.vertex_textures.values())
    key = (
        id(pipeline), *map(id, surfaces), *draw.textures, *map(id, bindings),
        draw.scissor, draw.merge, run, threads,
    )  # fmt: skip
    found = _settings.get(key)
    if found is None:
        found = Setting.of(draw, cache, run, threads)
        # What fetches refers to its bindings.
        if not (samples_targets(draw) or pipeline.units or pipeline.vertex_units):
            bound = (surface for surface in surfaces if surface is not None)
            _settings.put(key, (pipeline, *bound, *bindings), found)
    return found


@lru_cache(maxsize=1 << 10)
def geometry_names(pixel: Program) -> tuple[str, ...]:
    """Varyings that primitives have for a pixel program, and the size that points have."""
    return *varyings_of(pixel), POINT_SIZE
