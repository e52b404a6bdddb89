"""Small draws that are put off until there are many, or until somebody looks.

A draw can wait while nothing depends on what it does: it takes no time, nobody watches, and what
follows are draws.  Then all that wait are drawn by one call (``kernel.sequence``), in order, and
counted together.  Draws that may have something to complain of do not wait.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from enum import Enum, auto
from typing import TYPE_CHECKING

from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.draw.draw_stages import draw_setup, geometry_names
from dp2emu.gpu.shader_resources.textures import samples_targets
from dp2emu.identity_cache import Together
from dp2emu.shader.engines import JIT, name_of
from dp2emu.shader.reference import Run

if TYPE_CHECKING:
    from dp2emu.gpu.compile.batch_template import BatchRun, BatchTemplate

RECIPES = 64
"""Recipes that draws of a state keep; of more, they begin anew."""
_MOST = 1 << 10
"""Primitives of a draw that is small: more take long enough by themselves."""


class _Never(Enum):
    """What is known of draws that never wait."""

    NEVER = auto()


_NEVER = _Never.NEVER


class DrawBatch:
    """Draws that are ``waiting`` to be executed together by an engine on threads.  Mutable."""

    def __init__(self, run: Run, threads: int) -> None:
        self._run, self._threads = run, threads
        self._compiles = name_of(run) == JIT
        self._sequence: BatchRun | None = None
        self.waiting: list[Draw] = []
        # A template keeps what its key identifies, other than the output record, whose end is
        # the end of the templates.
        self._templates: Together[dict[Hashable, BatchTemplate | _Never | None]] = Together()

    def put(self, draw: Draw) -> bool:
        """Let a draw wait; says whether it can."""
        recipe = self._recipe(draw) if self._compiles and _is_small(draw) else None
        if recipe is None or self._sequence is None:
            return False
        self._sequence.add(recipe, draw, len(self.waiting))
        self.waiting.append(draw)
        return True

    @property
    def full(self) -> bool:
        """Whether no other can wait."""
        return self._sequence is not None and self._sequence.full

    def settle(self, count: Callable[[Draw, Work], None], alone: Callable[[Draw], None]) -> int:
        """Draw all that wait, and let ``count`` count them; how many were not drawn ``alone``,
        which is called in between for those that are too large after all.

        If that raises, what has not been drawn waits no more: see ``take_back``.
        """
        sequence, drawn = self._sequence, 0
        if sequence is None:
            return 0
        try:
            while (number := sequence.perform(len(self.waiting))) is not None:
                alone(self.waiting[number])
        finally:
            del self.waiting[: len(self.waiting) - len(sequence)]
            for like, work, draws in sequence.clear():
                count(like, work)
                drawn += draws
        return drawn

    def take_back(self) -> list[Draw]:
        """Draws that wait no more and were not drawn, in order."""
        taken, self.waiting = self.waiting, []
        return taken

    def _recipe(self, draw: Draw) -> BatchTemplate | None:
        """The recipe of a draw, made when another one like it comes."""
        known = self._templates.get(id(draw.output))
        if known is None:
            known = {}
            self._templates.put(id(draw.output), (draw.output,), known)
        key = (
            draw.input.topology, (3 * draw.input.count - 1).bit_length(), draw.scissor,
            id(draw.pipeline), id(draw.raster), id(draw.vertex.textures), id(draw.pixel.textures),
        )  # fmt: skip
        if key not in known:
            if len(known) >= RECIPES:
                known.clear()
            known[key] = None
            return None
        found = known[key]
        if found is None:
            found = known[key] = self._made(draw)
        return None if found is _NEVER else found

    def _made(self, draw: Draw) -> BatchTemplate | _Never | None:
        """None if there is none yet."""
        from dp2emu.gpu.code.kernel_key import fills_triangles
        from dp2emu.gpu.compile.batch_template import BatchRun, BatchTemplate
        from dp2emu.gpu.compile.point_setup import sets_up

        names = geometry_names(draw.pipeline.pixel)
        if not _is_plain(draw) or not (fills_triangles(draw) or sets_up(draw, names)):
            return _NEVER
        setting = draw_setup(draw, None, self._run, self._threads)
        if setting.kernel is None:
            return _NEVER
        self._sequence = self._sequence or BatchRun()
        return BatchTemplate.of(draw, setting.kernel, names, self._sequence.memory)


def _is_small(draw: Draw) -> bool:
    """Whether a draw is one, and of one part."""
    return (
        0 < draw.input.count <= _MOST
        and draw.input.patch is None
        and draw.input.instances is None
        and not draw.input.cuts
        and draw.input.vertices is None
        and draw.post_vertex is None
        and draw.input.filled is None
        and not draw.vertex.buffers
        and not draw.pixel.buffers
    )


def _is_plain(draw: Draw) -> bool:
    """Whether kernels alone know all about draws of a state."""
    pipeline = draw.pipeline
    read = pipeline.units or pipeline.vertex_units
    return pipeline.raster.enabled and not read and not samples_targets(draw)
