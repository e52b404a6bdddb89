#!/usr/bin/env python3
"""Which branches the tests of what hostile input meets first do not take.

    python tools/branches.py

Runs the tests of the walk, the responses, the capture readers and the limits under coverage
(``pip install coverage``), prints the branches not taken, and exits with 1 if there are any.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

MODULES = (
    "dp2/walk",
    "dp2/responses",
    "limits",
    "gpu/spending",
    "capture/reader",
    "capture/rawlog",
    "capture/bare",
    "capture/opened",
    "capture/compression",
    "capture/files",
    "capture/container",
)
"""What must be covered, below the package."""

TESTS = (
    "tests/capture",
    "tests/dp2/test_walk.py",
    "tests/dp2/test_responses.py",
    "tests/gpu/test_spending.py",
    "tests/test_limits.py",
    "tests/test_faults.py",
)


def main() -> int:
    """Run the tests, then the report; the exit code of whichever fails."""
    with tempfile.TemporaryDirectory() as folder:
        data = f"--data-file={folder}/coverage"
        files = ",".join(f"dp2emu/{module}.py" for module in MODULES)
        run = ("run", "--branch", data, f"--include={files}", "-m", "pytest", "-q", *TESTS)
        for arguments in (run, ("report", data, "--show-missing", "--fail-under=100")):
            code = subprocess.run(
                [sys.executable, "-m", "coverage", *arguments], cwd=ROOT
            ).returncode
            if code:
                return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
