"""construct -> NumPy: what is mapped, and what is refused rather than guessed."""

from __future__ import annotations

import struct
from typing import Any

import construct
import numpy as np
import pytest

from dp2emu.layout import dtype_of, packer_of, reader_of, record_packer


def test_every_scalar_maps_to_a_little_endian_dtype_of_its_size() -> None:
    scalars = {
        construct.Int8ul: "u1", construct.Int8sl: "i1", construct.Int16ul: "<u2",
        construct.Int16sl: "<i2", construct.Int32ul: "<u4", construct.Int32sl: "<i4",
        construct.Int64ul: "<u8", construct.Int64sl: "<i8", construct.Float32l: "<f4",
        construct.Float64l: "<f8",
    }  # fmt: skip
    for scalar, code in scalars.items():
        assert dtype_of(scalar) == np.dtype(code)


def test_nested_records_and_arrays_keep_their_packing() -> None:
    inner = construct.Struct("b" / construct.Int8ul, "w" / construct.Int16ul)
    outer = construct.Struct("d" / construct.Int32ul, "rows" / construct.Array(3, inner))
    assert dtype_of(outer).itemsize == 4 + 3 * 3
    assert dtype_of(outer).fields["rows"][1] == 4


def test_a_size_that_depends_on_data_has_no_dtype() -> None:
    assert dtype_of(construct.Struct("rest" / construct.GreedyBytes)) is None


@pytest.mark.parametrize("declaration", [construct.Int32ub, construct.Padding(4)])
def test_what_has_no_exact_dtype_is_refused(declaration: construct.Construct) -> None:
    with pytest.raises(TypeError):
        dtype_of(declaration)


def test_a_reader_reads_what_the_dtype_says() -> None:
    dtype = np.dtype([("b", "u1"), ("w", "<u2"), ("d", "<u4"), ("f", "<f4")])
    data = b"\0" + np.array([(1, 2, 3, 0.5)], dtype).tobytes()
    assert reader_of(dtype)(data, 1) == {"b": 1, "w": 2, "d": 3, "f": 0.5}


def test_a_reader_refuses_padded_records() -> None:
    with pytest.raises(TypeError):
        reader_of(np.dtype([("w", "<u2"), ("d", "<u4")], align=True))


FLAT = np.dtype([("b", "u1"), ("w", "<u2"), ("f", "<f4")])
MATRIX = np.dtype([("state", "<u4"), ("matrix", "<f4", (2, 2)), ("end", FLAT)])


@pytest.mark.parametrize(("dtype", "record"), [
    (np.dtype("<u2"), 7),
    (FLAT, (1, 2, 0.1)),
    (MATRIX, (9, ((1.5, -2.0), (float("inf"), 1 / 3)), (True, 0xFFFF, 3))),
])  # fmt: skip
def test_a_record_is_packed_as_numpy_packs_it(dtype: np.dtype[Any], record: Any) -> None:
    assert record_packer(dtype)(record) == np.array(record, dtype).tobytes()


@pytest.mark.parametrize(("dtype", "record"), [
    (np.dtype("<u2"), 1 << 16), (np.dtype("<u2"), 1.0), (FLAT, (1, 2)), (FLAT, [1, 2, 0.1]),
    (FLAT, (1, -2, 0.1)), (MATRIX, (9, (1.5, -2.0, 1.0, 0.5), (1, 2, 3.0))),
    (MATRIX, (9, 1.0, (1, 2, 3.0))), (FLAT, (1, 2, 1e39)),
])  # fmt: skip
def test_a_packer_refuses_what_numpy_would_convert(dtype: np.dtype[Any], record: Any) -> None:
    with pytest.raises((struct.error, OverflowError)):
        record_packer(dtype)(record)


def test_bytes_are_bytes() -> None:
    assert dtype_of(construct.Bytes(3)) == np.dtype("V3")


def test_a_construct_that_says_another_size_is_refused() -> None:
    class Wide(construct.Adapter):
        def _sizeof(self, context: object, path: str) -> int:
            return 8

    with pytest.raises(TypeError, match="dtype has 4 bytes, construct 8"):
        dtype_of(Wide(construct.Int32ul))


def test_a_packer_flattens_records_and_arrays() -> None:
    inner = construct.Struct("b" / construct.Int8ul, "w" / construct.Int16ul)
    outer = construct.Struct("d" / construct.Int32sl, "rows" / construct.Array(2, inner))
    assert packer_of(dtype_of(outer)).pack(-1, 1, 2, 3, 4) == (b"\xff\xff\xff\xff\1\2\0\3\4\0")


def test_what_has_no_dtype_has_no_packer() -> None:
    with pytest.raises(TypeError, match="variable size"):
        packer_of(None)


def test_fields_without_a_name_are_numbered() -> None:
    both = construct.Struct(construct.Int8ul, "w" / construct.Int16ul)
    assert dtype_of(both).names == ("_0", "w")
