"""Every method of Direct3D 10 and 11 has a row, and every row a test."""

from __future__ import annotations

import pytest

from dp2emu.retrace import Method, all_methods
from dp2emu.retrace.program import row_of
from tests.retrace.calls import Pointer
from tests.retrace.d3d11 import test_context_rows, test_creation, test_lifetimes, test_maps
from tests.retrace.d3d11.dxgi_interfaces import FUNCTIONS as DXGI_FUNCTIONS
from tests.retrace.d3d11.interfaces import FUNCTIONS, INTERFACES
from tests.retrace.d3d11.played import Played
from tests.retrace.d3d11.test_queries import OLD as OLD_QUERIES

ROWS: dict[str, Method] = {
    name: row
    for name, row in all_methods().items()
    if name.startswith(("ID3D", "D3D")) and not name.startswith(("D3DPERF", "D3DParse"))
}
INERT = [name for name, row in ROWS.items() if row.act is None]
LOST = [name for name, row in ROWS.items() if row.says.startswith("A loss: ")]
TESTED = {
    *test_context_rows.CASES,
    *test_context_rows.CLEARED,
    *test_creation.CASES,
    *test_creation.VERSIONS,
    *test_creation.DEFERRED,
    test_creation.LINKAGE,
    *(f"ID3D11ClassLinkage::{name}" for name in ("GetClassInstance", "CreateClassInstance")),
    "ID3D11ClassInstance::GetClassLinkage",
    *(f"{each}::{name}" for each in test_lifetimes.ALL for name in ("QueryInterface", "Release")),
    *(f"{each}::SetPrivateData" for each in test_lifetimes.CHILDREN),
    *(f"{each}::GetDevice" for each in test_lifetimes.DEVICE_OF),
    *(f"{each}::GetResource" for each in test_lifetimes.VIEWS),
    *test_lifetimes.IMMEDIATE,
    *(
        f"ID3D10{noun}::{name}"
        for noun in ("Buffer", *test_maps.OLD.values())
        for name in ("Map", "Unmap")
    ),
    *(f"ID3D11DeviceContext::{name}" for name in ("Map", "Unmap")),
    *(f"ID3D11DeviceContext::{name}" for name in ("FinishCommandList", "ExecuteCommandList")),
    *(f"{each}::GetData" for each in OLD_QUERIES),
    "D3D10CreateStateBlock",
    "ID3D11Device::CreateDeviceContextState",
    "ID3D11DeviceContext::SwapDeviceContextState",
    *(f"{each}::OpenSharedResource" for each in ("ID3D10Device", "ID3D11Device")),
    *(f"ID3D11Device::OpenSharedResource{name}" for name in ("1", "ByName")),
    *(
        f"ID3D10StateBlock::{name}"
        for name in (
            "Capture", "Apply", "ReleaseAllDeviceObjects", "Release", "QueryInterface",
            "GetDevice",
        )
    ),
}  # fmt: skip
"""Rows that the tests of this folder play."""
PRIORITIES = [name for name in ROWS if name.endswith("Resource::SetEvictionPriority")] + [
    f"ID3D{version}{noun}::SetEvictionPriority"
    for version in (10, 11)
    for noun in ("Buffer", "Texture1D", "Texture2D", "Texture3D")
]


@pytest.mark.parametrize("interface", INTERFACES)
def test_every_method_has_a_row_that_says_what_it_does(interface: str) -> None:
    rows = {name: row_of(f"{interface}::{name}") for name in INTERFACES[interface]}
    assert [name for name, row in rows.items() if row is None or not row.says] == []


def test_every_function_has_a_row() -> None:
    assert [name for name in FUNCTIONS if row_of(name) is None] == []


def test_every_row_that_acts_has_a_test() -> None:
    acting = {name for name, row in ROWS.items() if row.act is not None} - set(LOST)
    assert acting == TESTED | set(PRIORITIES)


def test_methods_without_an_effect_leave_no_records_and_no_losses() -> None:
    program = Played(11)
    count = len(program.records)
    for name in INERT:
        program.play(name, this=Pointer(0x77))
    assert (len(program.records), program.losses()) == (count, [])


def test_methods_that_cannot_be_expressed_are_losses_by_name() -> None:
    program = Played(11)
    for name in LOST:
        program.play(name, this=Pointer(0x77))
    assert program.losses() == [f"{name}: {ROWS[name].says[8:-1]}" for name in LOST]


@pytest.mark.parametrize("name", PRIORITIES)
def test_a_priority_of_eviction_reaches_the_driver(name: str) -> None:
    program = Played(11)
    assert program.of("buffer", name, EvictionPriority=0x50000000) == [
        "DXGI.SetResourcePriority(buffer, 1342177280)"
    ]
    assert program.losses() == []


def test_functions_of_dxgi_have_their_own_tests() -> None:
    assert not set(DXGI_FUNCTIONS.split()) & set(ROWS)
