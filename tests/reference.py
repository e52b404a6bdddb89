"""Layouts and numbers of published headers and documents, which the code is held to."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"


@cache
def layout() -> dict[str, Any]:
    """``tests/data/dp2-layout.json``."""
    found: dict[str, Any] = json.loads((DATA / "dp2-layout.json").read_text("utf-8"))
    return found
