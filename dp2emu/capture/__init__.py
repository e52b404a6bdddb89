"""Capture files: sealed captures, raw driver logs and bare command buffers, read and written."""

from dp2emu.capture.bare import BareOptions
from dp2emu.capture.rawlog import LogWriter
from dp2emu.capture.reader import Capture, open_capture
from dp2emu.capture.totals import Summary
from dp2emu.capture.writer import CaptureWriter

__all__ = ["BareOptions", "Capture", "CaptureWriter", "LogWriter", "Summary", "open_capture"]
