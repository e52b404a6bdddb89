"""Pictures against references: whether each is as close as it must be, and what to show if not."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from dp2emu.diff.images import Allowance, Comparison, Pixels, compare_images, read_image
from dp2emu.diff.references import References, call_of
from dp2emu.diff.side_by_side import side_by_side
from dp2emu.errors import UsageError
from dp2emu.outputs import write_file
from dp2emu.picture import encode_png


class Judgement(NamedTuple):
    """A picture and its reference.  Without one of them ``comparison`` is None."""

    name: str
    reference: str | None
    comparison: Comparison | None
    within: bool

    def row(self, allowance: Allowance) -> dict[str, Any]:
        """The same for JSON."""
        numbers = self.comparison.row(allowance) if self.comparison else {"within": False}
        return {"file": self.name, "reference": self.reference, **numbers}


class Judge:
    """Compares pictures with references as ``allowance`` says.  Mutable: it notes which were
    found.

    ``out`` is a folder that gets a side-by-side picture of each that is not within it, under the
    picture's name.
    """

    def __init__(
        self, references: References, allowance: Allowance, out: Path | None = None
    ) -> None:
        self.references = references
        self.allowance = allowance
        self._out = out

    def judge(self, name: str, call: int | None, image: Pixels) -> Judgement | None:
        """Compare a picture with its reference, None if there is none.

        ``call`` is the number of the call that made it, None if no call did.  Raises UsageError
        for a reference that is no picture, and OSError.
        """
        path = self.references.find(name, call)
        if path is None:
            return None
        reference = read_image(path)
        comparison = compare_images(image, reference, self.allowance.tolerance)
        within = comparison.within(self.allowance)
        if self._out is not None and not within:
            self._out.mkdir(parents=True, exist_ok=True)
            sheet = side_by_side(image, reference, self.allowance.tolerance, (name, path.name))
            write_file(self._out / name, encode_png(sheet))
        return Judgement(name, path.name, comparison, within)

    def missing(self) -> list[Judgement]:
        """References for which there was no picture."""
        return [Judgement("", path.name, None, False) for path in sorted(self.references.unused)]


def judge_paths(
    one: Path, other: Path, allowance: Allowance, out: Path | None = None
) -> list[Judgement]:
    """Compare two picture files, or those of a folder with those of another.

    In folders pictures belong together by name, or by call (``References``); those that have no
    counterpart are within no allowance.  ``out`` is the file for a side-by-side picture, or
    the folder for those that are not within it.  Raises UsageError and OSError.
    """
    if not one.is_dir():
        return [_judge_files(one, other, allowance, out)]
    judge = Judge(References(other), allowance, out)
    found = [
        judge.judge(path.name, call_of(path), read_image(path))
        or Judgement(path.name, None, None, False)
        for path in sorted(one.glob("*.png"))
    ]
    found += judge.missing()
    if not found:
        raise UsageError(f"there is no picture in {one}, and none in {other}")
    return found


def _judge_files(one: Path, other: Path, allowance: Allowance, out: Path | None) -> Judgement:
    image, reference = read_image(one), read_image(other)
    comparison = compare_images(image, reference, allowance.tolerance)
    if out is not None:
        sheet = side_by_side(image, reference, allowance.tolerance, (one.name, other.name))
        write_file(out, encode_png(sheet))
    return Judgement(one.name, other.name, comparison, comparison.within(allowance))
