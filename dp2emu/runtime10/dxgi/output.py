"""IDXGIOutput: a monitor with its display modes, and its vertical blanks.

Source: the DXGI documentation of IDXGIOutput.
"""

from __future__ import annotations

from typing import Any

from dp2emu.argument_check import checked
from dp2emu.d3d.dxgi import DXGI, Support
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.dxgi import GammaCaps
from dp2emu.errors import Unsupported
from dp2emu.runtime10.codes import Refused, Result
from dp2emu.runtime10.descriptions import Rect
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.dxgi.descriptions import (
    GammaControlCapabilities,
    ModeDesc,
    OutputDesc,
    Rational,
)
from dp2emu.runtime10.dxgi.objects import DxgiObject

DESKTOP = 1024, 768
"""Width and height of the desktop in pixels."""
REFRESH_RATE = Rational(60, 1)
"""Vertical blanks per second, in every mode."""
PERFORMANCE_FREQUENCY = 10_000_000
"""Ticks of the performance counter per second."""
SIZES = (
    (640, 480), (800, 600), (1024, 768), (1280, 720), (1280, 1024), (1600, 1200), (1920, 1080),
)  # fmt: skip
"""Width and height of each display mode in pixels."""
_DESKTOP_FORMAT = DxgiFormat.B8G8R8A8_UNORM
_PROGRESSIVE = 1
"""DXGI_MODE_SCANLINE_ORDER_PROGRESSIVE."""


def is_shown(format: int) -> bool:
    """Whether a DXGI_FORMAT can be scanned out."""
    if format not in DxgiFormat._value2member_map_:
        return False
    row = DXGI.get(DxgiFormat(format))
    return row is not None and Support.DISPLAY in row.support


@checked
class Output(DxgiObject):
    """IDXGIOutput with progressive modes at 60 Hz.  Mutable: ``refreshes`` counts its vertical
    blanks.
    """

    def __init__(self, adapter: DxgiObject, number: int = 0) -> None:
        super().__init__()
        self._adapter = adapter
        self._number = number
        self.refreshes = 0

    def get_parent(self) -> Any:
        """GetParent: the adapter, with a reference more."""
        self._adapter.add_ref()
        return self._adapter

    def get_desc(self) -> OutputDesc:
        """GetDesc."""
        return OutputDesc(rf"\\.\DISPLAY{self._number + 1}", Rect(0, 0, *DESKTOP))

    def get_display_mode_list(self, format: int, flags: int = 0) -> list[ModeDesc]:
        """GetDisplayModeList: the modes of a DXGI_FORMAT, smallest first, none for a format that
        cannot be scanned out.

        ``flags`` are ``EnumModes``; there are no interlaced, scaled or stereo modes.
        """
        if not is_shown(format):
            return []
        return [ModeDesc(*size, REFRESH_RATE, format, _PROGRESSIVE) for size in SIZES]

    def find_closest_matching_mode(
        self, mode: ModeDesc, concerned_device: Device | None = None
    ) -> ModeDesc:
        """FindClosestMatchingMode: members that are 0 become the desktop's.

        Raises Refused: DXGI_ERROR_INVALID_CALL for a width without a height, or for no format
        without a device; DXGI_ERROR_NOT_FOUND for a format that cannot be scanned out.
        """
        half = (mode.Width == 0) != (mode.Height == 0)
        if half or (not mode.Format and concerned_device is None):
            raise Refused(Result.DXGI_ERROR_INVALID_CALL, f"the mode {tuple(mode)}")
        modes = self.get_display_mode_list(mode.Format or _DESKTOP_FORMAT.value)
        if not modes:
            raise Refused(Result.DXGI_ERROR_NOT_FOUND, f"a mode of format {mode.Format}")
        width, height = mode[:2] if mode.Width else DESKTOP
        return min(modes, key=lambda each: abs(each.Width - width) + abs(each.Height - height))

    def wait_for_vblank(self) -> None:
        """WaitForVBlank: let time pass until the next vertical blank."""
        self.refreshes += 1

    def get_gamma_control_capabilities(self, device: Device) -> GammaControlCapabilities:
        """GetGammaControlCapabilities, asked from the driver of a device that shows pictures."""
        caps = GammaCaps()
        device.driver.dxgi("GetGammaCaps", caps)
        return GammaControlCapabilities(
            caps.ScaleAndOffsetSupported, caps.MaxConvertedValue, caps.MinConvertedValue,
            tuple(caps.ControlPointPositions),
        )  # fmt: skip

    def set_gamma_control(self, points: tuple[Any, ...]) -> None:
        """SetGammaControl of ``points``.  Raises Unsupported: it needs full-screen mode."""
        raise Unsupported("SetGammaControl: gamma ramps of full-screen mode")

    def get_gamma_control(self) -> Any:
        """GetGammaControl.  Raises Unsupported: it needs full-screen mode."""
        raise Unsupported("GetGammaControl: gamma ramps of full-screen mode")

    def take_ownership(self, device: Device, exclusive: bool) -> None:
        """TakeOwnership, ``exclusive`` or not.  Raises Unsupported."""
        raise Unsupported("TakeOwnership of an output")

    def release_ownership(self) -> None:
        """ReleaseOwnership: nothing, since no device owns the output."""

    def set_display_surface(self, surface: Any) -> None:
        """SetDisplaySurface to a ``surface``.  Raises Unsupported."""
        raise Unsupported("SetDisplaySurface of an output")

    def get_display_surface_data(self, surface: Any) -> None:
        """GetDisplaySurfaceData into a ``surface``.  Raises Unsupported."""
        raise Unsupported("GetDisplaySurfaceData of an output")

    def duplicate_output(self, device: Device) -> None:
        """DuplicateOutput.  Raises Unsupported."""
        raise Unsupported("DuplicateOutput")
