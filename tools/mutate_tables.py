#!/usr/bin/env python3
"""Break the tables of textures and output on purpose, row by row, and see that a test notices.

    python tools/mutate_tables.py [TABLE ...]

A row gets what another row has, the next one that differs; a channel of a format loses a bit.
Each change is made in a process of its own, a fork of this one, so that no program survives that
was generated from the right table.  Prints a tally for each table and what was not noticed, and
exits with 1 if anything was not.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Iterator, MutableMapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pytest

from dp2emu.d3d.formats import FORMATS
from dp2emu.gpu.output_merger import depth_test
from dp2emu.shader import comparisons
from dp2emu.shader.fixed import blend
from dp2emu.shader.texture import address, block_decoder, filters

ROOT = Path(__file__).resolve().parents[1]

Change = tuple[str, Callable[[], None]]
"""What it is called, and what makes it."""


class Broken(NamedTuple):
    """Changes to a table, and the tests that are to notice each of them."""

    changes: Callable[[], Iterator[Change]]
    tests: tuple[str, ...]


def exchanged(table: MutableMapping[Any, Any]) -> Callable[[], Iterator[Change]]:
    """Each row has what the next row has that differs from it."""

    def changes() -> Iterator[Change]:
        keys = list(table)
        for number, key in enumerate(keys):
            others = (table[other] for other in keys[number + 1 :] + keys[:number])
            other = next(value for value in others if _parts(value) != _parts(table[key]))
            yield key.name, partial(table.__setitem__, key, other)

    return changes


def _parts(value: Any) -> Any:
    """A row as a value that is comparable: a partial function is equal only to itself."""
    return (value.func, value.args, value.keywords) if isinstance(value, partial) else value


def narrowed() -> Iterator[Change]:
    """Each channel of each format is a bit narrower."""
    for format, row in FORMATS.items():
        for name, channel in row.channels.items():
            wrong = {**row.channels, name: replace(channel, bits=channel.bits - 1)}
            yield (
                f"{format.name}.{name}",
                partial(msgspec.structs.force_setattr, row, "channels", wrong),
            )


TABLES = {
    "formats": Broken(narrowed, ("tests/d3d/test_formats.py",)),
    "blocks": Broken(
        exchanged(block_decoder.BYTE_DECODERS),
        (
            "tests/shader/texture/test_block_decoder.py",
            "tests/shader/texture/test_partitioned_decoder.py",
            "tests/test_readback.py",
            "tests/gpu/resource/test_planar.py",
        ),
    ),
    "filters": Broken(exchanged(filters.KERNELS), ("tests/shader/texture/test_sampler.py",)),
    "address modes": Broken(exchanged(address.MODES), ("tests/shader/texture/test_sampler.py",)),
    "blend factors": Broken(exchanged(blend._FACTORS), ("tests/shader/fixed/test_blend.py",)),
    "blend sums": Broken(exchanged(blend._COMBINE), ("tests/shader/fixed/test_blend.py",)),
    "blend extremes": Broken(exchanged(blend._EXTREMES), ("tests/shader/fixed/test_blend.py",)),
    "stencil operations": Broken(
        exchanged(depth_test.OPERATIONS), ("tests/gpu/output_merger/test_stencil_test.py",)
    ),
    "comparisons": Broken(
        exchanged(comparisons.COMPARE), ("tests/gpu/output_merger/test_stencil_test.py",)
    ),
}


def noticed(make: Callable[[], None], tests: tuple[str, ...]) -> bool:
    """Whether a test fails in a process in which the change is made.

    Raises RuntimeError if pytest did not run the tests to an end, which tells nothing.
    """
    child = os.fork()
    if child == 0:
        result = int(pytest.ExitCode.INTERNAL_ERROR)
        try:
            make()
            os.chdir(ROOT)
            # pytest cannot load dp2emu's plugin in a process that has imported dp2emu.
            os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
            with Path(os.devnull).open("w") as nothing, contextlib.redirect_stdout(nothing):
                result = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *tests]))
        finally:
            os._exit(result)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise RuntimeError(f"pytest ended with {code}")
    return code == pytest.ExitCode.TESTS_FAILED


def main() -> int:
    """Break every table that is asked for."""
    parser = argparse.ArgumentParser(description="Break tables of textures and output on purpose.")
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    missed = 0
    for name in parser.parse_args().tables or TABLES:
        broken = TABLES[name]
        results = {what: noticed(make, broken.tests) for what, make in broken.changes()}
        unnoticed = [what for what, seen in results.items() if not seen]
        missed += len(unnoticed)
        print(f"{name:<20} {len(results) - len(unnoticed)} of {len(results)}", *unnoticed)
        sys.stdout.flush()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
