"""What is given to LLVM, written down."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest

from dp2emu.shader.jit.compiling import PASSES, Host

_Note = TypeVar("_Note")


def compiles_noted(
    monkeypatch: pytest.MonkeyPatch, note: Callable[[str, bool], _Note]
) -> list[_Note]:
    """A note of each text that is compiled from here on, and of whether that is done quickly."""
    found: list[_Note] = []
    begun = Host.begun

    def noted(
        self: Host, text: str, passes: tuple[str, ...] = PASSES, quick: bool = False
    ) -> Callable[[], bytes]:
        found.append(note(text, quick))
        return begun(self, text, passes, quick)

    monkeypatch.setattr(Host, "begun", noted)
    return found
