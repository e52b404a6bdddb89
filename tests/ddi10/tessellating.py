"""A device whose patches are divided, and what comes of them is streamed out word by word."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.queries.statistics import Statistics
from dp2emu.ddi10.resources.resource import BindFlag
from dp2emu.ddi10.shaders.stream_output import StreamOutputEntry11, StreamOutputShader11
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.shader.engines import CHECKED, can_compile, engine
from dp2emu.shader.sm4 import assemble
from tests.ddi10.rendering import Drawing, Handle

ENGINE = CHECKED if can_compile() else "reference"
PATCH = 32
"""What the number of a topology of patches is more than their points."""

FACTORS = {
    "isoline": ("finalLineDensityTessFactor", "finalLineDetailTessFactor"),
    "tri": (
        "finalTriUeq0EdgeTessFactor",
        "finalTriVeq0EdgeTessFactor",
        "finalTriWeq0EdgeTessFactor",
        "finalTriInsideTessFactor",
    ),
    "quad": (
        "finalQuadUeq0EdgeTessFactor",
        "finalQuadVeq0EdgeTessFactor",
        "finalQuadUeq1EdgeTessFactor",
        "finalQuadVeq1EdgeTessFactor",
        "finalQuadUInsideTessFactor",
        "finalQuadVInsideTessFactor",
    ),
}
"""Names of factors, in the order of the tessellator."""

_HULL = """hs_5_0
hs_decls
dcl_input_control_point_count {takes}
dcl_output_control_point_count {makes}
dcl_tessellator_domain domain_{domain}
dcl_tessellator_partitioning partitioning_{partitioning}
dcl_tessellator_output_primitive output_{output}
{most}
{points}
{constants}
"""
_DOMAIN = """ds_5_0
dcl_input_control_point_count {points}
dcl_tessellator_domain domain_{domain}
{declared}
dcl_output_siv o0.xyzw, position
dcl_output o1.xyzw
dcl_temps 2
{body}
ret
"""
AT_ITS_PLACE = "mov o0, l(0, 0, 0.5, 1.0)\nmov o1.xyzw, vDomain.xyzz"


CORNER = "dcl_input vicp[{points}][1].xyzw"
FIRST = "mov o0, l(0, 0, 0.5, 1.0)\n"
WHOLE = """add r0.xy, vDomain.xyxx, l(-0.5, -0.5, 0, 0)
mul o0.xy, r0.xyxx, l({scale}, -{scale}, 0, 0)
mov o0.zw, l(0, 0, 0.5, 1.0)
mov o1, l(1.0, 0, 0, 1.0)"""
"""Red over all of a target, if the scale is 2."""
SOME = {"isoline": (3.0, 2.5), "tri": (2.0, 3.5, 1.0, 4.0), "quad": (2.0, 3.5, 1.0, 4.0, 3.0, 5.0)}
"""Factors by domain."""


def factor_phases(domain: str, factors: Sequence[float]) -> str:
    """A fork phase for each factor, which is written as it is."""
    return "\n".join(
        f"hs_fork_phase\ndcl_output_siv o{n}.x, {name}\nmov o{n}.x, l(0x{bits(factor):08x})\nret"
        for n, (name, factor) in enumerate(zip(FACTORS[domain], factors, strict=True))
    )


def bits(number: float) -> int:
    (word,) = struct.unpack("<I", struct.pack("<f", number))
    return int(word)


def hull(
    domain: str = "quad",
    factors: Sequence[float] = (1, 1, 1, 1, 1, 1),
    *,
    partitioning: str = "integer",
    output: str = "triangle_cw",
    takes: int = 4,
    makes: int | None = None,
    points: str = "",
    more: str = "",
    most: float | None = None,
) -> bytes:
    """A hull shader; ``points`` and ``more`` are further phases."""
    return assemble(
        _HULL.format(
            takes=takes,
            makes=takes if makes is None else makes,
            domain=domain,
            partitioning=partitioning,
            output=output,
            most="" if most is None else f"dcl_hs_max_tessfactor l({most})",
            points=points,
            constants=factor_phases(domain, factors) + "\n" + more,
        )
    )


def domain(
    body: str = AT_ITS_PLACE,
    declared: str = "dcl_input vDomain.xyz",
    *,
    domain: str = "quad",
    points: int = 4,
) -> bytes:
    """A domain shader of two outputs."""
    return assemble(_DOMAIN.format(points=points, domain=domain, declared=declared, body=body))


class Tessellating(Drawing):
    """Patches of vertices with a position and four words; the last stage's v1 streams out."""

    def __init__(self, hs: bytes | None, ds: bytes | None, points: int = 4) -> None:
        super().__init__(adapter=Adapter(Gpu(run=engine(ENGINE)), checking=True))
        self.call("IaSetTopology", PATCH + points)
        if hs is not None:
            self.call("HsSetShader", self.make("HullShader", hs))
        if ds is not None:
            self.call("DsSetShader", self.make("DomainShader", ds))
        self.number = [(0.0, 0.0, 0.5, 1.0, n, 0, 0, 0) for n in range(64)]
        self.vertices(self.number)

    def memory_of(self, noun: str, *description: object) -> Handle:
        kinds = {"HullShader": "TessellationShader", "DomainShader": "TessellationShader",
                 "GeometryShader": "Shader"}  # fmt: skip
        return super().memory_of(kinds.get(noun, noun), *description)

    def stream(self, words: int = 1 << 14) -> Handle:
        """Stream out v1 into a buffer."""
        desc = StreamOutputShader11(None, (StreamOutputEntry11(0, 0, 1, 15),), (16,), 0)
        memory = bytearray(
            self.device.functions["CalcPrivateGeometryShaderWithStreamOutput"](desc, None)
        )
        assert self.call("CreateGeometryShaderWithStreamOutput", desc, memory) == []
        self.call("GsSetShader", memory)
        room = self.buffer(struct.pack("<I", 0xCDCDCDCD) * words, BindFlag.STREAM_OUTPUT)
        self.call("SoSetTargets", [room], 3, [0])
        return room

    def streamed(self, vertices: int, *, start: int = 0) -> NDArray[np.uint32]:
        """v1 of what is drawn of so many vertices, shape (n, 4)."""
        room = self.stream()
        assert self.call("Draw", vertices, start) == []
        return self.words(room)

    def counted(self) -> Statistics:
        """The statistics when all is done."""
        self.call("Flush")
        return self.device.statistics()

    def words(self, room: Handle) -> NDArray[np.uint32]:
        """What streamed into a buffer."""
        words = np.frombuffer(self.read(room), "<u4").reshape(-1, 4)
        return words[: np.count_nonzero((words != 0xCDCDCDCD).any(axis=1))]
