"""The walk: lengths where sources disagree, bounds, alignment, and bugs other walkers had."""

from __future__ import annotations

import struct
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.generate import generate_stream
from dp2emu.dp2.table import TABLE, Body, Token
from dp2emu.dp2.walk import Command, _shape, decode, scan
from dp2emu.errors import Malformed

SAMPLES = [(row, sample) for row in TABLE.values() for sample in row.samples]
VERTEX_SIZE = 32


def header(op: int, n: int, reserved: int = 0) -> bytes:
    return struct.pack("<BBH", op, reserved, n)


def dwords(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}H", *values)


def only(data: bytes, start: int = 0, vertex_size: int = VERTEX_SIZE) -> Command:
    """The one token ``data[start:]`` is expected to be."""
    scanned = scan(data, start, len(data), vertex_size)
    assert scanned.problem is None
    [command] = scanned.commands
    return Command(*command)


def body_of(data: bytes, start: int = 0, vertex_size: int = VERTEX_SIZE) -> Body:
    found = only(data, start, vertex_size)
    return decode(found.token, data, found.n, found.start, found.end, vertex_size)


def problem_of(data: bytes, vertex_size: int = VERTEX_SIZE) -> Malformed:
    problem = scan(data, 0, len(data), vertex_size).problem
    assert problem is not None
    return problem


# Wire format, "Byte examples".


def test_vector_two_render_states() -> None:
    body = body_of(bytes.fromhex("08000200 07000000 01000000 0E000000 01000000"))
    assert body.items.tolist() == [(7, 1), (14, 1)]


def test_vector_two_triangles_from_vertex_three() -> None:
    body = body_of(bytes.fromhex("12000200 0300"))
    assert (body.count, body.head["wVStart"]) == (2, 3)


def test_vector_indexed_strip() -> None:
    body = body_of(bytes.fromhex("14000200 0000 0000 0100 0200 0300"))
    assert body.items.tolist() == [0, 1, 2, 3]


def test_vector_immediate_fan() -> None:
    data = bytes.fromhex("17000100 07000000") + bytes(range(96))
    body = body_of(data)
    assert body.head["dwEdgeFlags"] == 7
    assert bytes(body.vertices) == bytes(range(96))


@pytest.mark.parametrize(
    ("vector", "op", "fields"),
    [
        ("54000100 05000000 09000000", Op.CREATEQUERY, (5, 9)),
        ("5B000100 05000000 02000000", Op.ISSUEQUERY, (5, 2)),
        ("5B000100 05000000 01000000", Op.ISSUEQUERY, (5, 1)),
    ],
)
def test_vector_query_tokens(vector: str, op: Op, fields: tuple[int, int]) -> None:
    data = bytes.fromhex(vector)
    assert only(data).token.op == op
    assert body_of(data).items.tolist() == [fields]


# Wire format, "Stream shape".


def test_an_empty_range_is_no_tokens_and_no_problem() -> None:
    assert scan(b"", 0, 0) == ([], 0, None)
    assert scan(bytes(8), 4, 4) == ([], 4, None)


def test_the_reserved_byte_is_ignored() -> None:
    assert only(header(Op.SETPIXELSHADER, 1, reserved=0xA5) + dwords(0)).n == 1


def test_no_elements_means_no_payload() -> None:
    data = header(Op.RENDERSTATE, 0) + header(Op.ISSUEQUERY, 0)
    assert [command[0] for command in scan(data, 0, len(data)).commands] == [0, 4]


def test_a_walk_starts_and_ends_where_it_is_told() -> None:
    data = b"\xff" * 8 + header(Op.SETPIXELSHADER, 1) + dwords(7) + b"\xff" * 4
    scanned = scan(data, 8, 16)
    assert [command[0] for command in scanned.commands] == [8]
    assert (scanned.stop, scanned.problem) == (16, None)


def test_nothing_pads_after_an_odd_number_of_words() -> None:
    data = header(Op.TRIANGLELIST, 1) + words(0) + header(Op.SETPIXELSHADER, 1) + dwords(7)
    (_, second) = scan(data, 0, len(data)).commands
    assert second[0] == 6
    assert decode(second[1], data, *second[2:]).items.tolist() == [(7,)]


