"""Snapshots: the moment they show, and the completeness of their state."""

from __future__ import annotations

import json
import struct

import pytest

from dp2emu.capture.records import ContextCreated, SurfaceCreated
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format, RenderState, TransformState
from dp2emu.errors import Dp2Error, UsageError
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.snapshot import Moment, snapshot, snapshot_text
from tests.replay.authoring import (
    BEGIN,
    BUFFER,
    END,
    EVENT,
    OCCLUSION,
    SETTING,
    TARGET,
    called,
    capture_of,
    clear,
    create,
    issue,
    token,
)

INDEXED = 9


def bits(value: float) -> int:
    return int.from_bytes(struct.pack("<f", value), "little")


def fog(value: int) -> bytes:
    return token(Op.RENDERSTATE, (RenderState.FOGCOLOR, value))


def test_a_snapshot_of_a_call_is_taken_after_it() -> None:
    capture = capture_of(*SETTING, called(fog(1)), called(fog(2)), called(fog(3)))
    facts = snapshot(capture, Moment(1))
    assert facts["render_states"]["D3DRS_FOGCOLOR"] == 2
    assert (facts["call"], facts["token"], facts["context"]) == (1, None, 1)


def test_a_snapshot_of_a_token_is_taken_before_it() -> None:
    capture = capture_of(*SETTING, called(fog(1)), called(fog(2), clear(0), fog(3)))
    facts = [snapshot(capture, Moment(1, at)) for at in range(3)]
    assert [f["render_states"]["D3DRS_FOGCOLOR"] for f in facts] == [1, 2, 2]
    assert [(f["offset"], f["next"]) for f in facts] == [
        (0, "RENDERSTATE"), (12, "CLEAR"), (48, "RENDERSTATE")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("at", "what"),
    [
        (Moment(4), "no call 4: the capture has 4 calls"),
        (Moment(1, 1), "no token 1: call 1 executes token 0; 1 means after the last"),
        (Moment(2, 4), "no token 4: call 2 executes tokens 0 to 1; 2 means after the last"),
        (Moment(3, 0), "no token 0: call 3 executes no token; 3 means after the last"),
    ],
)
def test_a_missing_call_or_token_is_an_error(at: Moment, what: str) -> None:
    with pytest.raises(UsageError, match=what):
        calls = called(fog(1)), called(fog(2)), called(fog(3), clear(0)), called()
        snapshot(capture_of(*SETTING, *calls), at)


def test_a_call_without_a_context_is_an_error() -> None:
    with pytest.raises(UsageError, match="context 9"):
        snapshot(capture_of(*SETTING, called(fog(1), context=9)), Moment(0))


def test_earlier_faults_are_reported() -> None:
    faults: list[Dp2Error] = []
    capture = capture_of(*SETTING, called(issue(9, END)), called(fog(4)))
    facts = snapshot(capture, Moment(1), fault=faults.append)
    assert facts["render_states"]["D3DRS_FOGCOLOR"] == 4
    assert [(fault.call, fault.token) for fault in faults] == [(0, "ISSUEQUERY")]


