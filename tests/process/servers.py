"""Fixtures: fork servers, which end with a test."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from uuid import uuid4

import pytest

from dp2emu.process import forking
from dp2emu.process.forking import ForkServer


@pytest.fixture
def modules() -> tuple[str, ...]:
    """What servers import."""
    return ()


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch, modules: tuple[str, ...]) -> Iterator[ForkServer]:
    """A shared server."""
    started: list[subprocess.Popen[bytes]] = []
    monkeypatch.setattr(forking, "_STARTED", started)
    server = ForkServer(*modules, name=uuid4().hex[:16])
    yield server
    for process in started:
        process.kill()
        process.wait()
    assert server.place is not None
    shutil.rmtree(server.place, ignore_errors=True)


@pytest.fixture
def private(modules: tuple[str, ...]) -> Iterator[ForkServer]:
    server = ForkServer(*modules)
    yield server
    server.close()


@pytest.fixture(params=["private", "shared", "none"])
def server(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, modules: tuple[str, ...]
) -> ForkServer:
    """A server of each kind, and one on a system that has none."""
    if request.param == "none":
        monkeypatch.setattr(forking, "can_fork", lambda: False)
        return ForkServer(*modules)
    found: ForkServer = request.getfixturevalue(request.param)
    return found
