"""Untrusted text, escaped for display: no control sequence reaches a terminal or page."""

from __future__ import annotations


def plain(text: str, kept: str = "") -> str:
    r"""Text whose unprintable characters (control characters, bidirectional marks, surrogates)
    are escaped as in Python, except those in ``kept``; line ends become spaces.

    >>> print(plain("one\ntwo \x1b[31m"))
    one two \x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return " " if character == "\n" else character.encode("unicode_escape").decode()
