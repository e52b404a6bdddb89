"""Direct3D 7 devices of traced programs."""

from __future__ import annotations

import struct as packing

import pytest

from dp2emu.d3d.ddraw import Caps
from dp2emu.d3d.legacy import RenderState7
from dp2emu.runtime.earlydevice import EarlyDevice
from tests.retrace.calls import Pointer, out, struct
from tests.retrace.ddraw.making import (
    D3D,
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
FVF, STRIP, BUFFER, MEMORY = 0x44, 5, 0x60, 0x2000


@pytest.fixture
def played() -> Played:
    made = Played()
    made.device7()
    return made


def device(played: Played, name: str, **given: object) -> int:
    return played.on(DEVICE, f"IDirect3DDevice7::{name}", **given)


def clear(played: Played, color: int = GREEN, rects: object = None) -> None:
    count = len(rects) if isinstance(rects, tuple) else 0
    device(played, "Clear", dwCount=count, lpRects=rects, dwFlags=1, dwColor=color, dvZ=1.0,
           dwStencil=0)  # fmt: skip


def state(played: Played, number: int, value: object) -> None:
    device(played, "SetRenderState", dwRenderStateType=number, dwRenderState=value)


def corners(color: int) -> bytes:
    ends = ((-0.5, -0.5), (99.5, -0.5), (-0.5, 99.5), (99.5, 99.5))
    return b"".join(packing.pack("<4fI", x, y, 0, 1, color) for x, y in ends)


def draw(played: Played, color: int = RED) -> None:
    device(played, "DrawPrimitive", d3dptPrimitiveType=STRIP, d3dvtVertexType=FVF,
           lpvVertices=corners(color), dwVertexCount=4, dwFlags=0)  # fmt: skip


def test_clears_and_draws(played: Played) -> None:
    clear(played)
    assert played.got() == [[GREEN] * WIDTH] * HEIGHT
    draw(played)
    assert played.got() == [[RED] * WIDTH] * HEIGHT
    assert not played.losses()


def test_rectangles_of_clear(played: Played) -> None:
    clear(played, RED, (struct("D3DRECT", x1=1, y1=0, x2=2, y2=1),))
    assert played.got()[0][:3] == [BLACK, RED, BLACK]


def test_indexed_draws(played: Played) -> None:
    device(played, "DrawIndexedPrimitive", d3dptPrimitiveType=4, d3dvtVertexType=FVF,
           lpvVertices=corners(BLUE), dwVertexCount=4, lpwIndices=packing.pack("<3H", 0, 1, 2),
           dwIndexCount=3, dwFlags=0)  # fmt: skip
    assert played.got()[0][0] == BLUE


def strided(color: int) -> object:
    ends = ((-0.5, -0.5), (99.5, -0.5), (-0.5, 99.5), (99.5, 99.5))
    empty = struct("D3DDP_PTRSTRIDE", lpvData=b"", dwStride=77)
    position = b"".join(packing.pack("<4fI", x, y, 0, 1, 0) for x, y in ends)
    return (struct(
        "D3DDRAWPRIMITIVESTRIDEDDATA",
        position=struct("D3DDP_PTRSTRIDE", lpvData=position, dwStride=20), normal=empty,
        diffuse=struct("D3DDP_PTRSTRIDE", lpvData=packing.pack("<I", color), dwStride=0),
        specular=empty, textureCoords=(empty,) * 8,
    ),)  # fmt: skip


def test_strided_vertices_are_brought_together(played: Played) -> None:
    device(played, "DrawPrimitiveStrided", d3dptPrimitiveType=STRIP, dwVertexType=FVF,
           lpD3DDrawPrimStrideData=strided(BLUE), dwVertexCount=4, dwFlags=0)  # fmt: skip
    assert played.got()[5][7] == BLUE
    device(played, "DrawIndexedPrimitiveStrided", d3dptPrimitiveType=STRIP, dwVertexType=FVF,
           lpD3DDrawPrimStrideData=strided(RED), dwVertexCount=4,
           lpIndex=(0, 1, 2, 3), dwIndexCount=4, dwFlags=0)  # fmt: skip
    assert played.got()[5][7] == RED


@pytest.mark.parametrize(
    ("count", "rects", "cleared"), [(0, True, 0), (1, True, 1), (1, False, WIDTH * HEIGHT)]
)
def test_a_clear_of_no_rectangles_clears_nothing_and_without_an_array_all(
    played: Played, count: int, rects: bool, cleared: int
) -> None:
    clear(played, BLACK)
    corner = (struct("D3DRECT", x1=0, y1=0, x2=1, y2=1),) * 2
    device(played, "Clear", dwCount=count, lpRects=corner if rects else None, dwFlags=1,
           dwColor=RED, dvZ=1.0, dwStencil=0)  # fmt: skip
    assert sum(row.count(RED) for row in played.got()) == cleared
    assert played.losses() == []


@pytest.mark.parametrize("name", ["lpStrideData", "lpD3DDrawPrimStrideData", "lpVertexArray"])
def test_strided_vertices_are_the_third_argument_whatever_its_name(
    played: Played, name: str
) -> None:
    device(played, "DrawPrimitiveStrided", d3dptPrimitiveType=STRIP, dwVertexType=FVF,
           **{name: strided(BLUE)}, dwVertexCount=4, dwFlags=0)  # fmt: skip
    assert played.got()[5][7] == BLUE
    assert played.losses() == []


def test_a_strided_draw_without_vertices_is_a_loss(played: Played) -> None:
    device(played, "DrawPrimitiveStrided", dwVertexType=FVF, dwVertexCount=4)
    assert played.losses() == ["no argument 3 of 3"]


def test_indices_that_are_missing_are_a_loss(played: Played) -> None:
    device(played, "DrawIndexedPrimitiveStrided", d3dptPrimitiveType=STRIP, dwVertexType=FVF,
           lpD3DDrawPrimStrideData=strided(RED), dwVertexCount=4, lpIndex=(0,), dwIndexCount=4,
           dwFlags=0)  # fmt: skip
    assert played.losses() == ["1 of 4 indices were recorded"]


def test_vertex_buffers(played: Played) -> None:
    asked = struct("D3DVERTEXBUFFERDESC", dwCaps=0, dwFVF=FVF, dwNumVertices=5)
    played.on(D3D, "IDirect3D7::CreateVertexBuffer", lpD3DVertBufDesc=(asked,),
              lplpD3DVertBuf=out(BUFFER))  # fmt: skip
    played.on(BUFFER, "IDirect3DVertexBuffer7::Lock", dwFlags=0, lplpData=out(MEMORY))
    played.play("memcpy", None, dest=Pointer(MEMORY), src=bytes(20) + corners(BLUE), n=100)
    played.on(BUFFER, "IDirect3DVertexBuffer7::Unlock")
    device(played, "DrawPrimitiveVB", d3dptPrimitiveType=STRIP, lpD3DVertexBuf=Pointer(BUFFER),
           dwStartVertex=1, dwNumVertices=4, dwFlags=0)  # fmt: skip
    assert played.got()[0][0] == BLUE
    clear(played)
    device(played, "DrawIndexedPrimitiveVB", d3dptPrimitiveType=4,
           lpD3DVertexBuf=Pointer(BUFFER), dwStartVertex=1, dwNumVertices=4,
           lpwIndices=packing.pack("<3H", 0, 1, 2), dwIndexCount=3, dwFlags=0)  # fmt: skip
    assert played.got()[0][0] == BLUE
    played.on(BUFFER, "IDirect3DVertexBuffer7::Release", 0)
    assert not played.losses()


def test_states_and_stages(played: Played) -> None:
    clear(played)
    state(played, RenderState7.TEXTUREFACTOR, BLUE)
    for number, value in ((1, 2), (2, 3)):
        device(played, "SetTextureStageState", dwStage=0, d3dTexStageStateType=number,
               dwState=value)  # fmt: skip
    draw(played)
    assert played.got()[0][0] & 0xFFFFFF == BLUE & 0xFFFFFF


def test_textures_are_surfaces(played: Played) -> None:
    played.create(BUFFER, surface_desc(Caps.TEXTURE, 1, 1, RGB32))
    played.lock(BUFFER, MEMORY)
    played.stored(BUFFER, MEMORY, packing.pack("<I", BLUE))
    device(played, "SetTexture", dwStage=0, lpTexture=Pointer(BUFFER))
    device(played, "SetTextureStageState", dwStage=0, d3dTexStageStateType=1, dwState=2)
    draw(played)
    assert played.got()[0][0] == BLUE
    device(played, "GetTexture", dwStage=0, lpTexture=out(0x70))
    assert played.program.objects.get(0x70) is played.program.objects.get(BUFFER)


def test_matrices_and_viewports(played: Played) -> None:
    view = struct("D3DVIEWPORT7", dwX=0, dwY=0, dwWidth=4, dwHeight=6, dvMinZ=0.0, dvMaxZ=1.0)
    device(played, "SetViewport", lpData=(view,))
    device(
        played, "SetTransform", dtstTransformStateType=1, lpD3DMatrix=matrix(2.0, 2.0, 1.0, 1.0)
    )
    device(played, "MultiplyTransform", dtstTransformStateType=1,
           lpD3DMatrix=matrix(0.5, 0.5, 1.0, 1.0))  # fmt: skip
    state(played, RenderState7.LIGHTING, 0)
    ends = ((-1, -1), (-1, 1), (1, -1), (1, 1))
    data = b"".join(packing.pack("<3fI", x, y, 0, RED) for x, y in ends)
    device(played, "DrawPrimitive", d3dptPrimitiveType=STRIP, d3dvtVertexType=0x42,
           lpvVertices=data, dwVertexCount=4, dwFlags=0)  # fmt: skip
    assert played.got()[3] == [RED] * 4 + [BLACK] * 4


def color(red: float, green: float, blue: float) -> object:
    return struct("D3DCOLORVALUE", r=red, g=green, b=blue, a=0.0)


def test_lights_and_materials(played: Played) -> None:
    white, black = color(1.0, 1.0, 1.0), color(0.0, 0.0, 0.0)
    shine = struct("D3DMATERIAL7", diffuse=white, ambient=black, specular=black, emissive=black,
                   power=0.0)  # fmt: skip
    device(played, "SetMaterial", lpMat=(shine,))
    down = struct("D3DVECTOR", x=0.0, y=0.0, z=1.0)
    zeros = dict.fromkeys(("dvRange", "dvFalloff", "dvAttenuation0", "dvAttenuation1",
                           "dvAttenuation2", "dvTheta", "dvPhi"), 0.0)  # fmt: skip
    light = struct("D3DLIGHT7", dltType=3, dcvDiffuse=color(0.0, 1.0, 0.0), dcvSpecular=black,
                   dcvAmbient=black, dvPosition=down, dvDirection=down, **zeros)  # fmt: skip
    device(played, "SetLight", dwLightIndex=2, lpLight=(light,))
    device(played, "LightEnable", dwLightIndex=2, bEnable=1)
    ends = ((-1, -1), (-1, 1), (1, -1), (1, 1))
    data = b"".join(packing.pack("<6f", x, y, 0, 0, 0, -1) for x, y in ends)
    device(played, "DrawPrimitive", d3dptPrimitiveType=STRIP, d3dvtVertexType=0x12,
           lpvVertices=data, dwVertexCount=4, dwFlags=0)  # fmt: skip
    assert played.got()[3][4] == GREEN


def test_blocks_keep_the_numbers_the_program_knows(played: Played) -> None:
    device(played, "BeginStateBlock")
    state(played, RenderState7.ZENABLE, 1)
    device(played, "EndStateBlock", lpdwBlockHandle=(77,))
    device(played, "CreateStateBlock", d3dsbType=1, lpdwBlockHandle=(78,))
    for name in ("ApplyStateBlock", "CaptureStateBlock", "DeleteStateBlock"):
        device(played, name, dwBlockHandle=77)
    assert not played.losses()
    device(played, "ApplyStateBlock", dwBlockHandle=77)
    assert played.losses() == ["no state block 77"]


def test_another_target(played: Played) -> None:
    played.create(BUFFER, surface_desc(Caps.DEVICE3D, format=RGB32))
    device(played, "SetRenderTarget", lpNewRenderTarget=Pointer(BUFFER), dwFlags=0)
    clear(played)
    assert (played.got(BUFFER)[0][0], played.got()[0][0]) == (GREEN, BLACK)
    device(played, "GetRenderTarget", lplpRenderTarget=out(0x70))
    assert played.program.objects.get(0x70) is played.program.objects.get(BUFFER)


def test_planes(played: Played) -> None:
    device(played, "SetClipPlane", dwIndex=0, pPlaneEquation=(1.0, 0.0, 0.0, 0.0))
    device(played, "SetClipPlane", dwIndex=0, pPlaneEquation=(1.0,))
    assert played.losses() == ["a plane of 1 numbers"]


def test_scenes_and_the_end_of_a_device(played: Played) -> None:
    device(played, "BeginScene")
    clear(played)
    device(played, "EndScene")
    found = played.program.objects.find(DEVICE, EarlyDevice)
    played.on(DEVICE, "IDirect3DDevice7::Release", 0)
    assert found not in played.program.ddraw.devices
    assert played.program.objects.get(TARGET) is not None
    assert played.got()[0][0] == GREEN


def test_vertices_are_processed_into_another_buffer(played: Played) -> None:
    made, given = BUFFER, BUFFER + 8
    for address, format in ((made, FVF), (given, 0x42)):
        asked = struct("D3DVERTEXBUFFERDESC", dwCaps=0, dwFVF=format, dwNumVertices=4)
        played.on(D3D, "IDirect3D7::CreateVertexBuffer", lpD3DVertBufDesc=(asked,),
                  lplpD3DVertBuf=out(address))  # fmt: skip
    ends = ((-1, -1), (-1, 1), (1, -1), (1, 1))
    data = b"".join(packing.pack("<3fI", x, y, 0, BLUE) for x, y in ends)
    played.on(given, "IDirect3DVertexBuffer7::Lock", dwFlags=0, lplpData=out(MEMORY))
    played.play("memcpy", None, dest=Pointer(MEMORY), src=data, n=len(data))
    played.on(given, "IDirect3DVertexBuffer7::Unlock")
    played.on(made, "IDirect3DVertexBuffer7::ProcessVertices", dwVertexOp=1, dwDestIndex=0,
              dwCount=4, lpSrcBuffer=Pointer(given), dwSrcIndex=0, lpD3DDevice=Pointer(DEVICE),
              dwFlags=0)  # fmt: skip
    device(played, "DrawPrimitiveVB", d3dptPrimitiveType=STRIP, lpD3DVertexBuf=Pointer(made),
           dwStartVertex=0, dwNumVertices=4, dwFlags=0)  # fmt: skip
    assert played.got()[3][4] == BLUE
    assert not played.losses()


def test_more_strided_vertices_than_there_can_be_are_a_loss(played: Played) -> None:
    device(played, "DrawPrimitiveStrided", d3dptPrimitiveType=STRIP, dwVertexType=FVF,
           lpD3DDrawPrimStrideData=strided(BLUE), dwVertexCount=1 << 30, dwFlags=0)  # fmt: skip
    assert played.losses() == ["1073741824 vertices"]


def test_load_brings_texels_keys_and_palette(played: Played) -> None:
    given, made = BUFFER, BUFFER + 8
    surfaces = [played.create(a, surface_desc(Caps.TEXTURE, 1, 1, RGB32)) for a in (given, made)]
    played.lock(given, MEMORY)
    played.stored(given, MEMORY, packing.pack("<I", BLUE))
    surfaces[0].source_key = (1, 2)
    device(played, "Load", lpDestTex=Pointer(made), lpDestPoint=None, lpSrcTex=Pointer(given),
           lprcSrcRect=None, dwFlags=0)  # fmt: skip
    assert played.got(made) == [[BLUE]]
    assert surfaces[1].source_key == (1, 2)
    played.lock(made, MEMORY)
    assert len(played.pictures()) == 1
