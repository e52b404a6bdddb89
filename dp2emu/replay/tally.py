"""What a replay came to, in numbers."""

from __future__ import annotations

import msgspec

from dp2emu.errors import CaptureError


class Tally(msgspec.Struct):
    """Counts of a replay.  Mutable: they grow while it goes on.

    ``calls`` are those of D3dDrawPrimitives2, ``entries`` functions of the Direct3D 10/11
    interface.  ``faults`` are failures that were not recorded as such, ``unsupported`` of them
    because something is not built; ``known_faults`` failed exactly as recorded.  ``compared``
    answers had a recorded one, ``different`` of them differ; likewise ``observed`` of what the
    program itself saw, ``observed_different`` of it, and ``judged`` pictures, which have a
    reference, ``unlike`` of them not as close to it as they must be.  ``answered`` of the
    ``issued`` query ENDs were delivered.  ``damage`` is what ended the capture early, if anything
    did.
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
