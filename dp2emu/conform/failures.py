"""Failed conformance cases as files: capture, C program, pictures or answers."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from dp2emu.argument_check import checked
from dp2emu.capture import CaptureWriter
from dp2emu.conform.case import Case
from dp2emu.conform.emulated import Mask, Words
from dp2emu.conform.evidence import WrongMemory, WrongPayload, WrongResult
from dp2emu.conform.picture_errors import seen_pictures
from dp2emu.conform.report import recorded
from dp2emu.conform.running import Outcome, Verdict
from dp2emu.d3d.enums import Format
from dp2emu.diff.images import Pixels
from dp2emu.diff.side_by_side import marked
from dp2emu.escaping import plain
from dp2emu.outputs import write_file
from dp2emu.picture import encode_png, rgba
from dp2emu.text.csource import CWriter

_UNKNOWN = 0x80
"""Grey of the pixels that a case expects nothing of."""


@checked
def write_failures(folder: Path, outcomes: Iterable[Outcome]) -> int:
    """Write the files of each failed case; returns the number of failed cases.

    ``CASE.dp2`` is the case as a capture with the emulator's answers, ``CASE.c`` a program that
    makes its calls.  A case with wrong pictures has ``CASE.expected.png``, ``CASE.got.png`` and
    ``CASE.difference.png``; every other has ``CASE.txt``, the answer expected and got.  Raises
    OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    failed = [outcome for outcome in outcomes if outcome.verdict is Verdict.FAILED]
    for outcome in failed:
        for suffix, data in _files(outcome):
            write_file(folder / f"{outcome.case.name}.{suffix}", data)
    return len(failed)


def _files(outcome: Outcome) -> Iterator[tuple[str, bytes]]:
    yield "dp2", capture_of(outcome.case)
    yield "c", "".join(program_of(outcome.case)).encode("ascii")
    images = images_of(outcome)
    yield from ((f"{name}.png", encode_png(image)) for name, image in images)
    if not images:
        expected, got = answers_of(outcome)
        text = f"{plain(outcome.why)}\n\nexpected: {expected}\ngot: {plain(got)}\n"
        yield "txt", text.encode("utf-8", "backslashreplace")


def capture_of(case: Case) -> bytes:
    """A sealed capture of a case with the emulator's answers."""
    file = io.BytesIO()
    with CaptureWriter(file) as writer:
        for record in recorded(case):
            writer.write(record)
    return file.getvalue()


def program_of(case: Case) -> tuple[str, str]:
    """C source of a program that makes the calls of a case: headers, and the calls."""
    out = io.StringIO()
    writer = CWriter(out, case.name)
    headers = out.tell()
    for record in recorded(case):
        writer.write(record)
    writer.finish()
    text = out.getvalue()
    return text[:headers], text[headers:]


def answers_of(outcome: Outcome) -> tuple[str, str]:
    """What a failed case expects and what it got, as text."""
    evidence = outcome.evidence
    if isinstance(evidence, WrongResult | WrongPayload):
        return evidence.expected_text, evidence.found_text
    if isinstance(evidence, WrongMemory):
        wrong = [part for part in evidence.parts if part.found != part.expected]
        expected = ", ".join(f"surface {part.handle} at byte {part.offset}: "
                             f"{part.expected.hex()}" for part in wrong)  # fmt: skip
        return expected, ", ".join(part.found.hex() for part in wrong)
    return outcome.case.rule, outcome.why


def images_of(outcome: Outcome) -> list[tuple[str, Pixels]]:
    """(name, image) of the first wrong picture: expected, got, and their difference.

    Images are uint8 (height, width, 3) without alpha.  A difference in alpha alone shows in the
    last one.  Of a case without a wrong picture there are none.
    """
    if not isinstance(outcome.evidence, WrongMemory):
        return []
    for picture in seen_pictures(outcome.case, outcome.evidence):
        if picture.wrong.any():
            got = _image(picture.found, picture.known)
            return [
                ("expected", _image(picture.expected, picture.known)),
                ("got", got),
                ("difference", marked(got, picture.wrong.astype(np.uint8))),
            ]
    return []


def _image(words: Words, known: Mask) -> Pixels:
    image = rgba(words, Format.X8R8G8B8)[..., :3].copy()
    image[~known] = _UNKNOWN
    return image
