"""The layouts and numbers that the code is held to, as published headers and documents have them."""

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
