"""Geometry shaders as stages of the GPU: which words of their vertices each port is.

What a geometry shader writes to o# is the varying v#, as with vertex shaders.

Source: Direct3D 10 and 11 documentation of the geometry shader stage.
"""

from __future__ import annotations

from collections.abc import Iterator

from dp2emu.d3d.enums10 import Topology10, patch_list
from dp2emu.ddi10.shader import Shader
from dp2emu.gpu.mesh import LAYER, PRIMITIVE_ID, VIEWPORT
from dp2emu.gpu.packets import EmittedStream, GeometryStage, StageProgram
from dp2emu.shader.ir import Port
from dp2emu.shader.ports import CONSTANT
from dp2emu.shader.sampling import COMPONENTS
from dp2emu.shader.sm4.enums import Primitive, SystemValue
from dp2emu.shader.sm4.lower import Emission, Lowered4
from dp2emu.shader.types import Type

_TAKES = {
    Primitive.POINT: Topology10.POINTLIST,
    Primitive.LINE: Topology10.LINELIST,
    Primitive.TRIANGLE: Topology10.TRIANGLELIST,
    Primitive.LINEADJ: Topology10.LINELIST_ADJ,
    Primitive.TRIANGLEADJ: Topology10.TRIANGLELIST_ADJ,
    **{Primitive(Primitive.PATCH1 - 1 + points): patch_list(points) for points in range(1, 33)},
}
_DISTANCES = {SystemValue.CLIP_DISTANCE: "clip", SystemValue.CULL_DISTANCE: "cull"}
_WHOLE = {
    SystemValue.PRIMITIVE_ID: PRIMITIVE_ID,
    SystemValue.RENDERTARGET_ARRAY_INDEX: LAYER,
    SystemValue.VIEWPORT_ARRAY_INDEX: VIEWPORT,
}
"""Ports that are integers with a meaning for what comes next."""


def geometry_stage(shader: Shader, bound: StageProgram) -> GeometryStage:
    """The stage of a geometry shader."""
    emission = shader.lowered.emission
    assert emission is not None
    return GeometryStage(
        bound,
        _TAKES[emission.primitive],
        emission.instances,
        emission.limit,
        streams_of(shader.lowered),
    )


def streams_of(lowered: Lowered4) -> tuple[EmittedStream, ...]:
    """The streams of a geometry shader, by number; none of others."""
    emission = lowered.emission
    if emission is None:
        return ()
    return tuple(
        EmittedStream(number, Topology10(topology), tuple(_ports(lowered, emission, number)))
        for number, topology in emission.topologies
    )


def _ports(lowered: Lowered4, emission: Emission, stream: int) -> Iterator[tuple[Port, int]]:
    """Every component as bits and as a float, and what those with names are as well."""
    counts = dict.fromkeys(_DISTANCES, 0)
    names = {
        (register.number, component): register.name
        for register in lowered.outputs
        for component in range(len(COMPONENTS))
        if register.stream == stream and register.mask >> component & 1
    }
    for word, (number, component) in enumerate(emission.words):
        name = names.get((number, component))
        if name is None:
            continue
        varying = f"v{number}.{COMPONENTS[component]}"
        yield Port(CONSTANT + varying, Type.I32), word
        yield Port(varying, Type.F32), word
        if name is SystemValue.POSITION:
            yield Port(f"position0.{COMPONENTS[component]}", Type.F32), word
        elif name in _WHOLE:
            yield Port(_WHOLE[name], Type.I32), word
        elif name in counts:
            yield Port(f"{_DISTANCES[name]}{counts[name]}.x", Type.F32), word
            counts[name] += 1
