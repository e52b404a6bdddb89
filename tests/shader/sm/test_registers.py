"""Register files against the counts and token types of the versions."""

from __future__ import annotations

import pytest

from dp2emu.shader.sm.registers import BANKS, BY_FILE, File, Register, exists, named, register
from dp2emu.shader.sm.versions import BY_NAME, VERSIONS

COUNTS = {
    "vs_1_0": "r12 v16 c256 oPos oFog oPts oD2 oT8",
    "vs_1_1": "r12 v16 c256 a1 oPos oFog oPts oD2 oT8",
    "vs_2_0": "r12 v16 c256 a1 oPos oFog oPts oD2 oT8 i16 b16 aL l16",
    "vs_2_x": "r32 v16 c256 a1 oPos oFog oPts oD2 oT8 i16 b16 aL l16 p1",
    "vs_2_sw": "r32 v16 c8192 a1 oPos oFog oPts oD2 oT8 i16 b16 aL l2048 p1",
    "vs_3_0": "r32 v16 c256 a1 o12 i16 s4 b16 aL l2048 p1",
    "vs_3_sw": "r32 v16 c8192 a1 o12 i16 s4 b16 aL l2048 p1",
    "ps_1_0": "r2 v2 c8 t4",
    "ps_1_1": "r2 v2 c8 t4",
    "ps_1_2": "r2 v2 c8 t4",
    "ps_1_3": "r2 v2 c8 t4",
    "ps_1_4": "r6 v2 c8 t6",
    "ps_2_0": "r12 v2 c32 t8 oC4 oDepth s16",
    "ps_2_x": "r32 v2 c32 t8 i16 oC4 oDepth s16 b16 l16 p1",
    "ps_2_sw": "r32 v2 c32 t8 i16 oC4 oDepth s16 b16 l2048 p1",
    "ps_3_0": "r32 v10 c224 i16 oC4 oDepth s16 b16 aL vPos vFace l2048 p1",
    "ps_3_sw": "r32 v10 c224 i16 oC4 oDepth s16 b16 aL vPos vFace l2048 p1",
}

TYPES = {
    0: "r1", 1: "v1", 2: "c1", 4: "oFog", 5: "oD1", 6: "oT1", 7: "i1", 8: "oC1", 9: "oDepth",
    10: "s1", 11: "c2049", 12: "c4097", 13: "c6145", 14: "b1", 15: "aL", 17: "vFace", 18: "l1",
    19: "p1",
}  # fmt: skip


@pytest.mark.parametrize("version", COUNTS)
def test_version_has_these_registers(version: str) -> None:
    shown = []
    for bank in BANKS:
        count = bank.count(BY_NAME[version])
        if count:
            shown += bank.names or [f"{bank.file.value}{count}"]
    assert " ".join(shown) == COUNTS[version]


def test_every_version_is_counted() -> None:
    assert [version.name for version in VERSIONS] == list(COUNTS)


@pytest.mark.parametrize("type", TYPES)
def test_type_of_a_token_is_a_file(type: int) -> None:
    found = [register(version, type, 0 if type in (9, 15) else 1) for version in VERSIONS]
    assert TYPES[type] in {str(each) for each in found if each}


def test_types_3_and_6_depend_on_the_version() -> None:
    names = ("vs_1_1", "ps_1_1", "ps_2_0", "ps_3_0")
    assert [str(register(BY_NAME[name], 3, 0)) for name in names] == ["a0", "t0", "t0", "None"]
    assert str(register(BY_NAME["vs_3_0"], 6, 11)) == "o11"


def test_type_16_and_those_from_20_on_are_nothing() -> None:
    for version in VERSIONS:
        assert all(register(version, type, 0) is None for type in (16, *range(20, 32)))


def test_every_register_comes_back_from_its_name_and_from_its_token() -> None:
    for version in VERSIONS:
        for bank in BANKS:
            for number in range(bank.count(version)):
                each = Register(bank.file, number)
                assert named(str(each)) == each
                assert named(str(each).upper()) == each
                assert register(version, *each.type_and_number) == each


def test_a_range_of_registers_exists_or_not() -> None:
    version = BY_NAME["vs_2_0"]
    assert exists(version, Register(File.TEMP, 8), 4)
    assert not exists(version, Register(File.TEMP, 9), 4)


@pytest.mark.parametrize("text", ["", "r", "q0", "0", "r-1", "r123456", "oPos0", "aL0", "r0.x"])
def test_other_names_are_no_registers(text: str) -> None:
    assert named(text) is None


def test_register_that_does_not_exist_still_has_a_name() -> None:
    assert str(Register(File.RASTOUT, 3)) == "oRast3"
    assert BY_FILE[File.RASTOUT].names == ("oPos", "oFog", "oPts")
