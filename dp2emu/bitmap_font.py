"""A bitmap font of 3 by 5 dots for labels in pictures."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
from numpy.typing import NDArray

HEIGHT = 5
"""Height of each character of the font in dots."""
ADVANCE = 4
"""Width in dots of a character with the one-dot gap that follows it."""

_GLYPHS = """
0 ### #.# #.# #.# ###   1 .#. ##. .#. .#. ###   2 ### ..# ### #.. ###
3 ### ..# .## ..# ###   4 #.# #.# ### ..# ..#   5 ### #.. ### ..# ###
6 ### #.. ### #.# ###   7 ### ..# ..# .#. .#.   8 ### #.# ### #.# ###
9 ### #.# ### ..# ###   A .#. #.# ### #.# #.#   B ##. #.# ##. #.# ##.
C .## #.. #.. #.. .##   D ##. #.# #.# #.# ##.   E ### #.. ##. #.. ###
F ### #.. ##. #.. #..   G .## #.. #.# #.# .##   H #.# #.# ### #.# #.#
I ### .#. .#. .#. ###   J ..# ..# ..# #.# .#.   K #.# #.# ##. #.# #.#
L #.. #.. #.. #.. ###   M #.# ### ### #.# #.#   N ##. #.# #.# #.# #.#
O .#. #.# #.# #.# .#.   P ##. #.# ##. #.. #..   Q .#. #.# #.# ##. .##
R ##. #.# ##. #.# #.#   S .## #.. .#. ..# ##.   T ### .#. .#. .#. .#.
U #.# #.# #.# #.# ###   V #.# #.# #.# #.# .#.   W #.# #.# ### ### #.#
X #.# #.# .#. #.# #.#   Y #.# #.# .#. .#. .#.   Z ### ..# .#. #.. ###
- ... ... ### ... ...   . ... ... ... ... .#.   , ... ... ... .#. #..
: ... .#. ... .#. ...   _ ... ... ... ... ###
"""
"""The font: each character, then its five rows of three dots, ``#`` set and ``.`` clear."""
_ROWS = {" ": "... ... ... ... ..."} | dict(re.findall(r"(\S) ((?:[.#]{3} ?){5})", _GLYPHS))
_UNKNOWN = "### ### ### ### ###"


def lettered(text: str, size: int = 1) -> NDArray[np.bool_]:
    """The text drawn in the font: bool (5 * size, 4 * size * len(text)), True for dots that are
    set.

    Each dot is ``size`` x ``size`` pixels.  Lower case letters look like upper case ones; a
    character that the font lacks is a block.
    """
    if not text:
        return np.zeros((HEIGHT * size, 0), np.bool_)
    line = np.concatenate([_glyph(character) for character in text.upper()], axis=1)
    return line.repeat(size, axis=0).repeat(size, axis=1)


@cache
def _glyph(character: str) -> NDArray[np.bool_]:
    rows = _ROWS.get(character, _UNKNOWN).split()
    return np.array([[dot == "#" for dot in f"{row}."] for row in rows])
