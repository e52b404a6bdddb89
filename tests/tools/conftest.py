"""The scripts in ``tools`` find their parts as they do when they are run."""

from __future__ import annotations

import sys

from tests.tools.loading import ROOT

sys.path.insert(0, str(ROOT / "tools"))
