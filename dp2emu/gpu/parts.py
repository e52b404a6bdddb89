"""What a draw is taken apart into before its vertices are fetched: instances, and cut strips."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dp2emu.d3d.enums import PrimitiveType
from dp2emu.gpu.arrays import I64, Mask
from dp2emu.gpu.assembly import CORNERS, TOPOLOGIES, primitive_count, vertex_count
from dp2emu.gpu.packets import Draw, Indices, Instances
from dp2emu.gpu.vertex import vertex_numbers

_LISTS = {2: PrimitiveType.LINELIST, 3: PrimitiveType.TRIANGLELIST}


def instanced(draw: Draw) -> Iterator[Draw]:
    """A draw for each instance, in order."""
    if draw.instances is None:
        yield draw
        return
    for number in range(draw.instances.count):
        yield _instance(draw, draw.instances, number)


def _instance(draw: Draw, instances: Instances, number: int) -> Draw:
    streams = list(draw.streams)
    for place, rate in instances.streams:
        stream = streams[place]
        if stream is not None:
            element = instances.first + (number // rate if rate else 0)
            offset = stream.offset + element * stream.stride
            streams[place] = replace(stream, offset=offset, stride=0)
    uniforms = dict(draw.vertex_uniforms)
    if instances.file:
        uniforms[instances.file] = np.array([number], np.int32)
    return replace(draw, streams=tuple(streams), vertex_uniforms=uniforms, instances=None)


def measured(draw: Draw) -> Draw:
    """The draw with its count, if that is by what its first stream has been filled with.

    A stream that does not move from vertex to vertex has none.
    """
    if draw.filled is None:
        return draw
    stream = draw.streams[0] if draw.streams else None
    vertices = 0
    if stream is not None and stream.stride:
        vertices = max(draw.filled.size - stream.offset, 0) // stream.stride
    return replace(draw, count=primitive_count(draw.topology, vertices), filled=None)


def vertices_read(draw: Draw) -> int:
    """How many vertices (or indices) a draw reads."""
    return vertex_count(draw.topology, draw.count) if draw.read is None else draw.read


def uncut(draw: Draw) -> Draw:
    """The draw as a list, if it has strips that indices cut, with the same primitives.

    What is left of strips too short for a primitive counts nowhere.
    """
    topology = TOPOLOGIES[draw.topology]
    if not _is_cut(draw) or draw.indices is None:
        return draw
    starts, counts = strips(draw)
    number = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    corners = np.stack(topology.corners(number)) + np.repeat(starts, counts)
    kept = corners[: CORNERS[draw.topology]].T.reshape(-1)
    values = vertex_numbers(replace(draw.indices, base=0), kept)
    indices = Indices(values.astype(np.uint32), base=draw.indices.base)
    return replace(
        draw,
        topology=_LISTS[CORNERS[draw.topology]],
        first=0,
        count=len(number),
        indices=indices,
        cuts=False,
        read=int((topology.step * counts + topology.extra).sum()),
    )


def _is_cut(draw: Draw) -> bool:
    row = TOPOLOGIES[draw.topology]
    return draw.cuts and draw.indices is not None and row.step * row.extra != 0


class Strips(NamedTuple):
    """Where strips begin, and how many primitives they have: at least one each."""

    starts: I64
    counts: I64


def strips(draw: Draw) -> Strips:
    """The strips that indices of all ones cut a draw into; one without such, or a list."""
    if not _is_cut(draw) or draw.indices is None:
        return Strips(np.array([draw.first]), np.array([draw.count]))
    row = TOPOLOGIES[draw.topology]
    places = draw.first + np.arange(vertices_read(draw), dtype=np.int64)
    values = vertex_numbers(replace(draw.indices, base=0), places)
    starts, lengths = _between(values == (1 << 8 * draw.indices.size) - 1)
    counts = np.maximum((lengths - row.extra) // row.step, 0)
    drawn = counts > 0
    return Strips(draw.first + starts[drawn], counts[drawn])


def _between(cut: Mask) -> tuple[I64, I64]:
    """Where strips between cuts begin, and how many indices they have."""
    ends = np.append(np.flatnonzero(cut), len(cut))
    starts = np.concatenate(([0], ends[:-1] + 1))
    return starts, ends - starts
