"""What each file of a batch may take, and how it is replayed."""

from __future__ import annotations

import json
from dataclasses import asdict, field

from dp2emu.batch.watching import Terms
from dp2emu.dp2.options import Options
from dp2emu.records import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may take, ``seconds`` and bytes of ``memory`` (0: any), and how it is replayed.

    One child replays file after file; it is replaced when it ends, hangs or takes too long.  Its
    start is no file's time.  ``timing`` is the name of a model that goes before the capture's own.
    """

    seconds: float = 600.0
    memory: int = 0
    timing: str | None = None
    options: Options = field(default_factory=Options)

    def terms(self) -> Terms:
        """The same for whoever watches a child."""
        told = {
            "memory": self.memory,
            "seconds": self.seconds,
            "timing": self.timing,
            "options": asdict(self.options),
        }
        return Terms(self.seconds, json.dumps(told))
