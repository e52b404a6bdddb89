#!/usr/bin/env python3
"""Which branches the tests of what hostile input meets first do not take.

    python tools/branches.py [PART ...]

Runs the tests of the parts of ``hostile.py``, walk, responses, capture readers and limits, under
coverage (``pip install coverage``), prints the branches not taken, and exits with 1 if there are
any.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

from hostile import PARTS, selection

ROOT = Path(__file__).resolve().parents[1]


def report(parts: Collection[str]) -> int:
    """Run the tests of some parts, then the report; the exit code of whichever fails."""
    modules = [module for part in parts for module in PARTS[part].modules]
    with tempfile.TemporaryDirectory() as folder:
        data = f"--data-file={folder}/coverage"
        files = ",".join(f"dp2emu/{module}.py" for module in modules)
        tests = selection(PARTS[part] for part in parts)
        run = ("run", "--branch", data, f"--include={files}", "-m", "pytest", "-q", *tests)
        for arguments in (run, ("report", data, "--show-missing", "--fail-under=100")):
            command = [sys.executable, "-m", "coverage", *arguments]
            code = subprocess.run(command, cwd=ROOT, check=False).returncode
            if code:
                return code
    return 0


def main() -> int:
    """Report on the parts that are asked for."""
    parser = argparse.ArgumentParser(description="Branches of readers that no test takes.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    return report(parser.parse_args().parts or PARTS)


if __name__ == "__main__":
    sys.exit(main())
