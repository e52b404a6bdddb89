"""Released objects are destroyed without a look at all settings, blocks and bound objects."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.retrace.calls import Pointer
from tests.retrace.d3d9.bench import DEVICE, RECT, Bench
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
