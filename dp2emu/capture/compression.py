"""Compression of chunks by MCAP name; inflating never exceeds the size that a chunk declares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dp2emu.errors import CaptureError, UsageError

_PIECE = 1 << 20
_ZSTD_LEVEL = 3
_ZSTD_WINDOW = 8 << 20  # every decoder should allow this much (RFC 8878, 3.1.1.1.2)


def deflater(name: str) -> Callable[[bytes], bytes]:
    """A function that compresses chunks; ``name`` is "zstd" or "" (none).

    It keeps its tables from chunk to chunk, since clearing new ones takes longer than a small
    chunk.  It is for one thread at a time.  Raises UsageError for another name.
    """
    if not name:
        return bytes
    if name != "zstd":
        raise UsageError(f"no chunk compression {name!r}")
    import zstandard

    compress: Callable[[bytes], bytes] = zstandard.ZstdCompressor(level=_ZSTD_LEVEL).compress
    return compress


def inflate(name: str, data: bytes, size: int) -> bytes | bytearray:
    """``data`` inflated to exactly ``size`` bytes, or itself if it is not compressed.

    Allocates at most ``size`` bytes, even if a frame header claims more.  Raises CaptureError for
    an unknown name, damaged data and any other inflated size.
    """
    if name not in _INFLATE:
        raise CaptureError(f"unknown chunk compression {name!r}")
    out = _INFLATE[name](data, size)
    if len(out) != size:
        much = "more" if len(out) > size else "less"
        raise CaptureError(f"chunk inflates to {much} than the {size} bytes it declares")
    return out


def _inflate_zstd(data: bytes, size: int) -> bytes | bytearray:
    import zstandard

    # The library allocates the window that a frame header claims, so the chunk's size bounds it.
    window = max(_ZSTD_WINDOW, 1 << size.bit_length())
    try:
        if size and zstandard.frame_content_size(data) == size:
            # A single frame is inflated in place, without the window of a stream.
            unpacked: bytes = zstandard.ZstdDecompressor(max_window_size=window).decompress(data)
            return unpacked
    except zstandard.ZstdError as problem:
        raise CaptureError(f"chunk does not inflate: {problem}") from problem
    stream = zstandard.ZstdDecompressor(max_window_size=window).stream_reader(data)
    return _gather(stream.read, size, zstandard.ZstdError)


def _inflate_lz4(data: bytes, size: int) -> bytearray:
    import lz4.frame  # type: ignore[import-untyped]

    frame: Any = lz4.frame.LZ4FrameDecompressor()
    rest = data

    def read(limit: int) -> bytes:
        nonlocal rest
        given, rest = rest, b""
        out: bytes = b"" if frame.eof else frame.decompress(given, max_length=limit)
        return out

    return _gather(read, size, RuntimeError)


def _gather(read: Callable[[int], bytes], size: int, error: type[Exception]) -> bytearray:
    """All output of ``read``, but at most one byte more than ``size``.

    Raises CaptureError if ``read`` raises ``error`` or EOFError.
    """
    out = bytearray()
    try:
        while len(out) <= size and (piece := read(min(size + 1 - len(out), _PIECE))):
            out += piece
    except (error, EOFError) as problem:
        raise CaptureError(f"chunk does not inflate: {problem}") from problem
    return out


_INFLATE: dict[str, Callable[[bytes, int], bytes | bytearray]] = {
    "": lambda data, size: data,
    "zstd": _inflate_zstd,
    "lz4": _inflate_lz4,
}
"""Decompressors by MCAP name (its registry: zstd, lz4, empty for none)."""
