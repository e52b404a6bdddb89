"""Traces of API calls as apitrace writes them (trace versions 0 to 6), read call by call."""

from typing import TYPE_CHECKING

from dp2emu.lazy_import import lazy_names

if TYPE_CHECKING:
    from dp2emu.capture.apitrace.container import begins_as_trace as begins_as_trace
    from dp2emu.capture.apitrace.summary import TraceSummary as TraceSummary
    from dp2emu.capture.apitrace.summary import ends_frame as ends_frame
    from dp2emu.capture.apitrace.summary import summarize as summarize
    from dp2emu.capture.apitrace.text import call_line as call_line
    from dp2emu.capture.apitrace.text import dump_trace as dump_trace
    from dp2emu.capture.apitrace.trace import Trace as Trace
    from dp2emu.capture.apitrace.trace import open_trace as open_trace
    from dp2emu.capture.apitrace.values import MISSING as MISSING
    from dp2emu.capture.apitrace.values import TraceCall as TraceCall
    from dp2emu.capture.apitrace.values import Value as Value

_HOMES = {
    "container": ("begins_as_trace",),
    "summary": ("TraceSummary", "ends_frame", "summarize"),
    "text": ("call_line", "dump_trace"),
    "trace": ("Trace", "open_trace"),
    "values": ("MISSING", "TraceCall", "Value"),
}
"""Names by module.  Those are imported when they are asked for: most captures are no traces."""

__all__ = [name for names in _HOMES.values() for name in names]

if not TYPE_CHECKING:  # where types are checked, a name that is not there is an error
    __getattr__ = lazy_names(__name__, _HOMES)
