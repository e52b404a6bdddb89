"""Direct3D 9 scenes: JSON files played through runtime, command bytes, driver and GPU.

A scene holds everything it needs: a device, resources, commands.  Playing it writes pictures
and query results; it is also a way to author streams by hand.
"""

from dp2emu.scene.play import play_scene
from dp2emu.scene.results import Problem, SceneResult

__all__ = ["Problem", "SceneResult", "play_scene"]