def test_a_snapshot_has_every_kind_of_state() -> None:
    plane, matrix = (bits(1.0),) * 4, (bits(2.0),) * 16
    facts = snapshot(
        capture_of(
            *SETTING,
            SurfaceCreated(SurfaceDesc(INDEXED, SurfaceKind.TEXTURE, 4, 4, format=Format.P8)),
            called(
                token(Op.SETSTREAMSOURCE2, (3, BUFFER, 8, 20)),
                token(Op.SETSTREAMSOURCEUM, (0, 16)),
                token(Op.SETINDICES, (BUFFER, 2)),
                token(Op.SETVERTEXSHADERDECL, (0x44,)),
                token(Op.RENDERSTATE, (RenderState.FOGSTART, bits(0.5)), (250, 7)),
                token(Op.TEXTURESTAGESTATE, (2 | 1 << 16, 4)),
                token(Op.SETTRANSFORM, (TransformState.VIEW, *matrix)),
                token(Op.SETCLIPPLANE, (1, *plane)),
                token(Op.SETMATERIAL, (bits(0.25),) * 17),
                token(Op.CREATELIGHT, (5,)),
                token(Op.SETLIGHT, (5, 0)),
                token(Op.SETLIGHT, (6, 2)) + struct.pack("<I25f", 3, *[0.5] * 24, float("inf")),
                token(Op.SETTEXLOD, (TARGET, 2)),
                token(Op.SETPRIORITY, (BUFFER, 9)),
                token(Op.SETPALETTE, (0, 0, INDEXED), (7, 0x2000, INDEXED)),
                token(Op.UPDATEPALETTE, (7, 1 << 16 | 255, 0xAABBCCDD)),
                token(Op.SETSCISSORRECT, (1, 2, 3, 4)),
                token(Op.VIEWPORTINFO, (1, 2, 3, 4)),
                token(Op.WINFO, (bits(1.0), bits(9.0))),
                token(Op.SETVERTEXSHADERCONST, (4, 1, *plane)),
                token(Op.SETPIXELSHADERCONSTB, (2, 1, 1)),
            ),
        ),
        Moment(0),
    )
    assert facts["targets"][0] == {
        "surface": TARGET, "format": "D3DFMT_X8R8G8B8", "width": 8, "height": 4, "samples": 1,
    }  # fmt: skip
    assert (facts["targets"][1], facts["depth"], facts["vertex_format"]) == (None, None, 0x44)
    assert facts["streams"] == {
        "0": {"user_memory": True, "stride": 16},
        "3": {"surface": BUFFER, "offset": 8, "stride": 20},
    }
    assert facts["indices"] == {"surface": BUFFER, "size": 2}
    assert facts["render_states"]["D3DRS_FOGSTART"] == 0.5
    assert facts["render_states"]["250"] == 7
    assert "251" not in facts["render_states"]
    assert facts["stages"]["2"]["D3DTSS_COLOROP"] == 4
    assert set(facts["stages"]) == {*map(str, range(16)), "256", "257", "258", "259", "260"}
    plain = {"palette": 0, "alpha_palette": False, "most_detailed": 0, "priority": 0}
    assert facts["textures"] == {
        str(TARGET): {**plain, "most_detailed": 2},
        str(BUFFER): {**plain, "priority": 9},
        str(INDEXED): {**plain, "palette": 7, "alpha_palette": True},
    }
    assert facts["palettes"]["7"] == [0xFF000000] * 255 + [0xAADDCCBB]
    assert facts["transforms"] == {"D3DTS_VIEW": [2] * 16}
    assert facts["clip_planes"] == {"1": [1] * 4}
    assert (facts["material"]["diffuse"], facts["material"]["power"]) == ([0.25] * 4, 0.25)
    assert facts["lights"]["5"] == {"enabled": True, "light": None}
    light = facts["lights"]["6"]
    assert (light["enabled"], light["light"]["dltType"], light["light"]["dvPhi"]) == (
        False, 3, "inf"
    )  # fmt: skip
    assert list(facts["scissor"].values()) == [1, 2, 3, 4]
    assert list(facts["viewport"].values()) == [1, 2, 3, 4, 0, 1]
    assert facts["w_range"] == [1, 9]
    assert facts["vertex_constants"] == {"c4": [1] * 4}
    assert facts["pixel_constants"] == {"b2": [1]}
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts


def test_queries_have_their_progress() -> None:
    work = (create(1, OCCLUSION), create(2, OCCLUSION), create(3, EVENT), issue(2, BEGIN))
    capture = capture_of(*SETTING, called(*work, issue(3, END), issue(1, END), issue(1, BEGIN)))
    queries = snapshot(capture, Moment(0, 6))["queries"]
    assert queries == {
        "1": {"type": "D3DQUERYTYPE_OCCLUSION", "state": "issued"},
        "2": {"type": "D3DQUERYTYPE_OCCLUSION", "state": "building"},
        "3": {"type": "D3DQUERYTYPE_EVENT", "state": "issued"},
    }
    queries = snapshot(capture, Moment(0))["queries"]
    assert [query["state"] for query in queries.values()] == ["building", "building", "idle"]


