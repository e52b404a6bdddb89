"""Test tools: benches, tapes, golden files, explained differences, Hypothesis strategies.

The fixtures of ``dp2emu.pytest_plugin`` use them; they work without pytest too.
``dp2emu.testing.strategies`` and ``dp2emu.testing.traffic`` need Hypothesis and are imported by
name.
"""

from dp2emu.testing.bench import Bench, Setup
from dp2emu.testing.explaining import explain
from dp2emu.testing.shot import Goldens, Shot
from dp2emu.testing.tape import Tape

__all__ = ["Bench", "Goldens", "Setup", "Shot", "Tape", "explain"]
