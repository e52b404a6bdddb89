"""The table of golden scenes behind a run that played them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dp2emu.shader.engines import can_compile

from .playing import table

collect_ignore = [] if can_compile() else ["test_checked.py"]


@pytest.hookimpl
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    outcomes = dict(_outcomes(terminalreporter))
    if outcomes:
        terminalreporter.section("golden scenes")
        for line in table(sorted(outcomes.items())):
            terminalreporter.line(line)


def _outcomes(reporter: pytest.TerminalReporter) -> Iterator[tuple[str, str]]:
    """(scene, kind), from the properties with which tests recorded them."""
    for kind in ("passed", "failed"):
        for report in reporter.stats.get(kind, ()):
            yield from (pair[1] for pair in report.user_properties if pair[0] == "golden")
