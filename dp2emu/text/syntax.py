"""Parser of the text form: lines into blocks of words, without their meaning.

A block is a statement and the lines that belong to it, with any indentation::

    NAME field=value ...        a statement: a record, a token, a response block
    - field=value ...           an item of it
    part: value ...             a list that belongs to the item above, else to the statement

A value is a word (number or name), a quoted string, ``[value ...]`` or ``{field=value ...}``.
``#`` starts a comment.  A part that goes on over several lines repeats its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial, wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeAlias, TypeVar

import msgspec

from dp2emu.errors import CaptureError

_P = ParamSpec("_P")
_T = TypeVar("_T")

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_LEXEME = re.compile(rf"""([^\s\[\]{{}}="\#]+|[\[\]{{}}=]|{_STRING}|"(?s:.*))|\#.*""")
"""Pattern of a word, mark, string or unterminated string; group 1 is empty for a comment."""
_WHOLE = re.compile(_STRING)
_STATEMENT = re.compile(r'\s*+(?!-(?![^\s\[\]{}="#]))[^\s\[\]{}="#]++(?<!:)')
"""Pattern that matches the first word of a line, after any spaces, if it begins a statement: if it
is not ``-`` and does not end in a colon."""
_STRUCTURED = re.compile(r'[\[\]{}"#]')
"""Pattern that finds what a line of plain words and ``name=value`` does not have."""
_MARKS = "=[]{}"
_NO_WORDS = frozenset('[]{}="')
"""Characters that begin a lexeme other than a word: a bracket, ``=`` or a string's quote."""
LINE_LIMIT = 1 << 20
"""Maximum number of characters of a line of text, so that a huge line is not read whole.  Dumps
wrap lines earlier."""
_DEPTH_LIMIT = 16
_MOST_ITEMS = (1 << 16) + 1
"""Items of a statement, at most: a 16-bit count, and the two more of a fan or a strip."""
_SMALL, _PER_LINE, _CACHED = 256, 16, 1 << 10
"""Limits of the cache of parsed blocks of text: largest size of a block in characters, characters
that each of its lines adds to the size, and largest number of blocks."""


class TextError(CaptureError):
    """An error in a capture as text; its message starts with the line number."""

    def __init__(self, line: int, what: str, *, stream: str | None = None) -> None:
        super().__init__(f"line {line}: {what}", stream=stream)


class Word(msgspec.Struct, frozen=True):
    """A number or a name in a capture's text, without quotes."""

    text: str
    line: int


class Quoted(msgspec.Struct, frozen=True):
    """A quoted string in a capture's text; ``text`` is what the quotes enclose."""

    text: str
    line: int


class Row(msgspec.Struct, frozen=True):
    """A list of values in a capture's text, written ``[value ...]``."""

    values: tuple[Value, ...]
    line: int


class Fields(msgspec.Struct, frozen=True):
    """Values by field name: ``{field=value ...}``, or the fields of a statement or item."""

    values: dict[str, Value]
    line: int


Value: TypeAlias = Word | Quoted | Row | Fields
Parts: TypeAlias = dict[str, list[Value]]


class Item(msgspec.Struct):
    """A line ``- field=value ...`` and the parts below it; mutable while it is parsed."""

    fields: Fields
    parts: Parts = msgspec.field(default_factory=dict)


class Block(msgspec.Struct, eq=False):
    """A statement of a capture's text with its items and parts.  Mutable while it is parsed.

    ``known`` is True for a block from the cache of parsed blocks, whose lines count from 0.
    """

    name: str
    fields: Fields
    items: list[Item] = msgspec.field(default_factory=list)
    parts: Parts = msgspec.field(default_factory=dict)
    known: bool = False

    @property
    def line(self) -> int:
        """Number of the block's first line, from 1; a block in the cache counts lines from 0."""
        return self.fields.line

    def error(self, what: str) -> TextError:
        """A TextError at the statement."""
        return TextError(self.line, what)


def quote(text: str) -> str:
    """A string literal, with characters that a terminal does not print escaped."""
    literal = json.dumps(text, ensure_ascii=False)
    if literal.isprintable():
        return literal
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in literal)


