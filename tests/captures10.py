"""``python -m tests.captures10 FOLDER [WORD...]``: replay captures of Direct3D 10 and 11 programs.

FOLDER has ``MANIFEST.json``, ``traces/NAME.trace`` and for each ``truth/NAME.json`` with its
files.  Every capture is imported and replayed.  The pictures, data and query answers that the
truth names under ``compare`` are judged: PASS; FAIL; DIFF, a FAIL of a capture that the manifest
does not call strict; LISTED, one whose differences are exactly as in
``tests/data/listed_captures10.json``; MISSING, if there are none of them; NOTHING, if the truth
names none.  The
folder ``--out`` gets NAME/call_N.png, NAME/call_N.bin, and NAME.json with the answers.
"""

from __future__ import annotations

import gzip
import json
import struct
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.dxgi import DXGI
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.formats import Channel, Coding, FormatRow
from dp2emu.ddi10.queries.statistics import Statistics
from dp2emu.diff.regions import regions
from dp2emu.errors import Dp2Error
from tests.programs import arguments, outcomes, pixels_of, played

LISTED = Path(__file__).parent / "data" / "listed_captures10.json"
"""By capture: ``why`` it is listed (a heading of docs/departures.rst), and the sentences about it:
``told`` about differences, ``problems`` about losses and faults."""
TOLERANCE = 4
"""Of 255, in each channel."""
SHARE, FEW, SMALL = 0.005, 16, 3200
"""Share of the pixels that may differ; how many of a picture of fewer than SMALL pixels."""
REGION = 16
"""Pixels that a connected region of differing pixels may have."""

Row = dict[str, Any]
Mask = NDArray[np.bool_]


@dataclass
class Outcome:
    """How a capture came out.  Mutable: it is added to."""

    strict: bool = True
    wanted: int = 0
    """Pictures, data and answers that the truth names."""
    missing: int = 0
    told: list[str] = field(default_factory=list)
    """Sentences about those that are missing or differ."""
    problems: list[str] = field(default_factory=list)
    """Losses of the import, faults of the replay."""
    listed: Row | None = None
    """The row of ``LISTED``."""

    @property
    def verdict(self) -> str:
        """The first word of a line of the table."""
        if self.listed and self.listed == self.listing(self.listed["why"]):
            return "LISTED"
        if not self.wanted:
            return "NOTHING"
        if not self.told:
            return "PASS"
        if self.missing == self.wanted:
            return "MISSING"
        return "FAIL" if self.strict else "DIFF"

    @property
    def fine(self) -> bool:
        """Whether the capture is as it should be."""
        if self.verdict == "LISTED":
            return True
        unlisted = not self.problems and self.listed is None
        return self.verdict in ("PASS", "NOTHING", "DIFF") and unlisted

    def listing(self, why: str) -> Row:
        """The row of ``LISTED`` with which the capture is as it should be."""
        return {"why": why, "told": self.told, "problems": self.problems}


def main() -> int:
    """Replay, print, and return 1 if a capture is not as it should be."""
    given = arguments("python -m tests.captures10", __doc__)
    manifest = json.loads((given.folder / "MANIFEST.json").read_text("utf-8"))
    loose = frozenset(row["name"] for row in manifest["captures"] if not row.get("strict", True))
    judge = partial(judged, given.folder, given.out, given.engine, loose)
    verdicts: Counter[str] = Counter()
    troubled = unfit = 0
    for name, outcome in outcomes(given, judge):
        verdicts[outcome.verdict] += 1
        troubled += bool(outcome.problems)
        unfit += not outcome.fine
        print(f"{outcome.verdict:<7} {name}: {outcome.wanted} to compare")
        print("".join(f"        {line}\n" for line in outcome.told + outcome.problems), end="")
    total = " ".join(f"{verdict} {count}" for verdict, count in sorted(verdicts.items()))
    print(f"{total}; {troubled} with losses or faults")
    return int(unfit > 0)


def judged(
    folder: Path, out: Path | None, engine: str, loose: frozenset[str], name: str
) -> Outcome:
    """The outcome of one capture."""
    listed = json.loads(LISTED.read_text("utf-8")).get(name)
    outcome = Outcome(name not in loose, listed=listed)
    with TemporaryDirectory() as scratch:
        emitted = out or Path(scratch)
        place = emitted / name
        place.mkdir(parents=True, exist_ok=True)
        problems: list[str] = []
        try:
            document = played(folder / "traces" / f"{name}.trace", place, engine, problems)
            answers = {"queries": [_answer(row) for row in document["get_data"]]}
            (emitted / f"{name}.json").write_text(json.dumps(answers), "utf-8")
        except Dp2Error as error:
            problems.append(str(error))
        # Answers are judged by the truth's own rule, not by the replay's.
        told = (line for line in problems if not line.startswith("answer: "))
        outcome.problems += [line.replace(f"{place}/", "") for line in told]
        compare(folder, emitted, name, outcome)
    return outcome


