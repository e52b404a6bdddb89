"""Shaders for the scenes."""

from __future__ import annotations

from pathlib import Path

import pytest

from .playing import write_shaders


@pytest.fixture(scope="session")
def shaders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_shaders(tmp_path_factory.mktemp("golden10") / "shaders")
