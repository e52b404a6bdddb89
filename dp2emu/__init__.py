"""dp2emu: the DirectX 6 to 9 display driver and its GPU, in Python."""

__version__ = "0.1.0"