@pytest.mark.parametrize("offset", [1, 2, 3, 5])
def test_payloads_are_read_at_any_offset(offset: int) -> None:
    data = bytes(offset) + header(Op.CREATEQUERY, 2) + dwords(1, 8, 2, 9)
    assert body_of(data, offset).items.tolist() == [(1, 8), (2, 9)]


def test_a_limited_scan_goes_on_where_it_stopped() -> None:
    data = generate_stream(Random(4), 7)
    whole = scan(data, 0, len(data), VERTEX_SIZE)
    found, at = [], 0
    while at < len(data):
        part = scan(data, at, len(data), VERTEX_SIZE, limit=2)
        assert part.problem is None
        assert 1 <= len(part.commands) <= 2
        found += part.commands
        at = part.stop
    assert found == whole.commands


def test_a_limited_scan_leaves_a_problem_to_the_next_one() -> None:
    data = header(Op.RENDERSTATE, 0) + b"\xff"
    assert scan(data, 0, len(data), limit=1).problem is None
    assert scan(data, 4, len(data), limit=1).problem is not None


@pytest.mark.parametrize("left", [1, 2, 3])
def test_a_header_that_does_not_fit_is_a_problem(left: int) -> None:
    data = header(Op.RENDERSTATE, 0) + bytes([Op.RENDERSTATE, 0, 0])[:left]
    scanned = scan(data, 0, len(data))
    assert (scanned.stop, len(scanned.commands)) == (4, 1)
    assert scanned.problem is not None
    assert (scanned.problem.offset, scanned.problem.token) == (4, None)


@pytest.mark.parametrize("op", [0, 4, 11, 68, 78, 87, 88, 92, 99, 255])
def test_an_unknown_opcode_ends_the_walk_at_its_header(op: int) -> None:
    data = header(Op.SETPIXELSHADER, 1) + dwords(0) + header(op, 1) + dwords(8)
    scanned = scan(data, 0, len(data))
    assert (scanned.stop, len(scanned.commands)) == (8, 1)
    assert scanned.problem is not None
    assert scanned.problem.offset == 8
    assert f"opcode {op} " in scanned.problem.what


def test_a_payload_past_the_end_names_its_token() -> None:
    problem = problem_of(header(Op.CLEAR, 1) + dwords(1, 0, 0, 0))
    assert (problem.offset, problem.token) == (0, "CLEAR")
    assert str(problem) == ("offset 0x0, CLEAR: the payload needs 32 bytes or more, 16 are left")


@pytest.mark.parametrize(("row", "sample"), SAMPLES, ids=lambda value: getattr(value, "name", ""))
def test_a_sample_cut_anywhere_is_a_problem_at_its_offset(row: Token, sample: bytes) -> None:
    for length in range(1, len(sample)):
        cut = bytes(4) + sample[:length]
        scanned = scan(cut, 4, len(cut), VERTEX_SIZE)
        assert (scanned.commands, scanned.stop) == ([], 4)
        assert scanned.problem is not None
        assert scanned.problem.offset == 4
        assert scanned.problem.token == (row.name if length >= 4 else None)


# Wire format, "Ambiguous lengths".


@pytest.mark.parametrize(("flags", "payload"), [(1, 16), (7, 16), (8, 32), (9, 32), (15, 32)])
def test_clear_without_rectangles_has_one_only_with_flag_8(flags: int, payload: int) -> None:
    data = header(Op.CLEAR, 0) + dwords(flags, 0, 0, 0) + bytes(payload - 16)
    assert only(data).end == 4 + payload


def test_clear_length_does_not_depend_on_what_follows() -> None:
    data = header(Op.CLEAR, 0) + dwords(1, 0, 0, 0) + 4 * header(Op.RENDERSTATE, 0)
    assert [command[0] for command in scan(data, 0, len(data)).commands] == [0, 20, 24, 28, 32]


@pytest.mark.parametrize("n", [0, 1, 2, 0xFFFF])
def test_set_render_target_is_one_structure_whatever_n(n: int) -> None:
    data = header(Op.SETRENDERTARGET, n) + dwords(1, 2)
    assert body_of(data).head.tolist() == (1, 2)


