"""Decompression of the containers of a trace, piece by piece.

A tracer writes ``at`` and chunks of raw snappy; ``apitrace repack`` also gzip, zstd and brotli.
Brotli has no magic, so anything without one is brotli.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from io import BufferedReader
from typing import BinaryIO, cast

from dp2emu.argument_check import checked
from dp2emu.capture.files import Source
from dp2emu.errors import CaptureError
from dp2emu.limits import Limits

MAGICS = {b"at": "snappy", b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
"""Names of a trace's compression formats by the first bytes of the file; brotli has none."""
LONGEST_MAGIC = max(map(len, MAGICS))

_PIECE = 1 << 20
_MEMBERS = 1 << 16
"""Number of bytes of a gzip trace that are read at a time: few, since at the end of each gzip
member zlib copies the bytes that follow."""
_GZIP = 31  # zlib's wbits of a gzip head and the largest window
_LONG_LITERAL = 60
"""Smallest value of a snappy literal's 6-bit length field that is no length: 60 to 63 mean that
the length, less 1, is in the 1 to 4 bytes that follow."""


class Packed:
    """The compressed bytes of a trace: ``start``, already read from ``source``, then the rest.

    Mutable: reading moves it.
    """

    def __init__(self, source: Source, start: bytes) -> None:
        self._source = source
        self._start = start

    def read(self, size: int = _PIECE) -> bytes:
        """At most ``size`` bytes, fewer only at the end of the file."""
        start, self._start = self._start[:size], self._start[size:]
        return start + self._source.upto(size - len(start))

    @property
    def offset(self) -> int:
        """Number of bytes read so far."""
        return self._source.offset - len(self._start)

    def mark(self) -> None:
        """Note the current file offset, which errors raised from here on report."""
        self._source.mark = self.offset


def container_of(start: bytes) -> str | None:
    """Compression of a trace whose first bytes are ``start``, by its magic; None if unknown."""
    return next((name for magic, name in MAGICS.items() if start.startswith(magic)), None)


def expand(name: str, packed: Packed, limits: Limits) -> Iterator[bytes]:
    """Decompress ``packed``, a container called ``name``; yields non-empty pieces of its stream.

    Memory is bounded by ``limits`` and the windows of the compressors, whatever the data claims.
    Raises CaptureError where the container is damaged or truncated.
    """
    pieces = (piece for piece in _EXPAND[name](packed, limits) if piece)
    return _bounded(pieces, packed, limits)


def _bounded(pieces: Iterable[bytes], packed: Packed, limits: Limits) -> Iterator[bytes]:
    total = 0
    for piece in pieces:
        total += len(piece)
        refused = limits.inflation(total, packed.offset)
        if refused is not None:
            raise CaptureError(refused)
        yield piece


def _snappy(packed: Packed, limits: Limits) -> Iterator[bytes]:
    packed.read(len(b"at"))
    packed.mark()
    while head := packed.read(4):
        if len(head) < 4:
            raise CaptureError("the file ends inside the size of a chunk")
        size = int.from_bytes(head, "little")
        if not size:
            return
        yield from _chunk(packed, size, limits)
        packed.mark()


def _chunk(packed: Packed, size: int, limits: Limits) -> Iterator[bytes]:
    """Decompress a snappy chunk of ``size`` bytes, in pieces, within limit ``chunk_bytes``.

    If it is damaged or cut, yields its intact start and then raises CaptureError.
    """
    import cramjam

    limit = limits.chunk_bytes
    if size > limit + limit // 6 + 32:  # snappy's bound on the growth of incompressible data
        raise CaptureError(limits.refusal("chunk_bytes", size))
    data = packed.read(size)
    if len(data) < size:
        yield salvage(data, limit)
        raise CaptureError(f"the file ends inside a chunk of {size} bytes")
    try:
        if (expanded := cramjam.snappy.decompress_raw_len(data)) > limit:
            raise CaptureError(limits.refusal("chunk_bytes", expanded))
        whole = memoryview(cramjam.snappy.decompress_raw(data))
    except cramjam.DecompressionError as error:
        yield salvage(data, limit)
        raise CaptureError(f"a chunk does not expand: {error}") from error
    del data
    for start in range(0, len(whole), _PIECE):
        yield bytes(whole[start : start + _PIECE])


