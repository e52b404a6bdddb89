"""Work of a packet in counts that a timing model charges for."""

from __future__ import annotations

from operator import add
from typing import NamedTuple


class Streams(NamedTuple):
    """Numbers of primitives by stream of a geometry shader: ``written`` to buffers, and
    ``needed``: those that would have been written with enough room.
    """

    written: tuple[int, ...] = (0, 0, 0, 0)
    needed: tuple[int, ...] = (0, 0, 0, 0)

    @classmethod
    def of(cls, stream: int, written: int, needed: int) -> Streams:
        """The counts of stream number ``stream``, with 0 for the other streams."""
        counts = ([count if n == stream else 0 for n in range(4)] for count in (written, needed))
        return cls(*map(tuple, counts))

    def __add__(self, other: Streams) -> Streams:  # type: ignore[override]
        """The sum, stream by stream."""
        if not any(other.needed):
            return self
        return Streams(*(tuple(map(add, *pair)) for pair in zip(self, other, strict=True)))


class Work(NamedTuple):
    """Work of one packet, in counts.

    ``vertices`` read and their ``vertex_bytes``; ``primitives`` requested, ``clip_triangles``
    added by clipping, ``triangles`` left after culling; ``fragments`` covered, ``shaded`` ones
    that went through the pixel program, ``pixels`` that passed all tests; these three count
    samples of multisampled targets, and clears count as the last two.  ``pixel_bytes``:
    depth-stencil read, colour read for blending, all written.  ``entered``: primitives before
    clipping, ``clipped``: after it.  ``invocations`` of the pixel program: as ``shaded``, but by
    pixel on all targets.  ``hull_runs``: patches, ``domain_runs``: their domain points.
    ``geometry_runs`` of a geometry program, the ``geometry_primitives`` of its output and
    ``geometry_bytes`` of their vertices.  ``threads`` of compute programs; ``unordered_bytes``
    accessed through unordered access views.  ``paged_bytes`` made resident, ``disk_bytes`` of
    these from disk.  ``streams``: primitives of stream output, and their ``stream_bytes``.
    """

    vertices: int = 0
    vertex_bytes: int = 0
    primitives: int = 0
    triangles: int = 0
    fragments: int = 0
    pixels: int = 0
    pixel_bytes: int = 0
    clip_triangles: int = 0
    shaded: int = 0
    entered: int = 0
    clipped: int = 0
    invocations: int = 0
    hull_runs: int = 0
    domain_runs: int = 0
    geometry_runs: int = 0
    geometry_primitives: int = 0
    geometry_bytes: int = 0
    paged_bytes: int = 0
    disk_bytes: int = 0
    streams: Streams = Streams()
    stream_bytes: int = 0
    threads: int = 0
    unordered_bytes: int = 0

    def __add__(self, other: Work) -> Work:  # type: ignore[override]
        """The sum, count by count."""
        return Work(*map(add, self, other))
