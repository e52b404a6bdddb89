"""Surfaces of drivers elsewhere are counted before they are made."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

from dp2emu.capture import open_capture
from dp2emu.d3d.enums import Format
from dp2emu.errors import Fault
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.limits import Limits
from dp2emu.rig import NativeDriver, PipeRig, RecordedRig, Rig
from dp2emu.rig.surface_budget import SurfaceBudget
from tests.cli.running import dp2emu
from tests.native.building import sample, served_sample
from tests.refusals import refuses

LOW = Limits(surfaces=3, surface_bytes=1 << 10, total_bytes=2100, extent=64)


def buffer(handle: int, size: int) -> SurfaceDesc:
    return SurfaceDesc(handle, SurfaceKind.VERTEXBUFFER, size)


def texture(handle: int, width: int, levels: int = 1) -> SurfaceDesc:
    kind, format = SurfaceKind.TEXTURE, int(Format.A8R8G8B8)
    return SurfaceDesc(handle, kind, width, 1, format, levels=levels)


def refusal(room: SurfaceBudget | Rig, desc: SurfaceDesc) -> str:
    with pytest.raises(Fault) as caught:
        room.claim(desc) if isinstance(room, SurfaceBudget) else room.create_surface(desc)
    return caught.value.what


def test_surfaces_may_take_what_the_limits_say_and_no_more() -> None:
    room = SurfaceBudget(LOW)
    room.claim(buffer(1, 1024))
    room.claim(buffer(2, 1024))
    assert refuses(refusal(room, buffer(3, 53)), "total_bytes", 2100)
    room.claim(buffer(3, 52))
    assert refuses(refusal(room, buffer(4, 0)), "surfaces", 3)
    assert refuses(refusal(room, buffer(3, 1025)), "surface_bytes", 1024)


def test_what_is_gone_or_replaced_takes_nothing() -> None:
    room = SurfaceBudget(LOW)
    for _ in range(5):
        for handle in (1, 2):
            room.claim(buffer(handle, 1024))
    room.release(1)
    room.release(1)
    room.claim(buffer(3, 1024))
    room.clear()
    for handle in (4, 5):
        room.claim(buffer(handle, 1024))
    assert refuses(refusal(room, buffer(6, 60)), "total_bytes", 2100)


def test_what_has_pixels_counts_with_all_its_levels() -> None:
    room = SurfaceBudget(LOW)
    room.claim(texture(1, 64, levels=7))
    assert refuses(refusal(room, texture(2, 65)), "extent", 64)
    assert refusal(room, texture(2, 64, levels=(1 << 32) - 1)) == "surface 2: 4294967295 levels"


def test_parts_of_a_surface_take_nothing() -> None:
    room = SurfaceBudget(LOW)
    room.claim(texture(1, 64, levels=2))
    for handle in (2, 3):
        room.claim(SurfaceDesc(handle, SurfaceKind.SURFACE, 64, 1, parent=1))


@pytest.mark.parametrize("name", ["native", "pipe", "recorded"])
def test_every_rig_counts_before_it_makes(name: str) -> None:
    with open_capture(BytesIO(b""), kind="bare") as capture:
        rig: Rig = {
            "native": lambda: NativeDriver(sample(), limits=LOW),
            "pipe": lambda: PipeRig(str(served_sample()), limits=LOW),
            "recorded": lambda: RecordedRig(capture, limits=LOW),
        }[name]()
    assert refuses(refusal(rig, buffer(1, (1 << 32) - 1)), "surface_bytes", 1024)
    for handle in (1, 2):
        rig.create_surface(buffer(handle, 1024))
    assert refuses(refusal(rig, buffer(3, 53)), "total_bytes", 2100)
    rig.destroy_surface(1)
    rig.create_surface(buffer(3, 53))
    getattr(rig, "close", lambda: None)()


@pytest.mark.parametrize("name", ["native", "pipe", "recorded"])
def test_replay_hands_its_limits_to_every_rig(name: str) -> None:
    stream = Path(__file__).parents[2] / "streams" / "first_light.dp2"
    what = {"native": sample(), "pipe": served_sample(), "recorded": stream}[name]
    ran = dp2emu("replay", stream, "--rig", f"{name}:{what}", "--limit", "surface_bytes=700")
    assert "surface 1: " in ran.err
    assert refuses(ran.err, "surface_bytes", 700)
    assert ran.code == 3
