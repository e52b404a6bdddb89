"""Names of what state tokens set; ``settings`` says how each is read and written."""

from __future__ import annotations

from enum import IntEnum, auto

ONLY = 0
"""Index of a setting that is the only one of its kind.  Others are numbers of states, stages (see
``stage_index``), registers, lights and the like."""

EVICT_MANAGED = 61
"""D3DRENDERSTATE_EVICTMANAGEDTEXTURES."""

COMMANDS = frozenset({EVICT_MANAGED, 62, 169})
"""Render states of the interface to drivers that are no states but ask for something: evict
textures, begin or end a scene, delete a patch (wire format, "Render states")."""


class Kind(IntEnum):
    """A kind of setting.  Values, where they are not what the token has:

    STREAM: handle, offset and stride, or for user memory the stride alone.  The CONSTANTS: bytes
    of whole registers, from the one the index names on.
    """

    RENDER_STATE = auto()
    STAGE_STATE = auto()
    VIEWPORT = auto()
    Z_RANGE = auto()
    W_RANGE = auto()
    SCISSOR = auto()
    TRANSFORM = auto()
    MATERIAL = auto()
    LIGHT = auto()
    LIGHT_ENABLE = auto()
    CLIP_PLANE = auto()
    VERTEX_SHADER = auto()
    DECLARATION = auto()
    FUNCTION = auto()
    PIXEL_SHADER = auto()
    VERTEX_FLOATS = auto()
    VERTEX_INTEGERS = auto()
    VERTEX_BOOLEANS = auto()
    PIXEL_FLOATS = auto()
    PIXEL_INTEGERS = auto()
    PIXEL_BOOLEANS = auto()
    STREAM = auto()
    FREQUENCY = auto()
    INDICES = auto()
    CONVOLUTION = auto()


def stage_index(stage: int, state: int) -> int:
    """Index of a texture stage state."""
    return stage << 16 | state