def test_text_has_a_line_for_each_fact() -> None:
    text = snapshot_text(snapshot(capture_of(*SETTING, called(fog(0x12345))), Moment(0)))
    assert text.startswith("schema: 1\ncall: 0\ntoken: none\n")
    assert "\n  D3DRS_FOGCOLOR: 0x00012345\n" in text
    assert "\ntargets\n  0\n    surface: 2\n" in text
    assert "\nw_range: 0.0 1.0\n" in text


def test_text_has_a_line_for_each_row_of_a_table() -> None:
    text = snapshot_text({"vertices": {"columns": ["x", "y"], "rows": [[1.0, 2.0], [3.0, 4.0]]}})
    lines = ["vertices", "  columns: x y", "  rows", "    0: 1.0 2.0", "    1: 3.0 4.0"]
    assert text.splitlines() == lines


def test_text_has_the_sdk_name_of_a_number() -> None:
    states = (RenderState.ZFUNC, 5), (RenderState.COLORWRITEENABLE, 3), (RenderState.SRCBLEND, 99)
    values = (
        (1, 4),
        (2, 0x12),
        (11, 0x10001),
        (13, 3),
        (16, 2),
        (18, 0),
        (19, 0x3F000000),
        (24, 258),
    )
    stage = token(Op.TEXTURESTAGESTATE, *((state << 16, value) for state, value in values))
    call = called(token(Op.RENDERSTATE, *states), stage, token(Op.SETVERTEXSHADERDECL, (0x42,)))
    text = snapshot_text(snapshot(capture_of(*SETTING, call), Moment(0)))
    assert "\n  D3DRS_ZFUNC: 5 (D3DCMP_GREATER)\n" in text
    assert (
        "\n  D3DRS_COLORWRITEENABLE: 3 (D3DCOLORWRITEENABLE_RED|D3DCOLORWRITEENABLE_GREEN)" in text
    )
    assert "\n  D3DRS_SRCBLEND: 99\n" in text
    assert "\n    D3DTSS_COLOROP: 4 (D3DTOP_MODULATE)\n" in text
    assert "\n    D3DTSS_COLORARG1: 18 (D3DTA_TEXTURE|D3DTA_COMPLEMENT)\n" in text
    assert "\n    D3DTSS_TEXCOORDINDEX: 0x00010001 (D3DTSS_TCI_CAMERASPACENORMAL|1)\n" in text
    assert "\n    D3DTSS_ADDRESSU: 3 (D3DTADDRESS_CLAMP)\n" in text
    assert "\n    D3DTSS_MAGFILTER: 2 (D3DTEXF_LINEAR)\n" in text
    assert "\n    D3DTSS_MIPFILTER: 0 (D3DTEXF_NONE)\n" in text
    assert "\n    D3DTSS_MIPMAPLODBIAS: 0x3f000000 (0.5)\n" in text
    transform = "D3DTTFF_COUNT2|D3DTTFF_PROJECTED"
    assert f"\n    D3DTSS_TEXTURETRANSFORMFLAGS: 258 ({transform})\n" in text
    assert "\nvertex_format: 66 (D3DFVF_XYZ|D3DFVF_DIFFUSE)\n" in text


def test_filters_before_directx_8_have_their_own_names() -> None:
    values = (12, 3), (16, 5), (17, 3), (18, 1)
    stage = token(Op.TEXTURESTAGESTATE, *((state << 16, value) for state, value in values))
    records = *SETTING[:-1], ContextCreated(1, 7, 2), called(stage)
    text = snapshot_text(snapshot(capture_of(*records), Moment(0)))
    assert "\n    D3DTSS_ADDRESS: 3 (D3DTADDRESS_CLAMP)\n" in text
    assert "\n    D3DTSS_MAGFILTER: 5 (D3DTFG_ANISOTROPIC)\n" in text
    assert "\n    D3DTSS_MINFILTER: 3 (D3DTFN_ANISOTROPIC)\n" in text
    assert "\n    D3DTSS_MIPFILTER: 1 (D3DTFP_NONE)\n" in text
