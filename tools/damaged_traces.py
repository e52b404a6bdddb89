#!/usr/bin/env python3
"""Import and replay traces that are cut or have a wrong byte, and see that nothing but errors of
ours comes of it.

    python tools/damaged_traces.py [--step N] [--no-replay] TRACE ...

At every N-th byte (1,000) a trace is cut there, and has that byte changed in three ways: as the
file is, and as the stream inside, which is packed again.  Prints for each trace how many of them
were imported whole, with losses or in part, and what was raised otherwise; then exits with 1.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dp2emu.capture.apitrace import open_trace
from dp2emu.capture.apitrace.container import Packed, expand
from dp2emu.capture.files import open_source
from dp2emu.errors import Dp2Error
from dp2emu.limits import Limits
from dp2emu.replay import replay
from dp2emu.retrace import Import
from tests.capture.apitrace.encoder import snappy

FLIPS = 0x01, 0x80, 0xFF
BAD = "raised "


def main() -> None:
    """Try every trace, and say how it went."""
    options = _options()
    bad = 0
    for path in options.traces:
        found = Counter(
            outcome(data, replayed=not options.no_replay)
            for data in damaged(path.read_bytes(), options.step)
        )
        print(f"{path.name}: " + ", ".join(f"{n} {what}" for what, n in sorted(found.items())))
        bad += sum(n for what, n in found.items() if what.startswith(BAD))
    sys.exit(1 if bad else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Import and replay damaged traces.")
    parser.add_argument("traces", nargs="+", type=Path)
    parser.add_argument("--step", type=int, default=1000)
    parser.add_argument("--no-replay", action="store_true")
    return parser.parse_args()


def damaged(data: bytes, step: int) -> Iterator[bytes]:
    """The traces that a trace becomes."""
    yield from _changed(data, step)
    packed = Packed(open_source(BytesIO(data)), b"")
    stream = b"".join(expand("snappy", packed, Limits()))
    yield from map(snappy, _changed(stream, step))


def _changed(data: bytes, step: int) -> Iterator[bytes]:
    for at in range(0, len(data), step):
        yield data[:at]
        for flip in FLIPS:
            yield data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :]


def outcome(data: bytes, *, replayed: bool) -> str:
    """What comes of a trace, in a few words."""
    try:
        capture = Import(open_trace(BytesIO(data)))
        if replayed:
            replay(capture)
        else:
            for _ in capture.records():
                pass
    except Dp2Error:
        return "refused"
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{BAD}{type(error).__name__} in {Path(place.filename).name}:{place.lineno}"
    if capture.damage is not None:
        return "in part"
    return "with losses" if capture.losses else "whole"


if __name__ == "__main__":
    main()
