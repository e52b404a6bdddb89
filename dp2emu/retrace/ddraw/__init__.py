"""DirectDraw and Direct3D 5 to 7: what becomes of the methods of their interfaces."""

from dp2emu.retrace.ddraw import device3, device7, directdraw, drawing, lifetimes, surfaces

__all__ = ["device3", "device7", "directdraw", "drawing", "lifetimes", "surfaces"]
