"""Growth: longer inputs, and of each size the one that makes the most work.

A pass that takes more than its share of time does so for long inputs.  Functions of this module
make an input about twice as long; ``Heaviest`` keeps the inputs from which to go on.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

from dp2emu.inputs import read_file
from dp2emu.outputs import write_file

Growth = Callable[[Random, bytes], bytes]
"""Function that returns an input about twice as long as the one that it is passed."""


def doubled(rng: Random, data: bytes) -> bytes:
    """Repeat all bytes, or a run of them many times in its place."""
    if rng.random() < 0.5 or not data:
        return data + data
    start = rng.randrange(len(data))
    run = data[start : start + rng.choice((1, 4, 16, 64))]
    return data[:start] + repeated(run, len(data)) + data[start:]


def repeated(run: bytes, size: int) -> bytes:
    """Return copies of ``run``, together of ``size`` bytes or one copy more.

    >>> repeated(b"abc", 7)
    b'abcabcabc'
    """
    return run * -(-size // max(len(run), 1))


def doubled_lines(rng: Random, data: bytes) -> bytes:
    """Repeat some consecutive lines of a text in their place, or make a line longer."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    if rng.random() < 0.25:
        lines[at] = (
            doubled(rng, lines[at] or b"0 ") + b" " + repeated(lines[at] or b"0 ", len(data))
        )
        return b"\n".join(lines)
    run = lines[at : at + rng.choice((1, 2, 5, len(lines)))]
    size = sum(len(line) + 1 for line in run)
    lines[at:at] = run * -(-len(data) // size)
    return b"\n".join(lines)


_NAME = re.compile(r"[0-9]{1,9}-([0-9]{1,18})")
"""Regular expression of the name of a file: size and calls."""


class Heaviest:
    """Of each size the input that makes most calls for a byte.  Mutable.

    A size is the number of bits of the length.  The inputs are files in ``folder``, which a later
    campaign continues, named by size and calls: counting them again would take a minute.
    """

    def __init__(self, folder: Path) -> None:
        """Read the inputs in a folder, which is made if absent.  Raises OSError."""
        self._folder = folder
        self._best: dict[int, tuple[float, bytes]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(folder.iterdir()):
            if found := _NAME.fullmatch(path.name):
                with suppress(FileNotFoundError):  # another process has a heavier one
                    self._keep(read_file(path), int(found[1]))

    def __len__(self) -> int:
        return len(self._best)

    def offer(self, data: bytes, calls: int) -> bool:
        """Keep an input if it makes more calls for a byte than any other of its size.

        Returns whether it does.  Raises OSError.
        """
        if not self._keep(data, calls):
            return False
        size = len(data).bit_length()
        earlier = [*self._folder.glob(f"{size}-*")]
        write_file(self._folder / f"{size}-{calls}", data)
        for path in earlier:
            if path.name != f"{size}-{calls}":
                path.unlink(missing_ok=True)
        return True

    def pick(self, rng: Random) -> bytes:
        """Return the heaviest input of a random size, or half the time of the size at which weight
        increases most; there must be one.
        """
        sizes = sorted(self._best)
        if rng.random() < 0.5:
            return self._best[max(sizes, key=self._steepness)][1]
        return self._best[rng.choice(sizes)][1]

    def _steepness(self, size: int) -> float:
        """Return the ratio of the weights of a size and the size below: 1 for linear work, 2
        for work that increases with the square of the length.
        """
        weight = self._best[size][0]
        return weight / (self._best.get(size - 1, (weight, b""))[0] or 1.0)

    def _keep(self, data: bytes, calls: int) -> bool:
        size, weight = len(data).bit_length(), calls / max(len(data), 1)
        if weight <= self._best.get(size, (0.0, b""))[0]:
            return False
        self._best[size] = weight, data
        return True