@pytest.mark.parametrize("n", [0, 1, 2, 0xFFFF])
def test_update_palette_ignores_n(n: int) -> None:
    data = header(Op.UPDATEPALETTE, n) + dwords(1) + words(0, 3) + dwords(1, 2, 3)
    assert bytes(body_of(data).tails[0]) == dwords(1, 2, 3)


@pytest.mark.parametrize(
    ("op", "size"),
    [
        (Op.SETRENDERTARGET2, 8),
        (Op.SETDEPTHSTENCIL, 4),
        (Op.CREATELIGHT, 4),
        (Op.VIEWPORTINFO, 16),
        (Op.WINFO, 8),
    ],
)
def test_tokens_that_come_once_in_practice_are_n_structures(op: Op, size: int) -> None:
    assert only(header(op, 3) + bytes(3 * size)).end == 4 + 3 * size


@pytest.mark.parametrize("op", [Op.SETPRIORITY, Op.SETTEXLOD])
def test_managed_texture_tokens_are_eight_bytes_an_element(op: Op) -> None:
    assert only(header(op, 3) + bytes(24)).end == 28


def test_light_data_lies_behind_its_own_element() -> None:
    data = header(Op.SETLIGHT, 3) + dwords(0, 0) + dwords(1, 2) + b"L" * 104 + dwords(2, 1)
    body = body_of(data)
    assert body.items.tolist() == [(0, 0), (1, 2), (2, 1)]
    assert [bytes(tail) for tail in body.tails] == [b"", b"L" * 104, b""]


def test_boolean_constants_follow_as_four_bytes_each() -> None:
    data = header(Op.SETVERTEXSHADERCONSTB, 1) + dwords(0, 3) + dwords(1, 0, 1)
    assert bytes(body_of(data).tails[0]) == dwords(1, 0, 1)


@pytest.mark.parametrize(("size", "behind"), [(0, 0), (7, 0), (8, 0), (9, 1), (20, 12)])
def test_extension_size_counts_the_structure_itself(size: int, behind: int) -> None:
    data = header(Op.EXT, 1) + dwords(1, size) + bytes(behind)
    assert only(data).end == len(data)


# Wire format, "Inline vertices".


@pytest.mark.parametrize(("start", "pad"), [(0, 0), (1, 3), (2, 2), (3, 1)])
def test_immediate_vertices_are_aligned_from_the_buffer_base(start: int, pad: int) -> None:
    vertices = bytes(range(64))
    data = bytes(start) + header(Op.LINELIST_IMM, 1) + b"\xee" * pad + vertices
    assert bytes(body_of(data, start).vertices) == vertices


def test_immediate_edge_flags_come_before_the_padding() -> None:
    data = bytes(2) + header(Op.TRIANGLEFAN_IMM, 0) + dwords(7) + b"\xee\xee" + bytes(64)
    body = body_of(data, 2)
    assert body.head["dwEdgeFlags"] == 7
    assert len(body.vertices) == 64


def test_nothing_aligns_the_header_behind_immediate_vertices() -> None:
    # No FVF vertex has 7 bytes; a size that odd shows that only the data is aligned.
    data = header(Op.LINELIST_IMM, 1) + bytes(14) + header(Op.TRIANGLELIST, 1) + words(0)
    assert [command[0] for command in scan(data, 0, len(data), 7).commands] == [0, 18]


def test_an_immediate_fan_of_nothing_still_has_two_vertices() -> None:
    data = header(Op.TRIANGLEFAN_IMM, 0) + dwords(0) + bytes(2 * VERTEX_SIZE)
    assert only(data).end == len(data)


# Wire format, "Walker mistakes".


@pytest.mark.parametrize(
    ("op", "segments", "info"), [(Op.DRAWRECTPATCH, 16, 28), (Op.DRAWTRIPATCH, 12, 16)]
)
def test_patch_tails_do_not_accumulate(op: Op, segments: int, info: int) -> None:
    tails = [b"", b"s" * segments, b"i" * info, b"s" * segments + b"i" * info]
    data = header(op, 4) + b"".join(
        dwords(number, number) + tail for number, tail in enumerate(tails)
    )
    body = body_of(data)
    assert body.items.tolist() == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert [bytes(tail) for tail in body.tails] == tails


