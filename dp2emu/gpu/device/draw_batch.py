"""Batches of small draws, executed by one call of compiled code (``compile.batch_template``).

A draw may wait while nothing depends on its effect: it takes no virtual time, no tap or query
observes it, and only draws follow.  Draws that may raise an error never wait.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from enum import Enum, auto
from typing import TYPE_CHECKING

from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.draw.draw_stages import draw_setup, geometry_names
from dp2emu.gpu.shader_resources.textures import samples_targets
from dp2emu.identity_cache import IdentityCache
from dp2emu.shader.engines import JIT, name_of
from dp2emu.shader.reference import Run

if TYPE_CHECKING:
    from dp2emu.gpu.compile.batch_template import BatchRun, BatchTemplate

TEMPLATES = 64
"""Maximum number of batch templates (``BatchTemplate``) cached for one set of draw targets (an
``OutputBindings`` object); one more clears the cache."""
_MOST = 1 << 10
"""Maximum number of primitives of a draw that may join a batch of small draws."""


class _Never(Enum):
    """Cache entry, in place of a template, that marks draws which cannot be batched."""

    NEVER = auto()


class DrawBatch:
    """Draws that are ``waiting`` to be executed together.  Mutable.

    Only a compiling engine batches: ``compiles``.
    """

    def __init__(self, run: Run, threads: int) -> None:
        self._run, self._threads = run, threads
        self.compiles = name_of(run) == JIT
        self._compiled: BatchRun | None = None
        self.waiting: list[Draw] = []
        # By identity of the output record, whose end is the end of its templates.  The other
        # objects that a key identifies are referenced by the template itself, so that their
        # identities are not reused while it exists.
        self._templates: IdentityCache[dict[Hashable, BatchTemplate | _Never | None]] = (
            IdentityCache()
        )

    def put(self, draw: Draw) -> bool:
        """Add a draw to the batch; False if it has to be executed at once."""
        template = self._template(draw) if self.compiles and _is_small(draw) else None
        if template is None or self._compiled is None:
            return False
        self._compiled.add(template, draw, len(self.waiting))
        self.waiting.append(draw)
        return True

    @property
    def full(self) -> bool:
        """Whether the batch has its maximum number of draws."""
        return self._compiled is not None and self._compiled.full

    def settle(self, count: Callable[[Draw, Work], None], alone: Callable[[Draw], None]) -> int:
        """Execute the batch -> the number of draws that compiled code executed.

        ``alone`` executes, in order with the others, draws that turn out to be too large;
        ``count`` receives the work of each template's draws.  After an exception ``take_back``
        returns the draws that were not executed.
        """
        sequence, drawn = self._compiled, 0
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

    def execute_one(self, draw: Draw) -> Work | None:
        """Execute a draw as a batch of its own -> its work; None, with nothing drawn, if draws of
        its state cannot be batched, are not batched yet, or while other draws wait.
        """
        if self.waiting or not self.put(draw):
            return None
        sequence, left = self._compiled, None
        assert sequence is not None
        try:
            left = sequence.perform(1)
        finally:
            self.waiting.clear()
            works = [work for _, work, draws in sequence.clear() if draws]
        return works[0] if left is None else None

    def take_back(self) -> list[Draw]:
        """Remove and return the draws that were not executed, in order."""
        draws, self.waiting = self.waiting, []
        return draws

    def _template(self, draw: Draw) -> BatchTemplate | None:
        """The cached template for draws of this state and a similar count, created for the second
        one; None if there is none yet, or such draws cannot be batched.
        """
        known = self._templates.of((draw.output,), dict)
        key = (
            draw.input.topology, (3 * draw.input.count - 1).bit_length(), draw.scissor,
            id(draw.pipeline), id(draw.raster), id(draw.vertex.textures), id(draw.pixel.textures),
        )  # fmt: skip
        if key not in known:
            if len(known) >= TEMPLATES:
                known.clear()
            known[key] = None
            return None
        found = known[key]
        if found is None:
            found = known[key] = self._new_template(draw)
        return None if found is _Never.NEVER else found

    def _new_template(self, draw: Draw) -> BatchTemplate | _Never | None:
        """A new template for draws of this state; NEVER if they cannot be batched; None if no
        kernel has drawn one of them yet.
        """
        from dp2emu.gpu.code.kernel_key import fills_triangles
        from dp2emu.gpu.compile.batch_template import BatchRun, BatchTemplate
        from dp2emu.gpu.compile.point_setup import sets_up

        names = geometry_names(draw.pipeline.pixel)
        if not _is_plain(draw) or not (fills_triangles(draw) or sets_up(draw, names)):
            return _Never.NEVER
        setup = draw_setup(draw, None, self._run, self._threads)
        if setup.kernel is None:
            return _Never.NEVER
        self._compiled = self._compiled or BatchRun()
        return BatchTemplate.of(draw, setup.kernel, names, self._compiled.memory)


def _is_small(draw: Draw) -> bool:
    """Whether a draw has few primitives and is a single part: no instances, cuts or stages."""
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
    """Whether a kernel alone executes draws of this state, without callbacks into Python."""
    pipeline = draw.pipeline
    read = pipeline.units or pipeline.vertex_units
    return pipeline.raster.enabled and not read and not samples_targets(draw)
