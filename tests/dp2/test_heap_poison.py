"""Nothing that comes out was left in memory by somebody else."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dp2emu.capture import open_capture
from dp2emu.d3d.enums import QueryType
from dp2emu.dp2.options import Options
from dp2emu.replay import replay
from tests.dp2.rigging import BUFFER, COMMANDS, END, Bench, create, issue

STREAMS = sorted((Path(__file__).parents[2] / "streams").glob("*.dp2"))
POISONS = (0xA5, 0x5C)
_empty = np.empty


def poisoned_empty(poison: int) -> Any:
    """numpy.empty of memory that had ``poison`` in each byte."""

    def empty(*given: Any, **named: Any) -> Any:
        made = _empty(*given, **named)
        if made.dtype != object and made.flags.c_contiguous:
            made.reshape(-1).view(np.uint8).fill(poison)
        return made

    return empty


def document_of(path: Path, engine: str) -> str:
    page = io.StringIO()
    with open_capture(path) as capture:
        replay(capture, options=Options(engine=engine), document=page)
    return page.getvalue()


@pytest.mark.parametrize("engine", ["reference", "jit"])
@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_answers_do_not_depend_on_what_was_in_memory(
    path: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = []
    for poison in POISONS:
        monkeypatch.setattr(np, "empty", poisoned_empty(poison))
        pages.append(document_of(path, engine))
    assert pages[0] == pages[1]


@pytest.mark.parametrize("offset", [0, 12, 100])
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("queries", [0, 1, 5])
def test_only_the_response_is_written(queries: int, strict: bool, offset: int) -> None:
    responses = []
    for poison in POISONS:
        bench = Bench(options=Options(strict=strict))
        bench.ok(b"".join(create(n, QueryType.OCCLUSION) for n in range(queries)))
        commands = b"".join(issue(n, 2) + issue(n, END) for n in range(queries))
        bench.driver.write(COMMANDS, 0, bytes([poison]) * BUFFER)
        answer = bench.ok(commands, dwCommandOffset=offset)
        start = offset if strict else 0
        expected = bytearray([poison] * BUFFER)
        expected[offset : offset + len(commands)] = commands
        expected[start : start + len(answer.response)] = answer.response
        assert bench.memory() == expected
        assert answer.dwErrorOffset == len(answer.response)
        responses.append(answer.response)
    assert responses[0] == responses[1]
