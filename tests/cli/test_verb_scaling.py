"""Work of each verb grows in proportion to its input, along each dimension of each kind of file.

The table of cases follows the table of verbs and of the kinds of files that they read.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

from dp2emu.batch.results import Results
from dp2emu.batch.worker import row_of
from dp2emu.capture import open_capture
from dp2emu.capture.records import Annotation, Record
from dp2emu.cli.verbs import (
    CAPTURE,
    CAPTURE_TEXT,
    JSON,
    PICTURE,
    SHADER_CODE,
    SHADER_TEXT,
    TEXT,
    TRACE,
    VERBS,
)
from dp2emu.conform import kit, run_kit
from dp2emu.conform.case import Case as ConformanceCase
from dp2emu.conform.report import case_results, counts, document, export, table
from dp2emu.dp2.options import Options
from dp2emu.fuzz.corpus import Corpus
from dp2emu.fuzz.minimize import TRIES, minimize, save
from dp2emu.junit import junit
from dp2emu.picture import encode_png
from dp2emu.rig.spec import using_rig
from dp2emu.shader.sm.assemble import assemble
from dp2emu.template_driver import driver_files, init_driver
from dp2emu.text import open_any
from tests.cli import growing
from tests.cli.growing import ALL
from tests.cli.running import dp2emu
from tests.scaling import assert_linear

FEW = (1, 2, 4, 8)
MANY = (8, 16, 32, 64)
REFERENCE = ("--engine", "reference")
NOWHERE = "debug", "FILE", "E99999999", "pixel", "1", "1", *REFERENCE
"""The whole file is played in search of an event that it does not have."""


class Case(NamedTuple):
    """A run of a verb on inputs that grow.

    ``given(folder, dimension, n)`` writes the input and returns what ``run`` gets; ``dimensions``
    are those of the input besides ``ALL``, in which everything grows.
    """

    given: Callable[[Path, str, int], Any]
    run: Callable[[Any], object]
    dimensions: tuple[str, ...] = ()
    sorts: bool = False


NONE = ""
"""Stands for the kind of the input of a verb that reads no file."""


def command(
    write: Callable[[Path, str, int], Path], *arguments: object, codes: tuple[int, ...] = (0,),
    dimensions: tuple[str, ...] = (),
) -> Case:  # fmt: skip
    """A run of the command; ``FILE`` and ``OUT`` in the arguments are its input and a folder."""

    def given(folder: Path, dimension: str, n: int) -> list[object]:
        file = write(folder / "input", dimension, n)
        places = {"FILE": file, "OUT": folder}
        return [places.get(str(each), _placed(each, folder)) for each in arguments]

    def run(words: list[object]) -> None:
        ran = dp2emu(*words)
        assert ran.code in codes, ran.err

    return Case(given, run, dimensions)


def _placed(argument: object, folder: Path) -> object:
    """OUT/name in an argument is a file in the folder."""
    text = str(argument)
    return folder / text[4:] if text.startswith("OUT/") else argument


def of_capture(*arguments: object, codes: tuple[int, ...] = (0,)) -> Case:
    write = growing.capture
    return command(write, *arguments, codes=codes, dimensions=growing.DIMENSIONS[1:])


def of_trace(*arguments: object, codes: tuple[int, ...] = (0, 3)) -> Case:
    """Unknown functions of the trace are losses: exit code 3."""
    return command(growing.trace, *arguments, codes=codes, dimensions=growing.TRACES)


def text_of_capture(path: Path, dimension: str, n: int) -> Path:
    """The text form of a capture."""
    ran = dp2emu("dump", growing.capture(path, dimension, n))
    path.write_bytes(ran.out)
    return path


def of_text(*arguments: object, codes: tuple[int, ...] = (0,)) -> Case:
    write = text_of_capture
    return command(write, *arguments, codes=codes, dimensions=growing.DIMENSIONS[1:])


def of_overlay(case: Callable[..., Case]) -> Case:
    """An overlay of an event that need not be a draw: exit code 2."""
    options = "--quads", "-o", "OUT/o.png"
    return case("overlay", "FILE", "E0", *options, *REFERENCE, codes=(0, 2, 3))


def shader_text(path: Path, dimension: str, n: int) -> Path:
    path.write_text("ps_3_0\n" + n * "add r0, r0, c0\n" + "mov oC0, r0\n")
    return path


def shader_code(path: Path, dimension: str, n: int) -> Path:
    path.write_bytes(assemble(shader_text(path, dimension, n).read_text()))
    return path


def shader_words(path: Path, dimension: str, n: int) -> Path:
    """Shader code as a list of DWORDs, in the notation of C and JSON."""
    data = shader_code(path, dimension, n).read_bytes()
    path.write_text(",\n".join(f"{word:#010x}" for word in np.frombuffer(data, "<u4").tolist()))
    return path


def picture(path: Path, dimension: str, n: int) -> Path:
    """n rows of pixels, no two alike."""
    pixels = Random(n).randbytes(n * 64 * 4)
    path.write_bytes(encode_png(np.frombuffer(pixels, np.uint8).reshape(n, 64, 4)))
    return path


def scene9(path: Path, dimension: str, n: int) -> Path:
    return growing.written(path.with_suffix(".json"), growing.scene9(n))


def scene10(path: Path, dimension: str, n: int) -> Path:
    return growing.written(path.with_suffix(".json"), growing.scene10(n))


def scenes(path: Path, dimension: str, n: int) -> Path:
    """n scene files: their folder."""
    path.mkdir(exist_ok=True)
    for i in range(n):
        growing.written(path / f"{i}.json", growing.scene9(1) | {"name": f"s{i}"})
    return path


def replayed_scenes(folder: Path) -> None:
    ran = dp2emu("scene", *sorted(folder.glob("*.json")), "--out", folder / "out", *REFERENCE)
    assert ran.code == 0, ran.err


# Verbs whose work is done by other processes: that work, in this process.


def captures(path: Path, dimension: str, n: int) -> list[str]:
    """n capture files, or one with n of a dimension."""
    if dimension == ALL:
        names = [growing.capture(path / f"{i}.dp2", "calls", 1) for i in range(n)]
    else:
        names = [growing.capture(path / "long.dp2", dimension, n)]
    return list(map(str, names))


def replayed(files: list[str]) -> None:
    """Rows of a batch, whose log is resumed once."""
    log = Path(files[0]).with_suffix(".jsonl")
    for resume in (False, True):
        with Results(log, resume=resume) as results:
            for file in files:
                if file not in results.done:
                    results.write(row_of(file, Options(engine="reference")))


def texts(path: Path, dimension: str, n: int) -> list[str]:
    return [str(text_of_capture(path / "a.txt", dimension, n))]


def traces(path: Path, dimension: str, n: int) -> list[str]:
    return [str(growing.trace(path / "a.trace", dimension, n))]


def records(path: Path, dimension: str, n: int) -> tuple[list[Record], Path]:
    file = growing.capture(path / "a.dp2", dimension, n)
    with open_capture(file) as capture:
        return list(capture.records()), path / "small.dp2"


def text_records(path: Path, dimension: str, n: int) -> tuple[list[Record], Path]:
    with text_of_capture(path / "a.txt", dimension, n).open("rb") as file:
        return list(open_any(file).records()), path / "small.dp2"


def minimized(given: tuple[list[Record], Path]) -> None:
    """The first label is what makes the capture fail."""
    found, out = given
    wanted = next(each for each in found if isinstance(each, Annotation))
    save(minimize(found, lambda some: any(each is wanted for each in some), TRIES), out)


def cases(path: Path, dimension: str, n: int) -> tuple[Path, list[ConformanceCase]]:
    """One case n times."""
    return path, [_first_case()] * n


@cache
def _first_case() -> ConformanceCase:
    return kit("query.")[0]


def conformed(given: tuple[Path, list[ConformanceCase]]) -> None:
    """Cases that are run, with all reports."""
    folder, chosen = given
    with using_rig("emulator") as rig:
        outcomes = list(run_kit(chosen, rig))
    assert table(outcomes) and counts(outcomes)["passed"] == len(chosen)
    json.dumps(document("emulator", outcomes))
    junit("emulator", case_results(outcomes))
    export(chosen, folder)


def inhabited(path: Path, dimension: str, n: int) -> Path:
    """A folder with n files of a user's."""
    for i in range(n):
        (path / f"mine{i}.c").write_bytes(b"")
    return path


