"""States, state blocks, draws and queries."""

from __future__ import annotations

import struct as binary

import pytest

from dp2emu.capture.records import Observed
from dp2emu.d3d.enums import RenderState, SamplerState
from tests.retrace.calls import Pointer, out, struct
from tests.retrace.d3d9.bench import Bench

FOG, LIGHTING = int(RenderState.FOGENABLE), int(RenderState.LIGHTING)
BLOCK = "IDirect3DStateBlock9"
DIFFUSE = 0x44
"""D3DFVF_XYZRHW | D3DFVF_DIFFUSE."""


def set_state(bench: Bench, state: int, value: int | float | bool) -> None:
    bench.device("SetRenderState", State=state, Value=value)


def corners(color: int) -> bytes:
    places = [(-0.5, -0.5), (19.5, -0.5), (-0.5, 19.5)]
    return b"".join(binary.pack("<4fI", x, y, 0.0, 1.0, color) for x, y in places)


def test_floats_of_states_are_sent_by_their_bits() -> None:
    bench = Bench()
    set_state(bench, int(RenderState.FOGSTART), 0.5)
    assert bench.app.device.render_state(RenderState.FOGSTART) == 0x3F000000
    bench.device("SetSamplerState", Sampler=1, Type=8, Value=-1.0)
    assert bench.app.device.sampler_state(1, SamplerState.MIPMAPLODBIAS) == 0xBF800000


def test_what_is_recorded_is_set_when_it_is_applied() -> None:
    bench = Bench()
    bench.device("BeginStateBlock")
    set_state(bench, FOG, 1)
    block = bench.make("EndStateBlock", "ppSB")
    assert bench.app.device.render_state(RenderState.FOGENABLE) == 0
    bench.of(block, BLOCK, "Apply")
    assert bench.app.device.render_state(RenderState.FOGENABLE) == 1
    set_state(bench, FOG, 0)
    bench.of(block, BLOCK, "Capture")
    set_state(bench, FOG, 1)
    bench.of(block, BLOCK, "Apply")
    assert bench.app.device.render_state(RenderState.FOGENABLE) == 0


def test_predefined_blocks_hold_their_kind() -> None:
    bench = Bench()
    blocks = [bench.make("CreateStateBlock", "ppSB", Type=kind) for kind in (1, 2, 3)]
    held = [bench.program.objects.get(block).thing.values for block in blocks]
    everything, pixel, vertex = held
    assert ("texture", 3) in everything
    assert ("render", LIGHTING) in vertex
    assert ("render", LIGHTING) not in pixel
    assert ("render", int(RenderState.ZENABLE)) in pixel
    assert ("viewport",) in everything
    assert set(pixel) | set(vertex) <= set(everything)
    set_state(bench, LIGHTING, 0)
    bench.of(blocks[1], BLOCK, "Apply")
    assert bench.app.device.render_state(RenderState.LIGHTING) == 0
    bench.of(blocks[2], BLOCK, "Apply")
    assert bench.app.device.render_state(RenderState.LIGHTING) == 1


def test_matrices_multiply_from_the_left() -> None:
    bench = Bench()
    turned = tuple(float(n) for n in range(16))
    doubled = tuple(2.0 if n % 5 == 0 else float(n == 12) for n in range(16))
    bench.device("SetTransform", State=256, pMatrix=(struct("D3DMATRIX", m=turned),))
    bench.device("MultiplyTransform", State=256, pMatrix=(struct("D3DMATRIX", m=doubled),))
    rows = [[sum(doubled[4 * i + k] * turned[4 * k + j] for k in range(4)) for j in range(4)]
            for i in range(4)]  # fmt: skip
    assert bench.app.mirror.get("transform", 256) == tuple(n for row in rows for n in row)


def test_a_draw_from_the_program_s_memory_unbinds_stream_0() -> None:
    bench = Bench()
    buffer = bench.make("CreateVertexBuffer", "ppVertexBuffer", Length=64, Usage=0, FVF=0, Pool=0)
    bench.device(
        "SetStreamSource", StreamNumber=0, pStreamData=Pointer(buffer), OffsetInBytes=0, Stride=16
    )
    set_state(bench, int(RenderState.ZENABLE), 0)
    bench.device("SetFVF", FVF=DIFFUSE | 1)
    bench.device("BeginScene")
    bench.device(
        "DrawPrimitiveUP", PrimitiveType=4, PrimitiveCount=1,
        pVertexStreamZeroData=corners(0xFF123456), VertexStreamZeroStride=20,
    )  # fmt: skip
    assert bench.words(bench.target)[0][0] == 0xFF123456
    assert bench.app.mirror.get("stream", 0) == (None, 0, 0)
    assert bench.losses() == []


