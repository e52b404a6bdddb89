"""The comparison of dumps with those of apitrace (``tests.dumps``)."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.capture.apitrace.encoder import Encoder, header, snappy
from tests.capture.apitrace.samples import call
from tests.dumps import main


@pytest.mark.parametrize(
    ("dump", "failed"),
    [
        ("0 F(a0 = 1)\n1 G()\n", 0), ("0 F(a0 = 1)\n1 G()\n\n", 0), ("0 F(a0 = 2)\n1 G()\n", 1),
        ("0 F(a0 = 1)\n", 1), ("0 F(a0 = 1)\n1 G()\n\n2 H()\n", 1), ("", 1),
    ],
)  # fmt: skip
def test_a_dump_is_equal_but_for_its_empty_last_line(
    dump: str, failed: int, tmp_path: Path
) -> None:
    encoder = Encoder()
    events = [encoder.both(call(0, "F", 1)), encoder.both(call(1, "G"))]
    (tmp_path / "traces").mkdir()
    (tmp_path / "dumps").mkdir()
    (tmp_path / "traces" / "a.trace").write_bytes(snappy(header() + b"".join(events)))
    (tmp_path / "dumps" / "a.txt.gz").write_bytes(gzip.compress(dump.encode()))
    assert main([str(tmp_path)]) == failed


def test_a_folder_without_traces_fails(tmp_path: Path) -> None:
    assert main([str(tmp_path)]) == 1
