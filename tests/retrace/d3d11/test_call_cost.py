"""How many Python functions a traced call of Direct3D 11 runs through."""

from __future__ import annotations

from typing import Any

import pytest

from tests.retrace.calls import call, functions
from tests.retrace.d3d11.played import Played, at, to


@pytest.fixture(scope="module")
def played() -> Played:
    return Played(11)


@pytest.mark.parametrize(("name", "arguments", "most"), [
    ("IASetPrimitiveTopology", {"Topology": 4}, 37),
    ("IASetVertexBuffers",
     {"StartSlot": 0, "NumBuffers": 1, "ppVertexBuffers": to("buffer"), "pStrides": (16,),
      "pOffsets": (0,)}, 90),
    ("PSSetShaderResources",
     {"StartSlot": 0, "NumViews": 1, "ppShaderResourceViews": to("srv")}, 71),
    ("Draw", {"VertexCount": 3, "StartVertexLocation": 0}, 45),
])  # fmt: skip
def test_a_call_of_every_frame_runs_through_few_functions(
    played: Played, name: str, arguments: dict[str, Any], most: int
) -> None:
    one = call(f"ID3D11DeviceContext::{name}", this=at("context"), **arguments)
    played.program.play(one)
    assert functions(lambda: played.program.play(one)) <= most
    assert not played.losses()
