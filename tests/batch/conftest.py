"""A nursery for tests, which ends with them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from uuid import uuid4

import pytest

from dp2emu.batch import forked


@pytest.fixture
def nursery(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a batch, whose nursery starts when it is wanted."""
    started: list[subprocess.Popen[bytes]] = []
    monkeypatch.setattr(forked, "_STARTED", started)
    batch = uuid4().hex[:16]
    place = forked.place_of(batch)
    yield batch
    for process in started:
        process.kill()
        process.wait()
    with suppress(OSError):
        shutil.rmtree(place)
