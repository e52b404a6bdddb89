"""The declared names of functions and structures."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.codes import Interface
from dp2emu.ddi10.declarations import REQUIRED, element_of, kinds_of, members, parameters
from dp2emu.ddi10.resources.resource import MipInfo, Usage
from dp2emu.ddi10.states.state_objects import RenderTargetBlend, StencilOpDesc


def test_every_implemented_function_has_typed_parameters() -> None:
    device = Adapter().create_device(Interface.D3D11_0, lambda layer, code: None)
    for entry in device.entries:
        assert all(each.type is not Any for each in parameters(entry).values()), entry
    for entry in device.dxgi_entries:
        assert parameters(f"DXGI.{entry}") or entry == "SetDisplayMode"


@pytest.mark.parametrize(
    ("entry", "names"),
    [
        ("Draw", ["vertices", "start"]),
        ("QueryGetData", ["memory", "data", "size", "flags"]),
        ("ResourceMap", ["memory", "subresource", "kind", "flags"]),
        ("CalcPrivateQuerySize", ["description"]),
        ("DXGI.SetResourcePriority", ["resource", "priority"]),
        ("Flush", []),
        ("Fly", []),
    ],
)
def test_parameters_are_in_order(entry: str, names: list[str]) -> None:
    assert list(parameters(entry)) == names


def test_members_have_types_and_defaults() -> None:
    found = members("CreateResource")
    assert found["ResourceDimension"].default is REQUIRED
    assert kinds_of(found["Usage"].type) == (Usage,)
    assert found["MipLevels"].default == 1
    assert element_of(found["pMipInfoList"].type) is MipInfo
    assert members("DepthStencilDesc")["FrontFace"].default == StencilOpDesc()
    assert element_of(members("BlendDesc1")["RenderTarget"].type) is RenderTargetBlend
    assert list(members("MappedSubresource")) == ["pData", "RowPitch", "DepthPitch"]
    assert list(members("StringOut")) == ["memory", "length"]
    assert not members("Stage") and not members("Nothing")
