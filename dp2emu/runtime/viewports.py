"""Viewport, light and material objects of DirectX 5 and 6.

Source: the DirectX 6 documentation of IDirect3DViewport3, D3DVIEWPORT, D3DVIEWPORT2, D3DLIGHT2 and
D3DLIGHTTYPE.
"""

from __future__ import annotations

import msgspec

from dp2emu.d3d.enums import LightType
from dp2emu.dp2.states.raw_state import IDENTITY
from dp2emu.gpu.command.bindings import Viewport
from dp2emu.runtime.objects import Light, Material, Triple

_PARALLEL_POINT, _GL_SPOT = 4, 5
"""D3DLIGHT_PARALLELPOINT and D3DLIGHT_GLSPOT, numbers of D3DLIGHTTYPE that drivers do not know."""
_BLACK: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)


class ClipVolume(msgspec.Struct, frozen=True):
    """The visible part of projected space: ``left`` and ``top`` are the smallest x and the
    largest y.
    """

    left: float = -1.0
    top: float = 1.0
    width: float = 2.0
    height: float = 2.0
    min_z: float = 0.0
    max_z: float = 1.0

    @classmethod
    def scaled(
        cls, view: Viewport, scale_x: float, scale_y: float, min_z: float, max_z: float
    ) -> ClipVolume:
        """The volume of a D3DVIEWPORT, whose scales are pixels per unit around its centre."""
        width = view.width / scale_x if scale_x else 2.0
        height = view.height / scale_y if scale_y else 2.0
        return cls(-width / 2, height / 2, width, height, min_z, max_z)

    def matrix(self) -> tuple[float, ...]:
        """The matrix from the volume to x and y of -1..1 and z of 0..1; the identity if it is
        empty.
        """
        depth = self.max_z - self.min_z
        if not (self.width and self.height and depth):
            return IDENTITY
        x, y, z = 2 / self.width, 2 / self.height, 1 / depth
        moved = (-1 - x * self.left, 1 - y * self.top, -z * self.min_z)
        return (x, 0.0, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, 0.0, z, 0.0, *moved, 1.0)


class EarlyMaterial(msgspec.Struct, eq=False):
    """IDirect3DMaterial.  Mutable."""

    material: Material = msgspec.field(default_factory=Material)


class EarlyLight(msgspec.Struct, eq=False):
    """IDirect3DLight; ``index`` is its number on the device of its viewport.  Mutable."""

    light: Light | None = None
    index: int | None = None


class EarlyViewport(msgspec.Struct, eq=False):
    """IDirect3DViewport; ``view`` is None until the application sets the viewport.  Mutable."""

    view: Viewport | None = None
    volume: ClipVolume = msgspec.field(default_factory=ClipVolume)
    lights: list[EarlyLight] = msgspec.field(default_factory=list)
    background: EarlyMaterial | None = None

    @property
    def background_color(self) -> int:
        """The A8R8G8B8 colour of Clear: the background material's diffuse colour."""
        diffuse = self.background.material.diffuse if self.background else _BLACK
        red, green, blue, alpha = (int(min(max(lane, 0.0), 1.0) * 255 + 0.5) for lane in diffuse)
        return alpha << 24 | red << 16 | green << 8 | blue


def early_light(
    kind: int, color: tuple[float, float, float, float], position: Triple, direction: Triple,
    numbers: tuple[float, ...],
) -> Light:  # fmt: skip
    """D3DLIGHT as D3DLIGHT7: one colour for diffuse and specular light, no ambient light.

    A parallel-point light is directional, from its position to the origin.
    """
    if kind == _PARALLEL_POINT:
        x, y, z = position
        kind, direction = LightType.DIRECTIONAL, (-x, -y, -z)
    elif kind == _GL_SPOT:
        kind = LightType.SPOT
    return Light(LightType(kind), color, color, _BLACK, position, direction, *numbers)
