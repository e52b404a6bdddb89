"""Resources that devices of an adapter share."""

from __future__ import annotations

import pytest

from dp2emu.capture.recorder import Recorder
from dp2emu.capture.records import EntryCalled, Record
from dp2emu.ddi10.adapter import Adapter
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.replay.facade import Facade
from dp2emu.runtime10 import Device, Format, Refused, Result, Texture1DDesc, Texture3DDesc
from dp2emu.runtime10.dxgi import DxgiResource, create_dxgi_factory
from tests.runtime10.making import buffer, data_of, texture

SHARED, KEYED, NTHANDLE = 0x2, 0x100, 0x800


@pytest.mark.parametrize("misc", [SHARED, KEYED, SHARED | NTHANDLE, KEYED | NTHANDLE])
def test_devices_of_an_adapter_see_the_same_texels(misc: int) -> None:
    adapter = Adapter(checking=True)
    one, other = Device(adapter), Device(create_dxgi_factory(adapter).enum_adapters(0))
    made = texture(one, 1, MiscFlags=misc)
    handle = DxgiResource(made).get_shared_handle()
    for device in (one, other):
        found = device.open_shared_resource(handle)
        assert found is not made
        assert (type(found), found.desc) == (type(made), made.desc)
    one.context.update_subresource(made, 0, None, b"\1\2\3\4", 4, 4)
    one.context.flush()
    assert data_of(other, found) == b"\1\2\3\4"
    one.close()
    assert data_of(other, found) == b"\1\2\3\4"
    other.close()


def test_textures_of_one_subresource_are_shared_whatever_their_dimensions() -> None:
    device = Device(Adapter(checking=True))
    line = Texture1DDesc(4, Format=Format.R8G8B8A8_UNORM, MiscFlags=SHARED)
    solid = Texture3DDesc(4, 4, 4, Format=Format.R8G8B8A8_UNORM, MiscFlags=SHARED)
    for made in (device.create_texture1d(line), device.create_texture3d(solid)):
        handle = DxgiResource(made).get_shared_handle()
        assert type(device.open_shared_resource(handle)) is type(made)
    for flags in (NTHANDLE, SHARED | KEYED, SHARED | KEYED | NTHANDLE):
        with pytest.raises(Refused):
            texture(device, 1, MiscFlags=flags)
    with pytest.raises(Refused):
        texture(device, 4, MipLevels=2, MiscFlags=SHARED)


def test_handles_of_nothing_are_refused() -> None:
    adapter = Adapter(checking=True)
    device = Device(adapter)
    made = buffer(device, MiscFlags=SHARED)
    handle = DxgiResource(made).get_shared_handle()
    made.release()
    for each in (handle, handle + 4):
        with pytest.raises(Refused) as caught:
            device.open_shared_resource(each)
        assert caught.value.hr == Result.E_INVALIDARG


def test_a_replay_opens_the_shared_resource_again() -> None:
    made: list[Record] = []
    device = Device(Recorder(Adapter(), made.append))
    shared = texture(device, 1, MiscFlags=SHARED)
    handle = DxgiResource(shared).get_shared_handle()
    opened = device.open_shared_resource(handle)
    device.context.update_subresource(opened, 0, None, b"\1\2\3\4", 4, 4)
    facade = Facade(Gpu())
    for record in made:
        if isinstance(record, EntryCalled):
            facade.perform(record)
    facade.finish()
    found = [each.surface.data.tobytes()[:4] for each in facade.resources().values()]
    assert found == [b"\1\2\3\4"] * 2
