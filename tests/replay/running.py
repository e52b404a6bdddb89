"""Running a capture made on the spot, and what the replay said of it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import jsonschema

from dp2emu.capture import open_capture
from dp2emu.capture.records import Record
from dp2emu.errors import Dp2Error
from dp2emu.replay import Difference, Tally, Watcher, replay
from tests.replay.authoring import capture_of

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "replay.schema.json").read_text("utf-8"))
_VALID = jsonschema.validators.validator_for(SCHEMA)(SCHEMA)
_VALID.check_schema(SCHEMA)


class Run:
    """What a replay said: tally, document, faults and differences."""

    def __init__(self, *records: Record, file: bytes | None = None, **options: Any) -> None:
        text = io.StringIO()
        self.faults: list[Dp2Error] = []
        self.differences: list[Difference] = []
        capture = open_capture(io.BytesIO(file)) if file else capture_of(*records)
        self.tally: Tally = replay(
            capture,
            document=text,
            watcher=Watcher(self.faults.append, self.differences.append),
            **options,
        )
        self.document = json.loads(text.getvalue())
        _VALID.validate(self.document)
        self.calls = self.document["calls"]
        self.queries = self.document["queries"]
        self.pictures = self.document["pictures"]
