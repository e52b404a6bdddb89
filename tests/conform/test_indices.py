"""Cases of vertex numbers beyond the vertices, and drivers that draw such vertices."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from dp2emu.conform import Verdict, kit, run_case, run_kit
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.dp2.table import TABLE

REFERENCE = Options(engine="reference")
VERSIONS = (6, 7, 8, 9)


class Unchecked(Driver):
    """A driver that draws vertices which lie in memory, whether the call has them or not."""

    def __init__(self) -> None:
        super().__init__(options=REFERENCE)

    def submit(self, call: Call) -> Answer:
        return super().submit(replace(call, dwVertexLength=self.length(call)))

    def length(self, call: Call) -> int:
        return len(call.vertices or b"") // (call.dwVertexSize or 1)


class PreviousSize(Unchecked):
    """A driver that counts a call's vertices with the vertex size of the call before."""

    before = 0

    def length(self, call: Call) -> int:
        if not call.vertices:
            return 0
        before, self.before = self.before or call.dwVertexSize, call.dwVertexSize
        return call.dwVertexLength * call.dwVertexSize // before


class PreviousLength(Unchecked):
    """A driver that takes the number of vertices from the call before."""

    before = 0

    def length(self, call: Call) -> int:
        before, self.before = self.before or call.dwVertexLength, call.dwVertexLength
        return before


def failed(rig: Driver, *prefixes: str, ddi: int = 9) -> set[str]:
    outcomes = run_kit(kit(*prefixes, ddi=ddi), rig)
    return {o.case.name for o in outcomes if o.verdict is Verdict.FAILED}


def named(*ends: str, ddi: int = 9) -> set[str]:
    return {case.name for case in kit("indices", ddi=ddi) if case.name.endswith(ends)}


@pytest.mark.parametrize("ddi", VERSIONS)
def test_the_emulator_draws_nothing_from_beyond(ddi: int) -> None:
    outcomes = list(run_kit(kit("indices", ddi=ddi), Driver(options=REFERENCE)))
    assert [(o.case.name, o.why) for o in outcomes if o.verdict is not Verdict.PASSED] == []


@pytest.mark.parametrize("ddi", VERSIONS)
def test_every_token_that_draws_vertices_of_the_call_or_of_streams_has_cases(ddi: int) -> None:
    names = {case.name.split(".")[1] for case in kit("indices", ddi=ddi)}
    drawing = {row.name.lower() for row in TABLE.values() if row.since <= ddi
               and (row.doc.startswith("Draw") or row.doc.startswith("Like DRAW"))}  # fmt: skip
    without = {"trianglefan_imm", "linelist_imm", "drawrectpatch", "drawtripatch"}
    assert names == drawing - without


@pytest.mark.parametrize("ddi", VERSIONS)
def test_every_indexed_token_has_indices_beyond_the_vertices(ddi: int) -> None:
    """Its name says that it is indexed; cases are all, the first, the last index, far ones."""
    names = {case.name for case in kit("indices", ddi=ddi)}
    for row in TABLE.values():
        if "INDEXED" not in row.name or row.since > ddi:
            continue
        own = {name.rpartition(".")[2] for name in names
               if name.split(".")[1] == row.name.lower()}  # fmt: skip
        ends = {"index", "base", "negative", "indices"} if row.name.startswith("DRAW") else {
            "all", "first", "last", "far", "highest"
        }  # fmt: skip
        assert ends <= own, row.name
        assert "start" in own or row.head is None


@pytest.mark.parametrize("ddi", (6, 9))
def test_a_driver_that_checks_no_vertex_number_draws_what_the_call_has_not(ddi: int) -> None:
    of_call = {row.name.lower() for row in TABLE.values() if row.op < 28 and row.op != 8}
    found = failed(Unchecked(), "indices", ddi=ddi)
    wanted = {
        name for name in named(".all", ".first", ".last", ".start", ".count", ddi=ddi)
        if name.split(".")[1] in of_call
    } | named(".smaller_before", ".more_before", ddi=ddi)  # fmt: skip
    streams = {name for name in named("_before") if "draw" in name.split(".")[1]}
    assert found == wanted - streams


@pytest.mark.parametrize("ddi", (6, 9))
def test_bounds_of_the_vertex_size_before_are_named(ddi: int) -> None:
    sizes = {name for name in named(".smaller_before", ".larger_before", ddi=ddi)
             if "primitive" not in name}  # fmt: skip
    assert failed(PreviousSize(), "indices", ddi=ddi) == sizes
    assert len(sizes) == 4


def test_bounds_of_the_length_before_are_named() -> None:
    assert failed(PreviousLength(), "indices") == named(".more_before", ".fewer_before")


def test_a_driver_that_fails_the_next_call_is_named() -> None:
    class Stuck(Driver):
        stuck = False

        def submit(self, call: Call) -> Answer:
            answer = super().submit(call)
            self.stuck = self.stuck or bool(answer.ddrval)
            return replace(answer, ddrval=1) if self.stuck else answer

    case = kit("indices.trianglelist.start")[0]
    assert run_case(case, Stuck(options=REFERENCE)).verdict is Verdict.FAILED
