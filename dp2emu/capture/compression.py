"""Chunk compression by MCAP name, inflating never past the size a chunk declares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from dp2emu.errors import CaptureError, UsageError

_PIECE = 1 << 20
_ZSTD_LEVEL = 3
_ZSTD_WINDOW = 8 << 20  # every decoder should allow this much (RFC 8878, 3.1.1.1.2)


class _Reader(Protocol):
    def __call__(self, size: int) -> bytes: ...


def deflate(name: str, data: bytes) -> bytes:
    """``data`` compressed; ``name`` is "zstd" or "" (none).  Raises UsageError otherwise."""
    if name == "zstd":
        packed: bytes = _zstd_compressor().compress(data)
        return packed
    if name:
        raise UsageError(f"no chunk compression {name!r}")
    return data


def inflate(name: str, data: bytes, size: int) -> bytes:
    """Exactly ``size`` bytes out of ``data``.

    Memory grows with what really comes out, never with what a frame header claims.  Raises
    CaptureError when the name is unknown, the data is damaged, or more or less comes out.
    """
    if name not in _OPEN:
        raise CaptureError(f"unknown chunk compression {name!r}")
    read = _OPEN[name](data, size)
    pieces, left = [], size + 1
    while left:
        piece = read(min(left, _PIECE))
        if not piece:
            break
        pieces.append(piece)
        left -= len(piece)
    if left != 1:
        much = "more" if not left else "less"
        raise CaptureError(f"chunk inflates to {much} than the {size} bytes it declares")
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _open_none(data: bytes, size: int) -> _Reader:
    view, position = memoryview(data), 0

    def read(size: int) -> bytes:
        nonlocal position
        position += size
        return bytes(view[position - size : position])

    return read


def _open_zstd(data: bytes, size: int) -> _Reader:
    import zstandard

    # A window is allocated on the frame header's word alone, so the chunk's size bounds it.
    window = max(_ZSTD_WINDOW, 1 << size.bit_length())
    stream = zstandard.ZstdDecompressor(max_window_size=window).stream_reader(data)
    return _guarded(stream.read, zstandard.ZstdError)


def _open_lz4(data: bytes, size: int) -> _Reader:
    import lz4.frame  # type: ignore[import-untyped]

    frame: Any = lz4.frame.LZ4FrameDecompressor()
    rest = data

    def read(size: int) -> bytes:
        nonlocal rest
        out: bytes = b"" if frame.eof else frame.decompress(rest, max_length=size)
        rest = b""
        return out

    return _guarded(read, RuntimeError)


def _guarded(read: Callable[[int], bytes], error: type[Exception]) -> _Reader:
    def checked(size: int) -> bytes:
        try:
            return read(size)
        except (error, EOFError) as problem:
            raise CaptureError(f"chunk does not inflate: {problem}") from problem

    return checked


def _zstd_compressor() -> Any:
    import zstandard

    return zstandard.ZstdCompressor(level=_ZSTD_LEVEL, write_checksum=False)


_OPEN: dict[str, Callable[[bytes, int], _Reader]] = {
    "": _open_none,
    "zstd": _open_zstd,
    "lz4": _open_lz4,
}
"""How to read a chunk of each compression MCAP names (its registry: zstd, lz4, empty)."""
