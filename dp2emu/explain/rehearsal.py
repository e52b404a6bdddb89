"""Rehearsals of a draw: the reference stages execute it under observation, then memory is as
before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu.errors import Disagreement
from dp2emu.explain.events import written_surfaces
from dp2emu.gpu.command.packets import Dispatch, Draw
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.gpu.draw.probe import Probe
from dp2emu.gpu.input_assembler.vertex_fetch import measured
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.shader_resources.constant_buffers import with_constants
from dp2emu.shader import reference
from dp2emu.shader.reference import Run

MOST_FRAGMENTS = 1 << 16
"""Maximum number of fragments of a draw at a pixel that are examined one by one."""

Contents = Mapping[Surface, NDArray[np.uint8]]
"""Bytes of the surfaces that a draw writes."""


def resolved(draw: Draw) -> Draw:
    """The draw with the contents of its constant buffers, without stream output."""
    draw = with_constants(measured(draw))
    later = draw.post_vertex
    if later is None:
        return draw
    # The number of primitives stored so far is no memory that could be put back.
    return replace(draw, post_vertex=replace(later, output=replace(later.output, layouts={})))


@contextmanager
def restored(packet: Draw | Dispatch) -> Iterator[None]:
    """Context manager that restores, at its end, the memory that a packet writes."""
    before = {surface: surface.data.copy() for surface in written_surfaces(packet)}
    try:
        yield
    finally:
        for surface, data in before.items():
            surface.data[...] = data


@contextmanager
def rehearsed(draw: Draw, probe: Probe, run: Run = reference.run) -> Iterator[None]:
    """Context manager in which a draw has been executed by the reference stages, observed by
    ``probe``; at its end memory is as before.

    ``run`` is the reference engine or an observer of it.  Raises Unsupported as the draw does.
    """
    draw = resolved(draw)
    with restored(draw):
        execute_draw(draw, Counters(), run=run, probe=probe)
        yield


def contents(draw: Draw) -> Contents:
    """A copy of the bytes of the targets of a draw."""
    surfaces = (*draw.output.colors, draw.output.depth)
    return {each: each.data.copy() for each in surfaces if each is not None}


def check_same(rehearsal: Contents, where: str) -> None:
    """Raise Disagreement if targets differ from those after a rehearsal of the draw ``where``."""
    for surface, data in rehearsal.items():
        differing = np.flatnonzero(surface.data != data)
        if len(differing):
            what = f"{where}: byte {differing[0]} of surface {surface.handle or surface.serial}"
            raise Disagreement(f"{what} differs from the reference stages", "", 0)
