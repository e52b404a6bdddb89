"""Vertices of every format from buffer to pixel, in both engines at once."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from dp2emu.d3d.dxgi import DXGI, ROWS
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.states.input_layout import InputElement
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.shader.engines import CHECKED, engine
from dp2emu.shader.sm4 import assemble
from tests.ddi10.drawing import SIZE, strip
from tests.ddi10.rendering import FLOAT4, Rendering
from tests.ddi10.test_sampling import ps
from tests.gpu.test_vertex_formats import ONE, VERTICES, expected

F = DxgiFormat
VS = """vs_4_0
dcl_input v0.xyzw
dcl_input v1.xyzw
dcl_output_siv o0.xyzw, position
dcl_output o1.xyzw
mov o0, v0
mov o1, v1
ret"""
CONSTANT = ps(["mov o0, v1"], "dcl_input_ps constant v1.xyzw")
LINEAR = ps(["mov o0, v1"], "dcl_input_ps linear noperspective v1.xyzw")


def drawn(
    format: DxgiFormat, raw: bytes, code: bytes = CONSTANT, *, instances: int = 1, rate: int = 0
) -> NDArray[np.uint32]:
    """The words of the pixel of the first triangle of a strip with an element of a format."""
    rendering = Rendering(adapter=Adapter(Gpu(run=engine(CHECKED)), checking=True))
    resource = rendering.texture(F.R32G32B32A32_UINT)
    rendering.prepare()
    rendering.layout(
        InputElement(0, 0, FLOAT4.value, InputRegister=0),
        InputElement(1, 3, format.value, int(rate > 0), rate, InputRegister=1),
    )
    rendering.call("VsSetShader", rendering.make("VertexShader", assemble(VS)))
    rendering.call("PsSetShader", rendering.make("PixelShader", code))
    rendering.vertices([row[:4] for row in strip()], stride=16)
    size = ROWS[format].size
    data = rendering.buffer(bytes(3) + raw)
    rendering.call("IaSetVertexBuffers", 1, [data], [size], [0])
    target = rendering.target(resource, F.R32G32B32A32_UINT)
    rendering.call("SetRenderTargets", [target], 7, None)
    rendering.call("DrawInstanced", 4, instances, 0, 0)
    words = np.frombuffer(rendering.read(resource), "<u4").astype(np.uint32)
    first: NDArray[np.uint32] = words.reshape(SIZE, SIZE, 4)[0, 0]
    return first


@pytest.mark.parametrize("format", VERTICES)
def test_every_format_reaches_the_pixel(format: DxgiFormat) -> None:
    row, random = ROWS[format], Random(format.value)
    one = 1 if DXGI[format].integers else ONE
    for _ in range(3):
        raw = random.randbytes(row.size)
        word = int.from_bytes(raw, "little")
        wanted = [
            expected(row.channels[name], word) if name in row.channels else missing
            for name, missing in zip("rgba", (0, 0, 0, one), strict=True)
        ]
        assert drawn(format, raw * 4).tolist() == wanted
        if all(_is_plain(value) for value in wanted):
            assert drawn(format, raw * 4, LINEAR).tolist() == wanted


def _is_plain(word: int) -> bool:
    """Whether a float survives being interpolated between its like."""
    return word == 0 or 0x00800000 <= word & 0x7FFFFFFF < 0x7F000000


@pytest.mark.parametrize(("rate", "last"), [(1, 4), (2, 2), (3, 2), (4, 1)])
def test_the_last_instance_has_the_element_of_its_rate(rate: int, last: int) -> None:
    raw = np.arange(1, 9, dtype="<u4").tobytes()
    assert drawn(F.R32_UINT, raw, instances=4, rate=rate)[0] == last
