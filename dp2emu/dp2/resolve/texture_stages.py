"""From raw state to the cascade of texture stages: its key and its numbers.

Sources: the Direct3D 9 documentation of the texture stage states.  A stage whose colour needs a
texture that is not bound ends the cascade as D3DTOP_DISABLE does; one whose alpha does leaves
alpha as it is.  Values that name no operation or argument are a Fault, if something reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from dp2emu.d3d.enums import (
    RenderState,
    TextureArgument,
    TextureOp,
    TextureStageState,
    TextureTransformFlags,
)
from dp2emu.d3d.flags import ArgumentModifier
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.sdk import SdkEnum
from dp2emu.dp2.resolve.fixed_function import color
from dp2emu.dp2.states.raw_state import State, bits_float
from dp2emu.dp2.states.stage7 import blended_stage
from dp2emu.errors import Fault
from dp2emu.shader.fixed import (
    CURRENT,
    KEPT,
    Argument,
    Combination,
    TextureStage,
    arguments_of,
    reads_texture,
    stage_uniforms,
)
from dp2emu.shader.ir import TextureKind
from dp2emu.shader.stages import STAGES
from dp2emu.shader.types import F32

_SELECT_MASK, _COUNT_MASK = 0xF, 0xFF
_E = TypeVar("_E", bound=SdkEnum)


class _States(NamedTuple):
    """An operation and its arguments 0, 1 and 2."""

    op: TextureStageState
    arguments: tuple[TextureStageState, TextureStageState, TextureStageState]


_COLOR = _States(
    TextureStageState.COLOROP,
    (TextureStageState.COLORARG0, TextureStageState.COLORARG1, TextureStageState.COLORARG2),
)
_ALPHA = _States(
    TextureStageState.ALPHAOP,
    (TextureStageState.ALPHAARG0, TextureStageState.ALPHAARG1, TextureStageState.ALPHAARG2),
)
_BUMPS = (
    TextureStageState.BUMPENVMAT00,
    TextureStageState.BUMPENVMAT01,
    TextureStageState.BUMPENVMAT10,
    TextureStageState.BUMPENVMAT11,
    TextureStageState.BUMPENVLSCALE,
    TextureStageState.BUMPENVLOFFSET,
)


def cascade(
    state: State, kinds: Mapping[int, TextureKind], alpha: int = 0
) -> tuple[TextureStage, ...]:
    """The stages up to the one that ends the cascade; ``kinds`` are the textures bound.

    ``alpha`` is the largest that of stage 0 can store, which a texture map blend wants to know.
    """
    if state.map_blend:
        only = blended_stage(state.map_blend, kinds.get(0), projection(state, 0), alpha)
        return () if only is None else (only,)
    stages: list[TextureStage] = []
    for number in range(STAGES):
        stage = _stage(state, number, kinds.get(number))
        if stage is None:
            break
        stages.append(stage)
    return tuple(stages)


def _stage(state: State, number: int, texture: TextureKind | None) -> TextureStage | None:
    row = state.stage(number)
    color = _combination(row, number, _COLOR)
    if color.op is TextureOp.DISABLE or (texture is None and reads_texture(color)):
        return None
    alpha = KEPT
    if color.op is not TextureOp.DOTPRODUCT3:
        alpha = _combination(row, number, _ALPHA)
    if texture is None and reads_texture(alpha):
        alpha = KEPT
    temp = row[TextureStageState.RESULTARG] & _SELECT_MASK == TextureArgument.TEMP
    return TextureStage(color, alpha, temp, texture, projection(state, number))


def _combination(row: Sequence[int], stage: int, states: _States) -> Combination:
    """Arguments the operation does not read stay out of the key."""
    op = _member(TextureOp, row[states.op], states.op, stage)
    read = arguments_of(op)
    zero, one, two = (
        _argument(row[state], state, stage) if place in read else CURRENT
        for place, state in enumerate(states.arguments)
    )
    return Combination(op, (zero, one, two))


def _argument(value: int, state: TextureStageState, stage: int) -> Argument:
    return Argument(
        _member(TextureArgument, value & _SELECT_MASK, state, stage),
        bool(value & ArgumentModifier.COMPLEMENT),
        bool(value & ArgumentModifier.ALPHAREPLICATE),
    )


def _member(enum: type[_E], value: int, state: TextureStageState, stage: int) -> _E:
    try:
        return enum(value)
    except ValueError:
        what = f"{state.sdk} of stage {stage} is {value}, which is no {enum.__name__}"
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what) from None


def projection(state: State, stage: int) -> int | None:
    """The coordinate, 1 to 3, by which D3DTTFF_PROJECTED divides: the last that is counted.

    Without a count, or with one beyond, it is the fourth; a single coordinate is not divided.
    """
    flags = state.stage(stage)[TextureStageState.TEXTURETRANSFORMFLAGS]
    if not flags & TextureTransformFlags.PROJECTED:
        return None
    count = min(flags & _COUNT_MASK, 4) or 4
    return count - 1 if count > 1 else None


def cascade_uniforms(state: State) -> dict[str, F32]:
    """The numbers of texture stages, for the cascade and for pixel shaders alike."""
    rows = [state.stage(stage) for stage in range(STAGES)]
    return stage_uniforms(
        color(state.render_states[RenderState.TEXTUREFACTOR]),
        [color(row[TextureStageState.CONSTANT]) for row in rows],
        [[bits_float(row[number]) for number in _BUMPS] for row in rows],
    )
