"""How much an input may ask for: every bound that can be set, in one place.

Reading a file, walking a call, allocating surfaces and drawing all take what is valid in any
amount, and a stranger's file can ask for years of it.  What passes a bound here ends in an error
that names it.  ``dp2emu.shader.budget`` bounds the loops of a shader, which is no setting, since
pictures depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from dp2emu.errors import Exceeded, UsageError


class Limits(msgspec.Struct, frozen=True):
    """Bounds; the defaults are beyond what programs do.

    Of files: ``chunk_bytes``, a chunk inflated, which is checked before it is inflated, and what
    a trace makes of one; ``inflated_bytes``, all chunks together; ``record_bytes``, a record of a
    log, and a bare buffer; ``trace_calls``, the calls of a trace that have begun and not ended,
    and ``trace_bytes`` of these; ``signature_bytes``, the signatures of a trace;
    ``window_bytes``, what an expander of a trace looks back; ``nesting``, values within values;
    ``threads``, threads of a trace.

    Of memory: ``extent``, pixels of a side of a surface; ``surface_bytes`` of one and
    ``total_bytes`` of all ``surfaces``.

    Of what a context keeps until told otherwise: ``objects`` of each kind (lights, palettes,
    patches, state blocks, shaders, declarations), ``shader_bytes`` of each kind of shaders and
    declarations, ``patch_bytes`` of control points, ``settings`` in all state blocks, of which the
    largest has some 1,900 and two for each light, and ``queries``.  Of Direct3D 10 and 11 a device
    keeps as many ``objects`` of a kind and ``queries``.  Beyond them a driver answers that it is
    out of memory.

    Of a call: ``call_bytes`` of commands, ``call_draws``, runs of points and the like each being
    one, and ``call_tokens``, ``call_vertices``,
    ``call_pixels`` and ``call_instructions`` of shaders; ``capture_...`` is the same for all calls
    together.  A function of Direct3D 10 or 11 is a call too.

    Vertices are those that draws read, with each instance, pixels those that triangles cover
    (by sample), that are cleared, or that are copied, four bytes each; instructions are those of
    the programs that run for vertices, pixels and threads, a loop with all its rounds.  All of
    them are counted when the GPU comes to them, with the call that is under way then.
    """

    chunk_bytes: int = 24 << 20
    inflated_bytes: int = 1 << 36
    record_bytes: int = 24 << 20
    trace_calls: int = 1 << 12
    trace_bytes: int = 12 << 20
    signature_bytes: int = 4 << 20
    window_bytes: int = 32 << 20
    nesting: int = 64
    threads: int = 1 << 12
    extent: int = 1 << 14
    surface_bytes: int = 1 << 30
    total_bytes: int = 1 << 32
    surfaces: int = 1 << 16
    objects: int = 1 << 16
    shader_bytes: int = 1 << 24
    patch_bytes: int = 1 << 26
    settings: int = 1 << 19
    queries: int = 1 << 20
    call_bytes: int = 16 << 20
    call_draws: int = 1 << 18
    call_tokens: int = 1 << 21
    call_vertices: int = 1 << 32
    call_pixels: int = 1 << 36
    call_instructions: int = 1 << 50
    capture_tokens: int = 1 << 40
    capture_vertices: int = 1 << 44
    capture_pixels: int = 1 << 48
    capture_instructions: int = 1 << 60

    def check(self, name: str, amount: int, what: str) -> None:
        """Raises Exceeded, which names the limit, if ``amount`` is beyond it."""
        most: int = getattr(self, name)
        if amount > most:
            raise Exceeded(name, most, what)


FUZZING = Limits(
    chunk_bytes=1 << 20,
    inflated_bytes=1 << 22,
    record_bytes=1 << 20,
    trace_calls=1 << 10,
    trace_bytes=1 << 20,
    signature_bytes=1 << 20,
    window_bytes=8 << 20,
    nesting=16,
    extent=256,
    surface_bytes=1 << 20,
    total_bytes=1 << 24,
    surfaces=64,
    objects=1 << 10,
    shader_bytes=1 << 18,
    patch_bytes=1 << 20,
    settings=1 << 14,
    queries=1 << 12,
    call_bytes=1 << 16,
    call_draws=1 << 12,
    call_tokens=1 << 14,
    call_vertices=1 << 16,
    call_pixels=1 << 18,
    call_instructions=1 << 24,
    capture_tokens=1 << 18,
    capture_vertices=1 << 20,
    capture_pixels=1 << 22,
    capture_instructions=1 << 28,
)
"""Bounds under which whatever is tried is over soon."""

GENEROUS = Limits()
"""What holds where nobody says otherwise."""

NAMES = tuple(Limits.__struct_fields__)
"""What can be set."""

MEMORY = ("extent", "surface_bytes", "total_bytes", "surfaces")
"""The bounds of memory alone."""

_MOST = (1 << 63) - 1
_RIGID = {"extent": 1 << 14, "surface_bytes": 1 << 30, "nesting": 1 << 7}
"""Bounds that cannot be put beyond what there is arithmetic, or a stack, for."""


def parse_limits(given: Iterable[str], base: Limits | None = None) -> Limits:
    """``["surfaces=10", "nesting=0x8"]`` on top of ``base``, by default the generous limits.

    Raises UsageError for a name there is not, and for a value that is no number from 1 to
    2**63 - 1, or to as much as there is arithmetic for.

    >>> parse_limits(["surfaces=10"]).surfaces
    10
    """
    return replace(base or Limits(), **dict(_setting(each) for each in given))


def _setting(text: str) -> tuple[str, int]:
    name, equals, value = text.partition("=")
    if not equals or name not in NAMES:
        raise UsageError(f"limit {text[:80]!r} is not NAME=VALUE of {', '.join(NAMES)}")
    try:
        number = int(value[:40], 0)
    except ValueError:
        number = 0
    most = _RIGID.get(name, _MOST)
    if not 0 < number <= most:
        raise UsageError(f"limit {name}: {value[:80]!r} is no number from 1 to {most}")
    return name, number
