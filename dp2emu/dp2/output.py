"""From raw state to what the merge stage does with a fragment.

Sources: the Direct3D 9 documentation of the states named.
"""

from __future__ import annotations

from collections.abc import Sequence

from dp2emu.d3d.enums import Blend, BlendOp, RenderState
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.fixed import enum_state
from dp2emu.errors import Fault, Unsupported
from dp2emu.gpu.packets import MergeNumbers
from dp2emu.gpu.state import BlendEquation, BlendState

_BOTH = {
    Blend.BOTHSRCALPHA: (Blend.SRCALPHA, Blend.INVSRCALPHA),
    Blend.BOTHINVSRCALPHA: (Blend.INVSRCALPHA, Blend.SRCALPHA),
}
"""Source factors that say both, whatever the destination factor is."""
_SECOND_SOURCE = (Blend.SRCCOLOR2, Blend.INVSRCCOLOR2)


def blend_state(states: Sequence[int]) -> BlendState | None:
    """The equations of D3DRS_ALPHABLENDENABLE, or None without it.

    Raises Fault for a factor or operation there is not, Unsupported for those of a second source
    colour.
    """
    if not states[RenderState.ALPHABLENDENABLE]:
        return None
    color = _equation(states, RenderState.SRCBLEND, RenderState.DESTBLEND, RenderState.BLENDOP)
    if not states[RenderState.SEPARATEALPHABLENDENABLE]:
        return BlendState(color, color)
    alpha = _equation(
        states, RenderState.SRCBLENDALPHA, RenderState.DESTBLENDALPHA, RenderState.BLENDOPALPHA
    )
    return BlendState(color, alpha)


def _equation(
    states: Sequence[int], source: RenderState, destination: RenderState, operation: RenderState
) -> BlendEquation:
    op = enum_state(BlendOp, states, operation)
    first = enum_state(Blend, states, source)
    if first in _BOTH:
        return BlendEquation(*_BOTH[first], op)
    second = enum_state(Blend, states, destination)
    if first in _SECOND_SOURCE or second in _SECOND_SOURCE:
        raise Unsupported("blending with a second source colour")
    if second in _BOTH:
        what = f"{destination.sdk} is {second.sdk}, which is a source factor"
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what)
    return BlendEquation(first, second, op)


def merge_numbers(states: Sequence[int]) -> MergeNumbers:
    """What the merge stage reads beside the pipeline."""
    return MergeNumbers(
        blend_factor=states[RenderState.BLENDFACTOR],
        sample_mask=states[RenderState.MULTISAMPLEMASK],
    )
