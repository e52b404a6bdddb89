"""The grammar of the text form: lines into blocks of words, before anything is given a meaning.

A block is a statement and the lines that belong to it, whatever their indentation::

    NAME field=value ...        a statement: a record, a token, a response block
    - field=value ...           an item of it
    part: value ...             a list that belongs to the item above, else to the statement

A value is a word (number or name), a quoted string, ``[value ...]`` or ``{field=value ...}``.
``#`` starts a comment.  A part that goes on over several lines repeats its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import TypeAlias

from dp2emu.errors import CaptureError
from dp2emu.records import dataclass

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_LEXEME = re.compile(rf"""([^\s\[\]{{}}="\#]+|[\[\]{{}}=]|{_STRING}|"(?s:.*))|\#.*""")
"""A word, a mark, a string, or one that does not end; nothing for a comment.  All that is left
is space.
"""
_WHOLE = re.compile(_STRING)
_MARKS = "=[]{}"
_NO_WORDS = frozenset('[]{}="')
"""What lexemes begin with that are no words."""
LINE_LIMIT = 1 << 20
"""Characters of a line.  A dump wraps long before; without a limit one line is a whole file."""
_DEPTH_LIMIT = 16


class TextError(CaptureError):
    """Text that is no capture; ``what`` starts with the line number."""

    def __init__(self, line: int, what: str, *, stream: str | None = None) -> None:
        super().__init__(f"line {line}: {what}", stream=stream)


@dataclass(frozen=True, slots=True)
class Word:
    """A bare word: a number or a name."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Quoted:
    """A string; ``text`` is without its quotes."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Row:
    """``[value ...]``"""

    values: tuple[Value, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Fields:
    """``{field=value ...}``, and the fields of a statement or item."""

    values: dict[str, Value]
    line: int


Value: TypeAlias = Word | Quoted | Row | Fields
Parts: TypeAlias = dict[str, list[Value]]


@dataclass(slots=True)
class Item:
    """An item line and its parts.  Mutable while its block is read."""

    fields: Fields
    parts: Parts = field(default_factory=dict)


@dataclass(slots=True)
class Block:
    """A statement with what belongs to it.  Mutable while it is read."""

    name: str
    fields: Fields
    items: list[Item] = field(default_factory=list)
    parts: Parts = field(default_factory=dict)

    @property
    def line(self) -> int:
        """Line number of the statement, from 1."""
        return self.fields.line

    def error(self, what: str) -> TextError:
        """A TextError at the statement."""
        return TextError(self.line, what)


def quote(text: str) -> str:
    """A string literal; what would not show on a terminal is escaped."""
    literal = json.dumps(text, ensure_ascii=False)
    if literal.isprintable():
        return literal
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in literal)


def lines_of(source: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Numbered lines.  A text stream is read line by line, none longer than the limit.

    Raises TextError for a longer one, and for bytes that are no text.
    """
    readline = getattr(source, "readline", None)
    lines = iter(lambda: readline(LINE_LIMIT + 1), "") if readline else iter(source)
    number = 1
    while True:
        try:
            line = next(lines, None)
        except UnicodeDecodeError as error:
            raise TextError(number, f"not {error.encoding} text: {error.reason}") from None
        if line is None:
            return
        if len(line) > LINE_LIMIT:
            raise TextError(number, f"longer than {LINE_LIMIT} characters")
        yield number, line
        number += 1


def blocks(lines: Iterable[tuple[int, str]]) -> Iterator[Block]:
    """Group lines into blocks.  Raises TextError for a line that fits no rule of the grammar."""
    block: Block | None = None
    for number, line in lines:
        lexemes = _lexemes(number, line)
        if not lexemes:
            continue
        first, words = lexemes[0], _Words(number, lexemes)
        if first != "-" and first[-1] != ":" and first[0] not in _NO_WORDS:
            if block is not None:
                yield block
            block = Block(words.name(), words.fields())
        elif block is None:
            raise TextError(number, "this line belongs to no statement")
        else:
            _extend(block, words)
    if block is not None:
        yield block


def _lexemes(number: int, text: str) -> list[str]:
    """A line cut into lexemes.  Raises TextError for a string that does not end."""
    plain, _, comment = text.partition("#")
    if '"' not in plain and "\n" not in comment[:-1]:
        # Without strings this is several times as fast, and most lines have none.
        for mark in _MARKS:
            plain = plain.replace(mark, f" {mark} ")
        return plain.split()
    lexemes = [*filter(None, _LEXEME.findall(text))]
    last = lexemes[-1] if lexemes else ""
    if last[:1] == '"' and not _WHOLE.fullmatch(last):
        raise TextError(number, f"nothing starts with {last[:8].strip()!a}")
    return lexemes


def _extend(block: Block, words: _Words) -> None:
    name = words.name()
    if name == "-":
        block.items.append(Item(words.fields()))
        return
    parts = block.items[-1].parts if block.items else block.parts
    parts.setdefault(name.removesuffix(":"), []).extend(words.values())


class _Words:
    """The lexemes of one line, gone through once.  Mutable: it is read."""

    __slots__ = "_rest", "line"

    def __init__(self, line: int, lexemes: Iterable[str]) -> None:
        self.line = line
        self._rest = iter(lexemes)

    def error(self, what: str) -> TextError:
        return TextError(self.line, what)

    def name(self) -> str:
        text = next(self._rest)
        if text[0] in _NO_WORDS:
            raise self.error(f"{text} where a name belongs")
        return text

    def fields(self, closing: str = "", depth: int = 0) -> Fields:
        """``name=value`` up to the end of the line, or to the mark that closes them."""
        values: dict[str, Value] = {}
        rest, line = self._rest, self.line
        for name in rest:
            if name[0] in _NO_WORDS:
                if name == closing:
                    return Fields(values, line)
                raise self.error(f"{name} where a name belongs")
            if name in values:
                raise self.error(f"{name} is given twice")
            if (mark := next(rest, "")) != "=":
                raise self.error(f"{name} has no value") if mark else self._cut()
            self._check_depth(depth)
            text = next(rest, "")
            plain = text and text[0] not in _NO_WORDS
            values[name] = Word(text, line) if plain else self._bracket(text, depth)
        self._check_closed(closing)
        return Fields(values, line)

    def values(self, closing: str = "", depth: int = 0) -> list[Value]:
        """Values up to the end of the line, or to the mark that closes them."""
        values: list[Value] = []
        line = self.line
        for text in self._rest:
            if text == closing:
                return values
            self._check_depth(depth)
            plain = text[0] not in _NO_WORDS
            values.append(Word(text, line) if plain else self._bracket(text, depth))
        self._check_closed(closing)
        return values

    def _bracket(self, text: str, depth: int) -> Value:
        """A value that is no word and begins with ``text``, which is empty at the line's end."""
        if text[:1] == '"':
            return Quoted(self._unquoted(text), self.line)
        if text == "[":
            return Row(tuple(self.values("]", depth + 1)), self.line)
        if text == "{":
            return self.fields("}", depth + 1)
        raise self.error(f"{text} where a value belongs") if text else self._cut()

    def _cut(self) -> TextError:
        return self.error("the line ends too early")

    def _check_depth(self, depth: int) -> None:
        if depth > _DEPTH_LIMIT:
            raise self.error("brackets nest too deep")

    def _check_closed(self, closing: str) -> None:
        if closing:
            raise self.error(f"{closing} is missing")

    def _unquoted(self, text: str) -> str:
        try:
            string = json.loads(text)
            string.encode()
        except ValueError as error:
            raise self.error(f"{text[:40]!a} is no string") from error
        return str(string)
