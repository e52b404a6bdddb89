"""Records of sealed captures that are serialized without the MCAP library."""

from __future__ import annotations

import zlib

import pytest
from mcap import records as mcap

from dp2emu.capture import container


@pytest.mark.parametrize("compression", ["", "zstd"])
def test_a_chunk_and_its_index_have_the_bytes_of_the_library(compression: str) -> None:
    messages, packed, times = b"messages" * 9, b"packed", (7, 1 << 40)
    chunk = container.chunk(times, messages, compression, packed)
    assert chunk == container.build(
        mcap.Chunk(
            compression=compression, data=packed, message_start_time=7,
            message_end_time=1 << 40, uncompressed_crc=zlib.crc32(messages), uncompressed_size=72,
        )
    )  # fmt: skip
    index = container.chunk_index(times, (99, len(chunk)), compression, (6, 72))
    assert index == container.build(
        mcap.ChunkIndex(
            chunk_start_offset=99, chunk_length=len(chunk), message_start_time=7,
            message_end_time=1 << 40, message_index_length=0, message_index_offsets={},
            compression=compression, compressed_size=6, uncompressed_size=72,
        )
    )  # fmt: skip
