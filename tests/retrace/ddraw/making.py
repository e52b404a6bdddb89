"""Calls of DirectDraw as a trace has them, and a program that plays them."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

from dp2emu.capture.apitrace.values import Struct
from dp2emu.capture.records import Pictured, Record
from dp2emu.d3d.ddraw import Caps, Described
from dp2emu.dp2.driver import Driver
from dp2emu.retrace.program import Program
from dp2emu.runtime.drawsurfaces import DrawSurface
from tests.retrace.calls import Pointer, call, out, struct

DDRAW, D3D, PRIMARY, TARGET, DEVICE = 0x10, 0x18, 0x20, 0x30, 0x40
WIDTH, HEIGHT = 8, 6
_KEY = struct("DDCOLORKEY", dwColorSpaceLowValue=0, dwColorSpaceHighValue=0)


def pixels(flags: int = 0, bits: int = 0, masks: tuple[int, ...] = (0, 0, 0, 0)) -> Struct:
    red, green, blue, alpha = masks
    return struct(
        "DDPIXELFORMAT", dwFlags=flags, dwFourCC=0, dwRGBBitCount=bits, dwRBitMask=red,
        dwGBitMask=green, dwBBitMask=blue, dwRGBAlphaBitMask=alpha,
    )  # fmt: skip


RGB32 = pixels(0x40, 32, (0xFF0000, 0xFF00, 0xFF, 0))


def surface_desc(
    caps: int, width: int = WIDTH, height: int = HEIGHT, format: Struct | None = None,
    flags: int = 0, caps2: int = 0, **more: Any,
) -> Struct:  # fmt: skip
    """DDSURFACEDESC2, with pixels if they are given."""
    flags |= Described.CAPS | (Described.WIDTH | Described.HEIGHT if width else 0)
    members = {
        "dwFlags": flags | (Described.PIXELFORMAT if format else 0), "dwHeight": height,
        "dwWidth": width, "lPitch": 4 * width, "dwBackBufferCount": 0, "dwMipMapCount": 0,
        "lpSurface": None, "ddckCKDestBlt": _KEY, "ddckCKSrcBlt": _KEY,
        "ddpfPixelFormat": format or pixels(),
        "ddsCaps": struct("DDSCAPS2", dwCaps=caps, dwCaps2=caps2),
    }  # fmt: skip
    return struct("DDSURFACEDESC2", **members | more)


def rect(left: int, top: int, right: int, bottom: int) -> tuple[Struct]:
    return (struct("RECT", left=left, top=top, right=right, bottom=bottom),)


def matrix(*diagonal: float) -> tuple[Struct]:
    cells = {
        f"_{row}{column}": (diagonal[row - 1] if row == column else 0.0)
        for row in range(1, 5) for column in range(1, 5)
    }  # fmt: skip
    return (struct("D3DMATRIX", **cells),)


class Played:
    """A program whose calls are played one by one on a driver that draws."""

    def __init__(self, version: str = "7") -> None:
        self.records: list[Record] = []
        self.driver = Driver()
        self.program = Program(self.driver, self.records.append)
        self.version = version
        self._numbers = count()
        self.play("DirectDrawCreateEx", lplpDD=out(DDRAW))

    def play(self, name: str, result: Any = 0, **given: Any) -> int:
        """Play a call; its number."""
        number = next(self._numbers)
        self.program.play(call(name, number=number, result=result, **given))
        return number

    def on(self, address: int, name: str, result: Any = 0, **given: Any) -> int:
        """Play a method."""
        return self.play(name, result, this=Pointer(address), **given)

    def create(self, address: int, desc: Struct) -> DrawSurface:
        self.on(DDRAW, f"IDirectDraw{self.version}::CreateSurface", lpDDSurfaceDesc=(desc,),
                lplpDDSurface=out(address))  # fmt: skip
        return self.program.objects.find(address, DrawSurface)

    def device7(self) -> None:
        """A target and a device on it."""
        self.create(TARGET, surface_desc(Caps.OFFSCREENPLAIN | Caps.DEVICE3D, format=RGB32))
        self.on(DDRAW, "IDirectDraw7::QueryInterface", ppvObj=out(D3D))
        self.on(D3D, "IDirect3D7::CreateDevice", lpDDS=Pointer(TARGET),
                lplpD3DDevice=out(DEVICE))  # fmt: skip

    def lock(self, address: int, memory: int, place: Any = None, flags: int = 0) -> int:
        desc = surface_desc(0, lpSurface=Pointer(memory))
        return self.on(address, f"IDirectDrawSurface{self.version}::Lock", lpDestRect=place,
                       lpDDSurfaceDesc=(desc,), dwFlags=flags)  # fmt: skip

    def stored(self, address: int, memory: int, data: bytes) -> None:
        self.play("memcpy", None, dest=Pointer(memory), src=data, n=len(data))
        self.on(address, f"IDirectDrawSurface{self.version}::Unlock", lpRect=None)

    def losses(self) -> list[str]:
        return [loss.reason for loss in self.program.losses]

    def pictures(self) -> list[Pictured]:
        return [record for record in self.records if isinstance(record, Pictured)]

    def got(self, address: int = TARGET) -> list[list[int]]:
        """Pixels of a surface of 32 bits, by rows."""
        self.program.ddraw.settle()
        self.driver.finish()
        surface = self.program.objects.find(address, DrawSurface)
        data = self.driver.read(surface.handle, 0, surface.part.size)
        rows: list[list[int]] = (
            np.frombuffer(data, "<u4").reshape(surface.part.height, -1).tolist()
        )
        return rows
