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

_STRING = r'"(?:[^"\\]|\\.)*"'
_LEXEME = re.compile(rf"""([^\s\[\]{{}}="\#]+|[\[\]{{}}=]|{_STRING}|"(?s:.*))|\#.*""")
"""A word, a mark, a string, or one that does not end; nothing for a comment.  All that is left
is space.
"""
_WHOLE = re.compile(_STRING)
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
        words = _Words(number, line)
        if words.at_end():
            continue
        if words.is_statement():
            if block is not None:
                yield block
            block = Block(words.name(), words.fields())
        elif block is None:
            raise TextError(number, "this line belongs to no statement")
        else:
            _extend(block, words)
    if block is not None:
        yield block


def _extend(block: Block, words: _Words) -> None:
    if words.skip_dash():
        block.items.append(Item(words.fields()))
        return
    parts = block.items[-1].parts if block.items else block.parts
    parts.setdefault(words.part(), []).extend(words.values())


class _Words:
    """One line cut into lexemes, with a cursor."""

    def __init__(self, line: int, text: str) -> None:
        self.line = line
        self._at = 0
        lexemes: list[str] = _LEXEME.findall(text)
        last = lexemes[-1] if lexemes else ""
        if last[:1] == '"' and not _WHOLE.fullmatch(last):
            raise self.error(f"nothing starts with {last[:8].strip()!a}")
        self._lexemes = [*filter(None, lexemes)] if "#" in text else lexemes
        self._end = len(self._lexemes)

    def error(self, what: str) -> TextError:
        return TextError(self.line, what)

    def at_end(self) -> bool:
        return self._at == self._end

    def is_statement(self) -> bool:
        text = self._lexemes[0]
        return text != "-" and text[-1] != ":" and text[0] not in _NO_WORDS

    def skip_dash(self) -> bool:
        if self._lexemes[0] != "-":
            return False
        self._at += 1
        return True

    def name(self) -> str:
        text = self._next()
        if text[0] in _NO_WORDS:
            raise self.error(f"{text} where a name belongs")
        return text

    def part(self) -> str:
        """The name of a list: on a line that is no statement, a word ends with a colon."""
        return self.name().removesuffix(":")

    def fields(self) -> Fields:
        """``name=value`` up to the end of the line."""
        return self._fields(None, 0)

    def values(self) -> list[Value]:
        """Values up to the end of the line."""
        return self._values(None, 0)

    def _next(self) -> str:
        at = self._at
        if at == self._end:
            raise self.error("the line ends too early")
        self._at = at + 1
        return self._lexemes[at]

    def _closed(self, closing: str | None) -> bool:
        """Whether the list under way ends here; steps over the mark that closes it."""
        if closing is None:
            return self._at == self._end
        if self._at == self._end:
            raise self.error(f"{closing} is missing")
        if self._lexemes[self._at] != closing:
            return False
        self._at += 1
        return True

    def _fields(self, closing: str | None, depth: int) -> Fields:
        values: dict[str, Value] = {}
        while not self._closed(closing):
            name = self.name()
            if name in values:
                raise self.error(f"{name} is given twice")
            if self._next() != "=":
                raise self.error(f"{name} has no value")
            values[name] = self._value(depth)
        return Fields(values, self.line)

    def _values(self, closing: str | None, depth: int) -> list[Value]:
        values: list[Value] = []
        while not self._closed(closing):
            values.append(self._value(depth))
        return values

    def _value(self, depth: int) -> Value:
        if depth > _DEPTH_LIMIT:
            raise self.error("brackets nest too deep")
        text = self._next()
        first = text[0]
        if first not in _NO_WORDS:
            return Word(text, self.line)
        if first == '"':
            return Quoted(self._unquoted(text), self.line)
        if text == "[":
            return Row(tuple(self._values("]", depth + 1)), self.line)
        if text == "{":
            return self._fields("}", depth + 1)
        raise self.error(f"{text} where a value belongs")

    def _unquoted(self, text: str) -> str:
        try:
            string = json.loads(text)
            string.encode()
        except ValueError as error:
            raise self.error(f"{text[:40]!a} is no string") from error
        return str(string)
