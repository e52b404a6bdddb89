"""Factories, adapters and the creation of swap chains."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.ddi10.adapter import Adapter
from dp2emu.errors import Unsupported
from dp2emu.runtime10.codes import Api, Refused, Result
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.dxgi import (
    ModeDesc,
    SwapChainDesc,
    SwapChainDesc1,
    SwapChainFullscreenDesc,
    SwapEffect,
    Window,
    create_device_and_swap_chain,
    create_dxgi_factory,
    create_dxgi_factory1,
    create_dxgi_factory2,
    dxgi_device,
)
from dp2emu.runtime10.dxgi.descriptions import Luid
from tests.runtime10.dxgi.showing import RGBA8, Program, flipping


def refused(hr: Result) -> Any:
    return pytest.raises(Refused, check=lambda error: error.hr == hr)


def test_a_factory_has_the_adapters_of_drivers() -> None:
    factory = create_dxgi_factory(Adapter(), Adapter())
    adapters = [factory.enum_adapters(0), factory.enum_adapters1(1)]
    assert [each.get_desc().Description for each in adapters] == ["dp2emu", "dp2emu"]
    assert adapters[0].get_desc().AdapterLuid != adapters[1].get_desc().AdapterLuid
    assert factory.enum_adapter_by_luid(adapters[1].get_desc().AdapterLuid) is adapters[1]
    assert factory.enum_adapter_by_gpu_preference(0, 2) is adapters[0]
    assert all(each.get_parent() is factory for each in adapters)
    for index in (2, -1):
        with refused(Result.DXGI_ERROR_NOT_FOUND):
            factory.enum_adapters(index)
    with refused(Result.DXGI_ERROR_NOT_FOUND):
        factory.enum_adapter_by_luid(Luid(1, 1))


@pytest.mark.parametrize("api", Api)
def test_a_device_has_the_adapter_that_it_was_created_with(api: Api) -> None:
    adapter = create_dxgi_factory().enum_adapters(0)
    assert dxgi_device(Device(adapter, api)).get_adapter() is adapter
    driver = Adapter()
    found = dxgi_device(Device(driver, api))
    assert found.get_adapter().driver is driver
    assert found.get_parent() is found.get_adapter()


def test_interfaces_of_an_adapter() -> None:
    adapter = create_dxgi_factory().enum_adapters(0)
    assert adapter.check_interface_support("ID3D10Device") > 0
    with refused(Result.DXGI_ERROR_UNSUPPORTED):
        adapter.check_interface_support("ID3D11Device")


def test_references_are_counted() -> None:
    factory = create_dxgi_factory()
    adapter = factory.enum_adapters(0)
    assert (adapter.add_ref(), adapter.release(), adapter.release()) == (3, 2, 1)
    assert (factory.release(), factory.release()) == (0, 0)


def test_the_window_that_dxgi_watches() -> None:
    factory, window = create_dxgi_factory(), Window(4, 2)
    assert factory.get_window_association() is None
    factory.make_window_association(window, 7)
    assert factory.get_window_association() is window
    with refused(Result.DXGI_ERROR_INVALID_CALL):
        factory.make_window_association(window, 8)


def test_features_of_a_factory() -> None:
    factory = create_dxgi_factory()
    assert factory.check_feature_support(0) == 1
    assert (factory.is_current(), factory.is_windowed_stereo_enabled()) == (True, False)
    assert factory.get_creation_flags() == 0
    with refused(Result.DXGI_ERROR_INVALID_CALL):
        factory.check_feature_support(1)


def test_flags_of_a_factory() -> None:
    assert create_dxgi_factory2(1).get_creation_flags() == 1
    assert create_dxgi_factory1(Adapter()).get_creation_flags() == 0
    with refused(Result.E_INVALIDARG):
        create_dxgi_factory2(2)


@pytest.mark.parametrize("api", Api)
def test_a_device_is_created_with_a_swap_chain(api: Api) -> None:
    desc = SwapChainDesc(ModeDesc(Format=RGBA8), OutputWindow=Window(4, 2))
    driver = Adapter()
    factory = create_dxgi_factory(driver)
    for adapter in (None, driver, factory.enum_adapters(0)):
        chain, device = create_device_and_swap_chain(desc, adapter, api)
        assert chain.get_device() is device
        assert chain.get_desc().BufferDesc[:2] == (4, 2)
        assert chain.get_parent() is dxgi_device(device).get_adapter().get_parent()
    assert chain.get_parent() is factory


def test_a_swap_chain_needs_a_window() -> None:
    with refused(Result.DXGI_ERROR_INVALID_CALL):
        Program().create(OutputWindow=None)


def test_a_window_has_one_swap_chain_of_the_flip_model() -> None:
    program = flipping()
    desc = SwapChainDesc1(4, 2, RGBA8, BufferCount=2, SwapEffect=int(SwapEffect.FLIP_DISCARD))
    create = program.factory.create_swap_chain_for_hwnd
    with refused(Result.E_ACCESSDENIED):
        create(program.device, program.window, desc)
    create(program.device, Window(4, 2), desc)
    create(program.device, program.window, desc._replace(SwapEffect=0))
    program.chain.release()
    create(program.device, program.window, desc)


def test_what_is_not_implemented_is_named() -> None:
    program = Program()
    factory, device, window = program.factory, program.device, program.window
    desc = SwapChainDesc1(4, 2, RGBA8)
    output = factory.enum_adapters(0).enum_outputs(0)
    calls: list[tuple[Any, tuple[Any, ...]]] = [
        (factory.create_swap_chain_for_hwnd, (device, window, desc, None, output)),
        (factory.create_swap_chain_for_composition, (device, desc, output)),
        (factory.create_swap_chain_for_core_window, (device, window, desc)),
        (factory.enum_warp_adapter, ()),
        (factory.create_software_adapter, (0,)),
        (factory.enum_adapters(0).query_video_memory_info, (0, 0)),
    ]
    for method, arguments in calls:
        with pytest.raises(Unsupported):
            method(*arguments)


def test_swap_chains_for_full_screen_mode_stay_in_their_window() -> None:
    program = Program()
    full = SwapChainFullscreenDesc(Windowed=0)
    desc = SwapChainDesc1(4, 2, RGBA8)
    chain = program.factory.create_swap_chain_for_hwnd(program.device, Window(4, 2), desc, full)
    for each in (chain, program.create(Windowed=0)):
        assert each.get_fullscreen_state() == (False, None)
        assert each.get_fullscreen_desc().Windowed == 1
