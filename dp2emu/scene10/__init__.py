"""Direct3D 10 and 11 scenes: JSON files played through runtime, driver and GPU."""

from dp2emu.scene10.play import play_scene10

__all__ = ["play_scene10"]
