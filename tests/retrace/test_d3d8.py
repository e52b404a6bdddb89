"""What Direct3D 8 has of its own."""

from __future__ import annotations

import struct as binary

import pytest

from dp2emu.capture.records import Blitted, Called, ContextCreated
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format, RenderState, SamplerState
from dp2emu.dp2.walk import scan
from tests.retrace.calls import Pointer, struct
from tests.retrace.d3d9.bench import Bench, rect

DIFFUSE = 0x44
VS_1_1 = binary.pack("<5I", 0xFFFE0101, 0x00000001, 0xC00F0000, 0x90E40000, 0x0000FFFF)
"""mov oPos, v0."""
POSITIONS = (0x20000000, 0x40020000, 0xFFFFFFFF)
"""Stream 0: three floats in register 0."""


def bench8() -> Bench:
    return Bench(8)


def image(bench: Bench, width: int = 8, height: int = 4) -> int:
    made = {"Width": width, "Height": height, "Format": int(Format.A8R8G8B8)}
    return bench.make("CreateImageSurface", "ppSurface", **made)


def test_the_context_and_its_tokens_are_of_that_version() -> None:
    bench = bench8()
    buffer = bench.make("CreateVertexBuffer", "ppVertexBuffer", Length=64, Usage=0, FVF=0, Pool=0)
    bench.device("SetStreamSource", StreamNumber=0, pStreamData=Pointer(buffer), Stride=16)
    bench.device("SetVertexShader", Handle=DIFFUSE)
    bench.app.session.flush()
    (made,) = (r for r in bench.records if isinstance(r, ContextCreated))
    assert made.interface == 8
    sent = b"".join(r.call.commands or b"" for r in bench.records if isinstance(r, Called))
    assert sent[0] == Op.SETRENDERTARGET
    for op, size in ((Op.SETSTREAMSOURCE, 12), (Op.SETVERTEXSHADER, 4)):
        assert bytes([op, 0, 1, 0]) in sent, size
    assert bytes([Op.SETSTREAMSOURCE2, 0, 1, 0]) not in sent


def test_rectangles_are_copied_to_points() -> None:
    bench = bench8()
    system = image(bench)
    back = bench.make("GetBackBuffer", "ppBackBuffer", BackBuffer=0, Type=0)
    bench.fill(0xFF00FF00)
    given = {"pSourceSurface": Pointer(back), "pDestinationSurface": Pointer(system)}
    bench.device("CopyRects", **given, pSourceRectsArray=rect(0, 0, 2, 1), cRects=1,
                 pDestPointsArray=(struct("POINT", x=3, y=2),))  # fmt: skip
    assert bench.words(bench.resource(system))[2] == [0, 0, 0, 0xFF00FF00, 0xFF00FF00, 0, 0, 0]
    bench.device("CopyRects", **given, pSourceRectsArray=None, cRects=0, pDestPointsArray=None)
    assert bench.words(bench.resource(system)) == [[0xFF00FF00] * 8] * 4
    assert bench.losses() == []


def test_without_a_target_the_one_there_is_stays_with_its_viewport() -> None:
    bench = bench8()
    names, sides = ("X", "Y", "Width", "Height"), (1, 1, 2, 2)
    view = struct("D3DVIEWPORT8", **dict(zip(names, sides, strict=True)), MinZ=0.0, MaxZ=1.0)
    bench.device("SetViewport", pViewport=(view,))
    bench.device("SetRenderTarget", pRenderTarget=None, pNewZStencil=None)
    assert bench.app.device.viewport.width == 2
    assert bench.app.device.depth_stencil is None
    back = bench.make("GetBackBuffer", "ppBackBuffer", BackBuffer=0, Type=0)
    bench.device("SetRenderTarget", pRenderTarget=Pointer(back), pNewZStencil=None)
    assert bench.app.device.viewport.width == 8
    assert bench.app.mirror.get("viewport")[:4] == (0, 0, 8, 4)


def test_states_of_samplers_are_the_sampler_s() -> None:
    bench = bench8()
    bench.device("SetTextureStageState", Stage=2, Type=13, Value=3)
    bench.device("SetTextureStageState", Stage=2, Type=1, Value=4)
    assert bench.app.device.sampler_state(2, SamplerState.ADDRESSU) == 3
    assert bench.app.mirror.get("stage", 2, 1) == 4


