"""Enumerations, flags and result codes against the reference's values."""

from __future__ import annotations

from enum import IntFlag

import pytest

from dp2emu.d3d import enums, flags, legacy
from dp2emu.d3d.hresult import HResult, hr_name
from dp2emu.d3d.sdk import SdkEnum, sdk_name, sdk_value
from dp2emu.d3d.wirenames import WireRenderState, WireTextureStageState, WireTransformState
from tests.reference import layout

ENUMS: dict[str, type[SdkEnum]] = {
    "D3DRENDERSTATETYPE_DX7": legacy.RenderState7,
    "D3DRENDERSTATETYPE_DX8": legacy.RenderState8,
    "D3DRENDERSTATETYPE": enums.RenderState,
    "D3DTEXTURESTAGESTATETYPE_DX7": legacy.TextureStageState7,
    "D3DTEXTURESTAGESTATETYPE_DX8": legacy.TextureStageState8,
    "D3DTEXTURESTAGESTATETYPE": enums.TextureStageState,
    "D3DTRANSFORMSTATETYPE_DX7": legacy.TransformState7,
    "D3DTRANSFORMSTATETYPE": enums.TransformState,
    "D3DTEXTUREMAGFILTER": legacy.MagFilter7,
    "D3DTEXTUREMINFILTER": legacy.MinFilter7,
    "D3DTEXTUREMIPFILTER": legacy.MipFilter7,
    "D3DTEXTUREFILTERTYPE_DX8": legacy.TextureFilter8,
    "D3DTEXTUREFILTERTYPE": enums.TextureFilter,
    "D3DLIGHTTYPE": enums.LightType,
    "D3DSTATEBLOCKTYPE_DX7": legacy.StateBlockType7,
    "D3DSTATEBLOCKTYPE": enums.StateBlockType,
    "D3DOPCODE": legacy.Opcode,
    "D3DTEXTUREOP_DX7": legacy.TextureOp7,
    "D3DTEXTUREOP": enums.TextureOp,
    "D3DPRIMITIVETYPE_DX7": legacy.PrimitiveType7,
    "D3DPRIMITIVETYPE": enums.PrimitiveType,
    "D3DQUERYTYPE": enums.QueryType,
    "D3DSAMPLERSTATETYPE": enums.SamplerState,
    "D3DFORMAT": enums.Format,
    "D3DFORMAT_DX8": legacy.Format8,
    "D3DDECLUSAGE": enums.DeclUsage,
    "D3DDECLTYPE": enums.DeclType,
    "D3DDECLMETHOD": enums.DeclMethod,
    "D3DCMPFUNC": enums.CmpFunc,
    "D3DBLEND": enums.Blend,
    "D3DBLENDOP": enums.BlendOp,
    "D3DCULL": enums.Cull,
    "D3DFILLMODE": enums.FillMode,
    "D3DSHADEMODE": enums.ShadeMode,
    "D3DSTENCILOP": enums.StencilOp,
    "D3DFOGMODE": enums.FogMode,
    "D3DTEXTUREADDRESS": enums.TextureAddress,
    "D3DTEXTURETRANSFORMFLAGS": enums.TextureTransformFlags,
    "D3DZBUFFERTYPE": enums.ZBufferType,
    "D3DRESOURCETYPE": enums.ResourceType,
    "D3DPOOL": enums.Pool,
    "D3DMULTISAMPLE_TYPE": enums.MultisampleType,
    "D3DBASISTYPE": enums.Basis,
    "D3DDEGREETYPE": enums.Degree,
    "D3DPATCHEDGESTYLE": enums.PatchEdgeStyle,
    "D3DVERTEXBLENDFLAGS": enums.VertexBlend,
    "D3DMATERIALCOLORSOURCE": enums.MaterialColorSource,
    "D3DVSD_TOKENTYPE": legacy.VsdTokenType,
    "D3DVSDE_REGISTER": legacy.VsdRegister,
    "D3DVSDT_TYPE": legacy.VsdType,
    "D3DCOMPOSERECTSOP": enums.ComposeRectsOp,
}

FLAGS: dict[str, type[IntFlag]] = {
    "D3DHALDP2_": flags.Dp2Flags,
    "D3DCLEAR_": flags.Clear,
    "D3DISSUE_": flags.Issue,
    "D3DCOLORWRITEENABLE_": flags.ColorWrite,
}


DRIVERS_ONLY = {
    "D3DFORMAT": {
        "D3DFMT_S1D15": 72, "D3DFMT_S8D24": 74, "D3DFMT_X8D24": 76, "D3DFMT_X4S4D24": 78
    }
}  # fmt: skip
"""Members that the headers of drivers have beside those of applications."""


