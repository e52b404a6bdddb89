"""The corpus of a target: a directory of inputs that processes share, named by their content."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from random import Random

from dp2emu.outputs import write_file

_NAME = 16
"""Number of characters of an input's file name: 64 bits of SHA-256 in hexadecimal."""
PICKED = 4
"""Number of random inputs of which the shortest is picked: short inputs take less time, and long
ones are still picked, if seldom."""
HELD = 1 << 14
"""Maximum number of inputs in memory; one more replaces another, chosen by its hash."""


def name_of(data: bytes) -> str:
    """Return the file name of an input in a corpus: digits of its SHA-256."""
    return hashlib.sha256(data).hexdigest()[:_NAME]


class Corpus:
    """Inputs worth mutating.  Mutable: this process and others add inputs.

    Without ``folder`` they are in memory alone.  Inputs are cut to ``most`` bytes.
    """

    def __init__(self, folder: Path | None, most: int, seeds: Iterable[bytes] = ()) -> None:
        self._folder = folder
        self._most = most
        self._names: set[str] = set()
        self._inputs: list[bytes] = []
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        self.refresh()
        for data in seeds:
            self.add(data)

    def __len__(self) -> int:
        return len(self._inputs)

    def add(self, data: bytes) -> bool:
        """Add an input, also to the directory; returns whether it is new.  Raises OSError."""
        name = name_of(data)
        if name in self._names:
            return False
        self._keep(name, data)
        if self._folder is not None and not (self._folder / name).exists():
            write_file(self._folder / name, data)
        return True

    def pick(self, rng: Random) -> bytes:
        """Return the shortest of ``PICKED`` random inputs; the corpus must not be empty."""
        inputs, count = self._inputs, len(self._inputs)
        return min((inputs[int(rng.random() * count)] for _ in range(PICKED)), key=len)

    def refresh(self) -> None:
        """Add the inputs that other processes have written, except unreadable files."""
        if self._folder is None:
            return
        for entry in sorted(os.scandir(self._folder), key=lambda entry: entry.name):
            if entry.name in self._names or entry.name.startswith(".") or not entry.is_file():
                continue
            with suppress(OSError), open(entry.path, "rb") as file:
                self._keep(entry.name, file.read(self._most))

    def _keep(self, name: str, data: bytes) -> None:
        self._names.add(name)
        if len(self._inputs) < HELD:
            self._inputs.append(data)
        else:
            self._inputs[int(hashlib.sha256(name.encode()).hexdigest(), 16) % HELD] = data
