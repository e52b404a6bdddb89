"""Payloads as JSON values."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest

from dp2emu.d3d.devinfo import PAYLOADS
from dp2emu.replay.values import payload_value


@pytest.mark.parametrize(
    ("kind", "data", "value"),
    [
        (8, b"\1\0\0\0", True),
        (8, b"\0\0\0\0", False),
        (11, b"\0\0\0\1", True),
        (9, b"\xff\xff\xff\xff", 0xFFFFFFFF),
        (10, b"\xff" * 8, 2**64 - 1),
        (12, struct.pack("<Q", 10**9), 10**9),
        (6, struct.pack("<2I", 3, 4), {"NumRenderedTriangles": 3, "NumExtraClippingTriangles": 4}),
        (15, struct.pack("<2f", 0.5, float("nan")), {
            "MemoryProcessingPercent": 0.5, "ComputationProcessingPercent": "nan"}),
        (9, b"", None),
    ],
)  # fmt: skip
def test_bytes_mean_what_their_type_says(kind: int, data: bytes, value: Any) -> None:
    found = payload_value(kind, data)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize("kind", PAYLOADS)
@pytest.mark.parametrize("byte", [0x00, 0x41, 0xFF])
def test_every_payload_is_strict_json(kind: int, byte: int) -> None:
    value = payload_value(kind, bytes([byte]) * PAYLOADS[kind].sizeof())
    assert json.loads(json.dumps(value, allow_nan=False)) == value


def test_resource_statistics_are_a_list_by_resource_type() -> None:
    value = payload_value(5, struct.pack("<88I", *range(88)))
    assert len(value["stats"]) == 8
    assert value["stats"][2]["NumEvicts"] == 24
