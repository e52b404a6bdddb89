"""Meshes of draws, stage by stage, against what the execution of the draws counts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dp2emu.d3d.enums import Cull
from dp2emu.explain.events import Event
from dp2emu.explain.mesh import Piece, mesh_of, stages_of
from dp2emu.explain.mesh_files import csv_lines, json_of, obj_lines, text_lines
from dp2emu.explain.playback import Observer, Stage, play
from dp2emu.gpu.command.packets import Draw, Packet
from dp2emu.gpu.command.pipeline import RasterState
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.command.topology import CORNERS
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.scene import play_scene10
from tests.explain.opening import FOLDER, REAL, opened
from tests.golden10.playing import write_shaders
from tests.gpu.drawing import color_surface, corner, draw, programmed
from tests.tools.loading import ROOT

_COUNTED = ("clipped", "domain_runs", "geometry_primitives")


def _counts(counters: Counters) -> list[int]:
    return [getattr(counters, name) for name in _COUNTED]


def _found(pieces: list[Piece]) -> list[int]:
    """What execution counts, as the meshes have it."""
    of = {stage: [each for each in pieces if each.stage == stage] for stage in _STAGES}
    return [
        sum(each.corners.shape[1] for each in of["clip"]),
        sum(each.rows for each in of["domain"]),
        sum(each.corners.shape[1] for each in of["geometry"]),
    ]


_STAGES = ("clip", "domain", "geometry")


class _Compared(Observer):
    """Compares the meshes of draws with what their execution counts."""

    def __init__(self) -> None:
        self.draws = 0
        self._before: list[int] = []
        self._pieces: list[Piece] = []

    def before(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        if isinstance(packet, Draw):
            self._before = _counts(stage.gpu.counters)
            self._pieces = list(mesh_of(packet))

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        if isinstance(packet, Draw):
            after = _counts(stage.gpu.counters)
            assert [b - a for a, b in zip(self._before, after, strict=True)] == _found(
                self._pieces
            )
            self.draws += 1


@pytest.mark.parametrize(
    "path",
    [FOLDER / "first_light.dp2", FOLDER / "patches.dp2", FOLDER / "instances.dp2", *REAL],
    ids=lambda path: path.stem,
)
def test_a_draw_clips_the_primitives_of_its_mesh(path: Path) -> None:
    compared = _Compared()
    with opened(path) as capture:
        play(capture, [compared])
    assert compared.draws


SCENES = ROOT / "tests" / "golden10" / "scenes"


@pytest.mark.parametrize(
    "name",
    ["gs/gs_amplify_2", "gs/gs_line_pass", "adjacency/adj_tristrip_nogs",
     "adjacency/adj_linestrip_gs", "sm5/sm5_tess_tri1", "sm5/sm5_gs_instance"],
)  # fmt: skip
def test_later_stages_have_the_vertices_that_their_programs_make(
    name: str, tmp_path: Path
) -> None:
    """Drawn pieces of draws with hull, domain and geometry programs, and their counts."""
    gpu, pieces = Gpu(), list[Piece]()
    gpu.packet_taps.append(
        lambda packet, start: pieces.extend(mesh_of(packet)) if type(packet) is Draw else None
    )
    shaders = write_shaders(tmp_path / "shaders")
    play_scene10(SCENES / f"{name}.json", tmp_path, shaders=shaders, gpu=gpu)
    assert pieces
    assert _found(pieces) == _counts(gpu.counters)


NEAR, BEHIND = 0.0, -2.0


def test_a_primitive_is_drawn_cut_culled_clipped_degenerate_or_beside_the_target() -> None:
    """One triangle of each fate, clockwise ones being culled."""
    left, right, top = (-0.5, -0.5), (0.5, -0.5), (0.0, 0.5)
    shapes = [
        [corner(*at, 0.5) for at in (left, right, top)],
        [corner(*at, 0.5) for at in (left, top, right)],
        [corner(*left, 0.5), corner(*right, 0.5), corner(*top, BEHIND)],
        [corner(*at, BEHIND) for at in (left, right, top)],
        [corner(*left, 0.5), corner(*left, 0.5), corner(*top, 0.5)],
        [corner(*left, 0.5), corner(*right, 0.5), corner(float("nan"), 0.5, 0.5)],
        [corner(x + 8, y, 0.5) for x, y in (left, right, top)],
    ]
    packet = programmed(
        draw(
            [each for shape in shapes for each in shape],
            color=color_surface(), raster=RasterState(cull=Cull.CW),
        )
    )  # fmt: skip
    (clipped,) = mesh_of(packet, ["clip"])
    assert [fate.verdict for fate in clipped.fates.values()] == [
        "drawn", "culled", "cut", "clipped", "degenerate", "infinite", "no_pixels"
    ]  # fmt: skip
    assert stages_of(packet) == ("input", "vertex", "clip")


def test_a_transformed_primitive_without_a_finite_position_is_infinite() -> None:
    packet = draw([corner(1, 1), corner(float("inf"), 1), corner(1, 9)], color=color_surface())
    (clipped,) = mesh_of(packet, ["clip"])
    assert [fate.verdict for fate in clipped.fates.values()] == ["infinite"]


def _triangles() -> list[Piece]:
    vertices = [corner(-0.5, -0.5), corner(0.5, -0.5), corner(0.0, 0.5), corner(1.0, 1.0)]
    packet = programmed(draw(vertices, color=color_surface(), indices=[0, 1, 2, 1, 3, 2]))
    return list(mesh_of(packet))


def _loaded(lines: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of an OBJ file as another program reads them."""
    rows = [line.split() for line in lines]
    vertices = [[*map(float, row[1:])] for row in rows if row[0] == "v"]
    faces = [[int(each) - 1 for each in row[1:]] for row in rows if row[0] == "f"]
    return np.array(vertices), np.array(faces)


