"""The verbs (subcommands of ``dp2emu``), and the kinds of files that each reads as its FILE.

Help, error messages and the table in ``docs/command-line.rst`` are derived from these rows.
"""

from __future__ import annotations

from typing import NamedTuple

CAPTURE, CAPTURE_TEXT, TRACE = "capture", "text of a capture", "trace of API calls"
SHADER_CODE, SHADER_TEXT, JSON, PICTURE = "shader code", "shader text", "JSON", "PNG picture"
TEXT = "text"

_CAPTURES = (CAPTURE, CAPTURE_TEXT)
_PLAYED = (*_CAPTURES, TRACE)


class VerbRow(NamedTuple):
    """A verb: its line in the help, and the kinds of files that it reads."""

    line: str
    reads: tuple[str, ...] = ()


VERBS = {
    "replay": VerbRow("Run a capture and report its answers and pictures.", _PLAYED),
    "batch": VerbRow("Replay many captures in supervised processes.", _PLAYED),
    "import": VerbRow("Convert a trace of Direct3D calls to a capture.", (TRACE,)),
    "info": VerbRow("Summarize the content of a capture.", (CAPTURE, TRACE)),
    "events": VerbRow("List the draws, clears, copies, queries and frames of a capture.", _PLAYED),
    "state": VerbRow("Show all device state at a point of a capture.", _PLAYED),
    "pixel": VerbRow("Show the history of a pixel, with a reason for each fragment.", _PLAYED),
    "debug": VerbRow("Step through the shader of a pixel, vertex or thread.", _PLAYED),
    "mesh": VerbRow("Show the vertices and primitives of a draw, stage by stage.", _PLAYED),
    "overlay": VerbRow("Show what a draw did at each pixel, as a picture.", _PLAYED),
    "why": VerbRow("Explain the answers of a query.", _PLAYED),
    "last-writer": VerbRow("List the events that wrote bytes of a resource last.", _PLAYED),
    "readers": VerbRow("List the events that read bytes of a resource.", _PLAYED),
    "graph": VerbRow("Write the graph of passes and resources.", _PLAYED),
    "timeline": VerbRow("Write a timeline for Perfetto.", _PLAYED),
    "report": VerbRow("Explain a capture on one HTML page.", _PLAYED),
    "dump": VerbRow("Show a capture as text, or its tokens as JSON lines.", _PLAYED),
    "assemble": VerbRow("Convert the text of dump back to a capture.", (CAPTURE_TEXT,)),
    "convert": VerbRow("Rewrite a capture in another form.", _CAPTURES),
    "shader": VerbRow("Disassemble or assemble a shader.", (SHADER_CODE, SHADER_TEXT, TEXT, JSON)),
    "conform": VerbRow("Test whether a driver follows the rules."),
    "init-driver": VerbRow("Write a driver in C to start from."),
    "fuzz": VerbRow("Search for inputs that break an invariant."),
    "minimize": VerbRow("Reduce a failing capture.", _CAPTURES),
    "scene": VerbRow("Play scene files of Direct3D 9 to 11.", (JSON,)),
    "diff-images": VerbRow("Compare pictures.", (PICTURE,)),
}
"""Row of each verb, by its name, in the order of the help."""


def readers(kind: str) -> tuple[str, ...]:
    """Names of the verbs that read files of a kind.

    >>> readers(PICTURE)
    ('diff-images',)
    """
    return tuple(name for name, row in VERBS.items() if kind in row.reads)


def reads_line(verb: str) -> str:
    """A sentence for the help of a verb on the files that it reads; empty for a verb without.

    >>> reads_line("info")
    'Reads: capture, trace of API calls (apitrace).'
    """
    reads = VERBS[verb].reads
    named = (f"{kind} (apitrace)" if kind == TRACE else kind for kind in reads)
    return f"Reads: {', '.join(named)}." if reads else ""
