"""What hostile input meets first, by parts, and the tests that are nearest to each.

``branches.py`` wants every branch of these modules taken, ``mutate_hostile.py`` breaks them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Part(NamedTuple):
    """Modules below the package, files of tests, quick ones first, and how many changes a sample
    has.  Tests with one of ``without`` in their names are left out: others are as near.
    """

    modules: tuple[str, ...]
    tests: tuple[str, ...]
    sample: int
    without: tuple[str, ...] = ()


def selection(parts: Iterable[Part]) -> list[str]:
    """What pytest is given to run the tests of some parts."""
    files: dict[str, None] = {}
    left_out: dict[str, None] = {}
    for part in parts:
        files |= dict.fromkeys(part.tests)
        left_out |= dict.fromkeys(part.without)
    words = " and ".join(f"not {word}" for word in left_out)
    return [*files, *(("-k", words) if words else ())]


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
            "tests/dp2/test_header_scan.py",
        ),
        45,
    ),
    "responses": Part(
        ("dp2/queries", "runtime/responses"),
        ("tests/runtime/test_responses.py", "tests/dp2/test_query_responses.py"),
        30,
    ),
    "captures": Part(
        (
            "capture/reader",
            "capture/rawlog",
            "capture/bare",
            "capture/compression",
            "capture/container",
            "capture/files",
            "capture/api_calls",
            "capture/payloads",
            "capture/records",
            "capture/totals",
            "capture/values",
        ),
        (
            "tests/capture/test_compression.py",
            "tests/capture/test_api_calls.py",
            "tests/capture/test_bare.py",
            "tests/capture/test_values.py",
            "tests/capture/test_totals.py",
            "tests/capture/test_reader_forms.py",
            "tests/capture/test_rawlog.py",
            "tests/capture/test_edges.py",
            "tests/capture/test_payloads.py",
            "tests/capture/test_writer.py",
            "tests/capture/test_reader.py",
        ),
        45,
        ("flipped", "cut_anywhere", "held_few_times"),
    ),
    "traces": Part(
        (
            "capture/apitrace/container",
            "capture/apitrace/cursor",
            "capture/apitrace/quick",
            "capture/apitrace/summary",
            "capture/apitrace/text",
            "capture/apitrace/trace",
            "capture/apitrace/values",
        ),
        (
            "tests/capture/apitrace/test_cursor.py",
            "tests/capture/apitrace/test_quick.py",
            "tests/capture/apitrace/test_container.py",
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
            "text/entries",
            "text/forms",
            "text/handles",
            "text/memory",
            "text/shape",
            "text/syntax",
            "text/textfile",
            "text/values",
        ),
        (
            "tests/text/test_values.py",
            "tests/text/test_entries.py",
            "tests/text/test_syntax.py",
            "tests/text/test_textfile.py",
            "tests/text/test_shape.py",
            "tests/text/test_dump.py",
            "tests/text/test_roundtrip.py",
        ),
        25,
        ("memory_does_not", "large_chunks", "every_stream"),
    ),
    "limits": Part(
        ("limits", "inputs", "gpu/work_budget"),
        (
            "tests/test_inputs.py",
            "tests/gpu/test_work_budget.py",
            "tests/gpu/test_spending_stages.py",
            "tests/test_limits.py",
        ),
        25,
        ("jit", "checked"),
    ),
}
