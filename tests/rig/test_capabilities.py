"""A driver's version, capabilities, formats and query types come from its own answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from dp2emu.d3d.capflags import (
    AddressCaps,
    BlendCaps,
    FormatOp,
    MiscCaps,
    TextureCaps,
    TextureOpCaps,
)
from dp2emu.d3d.enums import Format, QueryType
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.driver_info import GUID_GETDRIVERINFO2, DriverInfo
from dp2emu.dp2.options import Options
from dp2emu.rig.capabilities import Capabilities, ask_capabilities, capabilities_of
from dp2emu.rig.failure import FindingKind, RigFailure
from dp2emu.rig.served import NativeDriver, PipeRig, Served
from tests.native.building import GCC, library, linked_program, missing


def rest(version: int) -> Any:
    """A version whose structures have their counts and sizes where another has them."""
    return pytest.param(version, marks=pytest.mark.slow)


TARGET = FormatOp.OFFSCREEN_RENDERTARGET


def _native(name: str, *options: str) -> Served:
    made = library(f"announcing{name}", "announcing.c", options=options)
    return NativeDriver(made, forked=True)


def _piped(name: str, *options: str) -> Served:
    sources = ("dp2stub.c", "announcing.c")
    made = linked_program(f"announcing{name}", sources, "-DDP2STUB_HAS_GETDRIVERINFO", *options)
    return PipeRig(str(made))


MAKERS: dict[str, Callable[..., Served]] = {"native": _native, "pipe": _piped}


@pytest.fixture(params=MAKERS, scope="module")
def announcing(request: pytest.FixtureRequest) -> Iterator[Callable[..., Capabilities | None]]:
    """The capabilities of the announcing driver, of a version and with mistakes."""

    def told(version: int, *bugs: str) -> Capabilities | None:
        options = (f"-DANNOUNCED={version}", *(f"-DBUG_{bug}" for bug in bugs))
        with MAKERS[request.param](f"{version}{''.join(bugs)}", *options) as rig:
            return capabilities_of(rig)

    yield cache(told)


def test_a_driver_of_directx_9_tells_caps_formats_and_queries(
    announcing: Callable[..., Capabilities],
) -> None:
    told = announcing(9)
    assert told.ddi == 9
    assert told.word("SrcBlendCaps") == BlendCaps.ONE | BlendCaps.SRCALPHA
    assert told.device["PS20Caps.NumInstructionSlots"] == 512
    assert told.device["MaxPointSize"] == 64.0
    assert told.formats == (
        (Format.X8R8G8B8, FormatOp.TEXTURE | TARGET),
        (Format.R5G6B5, FormatOp.TEXTURE),
        (Format.D16, FormatOp.ZSTENCIL),
        (0x34343434, FormatOp.TEXTURE),
    )
    assert told.queries == (QueryType.EVENT, QueryType.OCCLUSION)


def test_a_driver_that_answers_no_d3dcaps9_is_of_directx_8(
    announcing: Callable[..., Capabilities],
) -> None:
    told = announcing(8)
    assert (told.ddi, told.queries, len(told.formats)) == (8, None, 4)
    assert (told.word("SrcBlendCaps"), told.word("MaxTextureWidth")) == (BlendCaps.ONE, 2048)


def test_the_size_of_extended_caps_tells_directx_7_from_6(
    announcing: Callable[..., Capabilities],
) -> None:
    seven, six = announcing(7), announcing(6)
    assert (seven.ddi, seven.word("MaxActiveLights")) == (7, 8)
    assert (six.ddi, six.word("MaxActiveLights")) == (6, None)


@pytest.mark.parametrize("version", [6, 7])
def test_older_drivers_describe_formats_by_masks_and_render_targets_by_bits(
    announcing: Callable[..., Capabilities], version: int
) -> None:
    told = announcing(version)
    assert told.formats == (
        (Format.A4R4G4B4, FormatOp.TEXTURE), (Format.D16, FormatOp.ZSTENCIL),
    )  # fmt: skip
    assert told.operations(Format.R5G6B5) == TARGET
    assert told.operations(Format.X8R8G8B8) == 0
    assert told.word("SrcBlendCaps") == BlendCaps.ONE
    assert told.word("TextureOpCaps") == TextureOpCaps.MODULATE


@pytest.mark.parametrize("version", [rest(6), 7, rest(8), 9])
def test_a_structure_with_a_short_actual_size_is_not_told(
    announcing: Callable[..., Capabilities | None], version: int
) -> None:
    told = announcing(version, "ACTUAL_SIZE")
    assert told is None or told.device == {}


@pytest.mark.parametrize("version", [6, rest(8), 9])
def test_a_wild_count_is_one_failure_of_the_driver(
    announcing: Callable[..., Capabilities], version: int
) -> None:
    with pytest.raises(RigFailure) as caught:
        announcing(version, "COUNT")
    assert caught.value.finding.kind is FindingKind.PROTOCOL
    assert "are the most" in caught.value.finding.what


@pytest.mark.parametrize("options", [("-DDP2STUB_9X",), ("-DDP2STUB_9X", "-m32")])
def test_a_driver_for_windows_9x_is_asked_in_its_own_structure(options: tuple[str, ...]) -> None:
    bits = options[1:]
    if lacks := missing((*GCC, *bits)):
        pytest.skip(f"{lacks} is missing")
    with _piped(f"9x{''.join(bits)}", "-DANNOUNCED=6", *options) as rig:
        told = capabilities_of(rig)
    assert told is not None
    assert (told.ddi, told.word("SrcBlendCaps")) == (6, BlendCaps.ONE)
    assert told.formats == (
        (Format.A4R4G4B4, FormatOp.TEXTURE), (Format.D16, FormatOp.ZSTENCIL),
    )  # fmt: skip


def test_a_store_behind_the_data_is_an_overrun() -> None:
    with _native("beyond", "-DBUG_BEYOND") as rig, pytest.raises(RigFailure) as caught:
        rig.capabilities()
    assert caught.value.finding.kind is FindingKind.OVERRUN
    assert "behind the data of DdGetDriverInfo" in caught.value.finding.what


def test_a_driver_without_the_function_tells_nothing() -> None:
    made = linked_program("announcing_not", ("dp2stub.c", "announcing.c"))
    with PipeRig(str(made)) as rig:
        assert capabilities_of(rig) is None
    with NativeDriver(library("surfaces", "surfaces.c"), forked=True) as rig:
        assert capabilities_of(rig) is None


@pytest.mark.parametrize("types", [None, (), (QueryType.EVENT,)])
def test_the_emulator_announces_what_its_driver_information_answers(
    types: tuple[QueryType, ...] | None,
) -> None:
    driver = Driver(options=Options(query_types=types))
    assert ask_capabilities(driver.get_driver_info, 64) == driver.capabilities()


@pytest.mark.parametrize("ddi", [6, 7, 8])
def test_the_emulator_tells_an_older_runtime_the_same_in_older_structures(ddi: int) -> None:
    driver = Driver()
    told, new = driver.capabilities(ddi), driver.capabilities()
    assert ask_capabilities(driver.get_driver_info, 64, ddi) == told
    assert (told.ddi, told.queries) == (ddi, None)
    for word in ("ZCmpCaps", "AlphaCmpCaps", "ShadeCaps", "MaxTextureWidth", "MaxAnisotropy"):
        assert told.word(word) == new.word(word)
    for word in ("DestBlendCaps", "DevCaps", "StencilCaps", "TextureOpCaps", "TextureAddressCaps"):
        assert int(told.word(word) or 0) & ~int(new.word(word) or 0) == 0
    assert (told.word("MaxActiveLights") is None) is (ddi < 7)
    for format, operations in told.formats:
        assert operations & ~(new.operations(format) or 0) == 0


@pytest.mark.parametrize(("ddi", "known"), [(7, False), (8, True)])
def test_an_older_runtime_is_told_no_flag_that_it_does_not_know(ddi: int, known: bool) -> None:
    told = Driver().capabilities(ddi)
    for word, bit in (
        ("PrimitiveMiscCaps", MiscCaps.BLENDOP), ("TextureOpCaps", TextureOpCaps.LERP),
        ("TextureAddressCaps", AddressCaps.MIRRORONCE), ("TextureCaps", TextureCaps.VOLUMEMAP),
    ):  # fmt: skip
        assert bool(int(told.word(word) or 0) & bit) is known
    assert bool(told.operations(Format.A16B16G16R16F)) is known


def test_before_directx_8_render_targets_are_formats_of_red_green_and_blue() -> None:
    told = Driver().capabilities(7)
    assert told.operations(Format.R5G6B5) and told.operations(Format.A8R8G8B8)
    for other in (Format.G16R16, Format.L16, Format.A2R10G10B10, Format.R32F):
        assert (told.operations(other) or 0) & TARGET == 0


def test_a_driver_that_tells_an_older_runtime_nothing_is_asked_as_by_a_newer_one() -> None:
    def ask(guid: bytes, data: bytes) -> DriverInfo | None:
        return Driver().get_driver_info(guid, data) if guid == GUID_GETDRIVERINFO2 else None

    assert ask_capabilities(ask, 64, 6) == Driver().capabilities(8)
