"""What is written about rigs is so: the example, the records of a pipe, the entry points."""

from __future__ import annotations

import re
import subprocess
import sys

from dp2emu.capture.headers import INCLUDES
from dp2emu.rig import wire
from dp2emu.rig.wire import Ask, Reply
from tests.native.building import sample
from tests.tools.loading import ROOT

DOCUMENT = (ROOT / "docs" / "rigs.rst").read_text("utf-8")
EXAMPLE = ROOT / "docs" / "rig_example.py"
STUB = (INCLUDES / "dp2stub.h").read_text("ascii")
DEFINES = dict(re.findall(r"^#define DP2STUB_(\w+) (0x[0-9A-F]+|\d+)u?$", STUB, re.MULTILINE))


def example(*bugs: str) -> str:
    ran = subprocess.run(
        [sys.executable, EXAMPLE, sample(*bugs)],
        capture_output=True, text=True, cwd=ROOT, check=True,
    )  # fmt: skip
    return ran.stdout


def test_the_example_tries_an_honest_driver() -> None:
    assert example() == "event: S_OK\n"


def test_the_example_names_a_mistake() -> None:
    assert "query.begin_restarts: call 1: query 1 is answered" in example("RESTART_ADDS")


def test_the_document_shows_the_example() -> None:
    body = EXAMPLE.read_text("utf-8").partition("with NativeDriver")[2]
    shown = re.sub(r"^    ", "", DOCUMENT, flags=re.MULTILINE)
    assert f"with NativeDriver{body}" in shown


def test_the_document_lists_the_records_of_a_pipe() -> None:
    for record in (*Ask, *Reply):
        assert re.search(rf"^{record.value:#x} +{record.name} ", DOCUMENT, re.MULTILINE)
    for result in (wire.CORRUPT, wire.UNKNOWN):
        assert f"0x{result:08X}" in DOCUMENT


def test_the_stub_has_the_numbers_of_the_rig() -> None:
    expected = {record.name: int(record) for record in (*Ask, *Reply)} | {
        "VERSION": wire.VERSION,
        "CORRUPT": wire.CORRUPT,
        "UNKNOWN": wire.UNKNOWN,
        "MAKE_BYTES": wire.MAKE.size,
    }
    assert {name: int(DEFINES[name], 0) for name in expected} == expected


HEADERS = [path for path in INCLUDES.glob("*.[ch]") if path.name != "dp2fuzz.c"]
"""What a driver and its stub are compiled with; ``fuzzing.rst`` has the fuzzer's own macros."""
TESTED = re.compile(r"^#\s*(?:ifn?def\s+|(?:el)?if\b.*?defined\()(DP2\w+)", re.MULTILINE)


def macros() -> set[str]:
    """Every macro that a compiler's command line may define for the shipped C."""
    found: set[str] = set()
    for path in HEADERS:
        for line in path.read_text("ascii").splitlines():
            if line.startswith("#") and TESTED.match(line):
                found |= set(re.findall(r"(?:ifn?def |defined\()(DP2\w+)", line))
    return {each for each in found if not each.endswith("_H")}


def test_the_document_has_every_macro_of_the_headers() -> None:
    assert len(macros()) > 20
    listed = set(re.findall(r"``(DP2\w+)``", DOCUMENT))
    assert macros() - listed == set()
    assert listed - macros() == {"DP2STUB_RELEASE"}  # which goes with DP2STUB_RESERVE


def test_the_document_has_every_function_that_a_driver_may_export_with_its_structure() -> None:
    text = (INCLUDES / "dp2entry.h").read_text("ascii")
    found = re.findall(
        r"^dp2_u32 DP2_ENTRY (\w+)\(DP2_NAME\((\w+)\) \*data\);", text, re.MULTILINE
    )
    assert len(found) > 10
    for name, structure in found:
        assert f"``{name}``" in DOCUMENT and f"``{structure}``" in DOCUMENT, name


def test_the_document_has_every_header() -> None:
    assert all(f"``{path.name}``" in DOCUMENT for path in INCLUDES.glob("*.h"))
