"""A nursery for tests, which ends soon after they do."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import sleep
from uuid import uuid4

import pytest

from dp2emu.batch import Limits

SOON = """
import sys
from dp2emu.batch import nursery
nursery.IDLE_SECONDS = 0.2
nursery.main(*sys.argv[1:])
"""


@pytest.fixture
def nursery() -> Iterator[str]:
    """The name of a batch whose nursery is there."""
    batch = uuid4().hex[:16]
    place = Path(tempfile.gettempdir(), f"dp2emu-{batch}")
    place.mkdir(mode=0o700)
    arguments = [sys.executable, "-c", SOON, str(place), Limits().terms().settings]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as process:
        while not (place / "door").exists():
            sleep(0.01)
        yield batch
        said = process.communicate()[1]
    assert (process.returncode, said, place.exists()) == (0, "", False)
