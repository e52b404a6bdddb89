"""From raw state to what the merge stage does with a fragment.

Sources: the Direct3D 9 documentation of the states named.
"""

from __future__ import annotations

from collections.abc import Sequence

from dp2emu.d3d.enums import Blend, BlendOp, CmpFunc, RenderState, StencilOp
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.resolve.fixed_function import enum_state
from dp2emu.dp2.resolve.raster7 import plane_mask
from dp2emu.errors import Fault
from dp2emu.gpu.command.packets import MergeNumbers
from dp2emu.gpu.command.pipeline import StencilFace, StencilState
from dp2emu.shader.fixed.blend import BlendEquation, BlendState

_BOTH = {
    Blend.BOTHSRCALPHA: (Blend.SRCALPHA, Blend.INVSRCALPHA),
    Blend.BOTHINVSRCALPHA: (Blend.INVSRCALPHA, Blend.SRCALPHA),
}
"""Source factors that say both, whatever the destination factor is."""
_FRONT = (
    RenderState.STENCILFUNC,
    RenderState.STENCILFAIL,
    RenderState.STENCILZFAIL,
    RenderState.STENCILPASS,
)
_BACK = (
    RenderState.CCW_STENCILFUNC,
    RenderState.CCW_STENCILFAIL,
    RenderState.CCW_STENCILZFAIL,
    RenderState.CCW_STENCILPASS,
)
"""Comparison and operations, in the order of ``StencilFace``."""
_ALPHA_TO_COVERAGE = {
    RenderState.POINTSIZE: int.from_bytes(b"A2M1", "little"),
    RenderState.ADAPTIVETESS_Y: int.from_bytes(b"ATOC", "little"),
}


def blend_state(states: Sequence[int]) -> BlendState | None:
    """The equations of D3DRS_ALPHABLENDENABLE, or None without it.

    Raises Fault for a factor or operation there is not.
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
    if second in _BOTH:
        what = f"{destination.sdk} is {second.sdk}, which is a source factor"
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what)
    return BlendEquation(first, second, op)


def alpha_test(states: Sequence[int]) -> CmpFunc | None:
    """The comparison of D3DRS_ALPHATESTENABLE; None if all pass.  Raises Fault for no such."""
    if not states[RenderState.ALPHATESTENABLE]:
        return None
    func = enum_state(CmpFunc, states, RenderState.ALPHAFUNC)
    return None if func is CmpFunc.ALWAYS else func


def alpha_to_coverage(states: Sequence[int]) -> bool:
    """Whether a code is set that stands for a state Direct3D 9 has no name for: A2M1 as
    D3DRS_POINTSIZE, which as a size is smaller than any, or ATOC as D3DRS_ADAPTIVETESS_Y.
    """
    return any(states[state] == code for state, code in _ALPHA_TO_COVERAGE.items())


def stencil_state(states: Sequence[int]) -> StencilState | None:
    """The test of D3DRS_STENCILENABLE, or None without it.

    Raises Fault for a comparison or operation there is not.
    """
    if not states[RenderState.STENCILENABLE]:
        return None
    two_sided = bool(states[RenderState.TWOSIDEDSTENCILMODE])
    return StencilState(_face(states, _FRONT), _face(states, _BACK) if two_sided else None)


def _face(states: Sequence[int], names: Sequence[RenderState]) -> StencilFace:
    func, *operations = names
    return StencilFace(
        enum_state(CmpFunc, states, func),
        *(enum_state(StencilOp, states, operation) for operation in operations),
    )


def merge_numbers(states: Sequence[int], interface: int) -> MergeNumbers:
    """What the merge stage reads beside the pipeline; of ALPHAREF the low 8 bits count."""
    return MergeNumbers(
        blend_factor=states[RenderState.BLENDFACTOR],
        sample_mask=states[RenderState.MULTISAMPLEMASK],
        alpha_reference=states[RenderState.ALPHAREF] & 0xFF,
        stencil_reference=states[RenderState.STENCILREF],
        stencil_mask=states[RenderState.STENCILMASK],
        stencil_write_mask=states[RenderState.STENCILWRITEMASK],
        plane_mask=plane_mask(states, interface),
    )
