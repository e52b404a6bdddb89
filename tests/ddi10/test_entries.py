"""What entries may report, by Direct3D 10/11 DDI, "Query functions" and "Device functions"."""

from __future__ import annotations

import pytest

from dp2emu.ddi10.codes import DdiCode, Interface
from dp2emu.ddi10.device import MAY_REPORT, names_of

REMOVED, MEMORY = DdiCode.D3DDDIERR_DEVICEREMOVED, DdiCode.E_OUTOFMEMORY
STILL = DdiCode.DXGI_DDI_ERR_WASSTILLDRAWING
DISCARDS = "DynamicIABuffer DynamicConstantBuffer DynamicResource"
TWO: dict[str, set[DdiCode]] = {
    "CalcPrivateQuerySize": set(),
    "CreateQuery": {MEMORY, DdiCode.DXGI_DDI_ERR_NONEXCLUSIVE, REMOVED},
    "DestroyQuery": set(),
    "QueryBegin": {REMOVED},
    "QueryEnd": {REMOVED},
    "QueryGetData": {STILL, REMOVED},
    "SetPredication": {REMOVED},
    "CheckCounterInfo": set(),
    "CheckCounter": {DdiCode.DXGI_DDI_ERR_UNSUPPORTED, DdiCode.E_INVALIDARG},
}


@pytest.mark.parametrize("name", TWO)
def test_query_entries_report_what_their_table_says(name: str) -> None:
    assert MAY_REPORT[name] == TWO[name]


def expected(name: str) -> set[DdiCode]:
    """Sizes, capabilities and destruction tell nothing; what takes memory may lack it."""
    if name in TWO:
        return TWO[name]
    quiet = ("Calc", "Destroy", "RecycleDestroy", "Check")
    if name.startswith(quiet) or name == "RelocateDeviceFuncs":
        return set()
    found = {REMOVED}
    makes = ("Create", "Open", "RecycleCreate")
    if name.startswith(makes) or name in [f"{n}MapDiscard" for n in DISCARDS.split()]:
        found |= {MEMORY}
    if name in ("ResourceMap", "StagingResourceMap"):
        found |= {STILL}
    return found | ({MEMORY} if name == "ResourceMap" else set())


@pytest.mark.parametrize("name", names_of(Interface.D3D11_0))
def test_every_entry_may_report_what_can_befall_it(name: str) -> None:
    assert MAY_REPORT[name] == expected(name)


def test_capability_checks_never_report_removal() -> None:
    assert all(REMOVED not in MAY_REPORT[name] for name in MAY_REPORT if name.startswith("Check"))
