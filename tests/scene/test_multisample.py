"""Scenes with multisampled targets, and with levels and faces as targets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .making import BLACK, FVF, NO_CULL, Play, document, picture, strip

START = (BLACK, FVF, NO_CULL, {"op": "rs", "states": {"ZENABLE": 0}})


def until(x: float, color: str = "0xffff0000") -> dict[str, Any]:
    """A draw that covers all left of x; pixel centres have integer coordinates."""
    corners = [(-1, -1), (x, -1), (-1, 9), (x, 9)]
    vertices = {"layout": "ffffI", "rows": [[*place, 0.5, 1, color] for place in corners]}
    return {"op": "draw_up", "prim": "TRIANGLESTRIP", "count": 2, "stride": 20,
            "vertices": vertices}  # fmt: skip


def target(name: str, samples: int) -> dict[str, Any]:
    return {"type": "rt", "id": name, "width": 8, "height": 6, "format": "D3DFMT_X8R8G8B8",
            "multisample": samples}  # fmt: skip


def red(tmp_path: Path) -> list[int]:
    """The red channel of a row of the picture; asserts that all rows are equal."""
    shown = picture(tmp_path)
    assert not shown[..., 1:].any()
    assert (shown == shown[0]).all()
    return [int(value) for value in shown[0, :, 0]]


@pytest.mark.parametrize("samples", [2, 4, 8])
def test_an_edge_through_centres_leaves_half_of_the_samples(
    play: Play, tmp_path: Path, samples: int
) -> None:
    assert play(*START, until(3), multisample=samples).problems == ()
    assert red(tmp_path) == [255, 255, 255, 128, 0, 0, 0, 0]


@pytest.mark.parametrize(("states", "expected"), [
    ({"MULTISAMPLEMASK": 1}, [64, 64, 64, 64, 0, 0, 0, 0]),
    ({"MULTISAMPLEANTIALIAS": 0}, [255, 255, 255, 0, 0, 0, 0, 0]),
    ({"ADAPTIVETESS_Y": int.from_bytes(b"ATOC", "little")}, [128, 128, 128, 64, 0, 0, 0, 0]),
    ({"POINTSIZE": int.from_bytes(b"A2M1", "little")}, [128, 128, 128, 64, 0, 0, 0, 0]),
    ({"COLORWRITEENABLE": 6}, [0] * 8),
])  # fmt: skip
def test_states_choose_samples(
    play: Play, tmp_path: Path, states: dict[str, int], expected: list[int]
) -> None:
    """Of 4 samples, 0 and 2 are left of the centre; alpha is one half."""
    drawing = {"op": "rs", "states": states}, until(3, "0x80ff0000")
    assert play(*START, *drawing, multisample=4).problems == ()
    assert red(tmp_path) == expected


@pytest.mark.parametrize("samples", [2, 4, 8])
def test_stretchrect_resolves_a_rectangle(play: Play, tmp_path: Path, samples: int) -> None:
    result = play(
        *START, {"op": "setds", "surface": None}, {"op": "setrt", "surface": "m"}, BLACK, until(3),
        {"op": "setrt", "surface": "backbuffer"},
        {"op": "stretch", "src": "m", "dst": "backbuffer", "src_rect": [2, 0, 5, 6],
         "dst_rect": [5, 0, 8, 6]},
        resources=[target("m", samples)],
    )  # fmt: skip
    assert result.problems == ()
    assert red(tmp_path) == [0, 0, 0, 0, 0, 255, 128, 0]


def test_an_interval_over_targets_of_several_sample_counts_adds_pixels(
    play: Play, tmp_path: Path
) -> None:
    """Each target has 12 covered pixels, and 6 of which half of the samples are covered."""
    drawing = [step for name in ("backbuffer", "two", "four")
               for step in ({"op": "setrt", "surface": name}, until(2))]  # fmt: skip
    result = play(
        *START, {"op": "setds", "surface": None}, {"op": "issue", "id": "q", "flag": "BEGIN"},
        *drawing, {"op": "issue", "id": "q", "flag": "END"},
        {"op": "wait", "id": "q", "label": "count"},
        resources=[target("two", 2), target("four", 4),
                   {"type": "query", "id": "q", "query": "OCCLUSION"}],
    )  # fmt: skip
    assert result.problems == ()
    assert document(tmp_path)["queries"]["count"]["value"] == 12 + (12 + 3) + (12 + 3)


def test_levels_and_faces_are_drawn_to_and_read_back(play: Play, tmp_path: Path) -> None:
    usage = {"format": "D3DFMT_X8R8G8B8", "usage": "D3DUSAGE_RENDERTARGET",
             "pool": "D3DPOOL_DEFAULT", "levels": 0}  # fmt: skip
    places = {"t@1": "0xffff0000", "c@0@0": "0xff00ff00", "c@4@2": "0xff0000ff"}
    commands: list[dict[str, Any]] = [{"op": "setds", "surface": None}]
    for place, color in places.items():
        commands += [{"op": "setrt", "surface": place}, strip(0, 0, 8, 6, color=color)]
    looks = [{"op": "readback", "surface": place, "label": place.replace("@", "_")}
             for place in places]  # fmt: skip
    back = {"op": "setrt", "surface": "backbuffer"}
    result = play(
        *START, *commands, back, *looks,
        resources=[{"type": "texture", "id": "t", "width": 8, "height": 4, **usage},
                   {"type": "cube", "id": "c", "edge": 8, **usage}],
    )  # fmt: skip
    assert result.problems == ()
    shown = {place: picture(tmp_path, f".{place.replace('@', '_')}.png") for place in places}
    assert shown["t@1"].shape == (2, 4, 3)
    assert (shown["t@1"] == (255, 0, 0)).all()
    assert (shown["c@0@0"][:6] == (0, 255, 0)).all()
    assert not shown["c@0@0"][6:].any()
    assert shown["c@4@2"].shape == (2, 2, 3)
    assert (shown["c@4@2"] == (0, 0, 255)).all()
