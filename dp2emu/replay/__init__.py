"""Replay of captures on a rig, with comparison of answers, and pictures.

Replay streams: its memory is one record, the rig's surfaces and the live queries, for captures of
any size.
"""

from dp2emu.replay.compare import Difference
from dp2emu.replay.frames import Frames, parse_frames
from dp2emu.replay.pictures import Pictures, RawFrames
from dp2emu.replay.player import Recording, Watcher, replay
from dp2emu.replay.tally import Tally

__all__ = [
    "Difference",
    "Frames",
    "Pictures",
    "RawFrames",
    "Recording",
    "Tally",
    "Watcher",
    "parse_frames",
    "replay",
]
