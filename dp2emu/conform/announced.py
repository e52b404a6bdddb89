"""Cases that what a driver announces works, and which cases an announcement makes mandatory.

Each announced texture format is sampled, each render target and depth format drawn with, and each
announced value of a state set and drawn with.  Sources: the documentation of DDPIXELFORMAT
(dwOperations) and D3DCAPS9.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from msgspec.structs import replace

from dp2emu.capture.records import SurfaceCreated
from dp2emu.conform.announced_targets import DEPTHS, depth_cases, target_case
from dp2emu.conform.announced_textures import texture_cases_of
from dp2emu.conform.case import Case
from dp2emu.conform.needed import needs_of
from dp2emu.conform.script import (
    BOX,
    PLAIN,
    Script,
    box,
    drawing_goes_on,
    render_state,
    stage_state,
)
from dp2emu.d3d.capabilities import TARGETS, Capabilities
from dp2emu.d3d.capflags import FormatOp
from dp2emu.d3d.enums import (
    Blend,
    BlendOp,
    CmpFunc,
    Format,
    RenderState,
    StencilOp,
    TextureAddress,
    TextureFilter,
    TextureOp,
    TextureStageState,
)
from dp2emu.d3d.formats import COLOR, DEPTH, FORMATS
from dp2emu.d3d.legacy import Format8, TextureStageState8
from dp2emu.d3d.sdk import SdkEnum
from dp2emu.dp2.table import Since
from dp2emu.gpu.resource.heap import SurfaceKind

_CAPS = "documentation of D3DCAPS9"


def demanded(cases: Iterable[Case], capabilities: Capabilities) -> Iterator[Case]:
    """Yield the cases, those that a driver may refuse only if it does not announce all that they
    need: what is announced may not be refused.
    """
    for case in cases:
        promised = case.optional and all(need.promised(capabilities) for need in needs_of(case))
        may = not promised or _too_small(case, capabilities)
        yield case if may else replace(case, optional=False)


def _too_small(case: Case, capabilities: Capabilities) -> bool:
    """Whether a case has a texture smaller than a driver announces that it takes."""
    least = (int(capabilities.word(name) or 0) for name in ("MinTextureWidth", "MinTextureHeight"))
    width, height = least
    return any(
        isinstance(record, SurfaceCreated)
        and record.desc.kind == SurfaceKind.TEXTURE
        and (record.desc.width < width or record.desc.height < height)
        for record in case.records
    )


def announced_cases(capabilities: Capabilities, ddi: Since) -> Iterator[Case]:
    """Yield cases of the formats and of the states that a driver announces, as ``announced.*``."""
    named = set(map(int, Format if ddi >= Since.DX9 else Format8))
    listed = (number for number, _ in capabilities.formats)
    for number in dict.fromkeys(
        (*listed, *(int(each) for each in COLOR if isinstance(each, Format)))
    ):  # targets may be told by their bits
        operations = capabilities.operations(number) or 0
        if number not in FORMATS or int(number) not in named:
            continue  # a format of the driver's own, about which no document says anything
        format = Format(number)
        if operations & FormatOp.TEXTURE:
            yield from texture_cases_of(ddi, format, operations)
        if operations & TARGETS and format in COLOR:
            yield target_case(ddi, format)
        if operations & DEPTHS and format in DEPTH:
            yield from depth_cases(ddi, format, operations)
    yield from _states(capabilities, ddi)


# States

_RS, _STAGE, _TSS = RenderState, TextureStageState, TextureStageState8
_RENDER: tuple[tuple[RenderState, RenderState | None, type[SdkEnum]], ...] = (
    (_RS.SRCBLEND, _RS.ALPHABLENDENABLE, Blend),
    (_RS.DESTBLEND, _RS.ALPHABLENDENABLE, Blend),
    (_RS.BLENDOP, _RS.ALPHABLENDENABLE, BlendOp),
    (_RS.ALPHAFUNC, _RS.ALPHATESTENABLE, CmpFunc),
    (_RS.ZFUNC, None, CmpFunc),
    (_RS.STENCILFAIL, None, StencilOp),
    (_RS.STENCILZFAIL, None, StencilOp),
    (_RS.STENCILPASS, None, StencilOp),
)
"""A render state, the state that enables it if any, and its values."""
_STAGES: tuple[tuple[SdkEnum, type[SdkEnum]], ...] = (
    (_STAGE.COLOROP, TextureOp),
    (_STAGE.ALPHAOP, TextureOp),
    (_TSS.ADDRESSU, TextureAddress),
    (_TSS.MAGFILTER, TextureFilter),
    (_TSS.MINFILTER, TextureFilter),
)
"""A texture stage state and its values."""


_NEWER: tuple[tuple[type[SdkEnum], int, Since], ...] = (
    (Blend, Blend.BOTHINVSRCALPHA, Since.DX9),
    (BlendOp, 0, Since.DX8),
    (TextureOp, TextureOp.DOTPRODUCT3, Since.DX8),
    (TextureAddress, TextureAddress.BORDER, Since.DX8),
)
"""(Values, the last of earlier versions, the version that has the values beyond it)."""


def _known(value: SdkEnum, ddi: Since) -> bool:
    """Whether a version has a value of a state."""
    kind = type(value)
    return not any(kind is each and value > last and ddi < new for each, last, new in _NEWER)


def _states(capabilities: Capabilities, ddi: Since) -> Iterator[Case]:
    """Yield a case for each announced value of a state: it is drawn with, and then without."""
    for state, enabling, values in _RENDER:
        enabled = b"" if enabling is None else render_state(enabling, 1)
        disabled = b"" if enabling is None else render_state(enabling, 0)
        for value in filter(partial(_known, ddi=ddi), values):
            case = _set(ddi, state, value, (enabled, render_state(state, value)), disabled)
            yield from _promised(case, capabilities)
    for stage, values in _STAGES:
        for value in filter(partial(_known, ddi=ddi), values):
            case = _set(ddi, stage, value, (stage_state(stage, value),), b"")
            yield from _promised(case, capabilities)


def _set(
    ddi: Since, state: SdkEnum, value: SdkEnum, tokens: tuple[bytes, ...], after: bytes
) -> Case:
    """A case that draws with a state that ``tokens`` set, and then without, by ``after``."""
    script = Script(ddi)
    script.call(*PLAIN, *tokens, box(), after, corners=BOX)
    name = f"announced.state.{state.name}.{value.name}".lower()
    rule = f"{state.sdk} may be {value.sdk}, which is announced"
    return drawing_goes_on(script, name, rule, _CAPS)


def _promised(case: Case, capabilities: Capabilities) -> Iterator[Case]:
    """Yield a case if it needs more than its surfaces, and all that is announced."""
    needs = needs_of(case)
    states = [need for need in needs if getattr(need, "mask", 0)]
    if states and all(need.promised(capabilities) for need in states):
        yield case
