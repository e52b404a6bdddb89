"""State at any address, what changed between two, and the resources that it shows."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from dp2emu.capture.records import Record, SurfaceCreated
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format, RenderState
from dp2emu.errors import UsageError
from dp2emu.explain.address import parse_address
from dp2emu.explain.state import Change, Looked, changes, changes_text, state_at
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from tests.explain.opening import REAL, opened
from tests.replay.authoring import SETTING, called, capture_of, clear, token
from tests.shader.test_constant_names import commented, constant_table

FOGCOLOR = "D3DRS_FOGCOLOR"


def fog(value: int) -> bytes:
    return token(Op.RENDERSTATE, (RenderState.FOGCOLOR, value))


FOGGY: tuple[Record, ...] = (
    *SETTING, called(fog(1), clear(0), fog(2)), called(fog(3), clear(0), clear(1), fog(4))
)  # fmt: skip


@pytest.mark.parametrize(
    ("address", "color"),
    [("0", 2), ("0:2", 1), ("1", 4), ("E0", 1), ("E1", 3), ("E2", 3), ("1:2", 3)],
)
def test_a_state_is_of_a_call_a_token_or_the_event_that_uses_it(address: str, color: int) -> None:
    facts = state_at(capture_of(*FOGGY), parse_address(address))
    assert (facts["address"], facts["render_states"][FOGCOLOR]) == (address, color)


def test_an_event_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(UsageError, match="no event at E9: there are events E0 to E2"):
        state_at(capture_of(*FOGGY), parse_address("E9"))


def test_a_frame_and_an_api_call_of_an_import_have_a_state() -> None:
    (path,) = (path for path in REAL if path.stem == "d3d9_tri")
    with opened(path) as capture:
        facts = state_at(capture, parse_address("frame 0"))
        assert facts["targets"][0]["surface"] == 2


def _state(address: str) -> dict[str, Any]:
    return state_at(capture_of(*FOGGY), parse_address(address))


def test_changes_are_the_facts_that_differ() -> None:
    before, after = _state("E0"), _state("1")
    assert list(changes(before, after)) == [Change(("render_states", FOGCOLOR), 1, 4)]
    assert changes_text(before, after) == f"render_states.{FOGCOLOR}: 1 -> 4\n"
    assert list(changes(after, after)) == []


def test_members_of_lists_are_compared_one_by_one() -> None:
    before = {"elements": [{"type": 1}, {"type": 2}], "values": [1, 2]}
    after = {"elements": [{"type": 1}, {"type": 3}, {"type": 4}], "values": [1, 3]}
    assert list(changes(before, after)) == [
        Change(("elements", "1", "type"), 2, 3),
        Change(("elements", "2"), None, {"type": 4}),
        Change(("values",), [1, 2], [1, 3]),
    ]


XYZ = 2
VERTICES = 5


def _buffer() -> tuple[Record, ...]:
    """A vertex buffer of two vertices of x, y and z, bound, and a vertex shader with a table."""
    data = struct.pack("<6f", 1, 2, 3, 4, 5, float("inf"))
    code = commented(constant_table((b"World", 2, 0, 2, 4, 4)))
    shader = struct.pack("<BBHII", Op.CREATEVERTEXSHADERFUNC, 0, 1, 9, len(code)) + code
    constants = struct.pack("<BBHII8f", Op.SETVERTEXSHADERCONST, 0, 1, 0, 2, *range(8))
    from dp2emu.capture.records import MemoryWritten

    return (
        *SETTING,
        SurfaceCreated(SurfaceDesc(VERTICES, SurfaceKind.VERTEXBUFFER, len(data))),
        MemoryWritten(VERTICES, 0, data),
        called(
            token(Op.SETVERTEXSHADER, (XYZ,)),
            token(Op.SETSTREAMSOURCE, (0, VERTICES, 12)),
            shader,
            token(Op.SETVERTEXSHADERFUNC, (9,)),
            constants,
        ),
    )


def test_bound_vertices_are_decoded_by_the_declaration() -> None:
    facts = state_at(capture_of(*_buffer()), parse_address("0"), looked=Looked(vertices=9))
    assert facts["vertices"] == {
        "columns": ["POSITION0.x", "POSITION0.y", "POSITION0.z"],
        "vertices": [[1.0, 2.0, 3.0], [4.0, 5.0, "inf"]],
    }


def test_constants_have_the_names_of_the_shaders_table() -> None:
    facts = state_at(capture_of(*_buffer()), parse_address("0"), looked=Looked())
    assert facts["constants_by_name"] == {
        "vertex": {"World": {"register": "c0", "values": [[0, 1, 2, 3], [4, 5, 6, 7]]}}
    }


def test_bound_surfaces_are_pictures(tmp_path: Path) -> None:
    facts = state_at(
        capture_of(*FOGGY), parse_address("1"), looked=Looked(pictures=tmp_path / "a")
    )
    assert facts["pictures"] == {
        "target0": {
            "surface": 2, "file": "target0_surface2.png", "width": 8, "height": 4,
            "format": Format.X8R8G8B8.sdk,
        }
    }  # fmt: skip
    assert (tmp_path / "a" / "target0_surface2.png").read_bytes().startswith(b"\x89PNG")