def lines_of(source: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The lines of a text as (line number from 1, line).

    Raises TextError for a line longer than ``LINE_LIMIT``, and for undecodable bytes.
    """
    readline = getattr(source, "readline", None)
    lines = iter(partial(readline, LINE_LIMIT + 1), "") if readline else source
    number = 0
    try:
        for number, line in enumerate(lines, 1):
            if not isinstance(line, str):
                raise TextError(number, "not text")
            if len(line) > LINE_LIMIT:
                raise TextError(number, f"longer than {LINE_LIMIT} characters")
            yield number, line
    except UnicodeDecodeError as error:
        raise TextError(number + 1, f"not {error.encoding} text: {error.reason}") from None


class Paragraph(NamedTuple):
    """A block of a text; if it is cached, also its ``lines`` and the ``number`` of the first."""

    block: Block
    number: int = 0
    lines: tuple[str, ...] = ()

    def placed(self) -> Block:
        """The block with line numbers of the text; one from the cache is parsed again."""
        return block_of(self.lines, self.number) if self.lines else self.block

    def read(self, reader: Callable[[Block], _T]) -> _T:
        """Return what ``reader`` makes of the block; errors have the line numbers of the text."""
        try:
            return reader(self.block)
        except TextError:
            return reader(self.placed())


def once(reader: Callable[Concatenate[Block, _P], _T]) -> Callable[Concatenate[Block, _P], _T]:
    """Decorator that caches results of ``reader`` for blocks from the block cache (``known``).

    The arguments after the block must be hashable.
    """
    cached: Any = lru_cache(_CACHED)(reader)

    @wraps(reader)
    def read(block: Block, /, *others: _P.args, **named: _P.kwargs) -> _T:
        chosen: Callable[Concatenate[Block, _P], _T] = cached if block.known else reader
        return chosen(block, *others, **named)

    return read


def paragraphs(lines: Iterable[tuple[int, str]]) -> Iterator[Paragraph]:
    """Parse (number, line) pairs into blocks, one per statement.  Raises TextError."""
    current: _Gathered | None = None
    begins = _STATEMENT.match
    for number, line in lines:
        if "#" in line:
            line = _uncommented(line)
        if begins(line):
            if current is not None:
                yield current.paragraph()
            current = _Gathered(number, line)
        elif current is not None:
            current.add(number, line)
        elif _lexemes(number, line):
            raise TextError(number, "this line belongs to no statement")
    if current is not None:
        yield current.paragraph()


def block_of(lines: Sequence[str], number: int = 1) -> Block:
    """The block of a statement's lines, which start at line ``number``.  Raises TextError."""
    first = lines[0]
    words = None if _STRUCTURED.search(first) else first.split()
    fields = _plain_fields(words, number) if words else None
    if words and fields is not None:
        block = Block(words[0], fields)
    else:
        parser = _Words(number, _lexemes(number, first))
        block = Block(parser.name(), parser.fields())
    for at, line in enumerate(lines[1:], number + 1):
        _extend(block, at, line)
    return block


@lru_cache(_CACHED)
def _known(lines: tuple[str, ...]) -> Block:
    block = block_of(lines, 0)
    block.known = True
    return block


class _Gathered:
    """A block whose lines are still being read: stored while they are few, else parsed."""

    __slots__ = "_block", "_lines", "_number", "_room"

    def __init__(self, number: int, line: str) -> None:
        self._number = number
        self._block: Block | None = None
        self._lines = [line]
        self._room = _SMALL - len(line)

    def add(self, number: int, line: str) -> None:
        """Add a line of text: store it or, in a large block, parse it.  May raise TextError."""
        if self._block is None:
            self._lines.append(line)
            self._room -= len(line) + _PER_LINE
            if self._room < 0:
                self._block = block_of(self._lines, self._number)
        else:
            _extend(self._block, number, line)

    def paragraph(self) -> Paragraph:
        """Return the complete block, from the cache if it is small.  Raises TextError."""
        lines = tuple(self._lines)
        if self._room >= 0:
            try:
                return Paragraph(_known(lines), self._number, lines)
            except TextError:
                pass
        return Paragraph(self._block or block_of(lines, self._number))


def _uncommented(line: str) -> str:
    """The line without its comment, ``#`` to the end; unchanged if ``#`` may be in a string."""
    plain, _, comment = line.partition("#")
    return line if '"' in plain or "\n" in comment[:-1] else plain


def _lexemes(number: int, line: str) -> list[str]:
    """Split a line into words, marks and strings.  Raises TextError for an unterminated string."""
    if '"' not in line and "#" not in line:
        # Most lines have no strings, and this is several times as fast.
        for mark in _MARKS:
            line = line.replace(mark, f" {mark} ")
        return line.split()
    lexemes = [*filter(None, _LEXEME.findall(line))]
    last = lexemes[-1] if lexemes else ""
    if last[:1] == '"' and not _WHOLE.fullmatch(last):
        raise TextError(number, f"nothing starts with {last[:8].strip()!a}")
    return lexemes


def _extend(block: Block, number: int, line: str) -> None:
    """Parse line ``number``, an item or a part, and add it to ``block``.  Raises TextError."""
    if not _STRUCTURED.search(line) and _extend_plainly(block, number, line):
        return
    lexemes = _lexemes(number, line)
    if not lexemes:
        return
    words = _Words(number, lexemes)
    name = words.name()
    if name == "-":
        if len(block.items) == _MOST_ITEMS:
            raise words.error(f"more than {_MOST_ITEMS} items")
        block.items.append(Item(words.fields()))
        return
    parts = block.items[-1].parts if block.items else block.parts
    parts.setdefault(name.removesuffix(":"), []).extend(words.values())


def _extend_plainly(block: Block, number: int, line: str) -> bool:
    """Parse a line without brackets, strings and comment as ``_extend`` does.

    Returns False, and does nothing, if it may have an error.
    """
    words = line.split()
    if not words or "=" in words[0]:
        return not words
    if words[0] == "-":
        fields = _plain_fields(words, number)
        if fields is None or len(block.items) == _MOST_ITEMS:
            return False
        block.items.append(Item(fields))
        return True
    if "=" in line:
        return False
    parts = block.items[-1].parts if block.items else block.parts
    values = parts.setdefault(words[0].removesuffix(":"), [])
    values.extend([Word(word, number) for word in words[1:]])
    return True


def _plain_fields(words: list[str], number: int) -> Fields | None:
    """The fields in a line's words behind the first; None unless each is ``name=value``."""
    values: dict[str, Value] = {}
    for word in words[1:]:
        name, _, text = word.partition("=")
        if not name or not text or "=" in text:
            return None
        values[name] = Word(text, number)
    if len(values) < len(words) - 1 or "=" in words[0]:
        return None
    return Fields(values, number)


class _Words:
    """A recursive-descent parser of a line's words, marks and strings, which it consumes."""

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
        """Parse ``name=value`` up to the bracket ``closing``, or to the line's end if empty."""
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
        """Parse values up to the bracket ``closing`` or, if it is empty, to the line's end."""
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
        """Parse the string, list or fields that begin with ``text``, a lexeme already consumed.

        Raises TextError for another ``text``, also for an empty one, which is the end of the line.
        """
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
        if "\\" not in text and text.isprintable():
            return text[1:-1]
        try:
            string = json.loads(text)
            string.encode()
        except ValueError as error:
            raise self.error(f"{text[:40]!a} is no string") from error
        return str(string)
