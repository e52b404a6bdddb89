"""The command in processes in which one system call or allocation fails, chosen by its number.

``Injector`` starts ``python -m tests.cli.injected`` with the library of ``native/failing.c``.
That imports all verbs, and forks a process for each run of the command.
"""

from __future__ import annotations

import atexit
import ctypes
import errno
import gc
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, NamedTuple

import msgspec

import dp2emu
from tests.native.building import library

_ROOT = Path(__file__).parents[2]
CALLS = ("open", "read", "write", "rename", "sync", "map", "allocate", "fork", "close", "remove",
         "make", "mode")  # fmt: skip
"""Kinds of calls in the order of the enumeration in ``failing.c``."""
_PLACES = {
    "allocate": {"libpython": 1 << 14, "/bin/python3": 1 << 14, "_multiarray_umath": 1 << 9},
    "map": {"/mmap.": 1, "/_mmap.": 1},
}
"""Parts of the paths of the libraries whose allocations and maps fail, from a size in bytes on.

Inside Python smaller ones are not the size of anything that the command reads or makes; its
compiler raises SystemError for them, and LLVM ends the process.  ``tests/test_everywhere.py`` lets
each line fail.
"""
_NOT_NEEDED = ("dp2emu.__main__", "dp2emu.testing", "dp2emu.pytest_plugin", "dp2emu.batch.cluster")
"""Modules that no run imports, or that need what may be missing."""
_NEEDED_LATER = ("encodings.ascii", "llvmlite.binding", "concurrent.futures.thread", "stringprep")
"""Modules that Python imports when they are used."""
PATIENCE = 120
"""Seconds after which a run counts as a hang."""


class Injected(msgspec.Struct, frozen=True):
    """What fails in a run: call ``number`` (0: none) of a kind with ``error``, an errno.

    With error 0 a read or write takes one byte.  ``lasting``: all later ones fail too.
    ``changing``: of "open" only what opens for writing counts.  ``under``: only paths that begin
    so count.  ``user``: the command runs as a user id that owns nothing.
    """

    call: str = "open"
    number: int = 0
    error: int = errno.EIO
    lasting: bool = False
    changing: bool = False
    under: str = ""
    user: int = 0


class Outcome(NamedTuple):
    """What became of a run: exit code (negative: a signal), output, and numbers of calls."""

    code: int
    out: bytes
    err: str
    seen: dict[str, int]
    failed: int


class Injector:
    """Runs of the command with one failing call.  Mutable: it has a process."""

    def __init__(self) -> None:
        environment = os.environ | {
            "LD_PRELOAD": str(library("failing", "failing.c", options=("-ldl",))),
            "PYTHONPATH": str(_ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",  # a file that only the first run writes
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.cli.injected"],
            env=environment, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, folder: Path, words: list[str], injected: Injected) -> Outcome:
        """Run the command in a folder, whose ``tmp`` is for temporary files."""
        order = {"folder": str(folder), "words": words, "injected": msgspec.to_builtins(injected)}
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        told = json.loads(self._process.stdout.readline())
        streams = folder.parent / f"{folder.name}.out", folder.parent / f"{folder.name}.err"
        out, err = streams[0].read_bytes(), streams[1].read_text("utf-8", "replace")
        for path in streams:
            path.unlink()
        return Outcome(told["code"], out, err, told["seen"], told["failed"])

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


@contextmanager
def injector() -> Iterator[Injector]:
    """An injector within the block."""
    made = Injector()
    try:
        yield made
    finally:
        made.close()


# The process that forks


def _places() -> list[int]:
    """Calls, each with begin and end of the code of a library that may fail, and the size."""
    found: list[int] = []
    for line in Path("/proc/self/maps").read_text("utf-8").splitlines():
        span, access, *_, path = (*line.split(maxsplit=5), "")[:6]
        for call, sizes in _PLACES.items():
            for name, size in sizes.items():
                if "x" in access and name in path:
                    found += [CALLS.index(call), *(int(n, 16) for n in span.split("-")), size]
    return found


def _arm(injected: Injected) -> None:
    places = _places()
    loaded = ctypes.CDLL(os.environ["LD_PRELOAD"])
    words = (ctypes.c_ulong * max(len(places), 1))(*places)
    loaded.failing_arm(
        CALLS.index(injected.call), ctypes.c_long(injected.number), injected.error,
        injected.lasting, injected.changing, os.fsencode(injected.under), words, len(places),
    )  # fmt: skip


def _become(user: int) -> None:
    if user:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
        os.environ["HOME"] = "/nonexistent"


def _run(order: dict[str, Any], injected: Injected) -> None:
    """Be the command, in a forked process."""
    from dp2emu.cli import main

    folder = order["folder"]
    os.setsid()
    out = os.open(f"{folder}.out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    err = os.open(f"{folder}.err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.chdir(folder)
    os.environ |= {"TMPDIR": f"{folder}/tmp", "XDG_CACHE_HOME": f"{folder}/cache"}
    tempfile.tempdir = None
    subprocess._USE_VFORK = False  # type: ignore[attr-defined]  # fork() can be replaced
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.closerange(3, 256)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(n, m, closefd=False) for n, m in enumerate("rww")
    )
    _become(injected.user)
    _arm(injected)
    try:
        main(order["words"])
    except SystemExit as ended:
        # As the interpreter ends, but that it does not take the objects of all modules apart.
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ended.code)  # type: ignore[arg-type]


def _awaited(child: int) -> int:
    """The exit code of a process, which is killed if it does not end."""
    handle = os.pidfd_open(child)
    ready, _, _ = select.select([handle], [], [], PATIENCE)
    os.close(handle)
    if not ready:
        os.killpg(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        os.killpg(child, signal.SIGKILL)  # processes that it has left
    except ProcessLookupError:
        return code
    return code


def serve() -> None:
    """Fork a run for each line of standard input, and tell how it ended."""
    loaded = ctypes.CDLL(os.environ["LD_PRELOAD"])
    loaded.failing_seen.restype = loaded.failing_failed.restype = ctypes.c_long
    for line in sys.stdin:
        order = json.loads(line)
        injected = msgspec.convert(order["injected"], Injected)
        child = os.fork()
        if child == 0:
            try:
                _run(order, injected)
            finally:
                sys.stderr.flush()
        code = _awaited(child)
        seen = {name: loaded.failing_seen(at) for at, name in enumerate(CALLS)}
        failed = loaded.failing_failed()
        print(json.dumps({"code": code, "seen": seen, "failed": failed}), flush=True)


if __name__ == "__main__":
    import tests.cli.preloaded  # noqa: F401

    for module in walk_packages(dp2emu.__path__, "dp2emu."):
        if not module.name.startswith(_NOT_NEEDED):
            import_module(module.name)
    for name in _NEEDED_LATER:  # another user may be unable to read the interpreter's folders
        import_module(name)
    import_module("PIL.Image").init()
    gc.collect()
    gc.freeze()
    serve()
