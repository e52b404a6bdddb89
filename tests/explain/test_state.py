"""State at any address, what changed between two, and the resources that it shows."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from dp2emu.capture.records import EntryCalled, Record, SurfaceCreated, SurfaceDestroyed
from dp2emu.capture.values import Memory
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format, RenderState
from dp2emu.dp2.states.inspect import Facts
from dp2emu.errors import UsageError
from dp2emu.explain import setters
from dp2emu.explain.address import parse_address
from dp2emu.explain.playback import events_of
from dp2emu.explain.setters import LastSetters, Setter, Setters
from dp2emu.explain.state import (
    Change,
    Looked,
    changes,
    changes_json,
    changes_text,
    differences_text,
    found_setters,
    moment_of,
    set_again,
    state_at,
)
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from tests.explain.opening import FIRST_LIGHT, REAL, opened
from tests.replay.authoring import (
    END,
    EVENT,
    SETTING,
    TARGET,
    called,
    capture_of,
    clear,
    create,
    issue,
    token,
)
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


def test_an_item_that_a_token_does_not_have_is_refused() -> None:
    capture = capture_of(*FOGGY)
    assert moment_of(capture, parse_address("1:2.0")) == moment_of(capture, parse_address("1:2"))
    for address in ("1:2.1", "1:3.0", "1.9"):
        with pytest.raises(UsageError, match=f"no event at {address}: call 1 has events at 1:1"):
            state_at(capture, parse_address(address))


def test_an_api_call_without_events_has_the_state_after_its_last_call_of_the_ddi() -> None:
    (path,) = (path for path in REAL if path.stem == "d3d10_1_tri")
    with opened(path) as capture:
        eventful = {event.api_call for event in events_of(capture)}
        calls = [each.call for each in capture.records() if isinstance(each, EntryCalled)]
        quiet = [
            (number, call) for number, call in enumerate(calls)
            if call is not None and call not in eventful
        ]  # fmt: skip
        last = {call: number for number, call in quiet}
        for call in (quiet[0][1], quiet[-1][1]):
            assert moment_of(capture, parse_address(f"@{call}")).call == last[call]
        with pytest.raises(UsageError, match="no event at @99999"):
            moment_of(capture, parse_address("@99999"))


def _state(address: str) -> dict[str, Any]:
    return state_at(capture_of(*FOGGY), parse_address(address))


def test_changes_are_the_facts_that_differ() -> None:
    before, after = _state("E0"), _state("1")
    assert list(changes(before, after)) == [Change(("render_states", FOGCOLOR), 1, 4)]
    assert changes_text(before, after) == f"render_states.{FOGCOLOR}: 1 -> 4\n"
    assert list(changes(after, after)) == []


def test_objects_of_direct3d_11_have_the_call_that_created_them() -> None:
    (path,) = (path for path in REAL if path.stem == "sokol_texcube")
    with opened(path) as capture:
        before, after = (state_at(capture, parse_address(each)) for each in ("0", "E3"))
        entries = [each for each in capture.records() if isinstance(each, EntryCalled)]
    name = after["RSSetState"]["state"]
    number, _, entry = after["created"][name].partition(" ")
    created = entries[int(number)]
    assert name.startswith("rasterizer state ") and entry == "CreateRasterizerState"
    assert created.entry == entry
    memories = [each.number for each in created.arguments if isinstance(each, Memory)]
    assert memories == [int(name.removeprefix("rasterizer state "))]
    bound = [after["IASetInputLayout"]["layout"], after["VSSetShader"]["shader"], name]
    assert {*bound, *after["resources"]} <= set(after["created"])
    text = changes_text(before, after)
    (line,) = (each for each in text.splitlines() if each.startswith("RSSetState.state: "))
    assert line.endswith(f" ({name}, created by {number} CreateRasterizerState)")
    with opened(path) as capture:
        setters = found_setters(capture, before, after, again=True)
    again = [
        each for each in changes_text(before, after, setters, again=True).splitlines()
        if " again, set by " in each and each.startswith("RSSetState.")
    ]  # fmt: skip
    assert again and all(f"({name}, created by {number} " in each for each in again)
    shader = after["VSSetShader"]["shader"]
    assert f"\n{shader}: created by {after['created'][shader]}\n" in text
    assert "OMSetBlendState.BlendFactor: 1.0 1.0 1.0 1.0 -> 0.0 0.0 0.0 0.0\n" in text
    assert "IASetInputLayout.elements.0: none -> InputSlot=0 " in text and "{" not in text
    document = changes_json(before, after)
    assert document["created"][name] == {"at": None, "against": after["created"][name]}
    assert before["IASetPrimitiveTopology"] == "D3D10_PRIMITIVE_TOPOLOGY_UNDEFINED"
    assert "created" not in _state("E0")


def test_arguments_differ_at_places_of_the_same_token_and_nothing_sets_them() -> None:
    with opened(FIRST_LIGHT) as capture:
        states = [state_at(capture, parse_address(each)) for each in ("E3", "E4", "E2", "E1")]
        draw, other, _, clear = states
        found = found_setters(capture, draw, other)
    assert found == Setters({}, {}, {})
    (change,) = changes(draw, other)
    assert change.path == ("arguments", "1")
    assert [each.split()[1] for each in change[1:]] == ["VStart=6", "VStart=9"]
    assert not [each for each in changes(clear, draw) if each.path[0] == "arguments"]
    owners = ", of 1:6 DRAWPRIMITIVE, there of 1:7 DRAWPRIMITIVE\n"
    assert changes_text(draw, other).endswith(owners)
    assert differences_text(draw, other, LastSetters({}), LastSetters({})).endswith(owners)


def _setter(records: tuple[Record, ...], before: str, after: str) -> Setter | None:
    """The setter of the fog colour between two addresses."""
    capture = capture_of(*records)
    states = [state_at(capture, parse_address(each)) for each in (before, after)]
    found = found_setters(capture, *states)
    assert found is not None
    assert found.last.keys() == found.changed.keys()
    return found.changed.get(("render_states", FOGCOLOR))


@pytest.mark.parametrize(
    ("before", "after", "address"),
    [
        ("0:0", "0:1", "0:0"),
        ("0:0", "0", "0:2"),
        ("0:0", "1:0", "0:2"),
        ("0:0", "1:2", "1:0"),
        ("0", "1", "1:3"),
        ("E0", "E2", "1:0"),
        ("1", "0", None),
        ("1", "1", None),
    ],
)
def test_a_change_is_set_by_the_last_token_between(
    before: str, after: str, address: str | None
) -> None:
    expected = None if address is None else Setter(address, "RENDERSTATE")
    assert _setter(FOGGY, before, after) == expected


def compared(before: str, after: str, *records: Record) -> tuple[Facts, Facts, Setters]:
    capture = capture_of(*records)
    one, other = (state_at(capture, parse_address(each)) for each in (before, after))
    found = found_setters(capture, one, other, again=True)
    assert found is not None
    return one, other, found


def test_a_token_that_sets_the_same_value_again_is_named_after_the_one_that_changed_it() -> None:
    before, after, found = compared("0:0", "0", *SETTING, called(clear(0), fog(7), fog(7)))
    path = "render_states", FOGCOLOR
    assert found.changed[path] == Setter("0:1", "RENDERSTATE")
    assert found.last[path] == Setter("0:2", "RENDERSTATE")
    line = f"render_states.{FOGCOLOR}: 0 -> 7, set by 0:1 RENDERSTATE, again by 0:2 RENDERSTATE\n"
    assert changes_text(before, after, found) == line
    (row,) = changes_json(before, after, found)["changes"]
    assert (row["set_by"], row["changed_by"]) == ("0:2", "0:1")


def test_facts_that_were_set_to_the_value_that_they_have_are_shown_if_wanted() -> None:
    unset = token(Op.SETVERTEXSHADERFUNC, (0,))
    calls = called(fog(7)), called(fog(5), clear(0), unset, fog(7), clear(1))
    before, after, found = compared("1:0", "1:4", *SETTING, *calls)
    assert changes_text(before, after, found) == "no difference\n"
    assert changes_text(before, after, found, again=True) == (
        "vertex_shader: none again, set by 1:2 SETVERTEXSHADERFUNC\n"
        f"render_states.{FOGCOLOR}: 7 again, set by 1:3 RENDERSTATE\n"
    )
    assert changes_json(before, after, found, again=True)["set"][1] == {
        "path": ["render_states", FOGCOLOR],
        "value": 7,
        "set_by": "1:3",
        "set_by_name": "RENDERSTATE",
    }


def test_a_target_that_was_set_again_is_shown_though_others_are_none() -> None:
    again = called(token(Op.SETRENDERTARGET2, (0, TARGET)))
    before, after, found = compared("0:0", "0", *SETTING, again)
    told = {each.path: each.setter.address for each in set_again(before, after, found)}
    assert told["targets", "0"] == "0:0"


def test_what_did_not_change_of_a_group_that_was_set_is_shown() -> None:
    before: Facts = {"blend": {"factor": 1, "targets": [{"mask": 15, "on": 0}, {"mask": 3}, None]}}
    after: Facts = {"blend": {"factor": 1, "targets": [{"mask": 2, "on": 0}, {"mask": 3}, None]}}
    setter = Setter("7", "SetBlendState")
    found = Setters({}, {}, {("blend",): setter})
    assert [each.path for each in changes(before, after)] == [("blend", "targets", "0", "mask")]
    assert [(each.path, each.value) for each in set_again(before, after, found)] == [
        (("blend", "factor"), 1),
        (("blend", "targets", "0", "on"), 0),
        (("blend", "targets", "1"), {"mask": 3}),
        (("blend", "targets", "2"), None),
    ]


def test_an_answer_at_the_end_of_a_call_is_not_of_its_last_token() -> None:
    capture = capture_of(
        *SETTING, called(create(1, EVENT)), called(issue(1, END), fog(1)), called()
    )
    before, after = (state_at(capture, parse_address(each)) for each in ("1:1", "1"))
    found = found_setters(capture, before, after)
    assert found is not None
    expected = [(c.path, c.before, c.after) for c in changes(before, after)]
    assert expected[-1] == (("queries", "1", "state"), "issued", "idle")
    assert found.last[("queries", "1", "state")] == Setter("1", "answer")
    assert found.last[("render_states", FOGCOLOR)] == Setter("1:1", "RENDERSTATE")


def test_a_change_before_the_first_token_is_set_by_the_call() -> None:
    texture = SurfaceDesc(VERTICES, SurfaceKind.TEXTURE, 4, 4, format=Format.P8)
    managed = called(token(Op.SETPRIORITY, (VERTICES, 9)))
    capture = capture_of(
        *SETTING, SurfaceCreated(texture), managed, SurfaceDestroyed(VERTICES), called(fog(1))
    )
    before, after = (state_at(capture, parse_address(each)) for each in ("0", "1"))
    lines = changes_text(before, after, found_setters(capture, before, after)).splitlines()
    assert lines[-1].startswith(f"textures.{VERTICES}: ")
    assert lines[-1].endswith(" -> none, set by 1 D3dDrawPrimitives2")
    assert lines[0].endswith(", set by 1:0 RENDERSTATE")


def test_more_steps_than_the_bound_name_no_setter(monkeypatch: pytest.MonkeyPatch) -> None:
    capture = capture_of(*FOGGY)
    before, after = _state("0:0"), _state("0")
    for steps, end in ((3, "set by 0:2 RENDERSTATE\n"), (2, "between the places\n")):
        monkeypatch.setattr(setters, "STEPS", steps)
        assert changes_text(before, after, found_setters(capture, before, after)).endswith(end)


def test_changes_have_the_sdk_names_of_numbers() -> None:
    capture = capture_of(*SETTING, called(token(Op.RENDERSTATE, (RenderState.ZFUNC, 5))))
    before, after = (state_at(capture, parse_address(each)) for each in ("0:0", "0"))
    assert changes_text(before, after) == (
        "render_states.D3DRS_ZFUNC: 4 (D3DCMP_LESSEQUAL) -> 5 (D3DCMP_GREATER)\n"
    )


def test_long_values_begin_shortly_before_their_difference() -> None:
    long = " ".join(f"v{number}" for number in range(100))
    changed = changes_text({"value": long}, {"value": long.replace("v70", "w70")})
    old, new = changed.removeprefix("value: ").rstrip().split(" -> ")
    assert old.startswith("...") and "v70" in old[:30] and "w70" in new[:30]
    assert old.endswith("...") and new.endswith("...")
    longer = changes_text({"value": long}, {"value": f"{long} more"})
    assert longer.endswith(f"{long[-20:]} more\n")
    assert changes_text({"value": "short"}, {"value": "shorter"}) == "value: short -> shorter\n"


def test_texts_of_several_lines_show_the_first_line_that_differs() -> None:
    texts = "ps_2_0\nmov oC0, c0\n", "ps_2_0\nmov oC0, c1\n"
    one, other = ({"assembly": text} for text in texts)
    line = "assembly: line 2: mov oC0, c0 -> line 2: mov oC0, c1\n"
    assert changes_text(one, other) == line
    shorter = {"assembly": "ps_2_0\nmov oC0, c0\nnop\n"}
    assert changes_text(shorter, one) == "assembly: line 3: nop -> line 3: none\n"


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
