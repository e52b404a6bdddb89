"""Traces of API calls as apitrace writes them (trace versions 0 to 6), read call by call."""

from dp2emu.capture.apitrace.limits import TraceLimits
from dp2emu.capture.apitrace.summary import TraceSummary, ends_frame, summarize
from dp2emu.capture.apitrace.text import call_line, dump_trace
from dp2emu.capture.apitrace.trace import Trace, begins_as_trace, open_trace
from dp2emu.capture.apitrace.values import MISSING, TraceCall, Value

__all__ = [
    "MISSING",
    "Trace",
    "TraceCall",
    "TraceLimits",
    "TraceSummary",
    "Value",
    "begins_as_trace",
    "call_line",
    "dump_trace",
    "ends_frame",
    "open_trace",
    "summarize",
]
