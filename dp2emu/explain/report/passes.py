"""Passes of a report: which resources each run of events reads and writes."""

from __future__ import annotations

from typing import Any

from dp2emu.escaping import plain
from dp2emu.explain.pass_graph import PassGraph

PASSES = 400
"""Maximum number of passes on a page."""


def pass_rows(graph: PassGraph) -> dict[str, Any]:
    """The JSON object of a graph: ``resources`` by handle, and the first ``PASSES`` passes."""
    passes = graph.passes[:PASSES]
    used = {handle for each in passes for handle in (*each.reads, *each.writes)}
    return {
        "resources": [
            {"handle": handle, "name": plain(graph.name(handle))}
            for handle in graph.resources
            if handle in used
        ],
        "passes": [
            {
                "frame": each.frame,
                "first": each.first.number,
                "last": each.last.number,
                "kinds": ", ".join(f"{count} {kind}" for kind, count in each.kinds.items()),
                "reads": [[handle, ", ".join(uses)] for handle, uses in each.reads.items()],
                "writes": [[handle, ", ".join(uses)] for handle, uses in each.writes.items()],
            }
            for each in passes
        ],
        "more": len(graph.passes) - len(passes),
    }
