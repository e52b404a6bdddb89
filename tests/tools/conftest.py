"""The scripts in ``tools`` find their parts as they do when they are run."""

from __future__ import annotations

import sys

from dp2emu.shader.jit.machine import available
from tests.tools.loading import ROOT

sys.path.insert(0, str(ROOT / "tools"))
collect_ignore = [] if available() else ["test_random_draws.py"]
"""Without llvmlite no kernel draws."""
