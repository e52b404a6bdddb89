"""Methods of DirectDraw and Direct3D 5 to 7; importing this registers them."""

from dp2emu.retrace.ddraw import device3, device7, drawing, lifetimes, surfaces

__all__ = ["device3", "device7", "drawing", "lifetimes", "surfaces"]