def _answer(row: Row) -> Row:
    return {key: row[key] for key in ("call", "hr", "hex")}


def compare(folder: Path, emitted: Path, name: str, outcome: Outcome) -> None:
    """Compare what was emitted for a capture with its truth."""
    truth = json.loads((folder / "truth" / f"{name}.json").read_text("utf-8"))
    rows = {
        row["call"]: row for key in ("frames", "readbacks")
        for row in truth.get(key, {}).get("list", ())
    }  # fmt: skip
    wanted, files = truth["compare"], folder / "truth" / name
    outcome.wanted = sum(len(wanted[kind]) for kind in ("pictures", "data", "queries"))
    for call in wanted["pictures"]:
        place = emitted / name / f"call_{call:08}.png"
        _add(outcome, call, "picture", place, partial(_picture, files, rows[call]))
    for call in wanted["data"]:
        place = emitted / name / f"call_{call:08}.bin"
        _add(outcome, call, "data", place, partial(_data, files, rows[call]))
    answers, page = {}, emitted / f"{name}.json"
    if page.exists():
        answers = {row["call"]: row for row in json.loads(page.read_text("utf-8"))["queries"]}
    expected = {row["call"]: row for row in truth.get("queries", {}).get("list", ())}
    for call in wanted["queries"]:
        _say(outcome, call, "query answer", answers.get(call), partial(answer, expected[call]))


def _add(
    outcome: Outcome, call: int, noun: str, place: Path, judge: Callable[[Path], str]
) -> None:
    _say(outcome, call, noun, place if place.exists() else None, judge)


def _say(outcome: Outcome, call: int, noun: str, found: Any, judge: Callable[[Any], str]) -> None:
    """Judge what was found for a call, None for nothing, and add a sentence if it is wrong."""
    outcome.missing += found is None
    sentence = f"no {noun}" if found is None else judge(found)
    if sentence:
        outcome.told.append(f"call {call}: {sentence}")


# Pictures


def _picture(files: Path, row: Row, found: Path) -> str:
    expected, seen = pixels_of(files / row["png"]), pixels_of(found)
    if expected.shape != seen.shape:
        return f"{_sides(seen)} pixels instead of {_sides(expected)}"
    channels = 3 if "B8G8R8X8" in row["format_name"] else 4
    return too_many((np.abs(expected - seen) > TOLERANCE)[..., :channels].any(axis=2))


def _sides(image: NDArray[Any]) -> str:
    return f"{image.shape[1]} x {image.shape[0]}"


def too_many(far: Mask) -> str:
    """A sentence about differing pixels, shape (height, width), empty if they are few."""
    count, most = np.count_nonzero(far), FEW if far.size < SMALL else far.size * SHARE
    if not count:
        return ""
    if count > most:
        return f"{count} of {far.size} differ"
    largest = max(region.pixels for region in regions(far))
    return f"a region of {largest} differs" if largest > REGION else ""


# Data


def _data(files: Path, row: Row, found: Path) -> str:
    expected, seen = gzip.decompress((files / row["bin"]).read_bytes()), found.read_bytes()
    if len(expected) != len(seen):
        return f"{len(seen)} bytes instead of {len(expected)}"
    if expected == seen:
        return ""
    if row["kind"] == "buffer":
        return words_differ(expected, seen)
    name = _TYPED.get(row["format_name"], row["format_name"])
    format = DXGI[DxgiFormat[name]].texels
    if format.blocked:
        return "compressed data differs"
    return too_many(texels_differ(format, expected, seen).reshape(-1, row["w"]))


_TYPED = dict.fromkeys(("R24G8_TYPELESS", "R24_UNORM_X8_TYPELESS"), "D24_UNORM_S8_UINT")
"""Formats without types of all channels whose texels are compared as texels of another."""


def words_differ(expected: bytes, seen: bytes) -> str:
    """A sentence about the first 32-bit word of a buffer that is neither equal nor, as a float,
    close; empty if there is none.
    """
    whole = len(expected) // 4 * 4
    if expected[whole:] != seen[whole:]:
        return "the bytes behind the last word differ"
    one, other = (np.frombuffer(data[:whole], "<u4") for data in (expected, seen))
    with np.errstate(all="ignore"):
        a, b = (words.view("<f4").astype(np.float64) for words in (one, other))
        usual = (np.abs(a) > 1e-30) & (np.abs(a) < 1e30)
        close = usual & _close(a, b, 1e-4, 1e-6)
    wrong = np.flatnonzero((one != other) & ~close)
    if not len(wrong):
        return ""
    at = wrong[0]
    return f"word {at} is {other[at]:08x} instead of {one[at]:08x}, {len(wrong)} differ"


