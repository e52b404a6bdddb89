"""What is given to LLVM, written down."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from dp2emu.shader.jit import code
from dp2emu.shader.jit.compiling import PASSES, Host
from dp2emu.shader.jit.store import Store
from dp2emu.shader.jit.tiering import improve_all

_Note = TypeVar("_Note")


def compiles_noted(
    monkeypatch: pytest.MonkeyPatch, folder: Path, note: Callable[[str, bool], _Note]
) -> list[_Note]:
    """A note of each text that is compiled from here on, and of whether that is done quickly.

    Nothing is left to be improved, and objects are those in a folder of the test's own.
    """
    improve_all()
    found: list[_Note] = []
    begun = Host.begun

    def noted(
        self: Host, text: str, passes: tuple[str, ...] = PASSES, quick: bool = False
    ) -> Callable[[], bytes]:
        found.append(note(text, quick))
        return begun(self, text, passes, quick)

    monkeypatch.setattr(Host, "begun", noted)
    monkeypatch.setattr(code, "objects", lambda: Store(folder))
    return found