def initialised(folder: Path) -> None:
    """A driver that is written beside them, and goes again."""
    init_driver(folder)
    for name in driver_files():
        (folder / name).unlink()


def corpus(path: Path, dimension: str, n: int) -> tuple[Path, int]:
    path.mkdir(exist_ok=True)
    for i in range(n):
        (path / f"{n}-{i}").write_bytes(bytes(i))
    return path, n


def fuzzed(given: tuple[Path, int]) -> None:
    """A corpus is opened, n inputs are added and mutated, and others' inputs are found."""
    folder, n = given
    found, rng = Corpus(folder, 1 << 16), Random(0)
    for i in range(n):
        found.add(b"new" + bytes(n + i))
        found.pick(rng)
    found.refresh()


CASES: dict[str, dict[str, list[Case]]] = {
    "replay": {
        CAPTURE: [
            of_capture(
                "replay", "FILE", "--json", "OUT/r.json", "--png", "OUT/png",
                "--sheet", "OUT/s.png", "--raw", "OUT/raw", "--targets", "all", "--verify",
                *REFERENCE, codes=(0, 1),
            ),
        ],
        CAPTURE_TEXT: [of_text("replay", "FILE", *REFERENCE)],
        TRACE: [of_trace("replay", "FILE", *REFERENCE)],
    },
    "batch": {
        CAPTURE: [Case(captures, replayed, growing.DIMENSIONS[1:])],
        CAPTURE_TEXT: [Case(texts, replayed, growing.DIMENSIONS[1:])],
        TRACE: [Case(traces, replayed, growing.TRACES)],
    },
    "import": {TRACE: [of_trace("import", "FILE", "-o", "OUT/out.dp2")]},
    "info": {
        CAPTURE: [of_capture("info", "FILE"), of_capture("info", "FILE", "--tokens", "--json")],
        TRACE: [of_trace("info", "FILE")],
    },
    "state": {
        CAPTURE: [of_capture("state", "FILE", "--at", "0", "--json", *REFERENCE)],
        CAPTURE_TEXT: [of_text("state", "FILE", "--at", "0", *REFERENCE)],
        TRACE: [of_trace("state", "FILE", "--at", "0", *REFERENCE)],
    },
    "why": {
        CAPTURE: [of_capture("why", "FILE", "1", "--json", *REFERENCE, codes=(0, 2))],
        CAPTURE_TEXT: [of_text("why", "FILE", "1", *REFERENCE, codes=(0, 2))],
        TRACE: [of_trace("why", "FILE", "1", *REFERENCE, codes=(0, 2, 3))],
    },
    "last-writer": {
        CAPTURE: [of_capture("last-writer", "FILE", "2", "--json", *REFERENCE, codes=(0, 2))],
        CAPTURE_TEXT: [of_text("last-writer", "FILE", "2", *REFERENCE, codes=(0, 2))],
        TRACE: [of_trace("last-writer", "FILE", "2", *REFERENCE, codes=(0, 2, 3))],
    },
    "readers": {
        CAPTURE: [of_capture("readers", "FILE", "2", "--json", *REFERENCE, codes=(0, 2))],
        CAPTURE_TEXT: [of_text("readers", "FILE", "2", *REFERENCE, codes=(0, 2))],
        TRACE: [of_trace("readers", "FILE", "2", *REFERENCE, codes=(0, 2, 3))],
    },
    "graph": {
        CAPTURE: [of_capture("graph", "FILE", "-o", "OUT/o.dot", *REFERENCE)],
        CAPTURE_TEXT: [of_text("graph", "FILE", *REFERENCE)],
        TRACE: [of_trace("graph", "FILE", *REFERENCE)],
    },
    "timeline": {
        CAPTURE: [of_capture("timeline", "FILE", "-o", "OUT/o.pftrace", *REFERENCE)],
        CAPTURE_TEXT: [of_text("timeline", "FILE", "-o", "OUT/o.pftrace", *REFERENCE)],
        TRACE: [of_trace("timeline", "FILE", "-o", "OUT/o.pftrace", *REFERENCE)],
    },
    "events": {
        CAPTURE: [of_capture("events", "FILE", "--jsonl", *REFERENCE)],
        CAPTURE_TEXT: [of_text("events", "FILE", *REFERENCE)],
        TRACE: [of_trace("events", "FILE", "--tsv", *REFERENCE)],
    },
    "report": {
        CAPTURE: [of_capture("report", "FILE", "-o", "OUT/o.html", *REFERENCE)],
        CAPTURE_TEXT: [of_text("report", "FILE", "-o", "OUT/o.html", *REFERENCE)],
        TRACE: [of_trace("report", "FILE", "-o", "OUT/o.html", *REFERENCE)],
    },
    "pixel": {
        CAPTURE: [of_capture("pixel", "FILE", "1", "1", *REFERENCE)],
        CAPTURE_TEXT: [of_text("pixel", "FILE", "1", "1", *REFERENCE)],
        TRACE: [of_trace("pixel", "FILE", "1", "1", *REFERENCE)],
    },
    "debug": {
        CAPTURE: [of_capture(*NOWHERE, codes=(2,))],
        CAPTURE_TEXT: [of_text(*NOWHERE, codes=(2,))],
        TRACE: [of_trace(*NOWHERE, codes=(2,))],
    },
    "mesh": {
        CAPTURE: [of_capture("mesh", "FILE", "E0", *REFERENCE, codes=(0, 2))],
        CAPTURE_TEXT: [of_text("mesh", "FILE", "E0", *REFERENCE, codes=(0, 2))],
        TRACE: [of_trace("mesh", "FILE", "E0", *REFERENCE, codes=(0, 2, 3))],
    },
    "overlay": {
        CAPTURE: [of_overlay(of_capture)],
        CAPTURE_TEXT: [of_overlay(of_text)],
        TRACE: [of_overlay(of_trace)],
    },
    "dump": {
        CAPTURE: [
            of_capture("dump", "FILE", "--hex"),
            of_capture("dump", "FILE", "--jsonl"),
            of_capture("dump", "FILE", "--parser", "construct"),
        ],
        CAPTURE_TEXT: [of_text("dump", "FILE")],
        TRACE: [of_trace("dump", "FILE")],
    },
    "assemble": {CAPTURE_TEXT: [of_text("assemble", "FILE", "-o", "OUT/out.dp2")]},
    "convert": {
        CAPTURE: [
            of_capture("convert", "FILE", f"OUT/out.{name}") for name in ("dp2", "log", "txt", "c")
        ],
        CAPTURE_TEXT: [of_text("convert", "FILE", "OUT/out.dp2")],
    },
    "shader": {
        SHADER_CODE: [command(shader_code, "shader", "FILE")],
        SHADER_TEXT: [command(shader_text, "shader", "--assemble", "FILE", "-o", "OUT/out")],
        TEXT: [command(shader_text, "shader", "FILE", "-o", "OUT/out")],
        JSON: [command(shader_words, "shader", "FILE")],
    },
    "conform": {NONE: [Case(cases, conformed)]},
    "init-driver": {NONE: [Case(inhabited, initialised)]},
    "fuzz": {NONE: [Case(corpus, fuzzed, sorts=True)]},
    "minimize": {
        CAPTURE: [Case(records, minimized, growing.DIMENSIONS[1:], sorts=True)],
        CAPTURE_TEXT: [Case(text_records, minimized, sorts=True)],
    },
    "scene": {
        JSON: [
            command(
                scene10, "scene", "FILE", "--out", "OUT/out", "--capture", "OUT/c.dp2", *REFERENCE
            ),
            command(scene9, "scene", "FILE", "--out", "OUT/out", *REFERENCE),
            Case(scenes, replayed_scenes),
        ]
    },
    "diff-images": {
        PICTURE: [
            command(
                picture, "diff-images", "FILE", "FILE", "--out", "OUT/d.png", "--across", "3",
            ),
        ]
    },
}  # fmt: skip
"""Verb -> kind of file that it reads -> runs of the verb on such files."""