@pytest.mark.parametrize(
    "data",
    [
        header(Op.SETVERTEXSHADERCONST, 1) + dwords(0, 0xFFFFFFFF),
        header(Op.SETVERTEXSHADERCONST, 1) + dwords(0, 0x10000000),
        header(Op.CREATEVERTEXSHADER, 1) + dwords(1, 0xFFFFFFFC, 8),
        header(Op.CREATEVERTEXSHADERDECL, 1) + dwords(1, 0x20000000),
        header(Op.EXT, 1) + dwords(0, 0xFFFFFFFF),
        header(Op.SETCONVOLUTIONKERNELMONO, 1) + dwords(0x40000000, 0xC0000000, 3),
        header(Op.CREATEPIXELSHADER, 0xFFFF) + dwords(1, 0),
        header(Op.RENDERSTATE, 0xFFFF),
    ],
    ids=lambda data: TABLE[data[0]].name,
)
def test_sizes_that_wrap_in_32_bits_are_problems(data: bytes) -> None:
    assert problem_of(data).token == TABLE[data[0]].name


def test_immediate_vertices_of_a_wrapping_size_are_a_problem() -> None:
    data = header(Op.LINELIST_IMM, 0x8000) + bytes(64)
    assert problem_of(data, 0x10000).token == "LINELIST_IMM"


# Views.


def test_a_decoded_body_is_a_view_of_the_buffer() -> None:
    data = bytearray(header(Op.CREATEQUERY, 1) + dwords(5, 9))
    body = decode(TABLE[Op.CREATEQUERY], data, 1, 4, 12)
    data[4] = 6
    assert body.items.tolist() == [(6, 9)]


def test_items_and_tails_of_a_single_element_are_views_too() -> None:
    data = bytearray(header(Op.CREATEPIXELSHADER, 1) + dwords(2, 4) + b"code")
    body = decode(TABLE[Op.CREATEPIXELSHADER], data, 1, 4, 16)
    data[4], data[12] = 3, ord("C")
    assert body.items.tolist() == [(3, 4)]
    assert bytes(body.tails[0]) == b"Code"


def test_a_token_without_items_has_an_empty_array_of_them() -> None:
    assert len(body_of(header(Op.RENDERSTATE, 0)).items) == 0
    assert body_of(header(Op.CREATEPIXELSHADER, 0)).tails == []
    assert body_of(header(Op.RENDERSTATE, 0)).items.dtype == TABLE[Op.RENDERSTATE].item_dtype


@given(st.integers(0, 2**32), st.integers(0, 7), st.sampled_from([16, 20, 28, 32]))
def test_tokens_cover_a_valid_stream_without_gaps(seed: int, start: int, vertex_size: int) -> None:
    rng = Random(seed)
    data = bytes(start) + generate_stream(rng, 8, start=start, vertex_size=vertex_size)
    scanned = scan(data, start, len(data), vertex_size)
    assert (scanned.stop, scanned.problem) == (len(data), None)
    ends = [start, *(command[4] for command in scanned.commands)]
    assert [command[0] for command in scanned.commands] == ends[:-1]
    for _, token, n, begin, end in scanned.commands:
        body = decode(token, data, n, begin, end, vertex_size)
        sizes = [part.nbytes for part in (body.items, body.vertices, *body.tails)]
        head = token.head_dtype.itemsize if token.head_dtype is not None else 0
        assert 0 <= end - begin - head - sum(sizes) < 4


@given(st.binary(max_size=64), st.integers(0, 64), st.integers(0, 2**32 - 1))
def test_any_bytes_end_in_tokens_and_at_most_one_problem(
    data: bytes, start: int, vertex_size: int
) -> None:
    first = min(start, len(data))
    scanned = scan(np.frombuffer(data, np.uint8).data, first, len(data), vertex_size)
    assert (scanned.problem is None) == (scanned.stop == len(data))
    for _, token, n, begin, end in scanned.commands:
        decode(token, data, n, begin, end, vertex_size)


def test_a_row_whose_items_are_no_multiple_of_its_count_is_an_error() -> None:
    row = TABLE[Op.RENDERSTATE]
    broken = replace(row, count=lambda n: n * n)
    with pytest.raises(TypeError, match="not linear in n"):
        _shape(broken)
