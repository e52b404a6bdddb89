"""A program made by hand: calls of Direct3D 9 or 8 on a driver that draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from dp2emu.capture.records import Record
from dp2emu.d3d.enums import Format
from dp2emu.dp2.driver import Driver
from dp2emu.retrace import importing  # noqa: F401  (registers the methods)
from dp2emu.retrace.d3d9.objects import DeviceObject
from dp2emu.retrace.program import Program
from dp2emu.runtime.application import Application
from dp2emu.runtime.resources import Resource
from tests.retrace.calls import Pointer, call, out, struct

DEVICE = 0x1000
RECT = ("left", "top", "right", "bottom")


class Bench:
    """A device at ``DEVICE`` with a back buffer of 8 x 4 pixels.  Mutable: calls are counted."""

    def __init__(self, version: int = 9, **more: int) -> None:
        self.records: list[Record] = []
        self.version = version
        self.driver = Driver()
        self.program = Program(self.driver, self.records.append)
        self.number = 0
        self.addresses = 0x2000
        self.program.play(call(f"Direct3DCreate{version}", result=Pointer(0x10)))
        self.parameters = parameters(**more)
        self.play(
            f"IDirect3D{version}::CreateDevice",
            pPresentationParameters=(self.parameters,),
            ppReturnedDeviceInterface=out(DEVICE),
        )

    def play(self, name: str, *, result: Any = 0, **arguments: Any) -> int:
        """Any call; returns its number."""
        self.number += 1
        self.program.play(call(name, number=self.number, result=result, **arguments))
        return self.number

    def device(self, method: str, **arguments: Any) -> int:
        """A method of the device."""
        name = f"IDirect3DDevice{self.version}::{method}"
        return self.play(name, this=Pointer(DEVICE), **arguments)

    def make(self, method: str, to: str, **arguments: Any) -> int:
        """A method of the device that hands out an object, whose address is returned."""
        self.addresses += 0x10
        self.device(method, **arguments, **{to: out(self.addresses)})
        return self.addresses

    def of(self, address: int, interface: str, method: str, **arguments: Any) -> int:
        """A method of an object."""
        return self.play(f"{interface}::{method}", this=Pointer(address), **arguments)

    def get(self, address: int, interface: str, method: str, to: str, **arguments: Any) -> int:
        """A method of an object that hands out another, whose address is returned."""
        self.addresses += 0x10
        self.of(address, interface, method, **arguments, **{to: out(self.addresses)})
        return self.addresses

    @property
    def app(self) -> Application:
        """The device."""
        return self.program.objects.find(DEVICE, Application)

    def resource(self, address: int) -> Resource:
        """The resource at an address."""
        found = self.program.objects.find(address, DeviceObject).thing
        assert isinstance(found, Resource)
        return found

    def words(self, resource: Resource) -> list[list[int]]:
        """The 32-bit pixels of a surface, rows first."""
        desc, part = resource.root.desc, resource.part()
        assert desc is not None
        self.app.session.finish()
        data = self.app.session.read(desc.handle, part.offset, part.size)
        found: list[list[int]] = np.frombuffer(data, "<u4").reshape(part.height, -1).tolist()
        return found

    @property
    def target(self) -> Resource:
        """The first target."""
        found = self.app.resource(self.app.device.targets[0])
        assert found is not None
        return found

    def fill(self, color: int) -> None:
        """Clear the target."""
        self.device("Clear", Count=0, pRects=None, Flags=1, Color=color, Z=1.0, Stencil=0)

    def losses(self) -> list[str]:
        """What was lost, without the calls' numbers."""
        return [f"{loss.name.partition('::')[2]}: {loss.reason}" for loss in self.program.losses]


def parameters(**more: int) -> Any:
    """D3DPRESENT_PARAMETERS as granted."""
    members = {
        "BackBufferWidth": 8, "BackBufferHeight": 4, "BackBufferFormat": int(Format.A8R8G8B8),
        "BackBufferCount": 1, "MultiSampleType": 0, "MultiSampleQuality": 0,
        "EnableAutoDepthStencil": 1, "AutoDepthStencilFormat": int(Format.D24S8),
    }  # fmt: skip
    return struct("D3DPRESENT_PARAMETERS", **(members | more))


def rect(*sides: int) -> tuple[Any]:
    """A pointer to a RECT."""
    return (struct("RECT", **dict(zip(RECT, sides, strict=True))),)
