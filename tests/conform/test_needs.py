"""The kit judges a driver by what it announces: what is not is skipped, what is must work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from dp2emu.conform import Verdict, kit, run_kit
from dp2emu.conform.announcement import caps_document, caps_table
from dp2emu.conform.needed import lacking, needs_of
from dp2emu.conform.needs import LeastNeed, flag, format_need, query_need
from dp2emu.d3d.capabilities import Capabilities
from dp2emu.d3d.capflags import BlendCaps, FilterCaps, FormatOp
from dp2emu.d3d.enums import Format, QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.driver import Driver
from dp2emu.errors import Fault
from dp2emu.gpu.resource.heap import SurfaceDesc
from tests.cli.running import dp2emu

ALL = Driver().capabilities()


def without(word: str, bits: int = -1) -> Capabilities:
    """What the emulator announces, less some bits of a word."""
    return replace(ALL, device={**ALL.device, word: int(ALL.device[word]) & ~bits})


class Announcing(Driver):
    """The emulator with another announcement, and without some formats and query types."""

    def __init__(self, told: Capabilities, *lost: int) -> None:
        super().__init__()
        self.told, self.lost = told, lost

    def capabilities(self) -> Capabilities:
        return self.told

    def create_surface(self, desc: SurfaceDesc) -> None:
        if desc.format in self.lost:
            raise Fault(HResult.DDERR_INVALIDPARAMS, "no such format")
        super().create_surface(desc)


# What a case needs


@pytest.mark.parametrize(
    ("case", "word", "name"),
    [
        ("blend.source.srcalphasat", "SrcBlendCaps", "D3DPBLENDCAPS_SRCALPHASAT"),
        ("blend.target.invblendfactor", "DestBlendCaps", "D3DPBLENDCAPS_BLENDFACTOR"),
        ("blend.operation.max", "PrimitiveMiscCaps", "D3DPMISCCAPS_BLENDOP"),
        ("depth.greater", "ZCmpCaps", "D3DPCMPCAPS_GREATER"),
        ("alphatest.never", "AlphaCmpCaps", "D3DPCMPCAPS_NEVER"),
        ("mask.red", "PrimitiveMiscCaps", "D3DPMISCCAPS_COLORWRITEENABLE"),
        ("texture.address.border", "TextureAddressCaps", "D3DPTADDRESSCAPS_BORDER"),
        ("texture.stage.addsmooth", "TextureOpCaps", "D3DTEXOPCAPS_ADDSMOOTH"),
        ("draw.other_stream", "MaxStreams", "MaxStreams 2"),
        ("draw.scissor.1", "RasterCaps", "D3DPRASTERCAPS_SCISSORTEST"),
        ("walk.length.setmaterial", "DevCaps", "D3DDEVCAPS_HWTRANSFORMANDLIGHT"),
        ("walk.length.setpriority.2", "Caps2", "D3DCAPS2_CANMANAGERESOURCE"),
    ],
)
def test_a_state_or_token_needs_its_flag(case: str, word: str, name: str) -> None:
    (chosen,) = (each for each in kit(case) if each.name == case)
    assert lacking(chosen, ALL) == ()
    assert name in lacking(chosen, without(word))


def test_depth_that_can_be_locked_stands_for_depth_of_as_many_bits() -> None:
    (case,) = kit("depth.less", ddi=8)[:1]
    none = tuple(each for each in ALL.formats if each[0] != Format.D16)
    depth = int(FormatOp.ZSTENCIL)
    lockable = replace(ALL, formats=(*none, (int(Format.D16_LOCKABLE), depth)))
    assert lacking(case, lockable) == ()
    without = tuple(each for each in none if each[0] != Format.D16_LOCKABLE)
    assert lacking(case, replace(ALL, formats=without)) == (
        "D3DFMT_D16 with D3DFORMAT_OP_ZSTENCIL",
    )


def test_a_texture_needs_its_format_and_a_query_its_type() -> None:
    (texture,) = kit("texture.format.l8")
    few = replace(ALL, formats=tuple(each for each in ALL.formats if each[0] != Format.L8))
    assert lacking(texture, few) == ("D3DFMT_L8 with D3DFORMAT_OP_TEXTURE",)
    (query,) = kit("query.type.vcache")
    assert lacking(query, replace(ALL, queries=(QueryType.EVENT,))) == ("D3DQUERYTYPE_VCACHE",)


def test_a_driver_that_tells_nothing_lacks_nothing() -> None:
    assert [case.name for case in kit() if lacking(case, Capabilities(9))] == []


def test_the_states_of_every_case_are_no_needs() -> None:
    shared = set.intersection(*(set(needs_of(case)) for case in kit("draw", ddi=6)))
    assert [need.name for need in shared] == [
        "D3DFMT_A8R8G8B8 with D3DFORMAT_OP_OFFSCREEN_RENDERTARGET"
    ]


def test_either_age_of_a_filter_flag_is_enough() -> None:
    (need,) = flag(FilterCaps.MAGFPOINT | FilterCaps.NEAREST, "TextureFilterCaps")
    assert need.name == "D3DPTFILTERCAPS_MAGFPOINT"
    for bit in (FilterCaps.MAGFPOINT, FilterCaps.NEAREST):
        assert need.promised(Capabilities(6, {"hwCaps.dpcTriCaps.dwTextureFilterCaps": bit}))


def test_a_version_of_shaders_is_compared_without_its_type() -> None:
    need = LeastNeed("", "PixelShaderVersion", 0x200, 0xFFFF)
    assert need.promised(Capabilities(9, {"PixelShaderVersion": 0xFFFF0200}))
    assert not need.promised(Capabilities(9, {"PixelShaderVersion": 0xFFFF0104}))


def test_a_target_without_alpha_says_nothing_of_the_one_with_alpha() -> None:
    need = format_need(Format.A8R8G8B8, FormatOp.OFFSCREEN_RENDERTARGET)
    plain = Capabilities(9, formats=((Format.X8R8G8B8, FormatOp.OFFSCREEN_RENDERTARGET),))
    small = Capabilities(9, formats=((Format.R5G6B5, FormatOp.OFFSCREEN_RENDERTARGET),))
    assert (need.told(plain), need.promised(plain)) == (False, False)
    assert (need.told(small), need.promised(small)) == (True, False)


def test_before_directx_8_each_kind_of_formats_is_told_alone() -> None:
    told = Capabilities(7, formats=((Format.R5G6B5, FormatOp.TEXTURE),))
    assert format_need(Format.L8, FormatOp.TEXTURE).told(told)
    assert not format_need(Format.D16, FormatOp.ZSTENCIL).told(told)
    assert query_need(QueryType.EVENT).told(told) is False


# Running


def test_cases_of_what_is_not_announced_are_skipped_and_listed() -> None:
    told = without("SrcBlendCaps", BlendCaps.SRCALPHASAT)
    (outcome,) = run_kit(kit("blend.source.srcalphasat"), Announcing(told))
    assert outcome.verdict is Verdict.SKIPPED
    assert outcome.lacks == ("D3DPBLENDCAPS_SRCALPHASAT",)


def test_an_announced_format_may_not_be_refused() -> None:
    driver = Announcing(ALL, Format.L8)
    told = ALL.formats
    few = replace(ALL, formats=tuple(each for each in told if each[0] != Format.L8))
    (free,) = run_kit(kit("texture.format.l8"), driver)
    (bound,) = run_kit(kit("texture.format.l8", capabilities=ALL), driver)
    (skipped,) = run_kit(kit("texture.format.l8", capabilities=few), Announcing(few, Format.L8))
    verdicts = [each.verdict for each in (free, bound, skipped)]
    assert verdicts == [Verdict.SKIPPED, Verdict.FAILED, Verdict.SKIPPED]


# What is announced


def test_each_announced_format_state_value_and_query_has_a_case() -> None:
    told = Capabilities(
        9,
        {"SrcBlendCaps": BlendCaps.SRCALPHASAT},
        ((Format.R5G6B5, FormatOp.TEXTURE | FormatOp.OFFSCREEN_RENDERTARGET),
         (Format.D24X8, FormatOp.ZSTENCIL), (0x34343434, FormatOp.TEXTURE)),
        (QueryType.EVENT,),
    )  # fmt: skip
    names = [case.name for case in kit("announced", capabilities=told)]
    assert names == [
        "announced.texture.r5g6b5", "announced.target.r5g6b5", "announced.depth.d24x8",
        "announced.state.srcblend.srcalphasat",
    ]  # fmt: skip


def test_an_announced_query_type_may_not_be_refused() -> None:
    (free,) = kit("query.type.vertexstats")
    (bound,) = kit("query.type.vertexstats", capabilities=ALL)
    (other,) = kit("query.type.vertexstats", capabilities=replace(ALL, queries=None))
    assert (free.optional, bound.optional, other.optional) == (True, False, True)


@pytest.mark.parametrize("ddi", [6, 9])
def test_cases_of_an_announcement_use_no_state_of_a_later_version(ddi: int) -> None:
    names = {case.name for case in kit("announced.state", ddi=ddi, capabilities=ALL)}
    assert ("announced.state.srcblend.blendfactor" in names) is (ddi == 9)
    assert ("announced.state.blendop.max" in names) is (ddi == 9)


@pytest.mark.parametrize(
    ("group", "ddi"), [("texture", 6), ("texture", 9), ("target", 7), ("target", 9), ("depth", 9)]
)
def test_the_emulator_has_the_formats_that_it_announces(group: str, ddi: int) -> None:
    formats = tuple(each for each in ALL.formats if each[0] in SOME)
    cases = kit(f"announced.{group}", ddi=ddi, capabilities=replace(ALL, formats=formats))
    outcomes = list(run_kit(cases, Driver()))
    assert [each.why for each in outcomes if each.verdict is not Verdict.PASSED] == []


SOME = {
    Format.A8R8G8B8, Format.X8R8G8B8, Format.R5G6B5, Format.X1R5G5B5, Format.A8L8, Format.R16F,
    Format.DXT1, Format.V8U8, Format.D16, Format.D24S8,
}  # fmt: skip


def test_a_format_that_is_announced_and_drawn_wrong_fails() -> None:
    class Swapped(Driver):
        def read(self, handle: int, offset: int, size: int) -> bytes:
            data = super().read(handle, offset, size)
            return bytes(each ^ 0xFF for each in data) if handle > 8 else data

    formats = ((Format.R5G6B5, int(FormatOp.OFFSCREEN_RENDERTARGET)),
               (Format.A8R8G8B8, int(FormatOp.OFFSCREEN_RENDERTARGET)))  # fmt: skip
    cases = kit("announced.target.r5g6b5", capabilities=replace(ALL, formats=formats))
    (outcome,) = run_kit(cases, Swapped())
    assert outcome.verdict is Verdict.FAILED


def test_an_announced_state_that_is_refused_fails() -> None:
    class Refusing(Driver):
        def submit(self, call: Call) -> Answer:
            answer = super().submit(call)
            return replace(answer, ddrval=int(HResult.DDERR_GENERIC)) if call.vertices else answer

    cases = kit("announced.state.srcblend.one", capabilities=ALL)
    (outcome,) = run_kit(cases, Refusing())
    assert outcome.verdict is Verdict.FAILED


# Showing


def test_the_table_names_flags_formats_and_queries() -> None:
    told = Capabilities(
        9,
        {"SrcBlendCaps": BlendCaps.ONE | 0x80000000, "MaxPointSize": 64.0},
        ((Format.L8, FormatOp.TEXTURE), (0x34343434, 0)),
        (QueryType.EVENT, 99),
    )
    assert caps_table(told) == [
        "interface of DirectX 9",
        "SrcBlendCaps                       0x80000002   D3DPBLENDCAPS_ONE 0x80000000",
        "MaxPointSize                       64",
        "D3DFMT_L8                          0x1          D3DFORMAT_OP_TEXTURE",
        "D3DFORMAT 0x34343434               0x0",
        "queries                            2            D3DQUERYTYPE_EVENT 99",
    ]


def test_json_has_names_and_no_number_that_json_lacks() -> None:
    told = Capabilities(8, {"MaxVertexW": float("nan"), "ZCmpCaps": 1})
    found = json.loads(json.dumps(caps_document(told), allow_nan=False))
    assert found["device"] == {"MaxVertexW": "nan", "ZCmpCaps": 1}
    assert found["flags"] == {"ZCmpCaps": ["D3DPCMPCAPS_NEVER"]}
    assert (found["ddi"], found["formats"], found["queries"]) == (8, [], None)


def test_conform_caps_prints_what_the_driver_announces(tmp_path: Path) -> None:
    path = tmp_path / "caps.json"
    done = dp2emu("conform", "--caps", "--json", str(path))
    assert done.code == 0
    assert done.out.splitlines()[0] == b"interface of DirectX 9"
    assert json.loads(path.read_text())["ddi"] == 9
