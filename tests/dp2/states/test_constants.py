"""Constant registers: what the wire writes, what a draw that was handed them sees."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.options import Options
from dp2emu.dp2.states.constants import PIXEL_FILES, VERTEX_FILES, Constants
from dp2emu.errors import Fault
from tests.dp2.rigging import Bench, header
from tests.dp2.tokens.recorder import executed


def constants(*, strict: bool = False) -> Constants:
    return Constants(VERTEX_FILES, Options(strict=strict))


def floats(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def test_registers_are_zero_and_written_whole_from_the_first() -> None:
    made = constants()
    made.write("c", 2, floats(1, 2, 3, 4, 5, 6, 7, 8))
    assert made.files["c"].values[1:5].tolist() == [[0] * 4, [1, 2, 3, 4], [5, 6, 7, 8], [0] * 4]
    assert list(made.files["c"].written()) == [(2, [1, 2, 3, 4]), (3, [5, 6, 7, 8])]


def test_files_hold_floats_signed_integers_and_booleans() -> None:
    made = constants()
    made.write("i", 15, struct.pack("<4i", -1, 2, -3, 4))
    made.write("b", 3, struct.pack("<2I", 1, 0xFFFFFFFF))
    assert made.files["i"].values[15].tolist() == [-1, 2, -3, 4]
    assert made.files["b"].values[3:5].tolist() == [[1], [0xFFFFFFFF]]
    assert [len(file) for file in made.files.values()] == [256, 16, 16]
    assert len(Constants(PIXEL_FILES, Options()).files["c"]) == 224


def test_what_was_handed_out_never_changes() -> None:
    made = constants()
    made.write("c", 0, floats(1, 1, 1, 1))
    seen = made.files["c"].values
    made.write("c", 0, floats(2, 2, 2, 2))
    assert (seen[0, 0], made.files["c"].values[0, 0]) == (1, 2)
    with pytest.raises(ValueError, match="read-only"):
        seen[0, 0] = 3


def test_nothing_is_copied_while_nobody_looks() -> None:
    made = constants()
    first = made.files["c"].values
    made.write("c", 0, floats(1, 1, 1, 1))
    second = made.files["c"]._values
    made.write("c", 1, floats(1, 1, 1, 1))
    assert first is not second
    assert made.files["c"]._values is second


@pytest.mark.parametrize("first", [255, 256, 0xFFFFFFFF])
def test_registers_a_file_does_not_have_are_dropped(first: int) -> None:
    made = constants()
    made.write("c", first, floats(*range(8)))
    expected = [(255, [0, 1, 2, 3])] if first == 255 else []
    assert list(made.files["c"].written()) == expected


def test_strict_refuses_them_and_writes_nothing() -> None:
    made = constants(strict=True)
    with pytest.raises(Fault, match="c255 to c256 of 256") as caught:
        made.write("c", 255, floats(*range(8)))
    assert caught.value.hr == HResult.D3DERR_DRIVERINVALIDCALL
    assert not np.any(made.files["c"].values)


@pytest.mark.parametrize(
    ("op", "stage", "file", "size"),
    [
        (Op.SETVERTEXSHADERCONST, "vertex", "c", 16),
        (Op.SETVERTEXSHADERCONSTI, "vertex", "i", 16),
        (Op.SETVERTEXSHADERCONSTB, "vertex", "b", 4),
        (Op.SETPIXELSHADERCONST, "pixel", "c", 16),
        (Op.SETPIXELSHADERCONSTI, "pixel", "i", 16),
        (Op.SETPIXELSHADERCONSTB, "pixel", "b", 4),
    ],
)
def test_each_token_writes_its_file(op: Op, stage: str, file: str, size: int) -> None:
    one, two = bytes(range(size)), bytes(range(2 * size))
    data = header(op, 2) + struct.pack("<2I", 3, 1) + one + struct.pack("<2I", 7, 2) + two
    assert executed(data) == [(f"{stage}.write", file, 3, one), (f"{stage}.write", file, 7, two)]


def test_a_driver_takes_constants_of_every_sort() -> None:
    bench = Bench()
    for op, words in ((48, 4), (77, 4), (83, 1), (57, 4), (93, 4), (94, 1)):
        bench.ok(header(op) + struct.pack("<2I", 0, 1) + bytes(4 * words))


def test_every_write_counts_as_a_version() -> None:
    made = constants()
    made.write("c", 0, floats(1, 2, 3, 4))
    made.write("b", 0, struct.pack("<I", 1))
    assert made.version == 2
    with pytest.raises(Fault):
        constants(strict=True).write("c", 256, floats(1, 2, 3, 4))
