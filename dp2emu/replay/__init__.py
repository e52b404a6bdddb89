"""Replay: a capture's records performed on a rig, its answers compared, its pictures taken.

Everything streams: whatever a capture's size, a replay holds one record, the rig's memory and
the queries that are alive.
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
