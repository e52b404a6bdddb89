"""What a packet did, in the numbers a cost model can charge for."""

from __future__ import annotations

from operator import add
from typing import NamedTuple


class Streams(NamedTuple):
    """Primitives by stream of a geometry shader: those ``written`` to buffers, and those that
    would have been if there had been room for all.
    """

    written: tuple[int, ...] = (0, 0, 0, 0)
    needed: tuple[int, ...] = (0, 0, 0, 0)

    @classmethod
    def of(cls, stream: int, written: int, needed: int) -> Streams:
        """Primitives of one stream."""
        counts = ([count if n == stream else 0 for n in range(4)] for count in (written, needed))
        return cls(*map(tuple, counts))

    def __add__(self, other: Streams) -> Streams:  # type: ignore[override]
        """Stream by stream."""
        if not any(other.needed):
            return self
        return Streams(*(tuple(map(add, *pair)) for pair in zip(self, other, strict=True)))


class Work(NamedTuple):
    """Counts of one packet.

    ``vertices`` read and the ``vertex_bytes`` they take; ``primitives`` asked for,
    ``clip_triangles`` that clipping added and ``triangles`` left after culling; ``fragments``
    they cover, ``shaded`` those that went through the pixel program, all where that comes before
    the tests and otherwise those that passed, ``pixels`` that passed all tests; all three by
    sample where targets are multisampled, and clearing counts as the last two.  ``pixel_bytes``
    of depth-stencil read, of colour read for blending, and of all that was written.
    ``entered``: primitives that are clipped; ``clipped``: those that clipping leaves or makes;
    ``invocations`` of the pixel program, as ``shaded`` but by pixel on any target.
    ``hull_runs`` are patches, ``domain_runs`` the points these are divided into.
    ``geometry_runs`` of a geometry program, and the ``geometry_primitives`` it put out, of
    vertices of ``geometry_bytes``.
    ``threads`` of compute programs, and ``unordered_bytes`` that programs read and wrote through
    views for unordered access.
    ``paged_bytes`` were brought to where the GPU reaches them, ``disk_bytes`` of these from disk.
    ``streams`` are primitives that went to stream output, and ``stream_bytes`` what they took.
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
        """Count by count."""
        return Work(*map(add, self, other))
