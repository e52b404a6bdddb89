"""Without llvmlite there is no compiled engine, and no test of it."""

from __future__ import annotations

from dp2emu.shader.jit.machine import available

COMPILED = ["code/test_*.py", "compile/test_*.py", "*/test_*_code.py", "*/test_vertex_kernel.py"]

collect_ignore_glob = [] if available() else COMPILED