def texels_differ(format: FormatRow, expected: bytes, seen: bytes) -> Mask:
    """Whether each texel differs by more than the tolerance of its channels; typeless ones and
    integers may not differ at all.
    """
    one, other = (
        np.frombuffer(data, np.uint8).reshape(-1, format.size) for data in (expected, seen)
    )
    far: Mask = (one != other).any(axis=1)
    places = np.flatnonzero(far)
    if format.channels:
        codes = [_codes(format, texels[places]) for texels in (one, other)]
        pairs = zip(format.channels.items(), *codes, strict=True)
        apart = [_apart(name, channel, a, b) for (name, channel), a, b in pairs]
        far[places] = np.any(apart, axis=0)
    return far


def _codes(format: FormatRow, texels: NDArray[np.uint8]) -> Iterator[NDArray[Any]]:
    """The stored code of each channel of texels, of shape (texels, bytes)."""
    whole = [int.from_bytes(texel.tobytes(), "little") for texel in texels]
    for channel in format.channels.values():
        yield np.array([code >> channel.shift & channel.max for code in whole], np.int64)


def _apart(name: str, channel: Channel, a: NDArray[Any], b: NDArray[Any]) -> Mask:
    """Whether the codes of a channel differ by more than its tolerance."""
    share = 1e-4 if name == "d" else TOLERANCE / 255
    if channel.coding is Coding.FLOAT and channel.bits in (16, 32):
        kind, whole = ("<f2", "<u2") if channel.bits == 16 else ("<f4", "<u4")
        one, other = (codes.astype(whole).view(kind).astype(np.float64) for codes in (a, b))
        least, relative = (1e-4, 1e-4) if name == "d" else (1e-3, 2e-3 if kind == "<f2" else 1e-3)
        return ~_close(one, other, relative, least)
    if channel.coding is Coding.SNORM:
        sign = channel.max + 1 >> 1
        a, b, share = (a ^ sign) - sign, (b ^ sign) - sign, share / 2
    exact = channel.coding not in (Coding.UNORM, Coding.SNORM)
    far: Mask = np.abs(a - b) > (0 if exact else int(channel.max * share + _ROUNDING))
    return far


_ROUNDING = 1e-6
"""More than float arithmetic loses of a tolerance that is a whole number."""


def _close(a: NDArray[Any], b: NDArray[Any], relative: float, least: float) -> Mask:
    """Whether floats are close; NaNs are to each other, infinities to their like."""
    with np.errstate(all="ignore"):
        near = np.abs(a - b) <= np.maximum(least, relative * np.maximum(np.abs(a), np.abs(b)))
    finite = np.isfinite(a) & np.isfinite(b)
    found: Mask = np.where(finite, near, (a == b) | (np.isnan(a) & np.isnan(b)))
    return found


# Answers

_FIELDS = {True: ("NumPrimitivesWritten", "PrimitivesStorageNeeded"), False: Statistics._fields}
"""Names of the numbers in an answer, by whether it is of stream output."""


def answer(expected: Row, found: Row) -> str:
    """A sentence about an answer that is not the expected one, empty if it is."""
    code, rule = found["hr"] & 0xFFFFFFFF, expected["compare"]
    if code != expected["hr"]:
        return f"hr {code:#010x} instead of {expected['hr']:#010x}"
    if code or rule == "hr":
        return ""
    wanted, seen = expected["hex"].lower(), found.get("hex", "").lower()
    if rule != "exact":
        return _members(expected, wanted, seen)
    common = min(len(wanted), len(seen))
    same = common >= min(len(wanted), 8) and wanted[:common] == seen[:common]
    return "" if same else f"{seen or 'nothing'} instead of {wanted}"


def _members(expected: Row, wanted: str, seen: str) -> str:
    names = _FIELDS["SO_" in expected["type"]]
    numbers = [
        dict(zip(names, (n for (n,) in struct.iter_unpack("<Q", _whole(text))), strict=False))
        for text in (wanted, seen)
    ]
    wrong = [name for name in expected["compare"] if numbers[0][name] != numbers[1].get(name)]
    return ", ".join(
        f"{name} {numbers[1].get(name)} instead of {numbers[0][name]}" for name in wrong
    )


def _whole(text: str) -> bytes:
    data = bytes.fromhex(text)
    return data[: len(data) // 8 * 8]


if __name__ == "__main__":
    sys.exit(main())
