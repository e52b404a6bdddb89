"""Drivers in a shared library, each in a process of its own (``host``)."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from dp2emu.errors import Unsupported, UsageError
from dp2emu.inputs import read_file
from dp2emu.limits import Limits
from dp2emu.rig.served import TIMEOUT, Served

_SANITIZER = re.compile(rb"\0((?:libasan|libclang_rt\.asan)[\w.-]*\.so[\d.]*)\0")
_SANITIZED = {
    "ASAN_OPTIONS": "detect_leaks=0:exitcode=86:abort_on_error=0:allow_user_segv_handler=0",
}
LIBRARY_BYTES = 1 << 30


class NativeDriver(Served):
    """A display driver in a shared library for this host, called through real pointers.

    It must export ``D3dDrawPrimitives2`` and may export ``D3dContextCreate``,
    ``D3dContextDestroy`` and ``D3dCreateSurfaceEx``, all with C linkage.  Surfaces and user
    vertices end right before memory that cannot be touched, and what lies before them is checked
    after every call.  A library built with AddressSanitizer gets its run-time first, and its
    reports become findings.  Raises UsageError
    if there is no such file, Unsupported where the host is not a POSIX one.
    """

    def __init__(
        self,
        library: str | os.PathLike[str],
        *,
        timeout: float = TIMEOUT,
        limits: Limits | None = None,
    ) -> None:
        if os.name != "posix":
            raise Unsupported("native drivers on a host without POSIX")
        path = Path(library).absolute()
        if not path.is_file():
            raise UsageError(f"no driver {path}")
        command = [sys.executable, "-m", "dp2emu.rig.host", str(path)]
        super().__init__(command, environment=_environment(path), timeout=timeout, limits=limits)


def _environment(library: Path) -> Mapping[str, str]:
    """Ours, with this package in reach and, for a library that needs one, a sanitizer."""
    package = str(Path(__file__).parents[2])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    ours = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    needed = _SANITIZER.search(read_file(library, LIBRARY_BYTES))
    if needed is None:
        return ours
    return ours | _SANITIZED | {"LD_PRELOAD": needed[1].decode("ascii")}
