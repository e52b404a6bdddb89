"""Inflating what strangers deflated."""

from __future__ import annotations

import lz4.frame
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.capture.compression import deflater, inflate
from dp2emu.errors import CaptureError, UsageError

SIZES = st.sampled_from([0, 1, 1000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1])


def _streamed(data: bytes) -> bytes:
    """A frame that does not tell its content's size, as streaming encoders write it."""
    compressor = zstandard.ZstdCompressor(level=10).compressobj()
    return compressor.compress(data) + compressor.flush()


PACKERS = {
    "": lambda data: data,
    "zstd": lambda data: deflater("zstd")(data),
    "lz4": lz4.frame.compress,
}


@pytest.mark.parametrize("name", PACKERS)
@given(size=SIZES, seed=st.binary(min_size=1, max_size=9))
def test_data_comes_back(name: str, size: int, seed: bytes) -> None:
    data = (seed * size)[:size]
    packed = PACKERS[name](data)
    assert inflate(name, packed, size) == data
    for wrong in {max(size - 1, 0), size + 1} - {size}:
        with pytest.raises(CaptureError, match="declares"):
            inflate(name, packed, wrong)


def test_a_frame_of_unknown_content_size_inflates() -> None:
    assert inflate("zstd", _streamed(b"abc" * 10), 30) == b"abc" * 10


@pytest.mark.parametrize("name", ["zstd", "lz4"])
@given(noise=st.binary(max_size=100))
def test_noise_is_an_error(name: str, noise: bytes) -> None:
    with pytest.raises(CaptureError):
        inflate(name, noise, 1000)


@pytest.mark.parametrize("name", ["zstd", "lz4"])
def test_a_cut_frame_is_an_error(name: str) -> None:
    packed = PACKERS[name](bytes(range(256)) * 10)
    for size in range(len(packed) - 4):
        with pytest.raises(CaptureError):
            inflate(name, packed[:size], 2560)


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(CaptureError, match="'rar'"):
        inflate("rar", b"", 0)
    with pytest.raises(UsageError, match="'lz4'"):
        deflater("lz4")


def test_a_chunk_has_the_same_bytes_whatever_was_compressed_before() -> None:
    chunks = [bytes(range(256)) * 300, b"", b"abc" * 1000, bytes(70_000)]
    compress = deflater("zstd")
    again = [compress(chunk) for chunk in (*chunks, *reversed(chunks))]
    alone = [deflater("zstd")(chunk) for chunk in chunks]
    assert again == [*alone, *reversed(alone)]