def test_every_verb_and_kind_of_file_has_a_case() -> None:
    assert {verb: set(kinds) for verb, kinds in CASES.items()} == {
        verb: set(row.reads) or {NONE} for verb, row in VERBS.items()
    }


def _cases(*, default: bool) -> list[Any]:
    """All cases; of a verb only the first is in the default lane, if ``default``."""
    found = []
    for verb, kinds in CASES.items():
        named = [
            (f"{verb}-{kind}-{n}", case)
            for kind, some in kinds.items()
            for n, case in enumerate(some)
        ]
        for number, (name, case) in enumerate(named):
            marks = [pytest.mark.slow] if number or not default else []
            found.append(pytest.param(case, id=name, marks=marks))
    return found


def check(case: Case, folder: Path, dimension: str, sizes: tuple[int, ...]) -> None:
    """Fail unless the work of a case is linear."""

    def given(n: int) -> Any:
        place = folder / f"{dimension}{n}"
        place.mkdir(exist_ok=True)
        return case.given(place, dimension, n)

    assert_linear(given, case.run, sizes, sorts=case.sorts)


@pytest.mark.parametrize("case", _cases(default=True))
def test_verbs_are_linear_in_all_that_they_read(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path, ALL, FEW)


@pytest.mark.parametrize("case", _cases(default=False))
def test_verbs_are_linear_in_each_dimension(case: Case, tmp_path: Path) -> None:
    for dimension in case.dimensions:
        check(case, tmp_path, dimension, MANY)
