"""Scenes: JSON files of Direct3D 9, 10 and 11 programs, played by runtime, driver and GPU.

A scene holds a device, resources and operations.  Playing it writes pictures and query results,
and a capture if wanted, which makes scenes a way to write streams by hand.
"""

from dp2emu.scene.play import play_scene, play_scene10
from dp2emu.scene.player import Problem, SceneResult

__all__ = ["Problem", "SceneResult", "play_scene", "play_scene10"]
