"""Raw DirectX 6 to 9 device state of one context, as the tokens set it.

Nothing is interpreted here; ``resolve`` turns it into the GPU's pipeline records.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from dp2emu.d3d import device_states as defaults
from dp2emu.d3d.enums import RenderState, TextureStageState, TransformState, ZBufferType
from dp2emu.d3d.legacy import TextureBlend7, TextureStageState7, TextureStageState8
from dp2emu.dp2.options import check_memory
from dp2emu.dp2.states.setting_kinds import PLAIN, Kind
from dp2emu.gpu.command.bindings import Rect, Viewport
from dp2emu.limits import GENEROUS, Limits

RENDER_STATES = 256
"""Number of render states: the SDK header bounds their numbers; higher ones are ignored (wire
format, "Render states")."""
STAGE_STATES = 33
PIXEL_SAMPLERS = 16
"""Number of pixel samplers; the first eight are texture stages too."""
VERTEX_SAMPLER = 257
"""Wire number of the first vertex sampler."""
STAGE_ROWS = {number: row for row, number in enumerate([*range(PIXEL_SAMPLERS), *range(256, 261)])}
"""Wire number of a stage or pixel sampler (0 to 15), of the displacement sampler (256) or of a
vertex sampler (257 to 260) -> index in ``State.stages`` (wire format, "Texture stages and
samplers")."""
TEXTURE_BIND = 0
"""Number of the texture stage state that binds a texture; its value is a surface handle (wire
format, "Texture stages and samplers")."""
LEAST_Z_RANGE = np.float32(0.001)
"""The least difference of a viewport's MaxZ and MinZ; a smaller MaxZ is raised (public tests of
the runtimes)."""
SRGB_TEXTURE = 29
"""Number of the sampler state D3DSAMP_SRGBTEXTURE in command streams (wire format, "Texture stages
and samplers")."""
TARGETS = 4
STREAMS = 16
CLIP_PLANES = 32
LIGHTS = GENEROUS.objects
"""Default limit on the lights of a context, also reported as D3DCAPS9.MaxActiveLights."""

_WORLD_7 = {1: 256, 4: 257, 5: 258, 6: 259}
"""World matrices: number in DirectX 6 and 7 -> number in DirectX 8 and 9 (wire format, "Transforms
and clip planes")."""


def bits_float(value: int) -> float:
    """The float32 value of a DWORD, as a Python float."""
    number: float = struct.unpack("<f", value.to_bytes(4, "little"))[0]
    return number


class State:
    """The state that the tokens of one context have set.  Mutable: it is the register file.

    ``version`` grows with every change that can alter how a draw is resolved.  Exceptions are
    render states and stage states, which are in ``settings``, and the uniforms of the fixed
    function (matrices before the projection, the material), which count in ``numbers``.
    ``settings`` has the DWORDs of the render states, then of each stage, as bytes, so that it is a
    cheap cache key; ``refresh`` brings the parts numbered in ``stale`` up to date.
    ``plain`` has the settings of ``PLAIN``.  ``map_blend`` is D3DRENDERSTATE_TEXTUREMAPBLEND
    while it replaces stage operations, otherwise 0; ``_map_blend_set`` is its value either way.
    """

    def __init__(self, *, has_depth: bool, limits: Limits = GENEROUS) -> None:
        self._limits = limits
        self.version = 0
        self.numbers = 0
        render_states, words, settings = _DEFAULTS[has_depth]
        self.render_states = render_states.copy()
        self.stages = [row.copy() for row in _STAGE_DEFAULTS]
        self._words = [part[:] for part in words]
        self.stale: set[int] = set()
        self.settings = settings
        self.map_blend = 0
        self._map_blend_set = int(TextureBlend7.MODULATE)
        self._operated = False
        self.plain = _PLAIN_DEFAULTS.copy()
        self.viewport: Viewport = Viewport(0, 0, 0, 0)
        self.scissor = Rect(0, 0, 0, 0)
        self.transforms: dict[int, tuple[float, ...]] = {}
        self.clip_planes: dict[int, tuple[float, ...]] = {}
        self.lights: dict[int, Any] = {}
        self.lights_enabled: set[int] = set()
        self.material: Any = None

    def set_render_state(self, state: int, value: int) -> None:
        """RENDERSTATE: set a render state; unknown numbers are ignored."""
        if state < RENDER_STATES and self.render_states[state] != value:
            self.render_states[state] = self._words[0][state] = value
            self.stale.add(0)

    def set_map_blend(self, mode: int) -> None:
        """Set the texture map blend, which lasts until one of ``OPERATIONS`` of stage 0 is set; 0
        ends it.
        """
        self._map_blend_set = mode or self._map_blend_set
        self._operated = not mode
        self.map_blend = mode
        self.version += 1

    def repeats_map_blend(self, mode: int) -> bool:
        """Whether ``mode`` is the texture map blend that was set last, and operations of stage 0
        were set since, which it does not undo.
        """
        return self._operated and mode == self._map_blend_set

    def set_plain(self, kind: Kind, value: Any) -> None:
        """Store the value of a setting without side effects (one in ``PLAIN``)."""
        self.plain[kind] = value
        self.version += 1

    def set_texture_stage_state(self, stage: int, state: int, value: int) -> None:
        """TEXTURESTAGESTATE: set a stage state; unknown stages and states are ignored."""
        if stage in STAGE_ROWS and state < STAGE_STATES:
            number = STAGE_ROWS[stage]
            row, words = self.stages[number], self._words[1 + number]
            for each in TOGETHER.get(state, (state,)):
                row[each] = words[each] = value
            self.stale.add(1 + number)
            if stage == 0 and state in OPERATIONS and not self._operated:
                self.set_map_blend(0)

    def refresh(self) -> tuple[bytes, ...]:
        """Bring ``settings`` up to date and return it: one object until a state changes."""
        if self.stale:
            settings = list(self.settings)
            for number in self.stale:
                settings[number] = self._words[number].tobytes()
            self.stale.clear()
            self.settings = tuple(settings)
        return self.settings

    def stage(self, number: int) -> list[int]:
        """The states of the stage or sampler with wire number ``number``."""
        return self.stages[STAGE_ROWS[number]]

    def set_viewport(self, x: int, y: int, width: int, height: int) -> None:
        """VIEWPORTINFO: set the viewport rectangle; the depth range stays."""
        self.version += 1
        depth = self.viewport.min_z, self.viewport.max_z
        self.viewport = Viewport(x, y, width, height, *depth)

    def set_z_range(self, min_z: float, max_z: float) -> None:
        """ZRANGE: the depth range of the viewport, which is never less than ``LEAST_Z_RANGE``."""
        self.version += 1
        view = self.viewport
        deep = max(max_z, float(np.float32(min_z) + LEAST_Z_RANGE))
        self.viewport = Viewport(view.x, view.y, view.width, view.height, min_z, deep)

    def set_scissor(self, left: int, top: int, right: int, bottom: int) -> None:
        """SETSCISSORRECT; effective while D3DRS_SCISSORTESTENABLE is TRUE."""
        self.scissor = Rect(left, top, right, bottom)

    def set_transform(self, kind: int, matrix: Sequence[float]) -> None:
        """SETTRANSFORM: 16 floats, row-major, for row vectors."""
        number = transform_number(kind)
        if number == TransformState.PROJECTION:
            # An affine projection makes table fog read z instead of w.
            self.version += 1
        self.numbers += 1
        if number is not None:
            self.transforms[number] = tuple(matrix)

    def set_material(self, material: Any) -> None:
        """SETMATERIAL: a D3DMATERIAL7 record, which must not change; None for the default."""
        self.numbers += 1
        self.material = material

    def set_clip_plane(self, index: int, plane: Sequence[float]) -> None:
        """SETCLIPPLANE: visible where A x + B y + C z + D w >= 0."""
        self.version += 1
        if index < CLIP_PLANES:
            self.clip_planes[index] = tuple(plane)

    def create_light(self, index: int) -> None:
        """CREATELIGHT: create a light without data."""
        self.version += 1
        self._bound_light(index)
        self.lights.setdefault(index, None)

    def set_light(self, index: int, light: Any) -> None:
        """SETLIGHT with data: a D3DLIGHT7 record, which must not change, or None."""
        self.version += 1
        self._bound_light(index)
        self.lights[index] = light

    def light_enable(self, index: int, enable: bool) -> None:
        """SETLIGHT: enable or disable a light."""
        self.version += 1
        self._bound_light(index)
        (self.lights_enabled.add if enable else self.lights_enabled.discard)(index)

    def _bound_light(self, index: int) -> None:
        if index not in self.lights and index not in self.lights_enabled:
            number = max(len(self.lights), len(self.lights_enabled)) + 1
            check_memory(self._limits, "objects", number, f"light {index} is too many")


IDENTITY = tuple(float(row == column) for row in range(4) for column in range(4))
TRANSFORMS = (
    int(TransformState.VIEW),
    int(TransformState.PROJECTION),
    *range(TransformState.TEXTURE0, TransformState.TEXTURE7 + 1),
    *range(256, 512),
)
"""D3DTRANSFORMSTATETYPE numbers, as of DirectX 8 and 9, of all transform matrices of a context."""
_KNOWN_TRANSFORMS = frozenset(TRANSFORMS)


def transform_number(kind: int) -> int | None:
    """The number in ``TRANSFORMS`` of a SETTRANSFORM type; None for ignored types."""
    number = _WORLD_7.get(kind, kind)
    return number if number in _KNOWN_TRANSFORMS else None


def transform_product(matrix: Sequence[float], current: Sequence[float]) -> tuple[float, ...]:
    """``matrix`` x ``current``, 4 x 4 row-major, in float32; sums go over k from 0 to 3."""
    left = np.array(matrix, np.float32).reshape(4, 4)
    right = np.array(current, np.float32).reshape(4, 4)
    with np.errstate(all="ignore"):
        product = sum(left[:, k : k + 1] * right[k : k + 1, :] for k in range(4))
    return tuple(np.asarray(product, np.float32).ravel().tolist())


_ADDRESS = (
    TextureStageState7.ADDRESS, TextureStageState7.ADDRESSU, TextureStageState7.ADDRESSV
)  # fmt: skip
TOGETHER = {int(_ADDRESS[0]): tuple(map(int, _ADDRESS))}
"""Texture stage state that sets several -> all that it sets: D3DTSS_ADDRESS sets itself,
D3DTSS_ADDRESSU and D3DTSS_ADDRESSV."""
OPERATIONS = frozenset(
    {
        TextureStageState.COLOROP, TextureStageState.COLORARG1, TextureStageState.COLORARG2,
        TextureStageState.ALPHAOP, TextureStageState.ALPHAARG1, TextureStageState.ALPHAARG2,
    }
)  # fmt: skip
"""Texture stage states (colour and alpha operations, and their arguments 1 and 2) that
D3DRENDERSTATE_TEXTUREMAPBLEND replaces."""


def _stage_defaults(stage: int) -> list[int]:
    values = [0] * STAGE_STATES
    for sampler, value in defaults.DEFAULT_SAMPLER_STATES.items():
        values[TextureStageState8[sampler.name]] = int(value)
    for state in TextureStageState:
        values[state] = defaults.default_stage_state(stage, state)
    return values


_STAGE_DEFAULTS = [_stage_defaults(stage) for stage in STAGE_ROWS]


def _defaults(has_depth: bool) -> tuple[list[int], list[array[int]], tuple[bytes, ...]]:
    """The render states of a new context, then the words and the ``settings`` of all its states,
    with or without a depth-stencil surface.
    """
    states = [0] * RENDER_STATES
    for numbers in (defaults.DEFAULT_RENDER_STATES, defaults.DEFAULT_EARLY_RENDER_STATES):
        for state, value in numbers.items():
            states[state] = int(value)
    states[RenderState.ZENABLE] = int(ZBufferType.TRUE if has_depth else ZBufferType.FALSE)
    words = [array("I", part) for part in (states, *_STAGE_DEFAULTS)]
    return states, words, tuple(part.tobytes() for part in words)


# Copied for each context: computing them takes longer than a small call.
_DEFAULTS = {has_depth: _defaults(has_depth) for has_depth in (False, True)}
_PLAIN_DEFAULTS = {kind: row.default for kind, row in PLAIN.items()}
