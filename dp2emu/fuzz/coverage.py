"""Which lines of some modules have ever run, where Python can tell that at no cost.

From Python 3.12 on a line is reported once and then no more.  Before that there is no coverage,
and what inputs were like is all there is to tell them apart.
"""

from __future__ import annotations

import sys
from types import CodeType
from typing import Any


class Coverage:
    """Lines of modules whose names begin with one of ``modules``.  Mutable: they only grow."""

    def __init__(self, modules: tuple[str, ...]) -> None:
        self._parts = tuple(module.replace(".", "/") for module in modules)
        self._lines: set[tuple[CodeType, int]] = set()
        self._seen = 0
        if sys.version_info >= (3, 12):
            self._watch(sys.monitoring)

    @property
    def lines(self) -> int:
        """How many lines have run."""
        return len(self._lines)

    def grew(self) -> bool:
        """Whether there are more than when this was asked before."""
        before, self._seen = self._seen, len(self._lines)
        return self._seen > before

    def _watch(self, monitoring: Any) -> None:
        tool = monitoring.COVERAGE_ID
        if monitoring.get_tool(tool) is not None:
            return
        monitoring.use_tool_id(tool, "dp2emu fuzz")
        monitoring.register_callback(tool, monitoring.events.LINE, self._line)
        monitoring.set_events(tool, monitoring.events.LINE)
        self._disable = monitoring.DISABLE

    def _line(self, code: CodeType, line: int) -> Any:
        if any(part in code.co_filename for part in self._parts):
            self._lines.add((code, line))
        return self._disable
