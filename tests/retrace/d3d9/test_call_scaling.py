"""Calls of Direct3D 8 and 9 do not look at objects and memory that they do not use."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.retrace.calls import Pointer
from tests.retrace.d3d9.bench import Bench
from tests.scaling import assert_linear

TEXTURE = {"Width": 4, "Height": 4, "Levels": 1, "Usage": 0, "Format": 21, "Pool": 0}


def texture(bench: Bench) -> int:
    return bench.make("CreateTexture", "ppTexture", **TEXTURE)


def recorded(bench: Bench) -> None:
    """A state block with a texture that the application has released."""
    made = texture(bench)
    bench.device("BeginStateBlock")
    bench.device("SetTexture", Stage=0, pTexture=Pointer(made))
    bench.make("EndStateBlock", "ppSB")
    bench.of(made, "IDirect3DTexture9", "Release")


def shader(bench: Bench) -> None:
    """A state block with a vertex declaration that the application has released."""
    made = bench.make("CreateVertexDeclaration", "ppDecl", pVertexElements=())
    bench.device("BeginStateBlock")
    bench.device("SetVertexDeclaration", pDecl=Pointer(made))
    bench.make("EndStateBlock", "ppSB")
    bench.of(made, "IDirect3DVertexDeclaration9", "Release")


def present(bench: Bench) -> None:
    """A frame in which a texture is made and released."""
    bench.of(texture(bench), "IDirect3DTexture9", "Release")
    bench.device(
        "Present", pSourceRect=None, pDestRect=None, hDestWindowOverride=None, pDirtyRegion=None
    )


@pytest.mark.parametrize("block", [recorded, shader], ids=["textures", "declarations"])
def test_frames_cost_the_same_with_more_state_blocks(block: Callable[[Bench], None]) -> None:
    def given(n: int) -> tuple[Bench, int]:
        bench = Bench()
        for _ in range(n):
            block(bench)
        return bench, n

    def play(made: tuple[Bench, int]) -> None:
        bench, n = made
        for _ in range(n):
            present(bench)

    assert_linear(given, play, (4, 8, 16, 32))


def test_vertices_are_processed_without_a_copy_of_the_rest_of_the_buffer() -> None:
    """Calls of ProcessVertices cost what they process, not what their buffers hold."""

    def given(n: int) -> tuple[Bench, int, int]:
        bench = Bench()
        source, target = (
            bench.make(
                "CreateVertexBuffer", "ppVertexBuffer", Length=n << 17, Usage=0, FVF=f, Pool=2
            )
            for f in (0x142, 0x144)
        )
        bench.device("SetFVF", FVF=0x142)
        bench.device(
            "SetStreamSource", StreamNumber=0, pStreamData=Pointer(source), Stride=24,
            OffsetInBytes=0,
        )  # fmt: skip
        bench.device("SetRenderState", State=137, Value=0)
        return bench, target, n

    def process(made: tuple[Bench, int, int]) -> None:
        bench, target, n = made
        for i in range(n):
            bench.device(
                "ProcessVertices", SrcStartIndex=i, DestIndex=i, VertexCount=1,
                pDestBuffer=Pointer(target), Flags=0,
            )  # fmt: skip
        assert bench.losses() == []

    assert_linear(given, process, (2, 4, 8, 16))