def test_what_a_program_observed_is_recorded_with_its_call() -> None:
    bench = Bench()
    query = bench.make("CreateQuery", "ppQuery", Type=9)
    name = "IDirect3DQuery9"
    bench.of(query, name, "Issue", dwIssueFlags=2)
    bench.fill(1)
    bench.of(query, name, "Issue", dwIssueFlags=1)
    bench.of(query, name, "GetData", result=1, pData=(7,), dwSize=4, dwGetDataFlags=1)
    number = bench.of(query, name, "GetData", pData=(32,), dwSize=4, dwGetDataFlags=1)
    short = bench.of(query, name, "GetData", pData=(0xFFFF0000,), dwSize=2, dwGetDataFlags=1)
    seen = [(r.call, r.hr, r.data) for r in bench.records if isinstance(r, Observed)]
    assert seen[-2:] == [(number, 0, b"\x20\0\0\0"), (short, 0, b"\0\0")]


def test_objects_that_are_none_are_losses() -> None:
    bench = Bench()
    bench.device("SetTexture", Stage=0, pTexture=Pointer(0xBAD))
    bench.device("CreateTexture", Width=4, Height=4, Levels=1, Usage=0, Format=12345, Pool=0,
                 ppTexture=out(0x60))  # fmt: skip
    bench.device("SetSamplerState", Sampler=0, Type=99, Value=1)
    assert bench.losses() == [
        "SetTexture: 0xbad is nothing known, not a DeviceObject",
        "CreateTexture: Format 0x3039",
        "SetSamplerState: SamplerState 0x63",
    ]


@pytest.mark.parametrize("version", [9, 8])
def test_vertices_are_processed_into_a_buffer(version: int) -> None:
    bench = Bench(version)
    code = 0x142
    """D3DFVF_XYZ | D3DFVF_DIFFUSE | D3DFVF_TEX1."""
    given = binary.pack("<3fI2f", -0.5, 0.5, 0.25, 0x80402010, 0.75, 0.5)
    buffers = [
        bench.make("CreateVertexBuffer", "ppVertexBuffer", Length=64, Usage=0, FVF=f, Pool=2)
        for f in (code, 0x144)
    ]
    source, target = (bench.resource(buffer).desc for buffer in buffers)
    assert source is not None
    assert target is not None
    bench.app.store_bytes(bench.resource(buffers[0]), 24, given)
    stream = {"StreamNumber": 0, "pStreamData": Pointer(buffers[0]), "Stride": 24}
    if version == 9:
        bench.device("SetFVF", FVF=code)
        bench.device("SetStreamSource", **stream, OffsetInBytes=0)
    else:
        bench.device("SetVertexShader", Handle=code)
        bench.device("SetStreamSource", **stream)
    set_state(bench, int(RenderState.LIGHTING), 0)
    bench.device(
        "ProcessVertices", SrcStartIndex=1, DestIndex=1, VertexCount=1,
        pDestBuffer=Pointer(buffers[1]), Flags=0,
    )  # fmt: skip
    made = bench.driver.read(target.handle, 28, 28)
    # The target has 8 x 4 pixels, whose centres are at whole numbers.
    assert binary.unpack("<4fI2f", made) == (2.0, 1.0, 0.25, 1.0, 0x80402010, 0.75, 0.5)
    assert bench.driver.read(target.handle, 0, 28) == bytes(28)
    bench.device(
        "ProcessVertices", SrcStartIndex=1, DestIndex=9, VertexCount=1,
        pDestBuffer=Pointer(buffers[1]), Flags=0,
    )  # fmt: skip
    assert bench.losses() == ["ProcessVertices: 1 processed vertices beyond the buffer's end"]


def test_a_vertex_format_has_a_declaration_that_is_not_deleted() -> None:
    bench = Bench()
    bench.device("SetFVF", FVF=DIFFUSE)
    address = bench.make("GetVertexDeclaration", "ppDecl")
    bench.device("SetFVF", FVF=0x42)
    bench.device("SetVertexDeclaration", pDecl=Pointer(address))
    assert bench.app.mirror.get("format").handle == DIFFUSE
    bench.device("SetFVF", FVF=0x42)
    bench.of(address, "IDirect3DVertexDeclaration9", "Release", result=Pointer(0))
    bench.device("Present", pSourceRect=None, pDestRect=None)
    bench.app.session.flush()
    assert bench.losses() == []


@pytest.mark.parametrize(
    ("made", "name", "version", "code"),
    [
        ("CreateVertexShader", "vs_2_sw", 0xFFFE02FF, (0x02000001, 0xC00F0000, 0xA0E400FF)),
        ("CreateVertexShader", "vs_3_sw", 0xFFFE03FF, (
            0x0200001F, 0x80000000, 0xE00F0000, 0x02000001, 0xE00F0000, 0xA0E400FF)),
        ("CreatePixelShader", "ps_2_sw", 0xFFFF02FF, (0x02000001, 0x800F0800, 0xA0E4001F)),
        ("CreatePixelShader", "ps_3_sw", 0xFFFF03FF, (0x02000001, 0x800F0800, 0xA0E4001F)),
    ],
)  # fmt: skip
def test_shaders_for_software_are_the_driver_s(
    made: str, name: str, version: int, code: tuple[int, ...]
) -> None:
    bench = Bench()
    words = (version, *code, 0xFFFF)
    bench.make(made, "ppShader", pFunction=binary.pack(f"<{len(words)}I", *words))
    assert bench.losses() == [], name


