"""Explanations of differences between answers, command buffers and pictures, as text lines."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import ndiff
from itertools import count
from pathlib import Path

from dp2emu.d3d.hresult import hr_name
from dp2emu.diff import compare_images, side_by_side
from dp2emu.dp2.call import Answer, Call
from dp2emu.outputs import write_file
from dp2emu.picture import encode_png
from dp2emu.testing.shot import Shot
from dp2emu.text.answers import response_blocks
from dp2emu.text.commands import Shown, command_lines, response_lines
from dp2emu.text.contexts import Contexts

_LONGEST = 1 << 16
"""Maximum length of compared byte strings that are explained as tokens; pytest explains longer
ones."""
_ANSWER = 4
"""Bytes of this length are explained as a number, not as tokens: most query payloads have four
bytes, which could also be a token without items."""


def explain(left: object, right: object, folder: Path | None = None) -> list[str] | None:
    """Lines that explain how ``left`` differs from ``right``; None for other types.

    Answers are compared member by member, bytes of a response or of tokens as text, and pictures
    (``Shot``) in numbers with a side-by-side picture in ``folder``.  Lines of the left one only
    begin with ``-``, of the right one with ``+``.  Raises OSError.
    """
    if isinstance(left, Answer) and isinstance(right, Answer):
        return _answers(left, right)
    if isinstance(left, Shot) and isinstance(right, Shot):
        return _shots(left, right, folder)
    if isinstance(left, bytes) and isinstance(right, bytes):
        return _bytes(left, right)
    return None


def response_text(data: bytes) -> list[str]:
    """Lines of text for the responses in a response buffer."""
    return _lines(response_lines(data, 0, Contexts()))


def token_text(commands: bytes) -> list[str]:
    """Lines of text for the tokens in ``commands``; bytes that are no token as hexadecimal."""
    call = Call(0, dwCommandLength=len(commands), commands=commands)
    return _lines(command_lines(call, Contexts()))


def _lines(shown: Iterator[Shown]) -> list[str]:
    return ["  " * each.line.depth + each.line.text for each in shown]


def _answers(left: Answer, right: Answer) -> list[str]:
    lines = []
    for name in ("ddrval", "dwErrorOffset", "time", "dwFlags"):
        one, other = getattr(left, name), getattr(right, name)
        if one != other:
            show = hr_name if name == "ddrval" else str
            lines.append(f"{name}: {show(one)} != {show(other)}")
    if left.response != right.response:
        lines += ["response:", *_differing(response_text(left.response),
                                           response_text(right.response))]  # fmt: skip
    if left.fault is not None:
        lines.append(f"left failed: {left.fault}")
    return ["the answers differ", *lines]


def _bytes(left: bytes, right: bytes) -> list[str] | None:
    longest = max(len(left), len(right))
    if longest > _LONGEST:
        return None
    if _is_response(left) and _is_response(right):
        return ["the responses differ", *_differing(response_text(left), response_text(right))]
    one, other = token_text(left), token_text(right)
    if _is_raw(one) or _is_raw(other) or not (one or other) or longest <= _ANSWER:
        return None
    return ["the tokens differ", *_differing(one, other)]


def _is_response(data: bytes) -> bool:
    places = [block.place for block in response_blocks(data)]
    return sum(place.end - place.offset for place in places) == len(data)


def _is_raw(lines: list[str]) -> bool:
    return bool(lines) and lines[0].startswith("raw")


def _differing(one: list[str], other: list[str]) -> list[str]:
    return [line.rstrip() for line in ndiff(one, other) if not line.startswith("?")]


def _shots(left: Shot, right: Shot, folder: Path | None) -> list[str]:
    found = compare_images(left.pixels, right.pixels)
    if found.size != found.other_size:
        one, other = ("x".join(map(str, size)) for size in (found.size, found.other_size))
        lines = [f"the pictures are {one} and {other}"]
    else:
        lines = [f"{found.beyond} of {found.pixels} pixels differ, by {found.largest} at most"]
    if found.first is not None:
        at = found.first
        lines.append(f"first at {at.x}, {at.y}: {at.one} != {at.other}")
    if folder is not None:
        path = _unused(folder)
        sheet = side_by_side(left.pixels, right.pixels, 0, (left.name, right.name))
        write_file(path, encode_png(sheet))
        lines.append(f"both and the difference: {path}")
    return lines


def _unused(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    names = (folder / f"difference{number}.png" for number in count(1))
    return next(path for path in names if not path.exists())
