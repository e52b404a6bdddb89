"""The graph of passes and resources."""

from __future__ import annotations

import re

from dp2emu.capture.records import Annotation
from dp2emu.errors import CaptureError
from dp2emu.explain.pass_graph import PassGraph, dot, graph_of
from dp2emu.explain.playback import play
from tests.explain.opening import FIRST_LIGHT, FOLDER, opened
from tests.replay.authoring import FRAME, SETTING, called, capture_of, clear
from tests.test_junit import HOSTILE


def graph(name: str) -> PassGraph:
    with opened(FOLDER / name) as capture:
        return graph_of(capture)


def test_draws_to_the_same_targets_are_one_pass() -> None:
    passes = graph("first_light.dp2").passes
    assert [each.name for each in passes] == [
        "E0: 1 write", "E1-E12: 1 clear, 10 draw", "E15: 1 present",
    ]  # fmt: skip
    assert passes[1].reads == {4: ["vertices 0"]}
    assert {*passes[1].writes} == {2, 3}


def test_a_pass_reads_what_an_earlier_one_wrote() -> None:
    found = graph("moves.dp2")
    written: set[int] = set()
    for each in found.passes:
        assert {*each.reads} <= written | {*found.resources}
        written |= {*each.writes}
    copied = next(each for each in found.passes if each.name.startswith("E11-"))
    assert (copied.reads, copied.writes) == ({4: ["copy"]}, {5: ["copy"]})


def test_each_frame_has_its_own_passes() -> None:
    found = graph_of(capture_of(*SETTING, *[called(clear(1)), called(clear(2)), FRAME] * 2))
    assert [(each.frame, each.name) for each in found.passes] == [
        (0, "E0-E1: 2 clear"), (0, "E2: 1 present"), (1, "E3-E4: 2 clear"), (1, "E5: 1 present"),
    ]  # fmt: skip


def test_every_edge_of_the_graph_has_its_nodes() -> None:
    lines = list(dot(graph("moves.dp2")))
    nodes = {found[1] for line in lines if (found := re.match(r" +(\w+) \[", line))}
    edges = [found.groups() for line in lines if (found := re.match(r" +(\w+) -> (\w+)", line))]
    assert edges
    assert {node for edge in edges for node in edge} <= nodes
    assert lines[0] == "digraph passes {" and lines[-1] == "}"


def test_hostile_labels_stay_inside_their_quotes() -> None:
    for text in (*HOSTILE, '"]; evil [', "\\", 'a\\"b'):
        observer = PassGraph()
        try:
            label = capture_of(Annotation("label.surface.2", text), *SETTING, called(clear(1)))
        except CaptureError:
            continue  # no UTF-8
        play(label, [observer])
        page = "\n".join(dot(observer))
        assert page.isprintable() or set(page) <= {*filter(str.isprintable, page), "\n"}
        outside = re.sub(r'"(?:\\.|[^"\\])*"', "", page)
        assert "evil" not in outside and '"' not in outside


def test_the_capture_of_the_readme_has_a_graph() -> None:
    with opened(FIRST_LIGHT) as capture:
        assert graph_of(capture).resources[2] == "surface 2, 320x240"
