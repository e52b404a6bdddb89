"""What is given to LLVM, written down."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from dp2emu.shader.jit import code
from dp2emu.shader.jit.compiling import PASSES, Host
from dp2emu.shader.jit.object_cache import ObjectCache
from dp2emu.shader.jit.tiering import drop_background, wait_for_background

_Note = TypeVar("_Note")


def compiles_noted(
    monkeypatch: pytest.MonkeyPatch, folder: Path, note: Callable[[str, bool], _Note]
) -> list[_Note]:
    """A note of each text that is compiled from here on, and of whether that is done quickly.

    Nothing is compiled in the background, and objects are those in a folder of the test's own.
    """
    drop_background()
    wait_for_background()
    found: list[_Note] = []
    begun = Host.begin

    def noted(
        self: Host, text: str, passes: tuple[str, ...] = PASSES, quick: bool = False
    ) -> Callable[[], bytes]:
        found.append(note(text, quick))
        return begun(self, text, passes, quick)

    monkeypatch.setattr(Host, "begin", noted)
    monkeypatch.setattr(code, "object_cache", lambda: ObjectCache(folder))
    return found
