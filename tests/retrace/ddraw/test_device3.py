"""Direct3D 5 and 6 devices of traced programs: viewports, lights and materials as objects."""

from __future__ import annotations

import struct as packing

import pytest

from dp2emu.d3d.ddraw import Caps, KeyFlags
from dp2emu.d3d.legacy import RenderState7
from tests.retrace.calls import Pointer, out, struct
from tests.retrace.ddraw.making import (
    D3D,
    DDRAW,
    DEVICE,
    HEIGHT,
    RGB32,
    TARGET,
    WIDTH,
    Played,
    matrix,
    surface_desc,
)

RED, GREEN, BLUE = 0xFFFF0000, 0xFF00FF00, 0xFF0000FF
BLACK = 0xFF000000
RANGE = KeyFlags.SRCBLT | KeyFlags.COLORSPACE
VIEW, LIGHT, MATERIAL, TEXTURE = 0x80, 0x90, 0xA0, 0xB0
STRIP = 5
WHITE = (1.0, 1.0, 1.0)


@pytest.fixture
def played() -> Played:
    made = Played("4")
    made.create(TARGET, surface_desc(Caps.OFFSCREENPLAIN | Caps.DEVICE3D, format=RGB32))
    made.on(DDRAW, "IDirectDraw4::QueryInterface", ppvObj=out(D3D))
    made.on(D3D, "IDirect3D3::CreateDevice", lpDDS=Pointer(TARGET), lplpD3DDevice3=out(DEVICE))
    made.on(D3D, "IDirect3D3::CreateViewport", lplpD3DViewport3=out(VIEW))
    device(made, "AddViewport", lpDirect3DViewport3=Pointer(VIEW))
    return made


def device(played: Played, name: str, **given: object) -> None:
    played.on(DEVICE, f"IDirect3DDevice3::{name}", **given)


def place(played: Played, left: float = -1, top: float = 1, width: float = 2, height: float = 2,
          min_z: float = 0, max_z: float = 1, x: int = 0) -> None:  # fmt: skip
    data = struct("D3DVIEWPORT2", dwX=x, dwY=0, dwWidth=WIDTH - x, dwHeight=HEIGHT, dvClipX=left,
                  dvClipY=top, dvClipWidth=width, dvClipHeight=height, dvMinZ=min_z,
                  dvMaxZ=max_z)  # fmt: skip
    played.on(VIEW, "IDirect3DViewport3::SetViewport2", lpData=(data,))


def choose(played: Played) -> None:
    device(played, "SetCurrentViewport", lpDirect3DViewport3=Pointer(VIEW))


def color(red: float, green: float, blue: float) -> object:
    return struct("D3DCOLORVALUE", r=red, g=green, b=blue, a=1.0)


def quad(played: Played, side: float = 1.0, normal: bool = False, flags: int = 0) -> None:
    ends = ((-side, -side), (-side, side), (side, -side), (side, side))
    if normal:
        data = b"".join(packing.pack("<6f", x, y, 0, 0, 0, -1) for x, y in ends)
    else:
        data = b"".join(packing.pack("<3fI", x, y, 0, RED) for x, y in ends)
    device(played, "DrawPrimitive", d3dptPrimitiveType=STRIP,
           d3dvtVertexType=0x12 if normal else 0x42, lpvVertices=data, dwVertexCount=4,
           dwFlags=flags)  # fmt: skip


def clear(played: Played, **given: object) -> None:
    rects = (struct("D3DRECT", x1=0, y1=0, x2=99, y2=99),)
    more = {"dwColor": GREEN, "dvZ": 1.0, "dwStencil": 0} | given
    played.on(VIEW, "IDirect3DViewport3::Clear2", dwCount=1, lpRects=rects, dwFlags=1, **more)


