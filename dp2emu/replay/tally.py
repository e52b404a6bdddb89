"""Counts of a replay."""

from __future__ import annotations

import msgspec

from dp2emu.errors import CaptureError


class Tally(msgspec.Struct):
    """Counts of a replay.  Mutable: the replay updates them.

    ``calls`` are of D3dDrawPrimitives2, ``entries`` of functions of the Direct3D 10/11 interface.
    ``faults`` are failures that were not recorded, ``unsupported`` of them for lack of a feature;
    ``known_faults`` failed as recorded.  ``compared`` answers and results had a recorded one,
    and ``different`` of them differ.  ``observed`` observations of the recorded program were
    compared, and ``observed_different`` differ.  ``judged`` pictures had a reference, and
    ``unlike`` of them are beyond the allowance.  ``answered`` of the ``issued`` query ENDs were
    delivered.  ``damage`` ended the capture early, if not None.
    """

    timing: str = ""
    calls: int = 0
    entries: int = 0
    frames: int = 0
    faults: int = 0
    known_faults: int = 0
    unsupported: int = 0
    compared: int = 0
    different: int = 0
    judged: int = 0
    unlike: int = 0
    observed: int = 0
    observed_different: int = 0
    issued: int = 0
    answered: int = 0
    pictures: int = 0
    time: int = 0
    damage: CaptureError | None = None
