"""Random query traffic against the emulator: nothing is lost, doubled or reordered."""

from __future__ import annotations

from hypothesis import settings

from dp2emu.dp2.driver import Driver
from dp2emu.testing.traffic import STEPS, query_traffic

EXAMPLES = max(500, settings().max_examples)

TestQueryTraffic = query_traffic(Driver, how=settings(STEPS, max_examples=EXAMPLES))