def test_the_obj_file_has_the_triangles_of_the_draw() -> None:
    for stage in ("input", "vertex"):
        pieces = [each for each in _triangles() if each.stage == stage]
        vertices, faces = _loaded(list(obj_lines(pieces)))
        assert vertices[faces[1]].tolist() == [[0.5, -0.5, 0.5], [1, 1, 0.5], [0, 0.5, 0.5]]


def test_csv_and_json_have_every_vertex_with_its_index_and_names() -> None:
    pieces = _triangles()
    head, *rows = csv_lines(each for each in pieces if each.stage == "input")
    assert head.startswith("instance,vertex,index,POSITION0.x,POSITION0.y,POSITION0.z")
    assert [row.split(",")[2] for row in rows] == ["0", "1", "2", "1", "3", "2"]
    document = json.loads(json.dumps(json_of(pieces, {"event": 3})))
    assert [each["stage"] for each in document["pieces"]] == ["input", "vertex", "clip"]
    clip = document["pieces"][2]
    assert [each["verdict"] for each in clip["fates"]] == ["drawn", "drawn"]
    assert all(CORNERS[4] == len(each["corners"]) for each in clip["primitives"])


def test_vertices_outside_of_their_buffer_are_named() -> None:
    vertices = [corner(-0.5, -0.5), corner(0.5, -0.5), corner(0.0, 0.5)]
    packet = programmed(draw(vertices, color=color_surface(), indices=[0, 1, 2, 1, 3, 7]))
    pieces = list(mesh_of(packet))
    lines = list(text_lines(pieces))
    assert lines[1] == "  2 vertices have bytes outside of a buffer, which read as 0: 4, 5"
    by_stage = {each["stage"]: each for each in json_of(pieces, {})["pieces"]}
    assert by_stage["input"]["outside"] == [4, 5]
    assert "outside" not in by_stage["vertex"]
    assert json_of(_triangles(), {})["pieces"][0]["outside"] == []
    assert not any("outside" in line for line in text_lines(_triangles()))