def shine(played: Played, red: float = 1.0) -> None:
    """A white light along z and a material that is chosen."""
    black = color(0.0, 0.0, 0.0)
    made = struct("D3DMATERIAL", diffuse=color(red, 1.0, 1.0), ambient=black, specular=black,
                  emissive=black, power=0.0)  # fmt: skip
    played.on(D3D, "IDirect3D3::CreateMaterial", lplpDirect3DMaterial3=out(MATERIAL))
    played.on(MATERIAL, "IDirect3DMaterial3::SetMaterial", lpMat=(made,))
    played.on(MATERIAL, "IDirect3DMaterial3::GetHandle", lpHandle=(5,))
    device(played, "SetLightState", dwLightStateType=1, dwLightState=5)
    numbers = dict.fromkeys(("dvRange", "dvFalloff", "dvAttenuation0", "dvAttenuation1",
                             "dvAttenuation2", "dvTheta", "dvPhi"), 0.0)  # fmt: skip
    along = struct("D3DVECTOR", x=0.0, y=0.0, z=1.0)
    light = struct("D3DLIGHT", dltType=3, dcvColor=color(0.0, 1.0, 0.0), dvPosition=along,
                   dvDirection=along, **numbers)  # fmt: skip
    played.on(D3D, "IDirect3D3::CreateLight", lplpDirect3DLight=out(LIGHT))
    played.on(LIGHT, "IDirect3DLight::SetLight", lpLight=(light,))


def test_clears_stay_in_their_viewport(played: Played) -> None:
    place(played, x=3)
    clear(played)
    assert played.got()[0] == [BLACK] * 3 + [GREEN] * 5


def test_clear_fills_with_the_background(played: Played) -> None:
    place(played)
    shine(played, 0.0)
    played.on(VIEW, "IDirect3DViewport3::SetBackground", hMat=5)
    rects = (struct("D3DRECT", x1=0, y1=0, x2=1, y2=1),)
    played.on(VIEW, "IDirect3DViewport3::Clear", dwCount=1, lpRects=rects, dwFlags=1)
    assert played.got()[0][:2] == [0xFF00FFFF, BLACK]


def test_draws_fill_the_viewport(played: Played) -> None:
    place(played)
    choose(played)
    quad(played)
    assert played.got()[3] == [RED] * WIDTH
    assert not played.losses()


@pytest.mark.parametrize("later", [False, True])
def test_the_clip_volume_is_what_fills_the_viewport(played: Played, later: bool) -> None:
    """Twice as wide a volume makes a quad half as wide."""
    if later:
        choose(played)
    place(played, left=-2, width=4)
    if not later:
        choose(played)
    device(
        played, "SetTransform", dtstTransformStateType=3, lpD3DMatrix=matrix(1.0, 1.0, 1.0, 1.0)
    )
    quad(played)
    assert played.got()[3] == [BLACK] * 2 + [RED] * 4 + [BLACK] * 2


def test_scales_of_the_first_viewports(played: Played) -> None:
    data = struct("D3DVIEWPORT", dwX=0, dwY=0, dwWidth=WIDTH, dwHeight=HEIGHT, dvScaleX=2.0,
                  dvScaleY=3.0, dvMinZ=0.0, dvMaxZ=1.0)  # fmt: skip
    played.on(VIEW, "IDirect3DViewport::SetViewport", lpData=(data,))
    choose(played)
    quad(played)
    assert played.got()[3] == [BLACK] * 2 + [RED] * 4 + [BLACK] * 2


def test_lights_shine_in_their_viewport_on_a_material(played: Played) -> None:
    place(played)
    choose(played)
    shine(played)
    quad(played, normal=True)
    assert played.got()[3][3] & 0xFFFFFF == 0
    played.on(VIEW, "IDirect3DViewport3::AddLight", lpDirect3DLight=Pointer(LIGHT))
    quad(played, normal=True)
    assert played.got()[3][3] == GREEN
    played.on(VIEW, "IDirect3DViewport3::DeleteLight", lpDirect3DLight=Pointer(LIGHT))
    quad(played, normal=True)
    assert played.got()[3][3] & 0xFFFFFF == 0


def test_draws_without_material_normal_or_wish_are_not_lit(played: Played) -> None:
    place(played)
    choose(played)
    quad(played, normal=True)
    assert played.got()[3][3] == 0xFFFFFFFF
    shine(played)
    quad(played)
    assert played.got()[3][3] == RED
    quad(played, normal=True, flags=0x10)
    assert played.got()[3][3] == 0xFFFFFFFF


def test_a_material_may_change_while_it_is_chosen(played: Played) -> None:
    place(played)
    choose(played)
    shine(played)
    black = color(0.0, 0.0, 0.0)
    made = struct("D3DMATERIAL", diffuse=black, ambient=black, specular=black,
                  emissive=color(0.0, 0.0, 1.0), power=0.0)  # fmt: skip
    played.on(MATERIAL, "IDirect3DMaterial3::SetMaterial", lpMat=(made,))
    quad(played, normal=True)
    assert played.got()[3][3] & 0xFFFFFF == BLUE & 0xFFFFFF


