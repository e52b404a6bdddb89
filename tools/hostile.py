"""What hostile input meets first, by parts, and the tests that are nearest to each.

``branches.py`` wants every branch of these modules taken, ``mutate_hostile.py`` breaks them.
"""

from __future__ import annotations

from typing import NamedTuple


class Part(NamedTuple):
    """Modules below the package, what pytest is given, quick tests first, and how many changes a
    sample has.
    """

    modules: tuple[str, ...]
    tests: tuple[str, ...]
    sample: int


PARTS = {
    "walk": Part(
        ("dp2/walk", "dp2/stream", "dp2/table", "dp2/call", "dp2/parse", "layout"),
        (
            "tests/test_layout.py",
            "tests/dp2/test_call.py",
            "tests/dp2/test_walk.py",
            "tests/dp2/test_stream.py",
            "tests/dp2/test_table.py",
            "tests/dp2/test_parse.py",
            "tests/dp2/test_headers.py",
        ),
        45,
    ),
    "responses": Part(
        ("dp2/responses", "runtime/responses"),
        ("tests/runtime/test_responses.py", "tests/dp2/test_responses.py"),
        30,
    ),
    "captures": Part(
        (
            "capture/opened",
            "capture/reader",
            "capture/rawlog",
            "capture/bare",
            "capture/compression",
            "capture/container",
            "capture/files",
            "capture/payloads",
            "capture/records",
            "capture/totals",
            "capture/values",
        ),
        (
            "tests/capture/test_compression.py",
            "tests/capture/test_bare.py",
            "tests/capture/test_values.py",
            "tests/capture/test_totals.py",
            "tests/capture/test_opened.py",
            "tests/capture/test_rawlog.py",
            "tests/capture/test_edges.py",
            "tests/capture/test_payloads.py",
            "tests/capture/test_writer.py",
            "tests/capture/test_reader.py",
            "-k",
            "not flipped and not cut_anywhere and not held_few_times",
        ),
        45,
    ),
    "traces": Part(
        (
            "capture/apitrace/container",
            "capture/apitrace/cursor",
            "capture/apitrace/decoding",
            "capture/apitrace/events",
            "capture/apitrace/guids",
            "capture/apitrace/salvage",
            "capture/apitrace/summary",
            "capture/apitrace/text",
            "capture/apitrace/trace",
            "capture/apitrace/values",
        ),
        (
            "tests/capture/apitrace/test_salvage.py",
            "tests/capture/apitrace/test_text.py",
            "tests/capture/apitrace/test_trace.py",
            "tests/capture/apitrace/test_damage.py",
        ),
        30,
    ),
    "text": Part(
        (
            "text/build",
            "text/codec",
            "text/forms",
            "text/memory",
            "text/reading",
            "text/shape",
            "text/syntax",
            "text/textfile",
            "text/values",
        ),
        (
            "tests/text/test_values.py",
            "tests/text/test_syntax.py",
            "tests/text/test_textfile.py",
            "tests/text/test_shape.py",
            "tests/text/test_dump.py",
            "tests/text/test_roundtrip.py",
            "-k",
            "not memory_does_not and not large_chunks and not every_stream",
        ),
        25,
    ),
    "limits": Part(
        ("limits", "inputs", "gpu/spending", "capture/apitrace/limits"),
        (
            "tests/test_inputs.py",
            "tests/gpu/test_spending.py",
            "tests/gpu/test_spending_stages.py",
            "tests/test_limits.py",
            "-k",
            "not jit and not checked",
        ),
        25,
    ),
}
