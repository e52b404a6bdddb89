"""GetDriverInfo2: query announcement and versions (wire format, "Driver information")."""

from __future__ import annotations

import struct

import pytest

from dp2emu.d3d.caps import BY_ABI, EXTENDED6_BYTES
from dp2emu.d3d.hal import GUIDS
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.driver_info import GUID_GETDRIVERINFO2, DriverInfo
from dp2emu.dp2.options import Options
from tests.dp2.rigging import Bench

COUNT, QUERY, DXVERSION, DDIVERSION = 0x21, 0x22, 0x04, 0x23
MAGIC = 0xFFFFFFFF


def ask(kind: int, *words: int, magic: int = MAGIC, **driver: object) -> DriverInfo:
    data = struct.pack(f"<{4 + len(words)}I", 0, magic, kind, 16 + 4 * len(words), *words)
    return Bench(**driver).driver.get_driver_info(GUID_GETDRIVERINFO2, data)


def is_unavailable(info: DriverInfo) -> bool:
    return (info.handled, info.ddRVal, info.dwActualSize) == (
        1, HResult.DDERR_CURRENTLYNOTAVAIL, 0,
    )  # fmt: skip


def test_the_guid_is_the_one_of_the_documents() -> None:
    data1, data2, data3 = struct.unpack_from("<IHH", GUID_GETDRIVERINFO2)
    assert (data1, data2, data3) == (0xF828169C, 0xA8E8, 0x11D2)
    assert GUID_GETDRIVERINFO2[8:].hex() == "a1f200a0c983eaf6"


def test_the_number_of_query_types_is_announced() -> None:
    info = ask(COUNT, 0)
    assert (info.ddRVal, info.dwActualSize) == (0, 20)
    assert struct.unpack_from("<I", info.data, 16) == (14,)


def test_each_index_names_a_query_type() -> None:
    types = [struct.unpack_from("<I", ask(QUERY, index).data, 16)[0] for index in range(14)]
    assert types == [4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]


@pytest.mark.parametrize("index", [14, 0xFFFFFFFF])
def test_an_index_out_of_range_is_unknown(index: int) -> None:
    assert is_unavailable(ask(QUERY, index))


def test_announcement_follows_the_options() -> None:
    info = ask(COUNT, 0, options=Options(query_types=()))
    assert struct.unpack_from("<I", info.data, 16) == (0,)


def test_the_directx_9_ddi_version_is_4() -> None:
    assert struct.unpack_from("<2I", ask(DDIVERSION, 9, 0).data, 16) == (9, 4)


def test_the_runtime_may_tell_its_version() -> None:
    info = ask(DXVERSION, 0x700, 0)
    assert (info.ddRVal, info.dwActualSize, info.data[16:]) == (0, 24, b"\0\7\0\0\0\0\0\0")


@pytest.mark.parametrize("kind", [0, 0x11, 0x13, 0x16, 0x18, 0x20, 0x24, 0xFFFFFFFF])
def test_unknown_types_are_handled_and_unavailable(kind: int) -> None:
    assert is_unavailable(ask(kind, 0, 0))


def test_stereo_mode_shares_the_guid_but_not_the_magic() -> None:
    assert is_unavailable(ask(COUNT, 0, magic=24))


@pytest.mark.parametrize("length", range(20))
def test_a_short_buffer_is_unavailable(length: int) -> None:
    data = struct.pack("<5I", 0, MAGIC, COUNT, 20, 0)[:length]
    assert is_unavailable(Bench().driver.get_driver_info(GUID_GETDRIVERINFO2, data))


def test_other_guids_are_unavailable() -> None:
    assert is_unavailable(Bench().driver.get_driver_info(bytes(16), bytes(64)))


def ask_older(guid: str, size: int) -> DriverInfo:
    return Bench().driver.get_driver_info(GUIDS[guid], bytes(size))


@pytest.mark.parametrize(("abi", "size"), [(32, 192), (64, 200)])
def test_global_driver_data_has_the_texture_formats_beside_it(abi: int, size: int) -> None:
    info = ask_older("GUID_D3DCaps", size)
    found = BY_ABI["D3DHAL_GLOBALDRIVERDATA"](abi).parse(info.data)
    assert (info.ddRVal, info.dwActualSize, found.dwSize) == (0, size, size)
    assert len(info.formats) == 32 * found.dwNumTextureFormats > 0
    assert struct.unpack_from("<2I", info.formats, 0)[0] == 32


def test_extended_caps_are_as_long_as_the_runtime_knows_them() -> None:
    for size, told in ((EXTENDED6_BYTES, EXTENDED6_BYTES), (112, 84), (200, 116)):
        info = ask_older("GUID_D3DExtendedCaps", size)
        assert (info.dwActualSize, struct.unpack_from("<I", info.data)[0]) == (told, told)


def test_depth_formats_are_counted_and_have_masks() -> None:
    info = ask_older("GUID_ZPixelFormats", 1024)
    count = struct.unpack_from("<I", info.data)[0]
    assert info.dwActualSize == 4 + 32 * count
    sizes = {struct.unpack_from("<8I", info.data, 4 + 32 * at)[3] for at in range(count)}
    assert sizes == {16, 32}


@pytest.mark.parametrize("guid", ["GUID_D3DCaps", "GUID_D3DExtendedCaps", "GUID_ZPixelFormats"])
def test_an_older_request_with_a_short_buffer_is_unavailable(guid: str) -> None:
    assert all(is_unavailable(ask_older(guid, size)) for size in range(0, 84, 7))
