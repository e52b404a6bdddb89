"""Direct3D 9 operations with answers: query results and values of the interface."""

from __future__ import annotations

from pathlib import Path

import pytest

from dp2emu.errors import SceneError

from .making import BLACK, Play, document


def test_capabilities_and_all_query_types_are_reported(play: Play, tmp_path: Path) -> None:
    result = play({"op": "caps", "label": "caps", "device": 0},
                  {"op": "querysupport", "label": "queries"}, BLACK)  # fmt: skip
    assert result.problems == ()
    caps = document(tmp_path)["values"]["caps"]["value"]
    assert caps["PixelShaderVersion"] == 0xFFFF0300
    assert caps["PS20Caps"]["NumTemps"] == 32
    found = result.values["queries"]["value"]
    assert (found["OCCLUSION"], found["MEMORYPRESSURE"]) == (1, 0)


def test_commands_of_a_refused_query_have_no_effect(play: Play, tmp_path: Path) -> None:
    result = play(
        {"op": "issue", "id": "m", "flag": "END"}, {"op": "wait", "id": "m", "label": "w"},
        {"op": "getdata", "id": "m", "label": "g"},
        resources=[{"type": "query", "id": "m", "query": "MEMORYPRESSURE"}],
    )  # fmt: skip
    assert result.problems == ()
    assert result.values["create:m"] == {"hr": "0x8876086a", "data_size": 0}
    assert [result.queries[label]["hr"] for label in ("w", "g")] == [None, None]
    assert document(tmp_path)["issues"] == {}


@pytest.mark.parametrize("kind", ["RESOURCEMANAGER", "VERTEXSTATS", "PIPELINETIMINGS", "EVENT"])
def test_queries_of_other_types_have_results(play: Play, kind: str) -> None:
    result = play(
        BLACK, {"op": "issue", "id": "q", "flag": "BEGIN|END", "label": "both"},
        {"op": "getdata", "id": "q", "label": "now", "flush": True},
        {"op": "wait", "id": "q", "label": "end"},
        resources=[{"type": "query", "id": "q", "query": kind}],
    )  # fmt: skip
    assert result.queries["now"] == result.queries["end"]
    assert result.queries["end"]["hr"] == "0x00000000"
    assert result.queries["end"]["size"] == result.values["create:q"]["data_size"]


def test_values_of_the_interface(play: Play) -> None:
    values = play(
        {"op": "viewport", "x": 1, "y": 2, "width": 3, "height": 4, "minz": 0.25},
        {"op": "scissor", "rect": [1, 2, 3, 4]},
        {"op": "rs", "states": {"ZFUNC": "D3DCMP_NEVER"}},
        {"op": "tss", "stage": 1, "states": {"COLOROP": "D3DTOP_ADD"}},
        {"op": "ss", "sampler": 2, "states": {"ADDRESSU": "D3DTADDRESS_CLAMP"}},
        {"op": "getviewport", "label": "view"},
        {"op": "getscissor", "label": "scissor"},
        {"op": "getrs", "state": "ZFUNC", "label": "rs"},
        {"op": "getrs", "state": "DESTBLEND", "label": "rs default"},
        {"op": "gettss", "stage": 1, "state": "COLOROP", "label": "tss"},
        {"op": "getss", "sampler": 2, "state": "ADDRESSU", "label": "ss"},
        {"op": "querysupport", "query": "OCCLUSION", "label": "query"},
        {"op": "querysupport", "query": "MEMORYPRESSURE", "label": "no query"},
        {"op": "checkfmt", "usage": "D3DUSAGE_RENDERTARGET", "rtype": "SURFACE",
         "format": "D3DFMT_R5G6B5", "label": "target"},
        {"op": "checkfmt", "usage": "D3DUSAGE_DEPTHSTENCIL", "rtype": "SURFACE",
         "format": "D3DFMT_D16", "label": "depth"},
        {"op": "checkfmt", "rtype": "TEXTURE", "format": "D3DFMT_INDEX16", "label": "texture"},
        {"op": "checkms", "format": "D3DFMT_R5G6B5", "samples": 4, "label": "samples"},
        {"op": "checkms", "format": "D3DFMT_D24S8", "samples": 8, "label": "of depth"},
        {"op": "checkms", "format": "D3DFMT_R5G6B5", "samples": 3, "label": "of 3"},
        {"op": "checkms", "format": "D3DFMT_DXT1", "samples": 2, "label": "of blocks"},
    ).values  # fmt: skip
    ok, not_available = "0x00000000", "0x8876086a"
    assert values == {
        "view": {"hr": ok, "viewport": [1, 2, 3, 4, 0.25, 1.0]},
        "scissor": {"hr": ok, "rect": [1, 2, 3, 4]},
        "rs": {"hr": ok, "value": 1},
        "rs default": {"hr": ok, "value": 1},
        "tss": {"hr": ok, "value": 7},
        "ss": {"hr": ok, "value": 3},
        "query": {"hr": ok, "value": 1},
        "no query": {"hr": not_available, "value": 0},
        "target": {"hr": ok, "value": 0},
        "depth": {"hr": ok, "value": 0},
        "texture": {"hr": ok, "value": 0x8876086A},
        "samples": {"hr": ok, "value": 1},
        "of depth": {"hr": ok, "value": 1},
        "of 3": {"hr": not_available, "value": 0},
        "of blocks": {"hr": not_available, "value": 0},
    }


def test_validate_device_reports_one_pass_or_the_reason(play: Play) -> None:
    values = play(
        {"op": "validate", "label": "fine"},
        {"op": "ss", "sampler": 3, "states": {"MINFILTER": "D3DTEXF_NONE"}},
        {"op": "validate", "label": "no filter"},
        {"op": "ss", "sampler": 3, "states": {"MINFILTER": "D3DTEXF_LINEAR"}},
        {"op": "setds", "surface": "small"},
        {"op": "validate", "label": "too small"},
        {"op": "rs", "states": {"ZENABLE": 0, "ZWRITEENABLE": 0}},
        {"op": "validate", "label": "unused"},
        {"op": "adapter", "label": "adapter"},
        resources=[{"type": "ds", "id": "small", "width": 4, "height": 4,
                    "format": "D3DFMT_D16"}],
    ).values  # fmt: skip
    assert values["fine"] == values["unused"] == {"hr": "0x00000000", "value": 1}
    assert values["no filter"] == {"hr": "0x88760822", "value": 0}
    assert values["too small"] == {"hr": "0x88760821", "value": 0}
    assert values["adapter"]["value"]["Description"] == "dp2emu"


def test_an_unknown_resource_type_is_refused(play: Play) -> None:
    for name in ("MEMORY", "PALETTE", "surface"):
        with pytest.raises(SceneError, match="rtype: expected a resource type"):
            play({"op": "checkfmt", "rtype": name, "format": "D3DFMT_L8", "label": "x"})
