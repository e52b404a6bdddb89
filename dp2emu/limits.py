"""Configurable bounds on the resources that an input may use.

Files, calls, surfaces and draws are valid in any number and size; an untrusted file could use
years of time.  Exceeding a bound is an error that names it.  The bound on shader loops in
``dp2emu.shader.budget`` is not configurable, since pictures depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
from msgspec.structs import replace

from dp2emu.errors import Exceeded, UsageError

_MOST = (1 << 63) - 1
_RIGID = {
    "extent": 1 << 14,
    "surface_bytes": 1 << 30,
    "nesting": 1 << 7,
    "shader_statements": 1 << 17,
}
"""Highest value that a user may set, by bound; bounds that are missing here may be up to
2**63 - 1."""
_UNITS = {
    "extent": "pixels of a side", "nesting": "levels", "trace_calls": "unfinished calls",
    "inflate_ratio": "bytes inflated for each byte read",
    "record_ratio": "records for each byte read",
    "call_compile": "units of compile work", "capture_compile": "units of compile work",
}  # fmt: skip
"""Units of the bounds whose names do not end in a unit."""


PLAIN_BYTES = 16 << 20
"""Number of bytes that a file may inflate to at any ratio."""
PLAIN_RECORDS = 1 << 17
"""Number of records that a file may have in any number of bytes."""


class Limits(msgspec.Struct, frozen=True):
    """Bounds; the defaults exceed the needs of real programs.

    Files: ``chunk_bytes`` of an inflated chunk (checked before it is inflated) and of the calls in
    it; ``inflated_bytes`` of all chunks, and beyond ``PLAIN_BYTES`` at most ``inflate_ratio`` for
    each byte of the file; ``record_ratio``, the records of a sealed capture for each byte beyond
    ``PLAIN_RECORDS``, where each four bytes of a call are one more; ``record_bytes`` of a log
    record or a bare buffer;
    ``trace_calls``, the unfinished calls of a trace, and their ``trace_bytes`` (a texture of 4096
    x 4096 texels of four bytes, and 8 MiB of values); ``signature_bytes`` of a trace's signatures;
    ``window_bytes`` of a decompressor's window;
    ``nesting`` of values; ``threads`` of a trace.

    Memory: ``extent``, the pixels of a surface's side; ``surface_bytes`` of one surface and
    ``total_bytes`` of all ``surfaces``.

    Objects of a context: ``objects`` of each kind (lights, palettes, patches, state blocks,
    shaders, declarations), ``shader_bytes`` of each kind of shaders and declarations,
    ``patch_bytes`` of control points, ``settings`` in all state blocks (a block has up to 1,900
    and two for each light), and ``queries``.  ``objects`` and ``queries`` bound a Direct3D 10 or
    11 device too.  A driver that exceeds them answers that it is out of memory.

    Calls, functions of Direct3D 10 and 11 too: ``call_bytes`` of commands, ``call_draws`` (a run
    of points counts as one), ``call_tokens``, ``call_vertices``, ``call_pixels`` and
    ``call_instructions``; ``capture_...`` for all calls together.

    Vertices are those that draws read, for each instance.  Pixels are samples that triangles
    cover, and cleared or copied units of four bytes.  Instructions are those that shaders execute
    for vertices, pixels and threads, in every iteration of a loop.  They count for the call during
    which the GPU executes them.

    Compile work is counted for the call that first needs the code, in units of about 0.1 ms
    (``dp2emu.shader.compile_work``): ``call_compile``, and ``capture_compile`` plus 4 for each
    draw.  ``shader_statements`` bounds the statements of one program with calls expanded.

    Operations are the fixed work of draws, clears, copies and state blocks, of about a microsecond
    each (``dp2emu.gpu.operation_costs``): ``call_operations`` and ``capture_operations``.

    Draws, blits and dispatches raise the limits of a capture, one for each 8 bytes of its file at
    most.

    ``history_draws`` are the draws that the history of a pixel examines; ``observed_bytes`` bytes
    that verbs copy, compare and encode besides what the GPU executes, 192 for each pixel of a
    picture.
    """

    chunk_bytes: int = 24 << 20
    inflated_bytes: int = 1 << 36
    inflate_ratio: int = 1000
    record_ratio: int = 4
    record_bytes: int = 24 << 20
    trace_calls: int = 1 << 12
    trace_bytes: int = 72 << 20
    signature_bytes: int = 4 << 20
    window_bytes: int = 32 << 20
    nesting: int = 64
    threads: int = 1 << 12
    extent: int = 1 << 14
    surface_bytes: int = 1 << 30
    total_bytes: int = 1 << 30
    surfaces: int = 1 << 16
    objects: int = 1 << 16
    shader_bytes: int = 1 << 24
    shader_statements: int = 1 << 16
    patch_bytes: int = 1 << 26
    settings: int = 1 << 19
    queries: int = 1 << 20
    call_bytes: int = 16 << 20
    call_draws: int = 1 << 18
    call_tokens: int = 1 << 21
    call_vertices: int = 1 << 25
    call_pixels: int = 600_000_000
    call_instructions: int = 1 << 34
    call_operations: int = 10_000_000
    call_compile: int = 500_000
    capture_tokens: int = 1 << 40
    capture_vertices: int = 1 << 26
    capture_pixels: int = 5_500_000_000
    capture_instructions: int = 1 << 37
    capture_operations: int = 20_000_000
    capture_compile: int = 500_000
    history_draws: int = 1 << 13
    observed_bytes: int = 1 << 38

    def check(self, name: str, amount: int, more: int = 0) -> None:
        """Raise Exceeded if ``amount`` and ``more`` are together larger than the bound ``name``.

        ``amount`` was used before, if ``more`` is not 0, and ``more`` is asked for.
        """
        if amount + more > getattr(self, name):
            raise Exceeded(name, self.refusal(name, amount, more))

    def inflation(self, inflated: int, read: int) -> str | None:
        """The refusal of a file of which ``read`` bytes inflate to ``inflated``; None if
        ``inflated_bytes`` and ``inflate_ratio`` allow it.
        """
        if inflated > self.inflated_bytes:
            return self.refusal("inflated_bytes", inflated)
        if inflated > PLAIN_BYTES + self.inflate_ratio * read:
            return self.refusal("inflate_ratio", -(-inflated // max(read, 1)))
        return None

    def crowding(self, records: int, read: int) -> str | None:
        """The refusal of a file of which ``read`` bytes have so many records; None if
        ``record_ratio`` allows it.
        """
        if records > PLAIN_RECORDS + self.record_ratio * read:
            return self.refusal("record_ratio", -(-records // max(read, 1)))
        return None

    def refusal(self, name: str, amount: int | None, more: int = 0) -> str:
        """Text of an error: the bound ``name`` and its value, the amount that exceeds it (as in
        ``check``; None if it is not known), and the option that raises the bound.

        >>> Limits().refusal("objects", 65537)
        'limit objects: 65,537 objects, at most 65,536; raise it with --limit objects=N'
        """
        if not amount and more:
            amount, more = more, 0
        unit = _UNITS.get(name) or name.rpartition("_")[2]
        most: int = getattr(self, name)
        used = f"more {unit}" if amount is None else f"{amount:,} {unit}"
        asked = f" so far and {more:,} more" if more else ""
        raised = f"raise it with --limit {name}=N"
        if most >= _RIGID.get(name, _MOST):
            raised = "it cannot be raised"
        return f"limit {name}: {used}{asked}, at most {most:,}; {raised}"


Source = Callable[[], int | None]
"""Function that returns the number of bytes of the file that is played: all, or of a pipe those
read so far; None if no file is played."""

BYTES_PER_DRAW = 8
"""Bytes of a file that each draw needs to raise the limits of a capture: a compressed file can
have many more draws than a program of the same size draws."""


def raising_draws(draws: int, source: Source) -> int:
    """The number of ``draws`` that raise the limits of a capture, which comes from ``source``."""
    size = source()
    return draws if size is None else min(draws, size // BYTES_PER_DRAW)


FUZZING = Limits(
    chunk_bytes=1 << 20, inflated_bytes=1 << 22, inflate_ratio=1000, record_ratio=4,
    record_bytes=1 << 20,
    trace_calls=1 << 10, trace_bytes=1 << 20, signature_bytes=1 << 20, window_bytes=8 << 20,
    nesting=16, extent=256, surface_bytes=1 << 20, total_bytes=1 << 24, surfaces=64,
    objects=1 << 10,
    shader_bytes=1 << 18, patch_bytes=1 << 20, settings=1 << 14, queries=1 << 12,
    call_bytes=1 << 16, call_draws=1 << 12, call_tokens=1 << 14, call_vertices=1 << 16,
    call_pixels=1 << 18, call_instructions=1 << 24, call_operations=1 << 20,
    capture_tokens=1 << 18, capture_operations=1 << 24,
    capture_vertices=1 << 20, capture_pixels=1 << 22, capture_instructions=1 << 28,
    shader_statements=1 << 13, call_compile=1 << 15, capture_compile=1 << 17,
    history_draws=1 << 8, observed_bytes=1 << 28,
)  # fmt: skip
"""``Limits`` for fuzz campaigns, low enough that every input is executed in a short time."""

GENEROUS = Limits()
"""``Limits`` with the default value of every bound."""

NAMES = tuple(Limits.__struct_fields__)
"""Names of all bounds, which are the fields of ``Limits``."""

UNLIMITED = Limits(**{name: _RIGID.get(name, _MOST) for name in NAMES})
"""``Limits`` with the highest value of every bound, for files that one trusts."""

NONE = "none"
"""Text for ``parse_limits`` that stands for ``UNLIMITED``."""

MEMORY = ("extent", "surface_bytes", "total_bytes", "surfaces")
"""Names of the bounds in ``Limits`` that restrict the size and number of surfaces."""


def parse_limits(given: Iterable[str], base: Limits | None = None) -> Limits:
    """Limits from texts such as ``["surfaces=10", "nesting=0x8"]``; others are as in ``base``.

    Texts apply in order; ``none`` sets every bound to its highest value.  Raises UsageError for an
    unknown name, and for a value outside of 1 to 2**63 - 1 (less for some names).

    >>> parse_limits(["none", "surfaces=10"]).surfaces
    10
    """
    limits = base or Limits()
    for text in given:
        limits = UNLIMITED if text == NONE else replace(limits, **dict([_setting(text)]))
    return limits


def _setting(text: str) -> tuple[str, int]:
    name, equals, value = text.partition("=")
    if not equals or name not in NAMES:
        names = ", ".join(NAMES)
        raise UsageError(f"limit {text[:80]!r} is not {NONE} and not NAME=VALUE of {names}")
    try:
        number = int(value[:40], 0)
    except ValueError:
        number = 0
    most = _RIGID.get(name, _MOST)
    if not 0 < number <= most:
        raise UsageError(f"limit {name}: {value[:80]!r} is no number from 1 to {most}")
    return name, number
