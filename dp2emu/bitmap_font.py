"""Letters for labels in pictures: a font of 3 by 5 dots, so that labels need no library's."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

HEIGHT = 5
"""Dots from the top of a letter to its foot."""
ADVANCE = 4
"""Dots from one letter to the next."""

_ROWS = {
    "0": "### #.# #.# #.# ###",
    "1": ".#. ##. .#. .#. ###",
    "2": "### ..# ### #.. ###",
    "3": "### ..# .## ..# ###",
    "4": "#.# #.# ### ..# ..#",
    "5": "### #.. ### ..# ###",
    "6": "### #.. ### #.# ###",
    "7": "### ..# ..# .#. .#.",
    "8": "### #.# ### #.# ###",
    "9": "### #.# ### ..# ###",
    "A": ".#. #.# ### #.# #.#",
    "B": "##. #.# ##. #.# ##.",
    "C": ".## #.. #.. #.. .##",
    "D": "##. #.# #.# #.# ##.",
    "E": "### #.. ##. #.. ###",
    "F": "### #.. ##. #.. #..",
    "G": ".## #.. #.# #.# .##",
    "H": "#.# #.# ### #.# #.#",
    "I": "### .#. .#. .#. ###",
    "J": "..# ..# ..# #.# .#.",
    "K": "#.# #.# ##. #.# #.#",
    "L": "#.. #.. #.. #.. ###",
    "M": "#.# ### ### #.# #.#",
    "N": "##. #.# #.# #.# #.#",
    "O": ".#. #.# #.# #.# .#.",
    "P": "##. #.# ##. #.. #..",
    "Q": ".#. #.# #.# ##. .##",
    "R": "##. #.# ##. #.# #.#",
    "S": ".## #.. .#. ..# ##.",
    "T": "### .#. .#. .#. .#.",
    "U": "#.# #.# #.# #.# ###",
    "V": "#.# #.# #.# #.# .#.",
    "W": "#.# #.# ### ### #.#",
    "X": "#.# #.# .#. #.# #.#",
    "Y": "#.# #.# .#. .#. .#.",
    "Z": "### ..# .#. #.. ###",
    "-": "... ... ### ... ...",
    ".": "... ... ... ... .#.",
    ",": "... ... ... .#. #..",
    ":": "... .#. ... .#. ...",
    "_": "... ... ... ... ###",
    " ": "... ... ... ... ...",
}
_UNKNOWN = "### ### ### ### ###"


def lettered(text: str, size: int = 1) -> NDArray[np.bool_]:
    """bool (5 * size, 4 * size * len(text)): where the text has ink.

    Small letters look like capitals; what the font lacks is a block.
    """
    if not text:
        return np.zeros((HEIGHT * size, 0), np.bool_)
    line = np.concatenate([_glyph(character) for character in text.upper()], axis=1)
    return line.repeat(size, axis=0).repeat(size, axis=1)


@cache
def _glyph(character: str) -> NDArray[np.bool_]:
    rows = _ROWS.get(character, _UNKNOWN).split()
    return np.array([[dot == "#" for dot in f"{row}."] for row in rows])
