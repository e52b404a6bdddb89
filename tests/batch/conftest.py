"""Fork servers whose workers replay captures."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dp2emu.batch.supervisor import PRELOAD
from tests.process.servers import private as private
from tests.process.servers import server as server
from tests.process.servers import shared as shared


@pytest.fixture
def modules() -> tuple[str, ...]:
    return PRELOAD


@pytest.fixture
def waiting(tmp_path: Path) -> str:
    """A file that nobody ever writes."""
    path = tmp_path / "waiting.dp2"
    os.mkfifo(path)
    return str(path)
