"""Summaries of captures, from their index, and of traces of API calls."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from itertools import islice
from typing import Any

from msgspec.structs import asdict

from dp2emu.capture import Capture, Summary
from dp2emu.capture.apitrace import Trace, summarize
from dp2emu.capture.records import Called, ContextCreated, EntryCalled
from dp2emu.d3d.enums import Format
from dp2emu.d3d.sdk import sdk_name
from dp2emu.errors import CaptureError, Fault, UsageError
from dp2emu.escaping import plain
from dp2emu.gpu.resource.heap import SurfaceKind

_FIRST = 4096
"""Maximum number of records among which the first context or device is sought."""

SCHEMA = 1
"""Version of the info document; within a version keys are only added."""


def info(capture: Capture, *, tokens: bool = False) -> dict[str, Any]:
    """The summary of a capture as a JSON object.

    ``verified`` is False for large captures, whose index is used without reading the records.
    ``tokens`` adds the count of each token and of each function of the Direct3D 10/11 interface,
    which takes a pass over all calls.
    """
    summary = capture.summary()
    census = _census(capture) if tokens else {}
    facts = {
        "schema": SCHEMA,
        "file": capture.name,
        "form": capture.kind,
        **asdict(summary),
        "formats": _surfaces(summary),
        "skipped": dict(capture.skipped),
        "damage": str(capture.damage) if capture.damage else None,
    }
    return facts | census | {"interface": _interface(capture)}


def _interface(capture: Capture) -> str | None:
    """The interface of the first context or device among the first records, such as ``DirectX 7``
    or ``Direct3D 10.1``; None if there is none, or a pipe cannot be read again.
    """
    with suppress(CaptureError, UsageError):
        for record in islice(capture.records(), _FIRST):
            if isinstance(record, ContextCreated):
                return f"DirectX {record.interface}"
            if isinstance(record, EntryCalled) and record.interface:
                return f"Direct3D {record.interface // 10}.{record.interface % 10}"
    return None


def info_text(facts: dict[str, Any]) -> str:
    """A summary from ``info`` as text, a line per fact, without zeros."""
    of = f" of {facts['interface']}" if facts["interface"] else ""
    lines = [f"{facts['file']}: {facts['form']} capture{of}", *_lines(facts)]
    if not facts["verified"] and not facts["damage"]:
        lines.append("from the index; no record was checked")
    return "\n".join(map(plain, lines)) + "\n"


def trace_info(trace: Trace) -> dict[str, Any]:
    """The summary of a trace of API calls as a JSON object; reads the whole trace."""
    summary = asdict(summarize(trace))
    return {
        "schema": SCHEMA,
        "file": trace.name,
        "form": "apitrace",
        "version": trace.version,
        "semantic_version": trace.semantic_version,
        "container": trace.container,
        "properties": dict(trace.properties),
        **summary,
        "damage": str(trace.damage) if trace.damage else None,
    }


def trace_info_text(facts: dict[str, Any]) -> str:
    """A summary from ``trace_info`` as text: facts, then calls by function, most calls first."""
    apis = " and ".join(facts["apis"]) or "unknown API"
    head = f"{facts['file']}: apitrace trace of {apis}"
    lines = [f"{head}, version {facts['version']}, {facts['container']}"]
    lines += [f"  {name}: {value}" for name, value in facts["properties"].items()]
    rows = [(text, facts[key]) for key, text in _TRACE_COUNTS.items()]
    rows += [(f"on thread {thread}", count) for thread, count in facts["threads"].items()]
    rows += facts["functions"].items()
    lines += [f"  {text:<48}{count:>16,}" for text, count in rows if count]
    lines += [f"damaged: {facts['damage']}"] if facts["damage"] else []
    return "\n".join(map(plain, lines)) + "\n"


_TRACE_COUNTS = {
    "frames": "frames", "calls": "calls", "unfinished": "calls never left",
    "fake": "calls the tracer put in",
}  # fmt: skip


def _lines(facts: dict[str, Any]) -> list[str]:
    rows = [(text, facts[key]) for key, text in _COUNTS.items() if facts[key]]
    rows += [(_surface_kind(row), row["count"]) for row in facts["formats"]]
    if facts["last_time"]:
        rows.append(("ticks from first to last", facts["last_time"] - facts["first_time"]))
    rows += [(f"unknown: {name}", count) for name, count in facts["skipped"].items()]
    rows += facts.get("tokens", {}).items()
    rows += facts.get("functions", {}).items()
    lines = [f"  {text:<32}{count:>16,}" for text, count in rows]
    return lines + ([f"damaged: {facts['damage']}"] if facts["damage"] else [])


def _surface_kind(row: dict[str, Any]) -> str:
    """A surface's kind and format, as in ``"surface D3DFMT_D24S8"``; of a buffer the kind only."""
    known = row["format"] != Format.UNKNOWN.sdk
    return " ".join([row["kind"].lower(), row["format"]] if known else [row["kind"].lower()])


_COUNTS = {
    "records": "records", "contexts": "contexts", "surfaces": "surfaces",
    "memory_writes": "memory writes", "memory_bytes": "bytes written to memory",
    "calls": "calls", "command_bytes": "command bytes", "vertex_bytes": "user vertex bytes",
    "answers": "recorded answers", "response_bytes": "response bytes", "frames": "frames",
    "annotations": "annotations", "pictures": "pictures the program saw",
    "observations": "query answers the program got", "observed_bytes": "bytes of these",
    "entries": "calls of the 10/11 interface",
}  # fmt: skip


def _surfaces(summary: Summary) -> list[dict[str, Any]]:
    return [
        {
            "kind": _kind_name(kind),
            "format": sdk_name(Format, format) or f"0x{format:08x}",
            "count": count,
        }
        for kind, format, count in summary.formats
    ]


def _kind_name(kind: int) -> str:
    member = SurfaceKind._value2member_map_.get(kind)
    return member.name if isinstance(member, SurfaceKind) else str(kind)


def _census(capture: Capture) -> dict[str, dict[str, int]]:
    """Number of ``tokens`` and of called ``functions`` of the Direct3D 10/11 interface, by name,
    the most frequent first; tokens of a call without those after an invalid one.
    """
    from dp2emu.dp2.stream import CommandStream  # slow to import, and the index needs none

    found: Counter[str] = Counter()
    functions: Counter[str] = Counter()
    interfaces: dict[int, int] = {}
    for record in capture.records():
        if isinstance(record, ContextCreated):
            interfaces[record.context] = record.interface
        elif isinstance(record, EntryCalled):
            functions[record.entry] += 1
        elif isinstance(record, Called):
            call = record.call
            stream = CommandStream(call, call.commands or b"")
            try:
                found.update(stream.census(interfaces.get(call.dwhContext, 9)))
            except Fault:
                found["(bad vertex format)"] += 1
    return {
        "tokens": {name: count for name, count in found.most_common() if count},
        "functions": dict(functions.most_common()),
    }
