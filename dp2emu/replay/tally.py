"""Counts of a replay."""

from __future__ import annotations

import msgspec

from dp2emu.errors import CaptureError


class Tally(msgspec.Struct):
    """Counts of a replay.  Mutable: the replay updates them.

    ``calls`` are of D3dDrawPrimitives2, ``entries`` of functions of the Direct3D 10/11 interface.
    ``faults`` are failures that were not recorded, ``unsupported`` those of them for lack of a
    feature; ``known_faults`` are calls that failed as recorded.  ``compared`` counts answers and
    results that were compared with recorded ones, ``observed`` observations of the recorded
    program that were compared, ``judged`` pictures that were compared with references;
    ``unreferenced`` counts pictures for which there was no reference.
    ``data`` counts contents of resources that were written to files.
    ``different``, ``observed_different`` and ``unlike`` count those of each that differ, pictures
    beyond the allowance only.  ``issued`` counts query ENDs, ``answered`` those whose answer was
    delivered.  ``damage`` is the error that ended the capture early, or None.
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
    unreferenced: int = 0
    observed: int = 0
    observed_different: int = 0
    issued: int = 0
    answered: int = 0
    pictures: int = 0
    data: int = 0
    time: int = 0
    damage: CaptureError | None = None
