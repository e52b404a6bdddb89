"""Running the command inside this process, with standard streams of its own."""

from __future__ import annotations

import io
import sys
from typing import NamedTuple
from unittest.mock import patch

from dp2emu.cli import run


class Ran(NamedTuple):
    """What a run of the command gave."""

    code: int
    out: bytes
    err: str


def dp2emu(*arguments: object, stdin: bytes = b"") -> Ran:
    """Run ``dp2emu ARGUMENTS...``."""
    out, err = io.BytesIO(), io.BytesIO()
    with (
        patch.object(sys, "stdin", _input(stdin)),
        patch.object(sys, "stdout", io.TextIOWrapper(out, "utf-8", write_through=True)),
        patch.object(sys, "stderr", io.TextIOWrapper(err, "utf-8", write_through=True)),
    ):
        code = run([str(argument) for argument in arguments])
        sys.stdout.flush()
        return Ran(code, out.getvalue(), err.getvalue().decode())


def _input(data: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedReader(io.BytesIO(data)), "utf-8")  # type: ignore[arg-type]
