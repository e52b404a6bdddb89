"""A context that notes what tokens ask of it, so that a test sees exactly that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dp2emu.dp2.states.setting_kinds import Kind
from dp2emu.dp2.states.settings import write
from dp2emu.dp2.walk import decode, scan

Calls = list[tuple[Any, ...]]


class Recorder:
    """Stands in for Context and its parts: any method call is noted as (name, *arguments).

    Names of methods of constants begin with ``vertex.`` or ``pixel.``.
    """

    def __init__(self, calls: Calls | None = None, prefix: str = "") -> None:
        self.calls: Calls = [] if calls is None else calls
        self.prefix = prefix
        self.state = self.queries = self.shaders = self.moves = self.blocks = self
        if not prefix:
            self.vertex_constants = Recorder(self.calls, "vertex.")
            self.pixel_constants = Recorder(self.calls, "pixel.")

    def put(self, kind: Kind, index: int, value: Any) -> None:
        """Nothing is being recorded, so that what would be set is noted."""
        write(self, (kind, index), value)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Callable[..., None]:
        def note(*positional: Any, **named: Any) -> None:
            values = [_plain(value) for value in (*positional, *named.values())]
            self.calls.append((self.prefix + name, *values))

        return note


def _plain(value: Any) -> Any:
    if isinstance(value, memoryview):
        return bytes(value)
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def executed(data: bytes, vertex_size: int = 32) -> Calls:
    """What the tokens of ``data`` call, in order."""
    recorder = Recorder()
    scanned = scan(data, 0, len(data), vertex_size)
    assert scanned.problem is None
    for _, token, n, start, end in scanned.commands:
        body = decode(token, data, n, start, end, vertex_size)
        token.execute(recorder, body)  # type: ignore[arg-type]
    return recorder.calls