def test_blocks_are_numbers() -> None:
    bench = bench8()
    bench.device("BeginStateBlock")
    bench.device("SetRenderState", State=int(RenderState.FOGENABLE), Value=1)
    bench.device("EndStateBlock", pToken=(5,))
    bench.device("ApplyStateBlock", Token=5)
    assert bench.app.device.render_state(RenderState.FOGENABLE) == 1
    bench.device("CreateStateBlock", Type=1, pToken=(6,))
    bench.device("SetRenderState", State=int(RenderState.FOGENABLE), Value=0)
    bench.device("CaptureStateBlock", Token=5)
    bench.device("ApplyStateBlock", Token=6)
    assert bench.app.device.render_state(RenderState.FOGENABLE) == 1
    bench.device("ApplyStateBlock", Token=5)
    assert bench.app.device.render_state(RenderState.FOGENABLE) == 0
    bench.device("DeleteStateBlock", Token=5)
    bench.device("ApplyStateBlock", Token=5)
    assert bench.losses() == ["ApplyStateBlock: no state block 0x5"]


def test_shaders_are_numbers_and_formats_are_others() -> None:
    bench = bench8()
    bench.device("CreateVertexShader", pDeclaration=POSITIONS, pFunction=VS_1_1, pHandle=(9,))
    bench.device("SetVertexShader", Handle=9)
    created = bench.app.mirror.get("vertex_shader")
    assert created & 1
    bench.device("SetVertexShader", Handle=DIFFUSE)
    assert bench.app.mirror.get("vertex_shader") == DIFFUSE
    bench.device("DeleteVertexShader", Handle=9)
    bench.device("SetVertexShader", Handle=9)
    bench.device("SetPixelShader", Handle=3)
    assert bench.losses() == [
        "SetVertexShader: no vertex shader 0x9", "SetPixelShader: no pixel shader 0x3",
    ]  # fmt: skip


def test_indices_bring_the_base_that_draws_add() -> None:
    bench = bench8()
    places = [(50.0, 50.0), (-0.5, -0.5), (19.5, -0.5), (-0.5, 19.5)]
    data = b"".join(binary.pack("<4fI", x, y, 0.0, 1.0, 0xFF0000FF) for x, y in places)
    vertices = bench.make(
        "CreateVertexBuffer", "ppVertexBuffer", Length=80, Usage=0, FVF=0, Pool=0
    )
    indices = bench.make(
        "CreateIndexBuffer", "ppIndexBuffer", Length=6, Usage=0, Format=101, Pool=0
    )
    for address, kind, content in (
        (vertices, "Vertex", data), (indices, "Index", binary.pack("<3H", 0, 1, 2)),
    ):  # fmt: skip
        name = f"IDirect3D{kind}Buffer8"
        bench.of(
            address, name, "Lock", OffsetToLock=0, SizeToLock=0, ppbData=(Pointer(7),), Flags=0
        )
        bench.play("memcpy", dest=Pointer(7), src=content, n=len(content))
        bench.of(address, name, "Unlock")
    bench.device("SetRenderState", State=int(RenderState.ZENABLE), Value=0)
    bench.device("SetVertexShader", Handle=DIFFUSE)
    bench.device("SetStreamSource", StreamNumber=0, pStreamData=Pointer(vertices), Stride=20)
    bench.device("SetIndices", pIndexData=Pointer(indices), BaseVertexIndex=1)
    bench.device(
        "DrawIndexedPrimitive", PrimitiveType=4, minIndex=0, NumVertices=3, startIndex=0,
        primCount=1,
    )  # fmt: skip
    assert bench.words(bench.target)[0][0] == 0xFF0000FF
    assert bench.losses() == []


def versions(bench: Bench) -> set[int]:
    """The versions of DirectX whose tokens the calls have."""
    found = set()
    for record in bench.records:
        if isinstance(record, Called):
            commands = record.call.commands
            scanned = scan(commands, 0, len(commands), record.call.dwVertexSize)
            assert scanned.problem is None
            found |= {int(token.since) for _, token, *_ in scanned.commands}
    return found


@pytest.mark.parametrize("samples", [0, 4])
def test_no_present_or_copy_has_a_token_that_directx_8_lacks(samples: int) -> None:
    bench = Bench(8, MultiSampleType=samples)
    bench.fill(0x11223344)
    bench.device("Present", pSourceRect=None, pDestRect=None)
    size = {"Width": 8, "Height": 4, "Format": int(Format.A8R8G8B8)}
    given, copied = (bench.make("CreateImageSurface", "ppSurface", **size) for _ in range(2))
    bench.device("GetFrontBuffer", pDestSurface=Pointer(given))
    bench.device("CopyRects", pSourceSurface=Pointer(given), pSourceRectsArray=None,
                 cRects=0, pDestinationSurface=Pointer(copied), pDestPointsArray=None)  # fmt: skip
    assert bench.words(bench.resource(copied)) == [[0x11223344] * 8] * 4
    assert bench.losses() == []
    assert sum(isinstance(record, Blitted) for record in bench.records) == 3
    assert max(versions(bench)) <= 8
