"""Methods of Direct3D 9 and 8; importing this registers them."""

from dp2emu.retrace.d3d9 import devices, drawing, resources, states

__all__ = ["devices", "drawing", "resources", "states"]
