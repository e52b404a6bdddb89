"""Kinds of settings, which state tokens set; ``settings`` reads and writes them.

A setting of one value without side effects needs only a ``Kind`` and a row of ``PLAIN``.
"""

from __future__ import annotations

from enum import IntEnum, auto
from typing import Any, NamedTuple

from dp2emu.d3d.enums import StateBlockType
from dp2emu.dp2.resolve.convolution import Convolution

ONLY = 0
"""Index of the setting of a kind that has just one, such as the viewport.  Other kinds have an
index for each state, register, light and the like."""

EVICT_MANAGED = 61
"""Number of the render state D3DRENDERSTATE_EVICTMANAGEDTEXTURES."""

DELETE_PATCH = 169
"""D3DRS_DELETERTPATCH of the DDI: its value is the handle (wire format, "Render states")."""

COMMANDS = frozenset({EVICT_MANAGED, 62, DELETE_PATCH})
"""Render states of the driver interface that are commands, not states: evict textures, begin or
end a scene, delete a patch (wire format, "Render states")."""


class Kind(IntEnum):
    """A kind of setting, such as a viewport.  Predefined state blocks set the kinds in this order.

    Stages come before render states, which before DirectX 8 may replace stage states; constants
    come after shaders, which in DirectX 8 may set constants.  Values are as in the token, except
    for STREAM (handle, offset and stride, or only the stride of user memory) and constants (bytes
    of registers from the index on).
    """

    STAGE_STATE = auto()
    RENDER_STATE = auto()
    VIEWPORT = auto()
    Z_RANGE = auto()
    W_RANGE = auto()
    SCISSOR = auto()
    MATERIAL = auto()
    INDICES = auto()
    CONVOLUTION = auto()
    TRANSFORM = auto()
    CLIP_PLANE = auto()
    LIGHT = auto()
    LIGHT_ENABLE = auto()
    STREAM = auto()
    FREQUENCY = auto()
    VERTEX_SHADER = auto()
    DECLARATION = auto()
    FUNCTION = auto()
    VERTEX_FLOATS = auto()
    VERTEX_INTEGERS = auto()
    VERTEX_BOOLEANS = auto()
    PIXEL_SHADER = auto()
    PIXEL_FLOATS = auto()
    PIXEL_INTEGERS = auto()
    PIXEL_BOOLEANS = auto()


class Plain(NamedTuple):
    """How a setting with one value and no side effects behaves: its default, and the predefined
    state blocks that contain it.
    """

    default: Any
    blocks: frozenset[StateBlockType] = frozenset({StateBlockType.ALL})


PLAIN: dict[Kind, Plain] = {
    Kind.W_RANGE: Plain((0.0, 1.0)),
    Kind.CONVOLUTION: Plain(
        Convolution(), frozenset({StateBlockType.ALL, StateBlockType.PIXELSTATE})
    ),
}


def stage_index(stage: int, state: int) -> int:
    """The index of a texture stage state among settings: stage << 16 | state."""
    return stage << 16 | state
