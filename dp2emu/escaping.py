"""Text of strangers as terminals and pages may have it: nothing in it is an order to them."""

from __future__ import annotations


def plain(text: str, kept: str = "") -> str:
    r"""Text in which what does not show (control characters, changes of direction, halves of
    pairs) is escaped as Python does it, but for those ``kept``; line ends become spaces.

    >>> print(plain("one\ntwo \x1b[31m"))
    one two \x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return " " if character == "\n" else character.encode("unicode_escape").decode()
