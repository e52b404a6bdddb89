"""``python -m tests.dumps FOLDER...``: compare dumps of traces with those that apitrace wrote.

A FOLDER has ``traces/NAME.trace`` and for each ``dumps/NAME.txt.gz``, the output of
``apitrace dump -v --color=never``.
"""

from __future__ import annotations

import argparse
import gzip
from io import StringIO
from itertools import zip_longest
from pathlib import Path

from dp2emu.capture.apitrace import dump_trace, open_trace


def main(arguments: list[str] | None = None) -> int:
    """Compare, print, and return 1 if a dump differs or there is none."""
    parser = argparse.ArgumentParser("python -m tests.dumps", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    given = parser.parse_args(arguments)
    traces = [trace for folder in given.folders for trace in sorted(folder.glob("traces/*.trace"))]
    equal = 0
    for trace in traces:
        found = difference(trace, trace.parents[1] / "dumps" / f"{trace.stem}.txt.gz")
        equal += found is None
        print("" if found is None else f"FAIL   {trace.stem}: {found}\n", end="")
    print(f"{equal} of {len(traces)} dumps are equal")
    return int(not traces or equal < len(traces))


def difference(trace: Path, dump: Path) -> str | None:
    """The first line in which the dump of a trace differs from the recorded one; None if equal.

    Not compared is whether an empty line follows the last frame.
    """
    wanted = gzip.decompress(dump.read_bytes()).split(b"\n")
    found = _dumped(trace).split(b"\n")
    if found[:-1] == wanted[:-2] and wanted[-2:] == [b"", b""]:
        return None
    for number, (ours, theirs) in enumerate(zip_longest(found, wanted), 1):
        if ours != theirs:
            return f"line {number} is {ours!r:.300} instead of {theirs!r:.300}"
    return None


def _dumped(trace: Path) -> bytes:
    out = StringIO()
    with open_trace(str(trace)) as opened:
        dump_trace(opened, out)
        if opened.damage is not None:
            raise opened.damage
    return out.getvalue().encode("utf-8", "surrogateescape")


if __name__ == "__main__":
    raise SystemExit(main())
