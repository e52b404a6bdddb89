"""Without llvmlite there is no compiled walk to test."""

from __future__ import annotations

from dp2emu.shader.jit.machine import available

collect_ignore = [] if available() else ["test_headers.py"]
