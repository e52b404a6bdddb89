"""Direct3D 10 and 11 scenes with random changes give results or one error."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.errors import Dp2Error
from dp2emu.scene import play_scene10
from tests.golden.comparing import read_json
from tests.golden10.comparing import HERE
from tests.golden10.playing import write_shaders

SCENES = (
    "instancing/inst_rate2",
    "msaa/msaa_quad",
    "shaders/sh_texload",
    "predication/pred_clear",
)
WILD: tuple[Any, ...] = (
    0, 1, -1, 3, 5, 45, 64, 65535, 2**31, 2**32 - 1, 0.5, -1e30, None, "rt", "vb", "vs", [], {},
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("hostile")
    write_shaders(made / "shaders")
    return made


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["resources", "calls"]),
        st.integers(0, 99),
        st.integers(0, 9),
        st.sampled_from(["drop", "repeat", "change", "change", "change"]),
        st.sampled_from(WILD),
    ),
    min_size=1,
    max_size=5,
)


def changed(scene: dict[str, Any], changes: list[tuple[str, int, int, str, Any]]) -> Any:
    """A scene with operations dropped, repeated, or changed in an argument."""
    scene = copy.deepcopy(scene)
    for part, place, key, what, wild in changes:
        ops = scene[part]
        operation = ops[place % len(ops)]
        if what == "drop" and len(ops) > 1:
            ops.remove(operation)
        elif what == "repeat":
            ops.append(copy.deepcopy(operation))
        elif len(operation) > 1:
            operation[sorted(operation)[key % len(operation)]] = wild
    return scene


@given(name=st.sampled_from(SCENES), changes=CHANGES)
def test_a_randomly_changed_scene_gives_a_result_or_one_error(
    name: str, changes: list[tuple[str, int, int, str, Any]], folder: Path
) -> None:
    scene = changed(read_json(HERE / "scenes" / f"{name}.json"), changes)
    try:
        play_scene10(scene, folder / "out", shaders=folder / "shaders")
    except Dp2Error as error:
        assert error.what
