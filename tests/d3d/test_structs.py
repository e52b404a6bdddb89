"""Every structure of the reference: names, offsets and sizes, on both pointer sizes."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.d3d.devinfo import PAYLOADS
from dp2emu.d3d.enums import QueryType
from tests.d3d.structs import ALIASES, BY_ABI, STRUCTS, struct
from tests.reference import layout

ABIS = {32: "i686", 64: "x86_64"}
_PAIRS = {("D3DHAL_CONTEXTCREATEDATA", "dwPID")}
"""Union members narrower than the declared one on 64-bit hosts."""


_CORRECTED = {("D3DHAL_CALLBACKS", 64): 0x118}
"""Sizes of d3dhal.h by structure and pointer size, where MinGW's header, from which the reference
was measured, has reserved members of another width."""


def places(declaration: Any) -> dict[str, tuple[int, int]]:
    """Member name -> (offset, size)."""
    found, at = {}, 0
    for member in declaration.subcons:
        found[member.name] = (at, member.sizeof())
        at += member.sizeof()
    return found


@pytest.mark.parametrize("abi", ABIS)
def test_every_structure_has_the_size_of_the_reference(abi: int) -> None:
    structures = layout()["structs"]
    assert len(structures) == 126
    for name, facts in structures.items():
        size = _CORRECTED.get((name, abi), facts[ABIS[abi]]["size"])
        assert struct(name, abi).sizeof() == size, name


@pytest.mark.parametrize("abi", ABIS)
def test_every_member_is_where_the_reference_has_it(abi: int) -> None:
    for name, facts in layout()["structs"].items():
        declared = places(struct(name, abi))
        for member, where in facts[ABIS[abi]]["fields"].items():
            offset, size = declared[ALIASES.get((name, member), member)]
            assert offset == where["offset"], f"{name}.{member}"
            assert size == where["size"] or (name, member) in _PAIRS, f"{name}.{member}"


def test_winfo_members_have_their_documented_names() -> None:
    conflicts = {row["what"]: row["docs"] for row in layout()["conflicts"] if "docs" in row}
    for member, place in places(STRUCTS["D3DHAL_DP2WINFO"]).items():
        documented = conflicts[f"field D3DHAL_DP2WINFO.{member}"]
        assert place == (documented["offset"], documented["size"])


def test_union_names_are_known_to_the_reference_and_name_a_declared_member() -> None:
    for (name, other), member in ALIASES.items():
        fields = layout()["structs"][name]["i686"]["fields"]
        assert {other, member} <= fields.keys()
        assert fields[other]["offset"] == fields[member]["offset"]
        assert member in places(struct(name, 32))


def test_the_same_structures_differ_between_pointer_sizes() -> None:
    assert sorted(BY_ABI) == sorted(layout()["differs_between_abis"])
    assert not BY_ABI.keys() & STRUCTS.keys()


def test_the_call_is_56_bytes_on_32_bit_and_72_on_64_bit() -> None:
    sizes = [struct("D3DHAL_DRAWPRIMITIVES2DATA", abi).sizeof() for abi in ABIS]
    assert sizes == [56, 72]


@pytest.mark.parametrize("abi", ABIS)
def test_a_call_survives_building_and_parsing(abi: int) -> None:
    declaration = struct("D3DHAL_DRAWPRIMITIVES2DATA", abi)
    values = {member: at + 1 for at, member in enumerate(places(declaration))}
    data = declaration.build(values)
    assert len(data) == declaration.sizeof()
    parsed = declaration.parse(data)
    assert {member: parsed[member] for member in values} == values


def test_an_unknown_structure_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        struct("D3DHAL_NOTHING")


def test_query_payload_sizes_are_those_of_the_reference() -> None:
    sizes = {QueryType(kind).value: payload.sizeof() for kind, payload in PAYLOADS.items()}
    assert sizes == {
        4: 16, 5: 352, 6: 8, 8: 4, 9: 4, 10: 8, 11: 4, 12: 8,
        13: 16, 14: 20, 15: 8, 16: 8, 17: 20, 18: 8,
    }  # fmt: skip