def test_light_states_are_render_states(played: Played) -> None:
    place(played)
    choose(played)
    shine(played)
    black = color(0.0, 0.0, 0.0)
    made = struct("D3DMATERIAL", diffuse=black, ambient=color(*WHITE), specular=black,
                  emissive=black, power=0.0)  # fmt: skip
    played.on(MATERIAL, "IDirect3DMaterial3::SetMaterial", lpMat=(made,))
    device(played, "SetLightState", dwLightStateType=2, dwLightState=BLUE)
    quad(played, normal=True)
    assert played.got()[3][3] & 0xFFFFFF == BLUE & 0xFFFFFF


def texture(played: Played, address: int, value: int, handle: int) -> None:
    played.create(address, surface_desc(Caps.TEXTURE, 1, 1, RGB32))
    played.lock(address, 0x5000)
    played.stored(address, 0x5000, packing.pack("<I", value))
    played.on(address, "IDirect3DTexture2::GetHandle", lpHandle=(handle,))


def test_textures_are_bound_by_their_handles(played: Played) -> None:
    place(played)
    choose(played)
    texture(played, TEXTURE, BLUE, 7)
    device(played, "SetRenderState", dwRenderStateType=RenderState7.TEXTUREMAPBLEND,
           dwRenderState=1)  # fmt: skip
    for handle, wanted in ((7, BLUE), (0, RED)):
        device(played, "SetRenderState", dwRenderStateType=1, dwRenderState=handle)
        quad(played)
        assert played.got()[3][3] == wanted
    device(played, "SetRenderState", dwRenderStateType=1, dwRenderState=99)
    assert played.losses() == ["no texture handle 0x63"]


def test_textures_of_stages(played: Played) -> None:
    place(played)
    choose(played)
    texture(played, TEXTURE, BLUE, 7)
    device(played, "SetTexture", dwStage=0, lpTexture2=Pointer(TEXTURE))
    device(played, "SetTextureStageState", dwStage=0, d3dTexStageStateType=1, dwState=2)
    quad(played)
    assert played.got()[3][3] == BLUE


def test_load_brings_texels_and_keys(played: Played) -> None:
    texture(played, TEXTURE, BLUE, 7)
    texture(played, TEXTURE + 8, 0, 8)
    key = struct("DDCOLORKEY", dwColorSpaceLowValue=5, dwColorSpaceHighValue=6)
    played.on(TEXTURE, "IDirectDrawSurface4::SetColorKey", dwFlags=RANGE,
              lpDDColorKey=(key,))  # fmt: skip
    played.on(TEXTURE + 8, "IDirect3DTexture2::Load", lpD3DTexture2=Pointer(TEXTURE))
    assert played.got(TEXTURE + 8) == [[BLUE]]
    assert played.program.objects.get(TEXTURE + 8).source_key == (5, 6)


def test_vertices_of_direct3d_5(played: Played) -> None:
    ends = ((-0.5, -0.5), (99.5, -0.5), (-0.5, 99.5), (99.5, 99.5))
    data = b"".join(packing.pack("<4f2I2f", x, y, 0, 1, BLUE, 0, 0, 0) for x, y in ends)
    for vertices in (data, data[:48]):
        played.on(DEVICE, "IDirect3DDevice2::DrawPrimitive", d3dptPrimitiveType=STRIP,
                  d3dvtVertexType=3, lpvVertices=vertices, dwVertexCount=4, dwFlags=0)  # fmt: skip
    assert played.got()[3][3] == BLUE
    assert played.losses() == ["48 bytes of 4 vertices were recorded"]


def test_a_viewport_of_no_device_cannot_be_cleared(played: Played) -> None:
    device(played, "DeleteViewport", lpDirect3DViewport3=Pointer(VIEW))
    clear(played)
    assert played.losses() == ["a viewport of no device"]


@pytest.mark.parametrize("name", ["Begin", "Vertex", "End"])
def test_vertices_one_by_one_are_losses(played: Played, name: str) -> None:
    device(played, name)
    assert len(played.losses()) == 1