def _gzip(packed: Packed, limits: Limits) -> Iterator[bytes]:
    stream = zlib.decompressobj(_GZIP)
    data = b""
    try:
        while data := data or _next(packed, _MEMBERS):
            if stream.eof:
                stream = zlib.decompressobj(_GZIP)
            yield stream.decompress(data, _PIECE)
            data = stream.unconsumed_tail or stream.unused_data
        yield stream.flush()
    except zlib.error as error:
        raise CaptureError(f"the gzip stream does not expand: {error}") from error
    if not stream.eof:
        raise CaptureError("the file ends inside the gzip stream")


def _zstd(packed: Packed, limits: Limits) -> Iterator[bytes]:
    import zstandard

    decompressor = zstandard.ZstdDecompressor(max_window_size=limits.window_bytes)
    stream = decompressor.stream_reader(cast(BinaryIO, packed), read_across_frames=True)
    try:
        while piece := stream.read(_PIECE):
            yield piece
            packed.mark()
    except zstandard.ZstdError as error:
        what = f"the zstd stream does not expand: {error}"
        if "too much memory" in str(error):
            what = limits.refusal("window_bytes", None)
        raise CaptureError(what) from error


def _brotli(packed: Packed, limits: Limits) -> Iterator[bytes]:
    import brotli

    stream = brotli.Decompressor()
    try:
        while not stream.is_finished():
            data = _next(packed) if stream.can_accept_more_data() else b""
            piece = stream.process(data, output_buffer_limit=_PIECE)
            if not (data or piece):
                raise CaptureError("the file ends inside the brotli stream")
            yield piece
    except brotli.error as error:
        raise CaptureError(f"the brotli stream does not expand: {error}") from error


def _next(packed: Packed, size: int = _PIECE) -> bytes:
    packed.mark()
    return packed.read(size)


_EXPAND: dict[str, Callable[[Packed, Limits], Iterator[bytes]]] = {
    "snappy": _snappy,
    "gzip": _gzip,
    "zstd": _zstd,
    "brotli": _brotli,
}


@checked
def begins_as_trace(stream: BufferedReader, name: str) -> bool:
    """Whether a stream holds a trace, by a peek at its magic.

    Brotli has no magic: a name that ends in ``.trace`` counts too.
    """
    start = stream.peek(LONGEST_MAGIC)[:LONGEST_MAGIC]
    return container_of(start) is not None or name.endswith(".trace")


# Salvage of damaged snappy


def salvage(data: bytes, limit: int) -> bytes:
    """The data of the intact elements at the start of raw snappy, at most ``limit`` bytes.

    The format is Google's description of snappy: the decompressed size, then elements, each a
    literal or a copy of earlier output, as the low two bits of its first byte say.
    """
    out = bytearray()
    at = next(
        (at + 1 for at, byte in enumerate(data) if byte < 0x80), len(data)
    )  # behind the size
    while at < len(data) and len(out) < limit:
        kind, bits = data[at] & 3, data[at] >> 2
        extra = max(0, bits - _LONG_LITERAL + 1) if kind == 0 else (0, 1, 2, 4)[kind]
        tail = data[at + 1 : at + 1 + extra]
        at += 1 + extra
        if len(tail) < extra:
            break
        number = int.from_bytes(tail, "little")
        if kind == 0:
            length = 1 + (number if extra else bits)
            out += data[at : at + length]
            at += length
        elif not _copy(out, *_span(kind, bits, number)):
            break
    return bytes(out[:limit])


def _span(kind: int, bits: int, number: int) -> tuple[int, int]:
    """(distance, length) in bytes of a snappy copy of type ``kind``.

    ``bits`` are the upper six of its first byte, ``number`` is the value of the bytes after it.
    """
    if kind == 1:
        return (bits >> 3) << 8 | number, (bits & 7) + 4
    return number, bits + 1


def _copy(out: bytearray, back: int, length: int) -> bool:
    """Append ``length`` bytes copied from ``back`` bytes before the end of ``out``.

    The copy may overlap itself.  False if ``back`` is 0 or reaches before ``out``.
    """
    if not 0 < back <= len(out):
        return False
    source = out[len(out) - back :][:length]
    out += (source * (length // len(source) + 1))[:length]
    return True
