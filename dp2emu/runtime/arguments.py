"""Checks and conversions of device method arguments."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dp2emu.d3d.enums import Format
from dp2emu.d3d.hresult import HResult
from dp2emu.errors import ArgumentError, UsageError
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.resource.heap import SurfaceDesc
from dp2emu.runtime.session import Refused

LEAST_DEPTH = 0.001
"""The smallest difference between maximum and minimum depth of a viewport."""
INDEX_BYTES = {Format.INDEX16: 2, Format.INDEX32: 4}

Box = tuple[int, int, int, int]
"""A half-open rectangle: left, top, right, bottom."""


def dword(value: int | float) -> int:
    """A state value as a DWORD: the bits of a float as float32, or an integer's low 32 bits."""
    if type(value) is int:
        return value & 0xFFFFFFFF
    if isinstance(value, float):
        with np.errstate(over="ignore"):
            return int.from_bytes(np.float32(value).tobytes(), "little")
    return int(value) & 0xFFFFFFFF


def words(code: Sequence[int]) -> bytes:
    """Shader code, a sequence of DWORDs, as bytes.  Raises UsageError for a value of more than 32
    bits.
    """
    try:
        return struct.pack(f"<{len(code)}I", *code)
    except struct.error:
        raise UsageError("shader code must be DWORDs") from None


def packed(rows: Sequence[Any], dtype: type[Any]) -> bytes:
    """Numbers, or rows of numbers, as elements of ``dtype``.  Raises ArgumentError for others."""
    try:
        return np.array(list(rows), dtype).tobytes()
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(f"constants of {dtype.__name__}: {error}") from None


def floats(values: Sequence[float], count: int) -> tuple[float, ...]:
    """``count`` numbers as floats.  Raises ArgumentError for others, and for another number."""
    try:
        found = tuple(map(float, values))
    except (TypeError, ValueError, OverflowError):
        found = ()
    if len(found) != count:
        raise ArgumentError(f"{values!r:.60} are no {count} numbers")
    return found


def handle_of(surface: SurfaceDesc | None) -> int:
    """A surface's handle, 0 for none."""
    return surface.handle if surface is not None else 0


def index_bytes(format: Format) -> int:
    """Bytes of an index.  Raises Refused for formats other than INDEX16 and INDEX32."""
    if format not in INDEX_BYTES:
        raise Refused(HResult.D3DERR_INVALIDCALL, f"indices of {format.sdk}")
    return INDEX_BYTES[format]


def needed(data: bytes, size: int, what: str) -> bytes:
    """The first ``size`` bytes of ``data``, which the application passed.  Raises UsageError if it
    is shorter; ``what`` names it in the message.
    """
    if len(data) < size:
        raise UsageError(f"{len(data)} bytes of {what}, the draw reads {size}")
    return data[:size]


def unit(z: float) -> float:
    """``z`` clamped to 0..1; a NaN becomes 0."""
    return min(z, 1.0) if z > 0.0 else 0.0


def depth_range(min_z: float, max_z: float) -> tuple[float, float]:
    """Minimum and maximum depth of a viewport as the runtimes send them: at least ``LEAST_DEPTH``
    apart.
    """
    return min_z, max(max_z, min_z + LEAST_DEPTH)


def box_inside(surface: SurfaceDesc, box: Box | None) -> Box:
    """A rectangle of a surface, by default all of it.

    Raises Refused for an empty one and one that is not inside the surface.
    """
    whole = Rect(0, 0, surface.width, surface.height)
    rect = _rect(box) if box is not None else whole
    if rect.empty or rect.intersect(whole) != rect:
        raise Refused(HResult.D3DERR_INVALIDCALL, f"rectangle {box}")
    return rect.left, rect.top, rect.right, rect.bottom


def _rect(box: Box) -> Rect:
    try:
        return Rect(*map(int, box))
    except (TypeError, ValueError):
        raise ArgumentError(f"{box!r:.60} is no rectangle of four integers") from None


def clip_boxes(boxes: Iterable[Box] | None, bounds: Rect) -> list[Box]:
    """The non-empty intersections of ``boxes`` with ``bounds``, in order; None means all of
    ``bounds``.  Raises ArgumentError for others than four integers.
    """
    rects = [bounds] if boxes is None else [_rect(box).intersect(bounds) for box in boxes]
    return [(r.left, r.top, r.right, r.bottom) for r in rects if not r.empty]
