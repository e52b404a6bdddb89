"""Without llvmlite there is nothing to test here."""

from __future__ import annotations

from dp2emu.shader.jit.machine import available

collect_ignore_glob = [] if available() else ["test_*.py"]
