"""Comparison of pictures with references, and the folders of references."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dp2emu.argument_check import checked
from dp2emu.diff.images import Allowance, Comparison, Pixels, compare_images, read_image
from dp2emu.diff.side_by_side import side_by_side
from dp2emu.errors import UsageError
from dp2emu.inputs import read_file
from dp2emu.limits import GENEROUS, Limits
from dp2emu.outputs import write_file
from dp2emu.picture import encode_png

_CALL = re.compile(r"call_(\d{1,18})$", re.ASCII)


class Judgement(NamedTuple):
    """A picture and its reference; ``comparison`` is None if either is missing."""

    name: str
    reference: str | None
    comparison: Comparison | None
    within: bool

    def row(self, allowance: Allowance) -> dict[str, Any]:
        """The judgement as a JSON object."""
        numbers = self.comparison.row(allowance) if self.comparison else {"within": False}
        return {"file": self.name, "reference": self.reference, **numbers}


@checked
class Judge:
    """A comparer of pictures with references.  Mutable: it tracks which references were used, and
    ``unreferenced`` lists the names of the pictures without one.

    ``out`` is a folder for side-by-side pictures of those that differ beyond ``allowance``, named
    like these.
    """

    def __init__(
        self,
        references: References,
        allowance: Allowance,
        out: Path | None = None,
        limits: Limits = GENEROUS,
    ) -> None:
        self.references = references
        self._limits = limits
        self.allowance = allowance
        self.unreferenced: list[str] = []
        self._out = out

    def judge(self, name: str, call: int | None, image: Pixels) -> Judgement | None:
        """Compare a picture with its reference; None if there is none.

        The reference is found by ``name``, the picture's file name, or by ``call``, the number of
        the call that made it.  A picture beyond the allowance is written side by side with it to
        ``out``.  Raises UsageError for a reference that is no picture, and OSError.
        """
        path = self.references.find(name, call)
        if path is None:
            self.unreferenced.append(name)
            return None
        reference = read_image(path, self._limits)
        comparison = compare_images(image, reference, self.allowance.tolerance)
        within = comparison.within(self.allowance)
        if self._out is not None and not within:
            self._out.mkdir(parents=True, exist_ok=True)
            sheet = side_by_side(image, reference, self.allowance.tolerance, (name, path.name))
            write_file(self._out / name, encode_png(sheet))
        return Judgement(name, path.name, comparison, within)

    def missing(self) -> list[Judgement]:
        """Judgements of the references without a picture."""
        return [Judgement("", path.name, None, False) for path in sorted(self.references.unused)]


@checked
def judge_paths(
    one: Path,
    other: Path,
    allowance: Allowance,
    out: Path | None = None,
    limits: Limits = GENEROUS,
) -> list[Judgement]:
    """The judgements of two picture files, or of the pictures of two folders.

    Pictures in folders are matched by name or by call (``References``); those without a
    counterpart fail.  ``out`` is the file for the side-by-side picture of two files, or the folder
    for those of pictures that differ beyond the allowance.  Raises UsageError, OSError and, for
    pictures beyond the limits, Unsupported.
    """
    if not one.is_dir():
        return [_judge_files(one, other, allowance, out, limits)]
    judge = Judge(References(other), allowance, out, limits)
    found = [
        judge.judge(path.name, call_of(path), read_image(path, limits))
        or Judgement(path.name, None, None, False)
        for path in sorted(one.glob("*.png"))
    ]
    found += judge.missing()
    if not found:
        raise UsageError(f"there is no picture in {one}, and none in {other}")
    return found


def _judge_files(
    one: Path, other: Path, allowance: Allowance, out: Path | None, limits: Limits
) -> Judgement:
    image, reference = read_image(one, limits), read_image(other, limits)
    comparison = compare_images(image, reference, allowance.tolerance)
    if out is not None:
        sheet = side_by_side(image, reference, allowance.tolerance, (one.name, other.name))
        write_file(out, encode_png(sheet))
    return Judgement(one.name, other.name, comparison, comparison.within(allowance))


# References


@checked
class References:
    """The reference pictures of a folder.  Mutable: ``unused`` are the files not looked up so far.

    A picture's reference has its file name or its call number.  The call number is in file names
    that end in ``call_N``, or in the JSON document ``FOLDER.json``: in objects at any depth that
    have ``call``, and the file's name as ``file`` or ``png``.
    """

    def __init__(self, place: Path) -> None:
        """``place`` is the folder, or the JSON document beside it that lists its pictures.

        Raises UsageError if there is no such folder, or the document cannot be read.
        """
        is_document = place.suffix == ".json"
        self.folder = place.with_suffix("") if is_document else place
        document = place if is_document else place.parent / f"{place.name}.json"
        if not is_document and not self.folder.is_dir():
            raise UsageError(f"{place} is no folder of pictures")
        files = sorted(self.folder.glob("*.png"))
        self._by_name = {path.name: path for path in files}
        self._by_call = {call: path for path in files if (call := call_of(path)) is not None}
        if document.is_file():
            self._by_call |= self._documented(document)
        self.unused = {*files, *self._by_call.values()}

    def find(self, name: str, call: int | None) -> Path | None:
        """The reference with the file name of a picture, else the one for its call."""
        path = self._by_name.get(name) or (None if call is None else self._by_call.get(call))
        if path is not None:
            self.unused.discard(path)
        return path

    def _documented(self, document: Path) -> dict[int, Path]:
        return {
            row["call"]: self._by_name[file]
            for row in _rows(_read(document))
            for file in (row.get("file"), row.get("png"))
            if isinstance(file, str) and isinstance(row.get("call"), int) and file in self._by_name
        }


def call_of(path: Path) -> int | None:
    """The call number in the name of a picture, None without one."""
    found = _CALL.search(path.stem)
    return int(found[1]) if found else None


def _rows(value: Any) -> Iterator[dict[str, Any]]:
    """Every JSON object within a JSON value, at any depth, itself included."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _read(path: Path) -> Any:
    try:
        return json.loads(read_file(path).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no JSON: {error}") from error
