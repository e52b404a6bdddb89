"""A nursery for tests, which ends with them."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from dp2emu.batch import forked


@pytest.fixture
def nursery(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a batch, whose nursery starts when it is wanted."""
    started: list[subprocess.Popen[bytes]] = []
    monkeypatch.setattr(forked, "_STARTED", started)
    batch = uuid4().hex[:16]
    yield batch
    for process in started:
        process.kill()
        process.wait()
    shutil.rmtree(Path(tempfile.gettempdir(), f"dp2emu-{batch}"), ignore_errors=True)
