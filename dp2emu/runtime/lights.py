"""Lights of a device."""

from __future__ import annotations

from msgspec.structs import astuple

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import LightType
from dp2emu.d3d.flags import D3DHAL_SETLIGHT_DATA, D3DHAL_SETLIGHT_DISABLE, D3DHAL_SETLIGHT_ENABLE
from dp2emu.dp2.tokens.lighting import LIGHT_DTYPE
from dp2emu.runtime.commands import pack
from dp2emu.runtime.objects import Light
from dp2emu.runtime.session import Session

DEFAULT_LIGHT = Light(
    LightType.DIRECTIONAL, diffuse=(1.0, 1.0, 1.0, 0.0), direction=(0.0, 0.0, 1.0)
)


class Lights:
    """Mutable: it knows which lights the driver has room for."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._created: set[int] = set()

    def set(self, index: int, light: Light) -> None:
        """SetLight; the light is created with its first description."""
        if index not in self._created:
            self._created.add(index)
            self._session.emit(Op.CREATELIGHT, [(index,)])
        data = pack(LIGHT_DTYPE, astuple(light), Op.SETLIGHT)
        self._session.commands.emit_tailed(Op.SETLIGHT, (index, D3DHAL_SETLIGHT_DATA), data)

    def enable(self, index: int, enable: bool) -> None:
        """LightEnable; a light nobody described is then a white directional one along z."""
        if index not in self._created:
            self.set(index, DEFAULT_LIGHT)
        kind = D3DHAL_SETLIGHT_ENABLE if enable else D3DHAL_SETLIGHT_DISABLE
        self._session.commands.emit_tailed(Op.SETLIGHT, (index, kind), b"")