VENDORS = {
    "D3DFORMAT": {
        f"D3DFMT_{code}": int.from_bytes(spelled.encode(), "little")
        for code, spelled in (
            ("ATI1N", "ATI1"), ("ATI2N", "ATI2"), ("DF16", "DF16"), ("DF24", "DF24"),
            ("INTZ", "INTZ"), ("NULL", "NULL"), ("NV12", "NV12"), ("YV12", "YV12"),
        )
    }
}  # fmt: skip
"""Members that makers of hardware agreed on beside the header, by their four characters."""


@pytest.mark.parametrize("name", ENUMS)
def test_enumeration_has_exactly_the_names_and_values_of_the_header(name: str) -> None:
    enum = ENUMS[name]
    named = {enum._prefix + member: int(value) for member, value in enum.__members__.items()}
    assert named == layout()["enums"][name]["values"] | DRIVERS_ONLY.get(name, {}) | VENDORS.get(
        name, {}
    )


@pytest.mark.parametrize("prefix", FLAGS)
def test_flag_word_has_exactly_the_names_and_values_of_the_header(prefix: str) -> None:
    constants = layout()["constants"]
    named = {prefix + member: int(value) for member, value in FLAGS[prefix].__members__.items()}
    assert named == {
        name: row["value"] for name, row in constants.items() if name.startswith(prefix)
    }


def test_single_constants_have_the_values_of_the_header() -> None:
    constants = layout()["constants"]
    for name in dir(flags):
        if name.startswith(("D3D", "DDHAL")):
            assert getattr(flags, name) == constants[name]["value"], name


def test_result_codes_have_the_values_of_the_headers() -> None:
    constants = layout()["constants"]
    for name, value in HResult.__members__.items():
        if name not in ("S_OK", "S_FALSE"):
            assert value == constants[name]["value"], name


def test_result_codes_are_written_by_name_where_they_have_one() -> None:
    assert hr_name(0) == "D3D_OK"
    assert hr_name(0x88760BB8) == "D3DERR_COMMAND_UNPARSED"
    assert hr_name(0x12345678) == "0x12345678"


def test_names_and_values_translate_both_ways() -> None:
    assert enums.QueryType.OCCLUSION.sdk == "D3DQUERYTYPE_OCCLUSION"
    assert sdk_name(enums.QueryType, 9) == "D3DQUERYTYPE_OCCLUSION"
    assert sdk_name(enums.QueryType, 7) is None
    assert sdk_value(enums.QueryType, "D3DQUERYTYPE_OCCLUSION") == 9
    assert sdk_value(enums.QueryType, "OCCLUSION") is None


def test_render_states_on_the_wire_take_the_newest_name_there_is() -> None:
    names = {value: sdk_name(WireRenderState, value) for value in (7, 10, 30, 1, 62, 169, 250)}
    assert names == {
        7: "D3DRS_ZENABLE",
        10: "D3DRS_LINEPATTERN",
        30: "D3DRS_ZVISIBLE",
        1: "D3DRENDERSTATE_TEXTUREHANDLE",
        62: "D3DRENDERSTATE_SCENECAPTURE",
        169: "D3DRS_DELETERTPATCH",
        250: None,
    }


def test_every_render_state_of_every_version_has_a_name_on_the_wire() -> None:
    for version in (enums.RenderState, legacy.RenderState8, legacy.RenderState7):
        assert {int(state) for state in version} <= {int(state) for state in WireRenderState}


def test_names_only_the_ddi_has_are_those_of_the_reference() -> None:
    constants = layout()["constants"]
    for name in (
        "D3DRENDERSTATE_EVICTMANAGEDTEXTURES", "D3DRENDERSTATE_SCENECAPTURE",
        "D3DRS_DELETERTPATCH", "D3DRS_MAXVERTEXSHADERINST", "D3DRS_MAXPIXELSHADERINST",
    ):  # fmt: skip
        assert sdk_value(WireRenderState, name) == constants[name]["value"]
    for name in (
        "D3DTSS_TEXTUREMAP", "D3DTSS_SRGBTEXTURE", "D3DTSS_ELEMENTINDEX", "D3DTSS_DMAPOFFSET",
        "D3DTSS_ADDRESSU", "D3DTSS_ADDRESSW", "D3DTSS_MAXANISOTROPY",
    ):  # fmt: skip
        assert sdk_value(WireTextureStageState, name) == constants[name]["value"]
    for name in ("D3DTS_WORLD", "D3DTS_WORLD1", "D3DTS_WORLD2", "D3DTS_WORLD3"):
        assert sdk_value(WireTransformState, name) == constants[name]["value"]