@pytest.mark.parametrize(
    ("method", "setting", "count"),
    [
        ("SetVertexShaderConstantF", "vertex_floats", 256),
        ("SetPixelShaderConstantF", "pixel_floats", 224),
        ("SetVertexShaderConstantI", "vertex_integers", 16),
        ("SetVertexShaderConstantB", "vertex_booleans", 16),
    ],
)
def test_constants_of_software_alone_are_losses(method: str, setting: str, count: int) -> None:
    bench = Bench()
    size = 1 if setting.endswith("booleans") else 4
    value = 1.0 if setting.endswith("floats") else 1
    bench.device(method, StartRegister=count - 1, pConstantData=(value,) * (8192 * size))
    assert bench.losses() == [f"{method}: 8191 constants from {count} on"]
    assert bench.app.mirror.get(setting, count - 1) in ((1.0,) * 4, True)


def test_what_a_runtime_took_and_says_nothing_is_no_loss() -> None:
    bench = Bench()
    bench.device("Clear", Count=0, pRects=None, Flags=0, Color=0, Z=1.0, Stencil=0)
    bench.device("SetCurrentTexturePalette", PaletteNumber=3)
    plain = bench.make(
        "CreateTexture", "ppTexture", Width=4, Height=4, Levels=0, Usage=0, Format=21, Pool=0
    )
    bench.of(plain, "IDirect3DTexture9", "SetAutoGenFilterType", FilterType=2)
    assert bench.losses() == []


def test_draws_need_not_read_the_first_stream() -> None:
    bench = Bench()
    set_state(bench, int(RenderState.ZENABLE), 0)
    buffer = bench.make("CreateVertexBuffer", "ppVertexBuffer", Length=60, Usage=0, FVF=0, Pool=0)
    bench.app.store_bytes(bench.resource(buffer), 0, corners(0xFF123456))
    names = "Stream", "Offset", "Type", "Method", "Usage", "UsageIndex"
    elements = [(1, 0, 3, 0, 9, 0), (1, 16, 4, 0, 10, 0), (0xFF, 0, 17, 0, 0, 0)]
    found = tuple(
        struct("D3DVERTEXELEMENT9", **dict(zip(names, e, strict=True))) for e in elements
    )
    declaration = bench.make("CreateVertexDeclaration", "ppDecl", pVertexElements=found)
    bench.device("SetVertexDeclaration", pDecl=Pointer(declaration))
    bench.device(
        "SetStreamSource", StreamNumber=1, pStreamData=Pointer(buffer), OffsetInBytes=0, Stride=20
    )
    bench.device("DrawPrimitive", PrimitiveType=4, StartVertex=0, PrimitiveCount=1)
    assert bench.words(bench.target)[0][0] == 0xFF123456
    assert bench.losses() == []


def test_a_clear_converts_its_colour_while_srgb_write_is_enabled() -> None:
    bench = Bench()
    for enabled, expected in ((1, 0x40BC0089), (0, 0x40800040)):
        bench.device("SetRenderState", State=194, Value=enabled)
        bench.fill(0x40800040)
        assert bench.words(bench.target) == [[expected] * 8] * 4


def corner_rect() -> object:
    return struct("D3DRECT", x1=0, y1=0, x2=1, y2=1)


@pytest.mark.parametrize(
    ("count", "rects", "cleared"),
    [
        (0, (corner_rect(),), 0),
        (0, (), 0),
        (1, (corner_rect(), corner_rect()), 1),
        (1, None, 32),
        (0, None, 32),
    ],
)
@pytest.mark.parametrize("version", [8, 9])
def test_a_clear_of_no_rectangles_clears_nothing_and_without_an_array_all(
    version: int, count: int, rects: object, cleared: int
) -> None:
    bench = Bench(version)
    bench.device("Clear", Count=count, pRects=rects, Flags=1, Color=5, Z=1.0, Stencil=0)
    assert sum(row.count(5) for row in bench.words(bench.target)) == cleared
    assert bench.losses() == []


@pytest.mark.parametrize("version", [8, 9])
@pytest.mark.parametrize(("depth", "drawn"), [(0.5, True), (5.0, False)])
def test_untransformed_vertices_are_clipped_by_depth_without_d3drs_clipping(
    version: int, depth: float, drawn: bool
) -> None:
    bench = Bench(version)
    bench.fill(0)
    for state in (RenderState.CLIPPING, RenderState.LIGHTING, RenderState.ZENABLE):
        set_state(bench, state, 0)
    places = [(-1.0, 1.0), (3.0, 1.0), (-1.0, -3.0)]
    data = b"".join(binary.pack("<3fI", x, y, depth, 0xFFFF0000) for x, y in places)
    if version == 9:
        bench.device("SetFVF", FVF=0x42)
    else:
        bench.device("SetVertexShader", Handle=0x42)
    bench.device("DrawPrimitiveUP", PrimitiveType=4, PrimitiveCount=1, pVertexStreamZeroData=data,
                 VertexStreamZeroStride=16)  # fmt: skip
    assert bench.losses() == []
    assert (bench.words(bench.target)[1][1] == 0xFFFF0000) is drawn
