"""Direct3D 10 and 11 scenes end to end: results, problems and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dp2emu.errors import Dp2Error, SceneError, ShaderError
from dp2emu.scene import SceneResult, play_scene, play_scene10
from tests.cli.running import dp2emu
from tests.golden.comparing import read_json
from tests.golden10.comparing import HERE
from tests.golden10.playing import write_shaders

BUFFER = {"op": "CreateBuffer", "name": "b", "ByteWidth": 4, "BindFlags": 1, "hex": "01020304"}
TEXTURE = {"op": "CreateTexture2D", "name": "t", "Format": 28, "Width": 2, "Height": 1,
           "SampleCount": 1, "BindFlags": 32, "hex": None}  # fmt: skip
VIEW = {"op": "CreateRenderTargetView", "name": "v", "resource": "t"}
EVENT = {"op": "CreateQuery", "name": "q", "Query": 0, "MiscFlags": 0}
MISPLACED = {"op": "CreateDomainShader", "name": "d", "shader": "hs5_tri"}
"""A hull shader created as a domain shader, which is not supported."""


def scene(resources: list[Any], calls: list[Any], **more: Any) -> dict[str, Any]:
    return {"name": "here", "category": "made", "api": "any", "resources": resources,
            "calls": calls, **more}  # fmt: skip


def play(
    folder: Path, resources: list[Any], *calls: Any, **more: Any
) -> tuple[SceneResult, dict[str, Any]]:
    shaders = write_shaders(folder / "shaders")
    result = play_scene10(scene(resources, list(calls), **more), folder, shaders=shaders)
    return result, read_json(folder / "here.json") if result.files else {}


def test_results_have_images_buffers_queries_and_steps(tmp_path: Path) -> None:
    result, found = play(
        tmp_path,
        [BUFFER, TEXTURE, VIEW, EVENT],
        {"op": "ClearRenderTargetView", "view": "v", "r": 1, "g": 0, "b": 0, "a": 0.2},
        {"op": "ReadBuffer", "buffer": "b"},
        {"op": "End", "query": "q"},
        {"op": "GetData", "query": "q"},
        {"op": "GetDataOnce", "query": "q", "DataSize": 2, "Flags": 0, "NullData": 0},
        {"op": "GetDataOnce", "query": "q", "DataSize": -1, "Flags": 0, "NullData": 1},
    )
    assert result.problems == ()
    assert {path.name for path in result.files} == {"here.json", "here.t.png"}
    assert found["queries"] == {"3": 1}
    assert found["buffers"] == {"b": "01020304"}
    assert found["images"] == {"t": "ff000033" * 2}
    assert found["create"]["q"] == "0x00000000"
    assert [(step["call"], step["hr"], step["data"]) for step in found["steps"]] == [
        (3, "0x00000000", "01000000"), (4, "0x80070057", "cccc"), (5, "0x80070057", "")
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["a/../../escaped", "nul\0here", "", "con"])
def test_a_picture_is_never_written_outside_of_the_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / "out" / "here.a").mkdir(parents=True)
    with pytest.raises(SceneError, match="expected a portable file name"):
        play(tmp_path / "out", [{**TEXTURE, "name": name}])
    assert not list(tmp_path.glob("escaped*"))


def test_predication_is_remembered_with_its_value(tmp_path: Path) -> None:
    predicate = {"op": "CreatePredicate", "name": "p", "Query": 5, "MiscFlags": 0}
    _, found = play(
        tmp_path,
        [predicate],
        {"op": "End", "query": "p"},
        {"op": "SetPredication", "predicate": "p", "PredicateValue": 0},
        {"op": "GetPredication"},
        {"op": "SetPredication", "predicate": None, "PredicateValue": 1},
        {"op": "GetPredication"},
    )
    assert [(row["predicate"], row["value"]) for row in found["get_predication"]] == [
        ("p", 0), ("-", 1)
    ]  # fmt: skip


@pytest.mark.parametrize("api", ["any", "d3d10", "d3d11"])
def test_statistics_have_the_fields_of_the_interface(api: str, tmp_path: Path) -> None:
    query = {"op": "CreateQuery", "name": "q", "Query": 4, "MiscFlags": 0}
    calls = {"op": "End", "query": "q"}, {"op": "GetData", "query": "q"}
    _, found = play(tmp_path, [query], *calls, api=api)
    assert len(found["queries"]["1"]) == (8 if api == "d3d10" else 11)


def test_direct3d_10_has_its_own_blend_description(tmp_path: Path) -> None:
    terms = {"BlendEnable": 1, "SrcBlend": 5, "DestBlend": 6, "BlendOp": 1, "WriteMask": 15}
    blend = {"op": "CreateBlendState", "name": "s", **terms, "AlphaToCoverageEnable": 0}
    for api in ("d3d10", "d3d11"):
        use = {"op": "OMSetBlendState", "state": "s", "SampleMask": 1}
        result, found = play(tmp_path, [blend], use, api=api)
        assert (result.problems, found["create"]) == ((), {"s": "0x00000000"})


def test_an_unsupported_object_is_a_problem_only_when_it_is_used(tmp_path: Path) -> None:
    assert play(tmp_path, [MISPLACED])[0].problems == ()
    unset = {"op": "DSSetShader", "shader": None}
    assert play(tmp_path, [MISPLACED], unset)[0].problems == ()
    result, _ = play(tmp_path, [MISPLACED], unset, {"op": "DSSetShader", "shader": "d"})
    assert result.files == ()
    what = "a hull shader where a domain shader is expected"
    assert str(result.problems[0]) == f"call 1 (DSSetShader): {what}"


@pytest.mark.parametrize(
    "call",
    [
        {"op": "ClearRenderTargetView", "view": None, "r": 0, "g": 0, "b": 0, "a": 0},
        {"op": "ClearDepthStencilView", "view": None, "Depth": 1, "Stencil": 0},
        {"op": "GenerateMips", "view": None},
        {"op": "CopyResource", "dst": "t", "src": None},
    ],
)
def test_null_is_refused_where_an_object_is_needed(call: dict[str, Any], tmp_path: Path) -> None:
    _, found = play(tmp_path, [TEXTURE], call)
    assert found["failed_calls"] == [{"call": 0, "op": call["op"], "hr": "0x80070057"}]


@pytest.mark.parametrize(
    "call",
    [
        {"op": "OMSetRenderTargets", "rtvs": [None] * 9, "dsv": None},
        {"op": "SOSetTargets", "targets": [[None, 0]] * 5},
    ],
)
def test_too_many_targets_are_refused(call: dict[str, Any], tmp_path: Path) -> None:
    _, found = play(tmp_path, [], call)
    assert found["failed_calls"] == [{"call": 0, "op": call["op"], "hr": "0x80070057"}]


def test_the_textures_of_a_scene_have_a_limit(tmp_path: Path) -> None:
    large = [{**TEXTURE, "name": f"t{n}", "Width": 4096, "Height": 4096} for n in range(3)]
    with pytest.raises(SceneError, match="surfaces have more than"):
        play(tmp_path, large)


def test_elements_of_instances_without_a_buffer_are_zeros(tmp_path: Path) -> None:
    path = HERE / "scenes" / "instancing" / "inst_start.json"
    given = read_json(path)
    given["calls"] = [
        {**call, "buffer": None} if call["op"] == "IASetVertexBuffer" and call["Slot"] else call
        for call in given["calls"]
    ]
    shaders = write_shaders(tmp_path / "shaders")
    assert play_scene10(given, tmp_path, shaders=shaders).problems == ()


def test_a_refused_call_is_noted_and_the_scene_goes_on(tmp_path: Path) -> None:
    lost = {"op": "CreatePredicate", "name": "lost", "Query": 1, "MiscFlags": 0}
    _, found = play(
        tmp_path, [lost, EVENT], {"op": "Begin", "query": "lost"}, {"op": "End", "query": "q"},
        {"op": "GetData", "query": "q"},
    )  # fmt: skip
    assert found["create"] == {"lost": "0x80070057", "q": "0x00000000"}
    assert found["failed_calls"] == [{"call": 0, "op": "Begin", "hr": "0x80070057"}]
    assert found["queries"] == {"2": 1}


@pytest.mark.parametrize(
    ("resources", "calls", "what"),
    [
        ([{"op": "CreateNothing", "name": "n"}], [], "unknown op 'CreateNothing'"),
        ([{"name": "n"}], [], "missing key 'op'"),
        ([3], [], "expected an object"),
        ([BUFFER, BUFFER], [], "resource 'b': the name is used twice"),
        ([{**BUFFER, "more": 1}], [], "unknown key 'more'"),
        ([{**BUFFER, "ByteWidth": 0}], [], "ByteWidth"),
        ([{**BUFFER, "ByteWidth": 1 << 40}], [], "ByteWidth"),
        ([{**BUFFER, "hex": "0"}], [], "hexadecimal"),
        ([{**TEXTURE, "Width": 1 << 20}], [], "Width"),
        ([{**VIEW, "resource": "x"}], [], "a buffer or texture of the scene, got 'x'"),
        ([EVENT, {**VIEW, "resource": "q"}], [], "a buffer or texture of the scene, got 'q'"),
        ([{**MISPLACED, "shader": "none"}], [], "no shader 'none'"),
        ([{**MISPLACED, "shader": "../x"}], [], "file name"),
        ([], [{"op": "Fly"}], "unknown op 'Fly'"),
        ([], [{"op": "Draw", "VertexCount": -1, "StartVertexLocation": 0}], "VertexCount"),
        ([], [{"op": "Draw", "VertexCount": 1}], "missing key 'StartVertexLocation'"),
        ([], [{"op": "Begin", "query": "x"}], "name of a query of the scene, got 'x'"),
        ([], [{"op": "Flush", "now": 1}], "unknown key 'now'"),
        ([], [{"op": "SOSetTargets", "targets": [1]}], "expected a list"),
        ([], [{"op": "PSSetSampler", "Slot": 999, "sampler": None}], "Slot"),
    ],
)
def test_an_operation_that_breaks_the_schema_is_an_error(
    resources: list[Any], calls: list[Any], what: str, tmp_path: Path
) -> None:
    with pytest.raises(SceneError, match=what):
        play(tmp_path, resources, *calls)


@pytest.mark.parametrize("more", [{"api": "vulkan"}, {"name": "../x"}, {"extra": 1}])
def test_an_invalid_header_is_an_error(more: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="scene"):
        play(tmp_path, [], **more)


def test_an_invalid_shader_is_a_problem_when_it_is_used(tmp_path: Path) -> None:
    folder = write_shaders(tmp_path / "shaders")
    for data in ("00", "4458"):
        (folder / "bad.json").write_text(json.dumps({"dxbc": data}))
        bad = {"op": "CreatePixelShader", "name": "p", "shader": "bad"}
        use = {"op": "PSSetShader", "shader": "p"}
        found = play_scene10(scene([bad], [use]), tmp_path, shaders=folder)
        assert isinstance(found.problems[0].error, ShaderError)
    for data in ("xyz", 3):
        (folder / "bad.json").write_text(json.dumps({"dxbc": data}))
        with pytest.raises(SceneError):
            play_scene10(scene([bad], []), tmp_path, shaders=folder)


@pytest.mark.parametrize(
    ("made", "used", "what"),
    [
        ({"op": "CreateHullShader", "name": "h", "shader": "hs5_tri"},
         {"op": "HSSetShader", "shader": "h"}, "CalcPrivateTessellationShaderSize"),
        ({"op": "CreateComputeShader", "name": "c", "shader": "cs5_fill"},
         {"op": "CSSetShader", "shader": "c"}, "CreateComputeShader"),
    ],
)  # fmt: skip
def test_direct3d_10_refuses_stages_of_11(
    made: dict[str, Any], used: dict[str, Any], what: str, tmp_path: Path
) -> None:
    result, _ = play(tmp_path, [made], used, api="d3d10")
    assert f"{what} before Direct3D 11" in str(result.problems[0])


def test_without_a_folder_there_are_no_shaders(tmp_path: Path) -> None:
    with pytest.raises(Dp2Error, match="no shader"):
        play_scene10(scene([MISPLACED], []), tmp_path)


def test_the_command_finds_the_shaders_beside_the_scenes(tmp_path: Path) -> None:
    write_shaders(tmp_path / "shaders")
    scenes = tmp_path / "scenes"
    scenes.mkdir()
    for family, name in (("clip", "clip_inside"), ("sm5", "sm5_tess_tri0")):
        content = (HERE / "scenes" / family / f"{name}.json").read_text("utf-8")
        (scenes / f"{name}.json").write_text(content.replace("ds5_tri", "hs5_tri"))
    out = tmp_path / "out"
    ran = dp2emu("scene", scenes / "clip_inside.json", "--out", out)
    assert ran.code == 0
    assert {path.name for path in out.iterdir()} == {"clip_inside.json", "clip_inside.rt.png"}
    ran = dp2emu("scene", scenes / "sm5_tess_tri0.json", "--out", out)
    assert ran.code == 3 and "a hull shader where a domain shader is expected" in ran.err


def test_play_scene_plays_both_kinds(tmp_path: Path) -> None:
    assert play_scene(scene([EVENT], []), tmp_path).files == (tmp_path / "here.json",)
