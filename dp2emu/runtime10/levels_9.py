"""What contexts at the feature levels 9_x cannot do: calls that have no effect there.

Source: the Direct3D 11 documentation of D3D_FEATURE_LEVEL with its table of the numbers of
primitives and of instancing, and of "10Level9 ID3D11DeviceContext Methods".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums10 import Topology10
from dp2emu.gpu.command.topology import primitive_count
from dp2emu.runtime10.codes import Refused, Result
from dp2emu.runtime10.enums import BindFlag, FeatureLevel
from dp2emu.runtime10.pipeline_state import PipelineState, memories

_L = FeatureLevel
_SLOTS = 16
"""Number of the slots of textures and samplers of pixel shaders; vertex shaders have none."""
_PRIMITIVES = {_L.LEVEL_9_1: 65_535, _L.LEVEL_9_2: 1_048_575, _L.LEVEL_9_3: 1_048_575}
"""The most primitives of a draw."""
_TOPOLOGIES = range(Topology10.POINTLIST, Topology10.TRIANGLESTRIP + 1)
"""The topologies of the levels."""


class _Call(NamedTuple):
    """A call of a context at a level; ``child`` returns the object of a driver's object."""

    level: FeatureLevel
    arguments: tuple[Any, ...]
    state: PipelineState
    child: Callable[[bytearray], Any]


def _never(call: _Call) -> bool:
    return True


def _binds(call: _Call) -> bool:
    """Whether a call binds any object to slots."""
    return any(each is not None for each in call.arguments[1])


def _binds_beyond(call: _Call) -> bool:
    start, objects = call.arguments[:2]
    return any(each is not None for each in objects[max(_SLOTS - start, 0) :])


def _has_long_indices(call: _Call) -> bool:
    memory, format, _ = call.arguments
    long = format == DxgiFormat.R32_UINT.value
    return memory is not None and long and call.level < _L.LEVEL_9_2


def _is_of_later_topology(call: _Call) -> bool:
    return call.arguments[0] not in (0, *_TOPOLOGIES)


def _is_too_long(call: _Call) -> bool:
    (topology,) = call.state.whole("IaSetTopology")
    most = _PRIMITIVES[call.level]
    return bool(topology) and primitive_count(Topology10(topology), call.arguments[0]) > most


def _is_instanced(call: _Call) -> bool:
    return call.level < _L.LEVEL_9_3 or _is_too_long(call)


def _copies_depth(call: _Call) -> bool:
    resources = map(call.child, memories(call.arguments))
    return any(each.desc.BindFlags & BindFlag.DEPTH_STENCIL for each in resources)


_COPIES = ("ResourceCopy", "ResourceCopyRegion", "ResourceConvert", "ResourceConvertRegion")
_LATER = (
    "DrawAuto", "DrawInstancedIndirect", "DrawIndexedInstancedIndirect", "Dispatch",
    "DispatchIndirect",
)  # fmt: skip
_REFUSED: dict[str, Callable[[_Call], bool]] = {
    **dict.fromkeys(_LATER, _never),
    **dict.fromkeys(("VsSetShaderResources", "VsSetSamplers"), _binds),
    **dict.fromkeys(("PsSetShaderResources", "PsSetSamplers"), _binds_beyond),
    **dict.fromkeys(("Draw", "DrawIndexed"), _is_too_long),
    **dict.fromkeys(("DrawInstanced", "DrawIndexedInstanced"), _is_instanced),
    **dict.fromkeys(_COPIES, _copies_depth),
    "IaSetIndexBuffer": _has_long_indices,
    "IaSetTopology": _is_of_later_topology,
}
"""Whether a call is one that the levels do not have, by function of the driver."""


def check_call(
    level: FeatureLevel,
    entry: str,
    arguments: tuple[Any, ...],
    state: PipelineState,
    child: Callable[[bytearray], Any],
) -> None:
    """Raise Refused (E_INVALIDARG) for a call that a ``level`` of 9_x does not have.

    ``entry`` is the driver's function, ``state`` what the context has bound, ``child`` returns the
    application's object of a driver's object.
    """
    refused = _REFUSED.get(entry)
    if refused is not None and refused(_Call(level, arguments, state, child)):
        raise Refused(Result.E_INVALIDARG, f"{entry} at feature level {level.name}")
