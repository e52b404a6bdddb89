"""The capabilities of a driver, asked for with DdGetDriverInfo as a runtime does."""

from __future__ import annotations

from dp2emu.d3d.capabilities import Capabilities

__all__ = ["Capabilities"]
