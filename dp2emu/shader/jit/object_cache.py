"""Objects on disk, so that a program is compiled once and not once a process.

Any number of processes may share a folder: a file appears whole or not at all, and one that is
damaged counts as missing.  Objects are run, so those that another user could have put there count
as missing too.  Where the folder cannot be used nothing is kept, and nobody is told, for then
programs are compiled like any others.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

from dp2emu.records import dataclass

CACHE_BYTES = 64 << 20
"""Bytes in all; objects are some kilobytes each."""


_SUFFIX = ".object"


_SCANS_PER_LIMIT = 64
"""How often a store looks at its folder while it writes as much as that may hold: looking at
thousands of files takes as long as compiling one."""


@dataclass(slots=True)
class ObjectCache:
    """A folder of objects by key, about ``limit`` bytes; those not used for longest go first.

    Mutable: ``unseen`` bytes were written since it last looked, None before it writes.  Many
    processes write less than makes one look; each begins with some of that, chosen by its first
    object, so that together they look as often as one that writes it all.
    """

    folder: Path
    limit: int = CACHE_BYTES
    unseen: int | None = None

    def get(self, key: str) -> bytes | None:
        """An object, or None if it is not there, not whole or perhaps somebody else's."""
        path = self._path(key)
        try:
            if not (_is_private(self.folder, stat.S_ISDIR) and _is_private(path, stat.S_ISREG)):
                return None
            held = path.read_bytes()
        except OSError:
            return None
        digest, code = held[:_DIGEST], held[_DIGEST:]
        if _digest(key, code) != digest:
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return code

    def put(self, key: str, code: bytes) -> None:
        """Keep an object, if that can be done."""
        if _DIGEST + len(code) > self.limit:
            return
        with contextlib.suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            digest, most = _digest(key, code), self.limit // _SCANS_PER_LIMIT
            self._write(self._path(key), digest + code)
            if self.unseen is None:
                self.unseen = int.from_bytes(digest[:4]) % (most + 1)
            self.unseen += len(code) + _DIGEST
            if self.unseen > most:
                self._evict()
                self.unseen = 0

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{_SUFFIX}"

    def _write(self, path: Path, data: bytes) -> None:
        """Under another name first: nobody reads half an object."""
        number, name = tempfile.mkstemp(dir=self.folder)
        try:
            with os.fdopen(number, "wb") as file:
                file.write(data)
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise

    def _evict(self) -> None:
        found = sorted(_files(self.folder), reverse=True)
        total = 0
        for _, size, path in found:
            total += size
            if total > self.limit:
                # Another process may have been faster.
                with contextlib.suppress(OSError):
                    path.unlink()


def _files(folder: Path) -> Iterator[tuple[int, int, Path]]:
    """When each was last used, its size and its path; what others left half written as well."""
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            status = path.stat()
            yield status.st_mtime_ns, status.st_size, path


@lru_cache(maxsize=1)
def object_cache() -> ObjectCache:
    """The objects of this user, where the platform wants caches; none for a user who has no home,
    for whom that is a folder wherever the process was started.
    """
    from platformdirs import user_cache_path

    folder = Path(user_cache_path("dp2emu", appauthor=False)) / "objects"
    return ObjectCache(folder, CACHE_BYTES if folder.is_absolute() else 0)


_DIGEST = hashlib.sha256().digest_size


def _digest(key: str, code: bytes) -> bytes:
    """Of the key as well: an object under another's name is as bad as a damaged one."""
    return hashlib.sha256(key.encode() + b"\n" + code).digest()


def _is_private(path: Path, is_kind: Callable[[int], bool]) -> bool:
    """Whether something is of a kind, and this user's, and nobody else may write to it.

    Where users have no numbers the platform's cache folder is taken to be the user's.
    """
    status = path.stat()
    if not is_kind(status.st_mode):
        return False
    if not hasattr(os, "geteuid"):
        return True
    others = stat.S_IWGRP | stat.S_IWOTH
    return status.st_uid == os.geteuid() and not status.st_mode & others


# Which sources write texts: an object is found again by what its text is written for as long as
# they are the same, so that nobody has to write the text to find out.

ROOT = Path(__file__).parents[2]


CODE_PACKAGES = ("d3d", "gpu", "shader")
"""Packages of whose modules texts are made."""


@lru_cache(maxsize=1)
def source_stamps() -> str | None:
    """Names, sizes and times of all modules that write texts; None if they are no files.

    Python goes by the same when it decides whether to compile a module again.
    """
    try:
        return "\n".join(
            line for name in CODE_PACKAGES for line in sorted(folder_stamps(ROOT / name))
        )
    except OSError:
        return None


def folder_stamps(folder: Path | str) -> Iterator[str]:
    """A line for each module in a folder.  Raises OSError for what is no folder."""
    with os.scandir(folder) as found:
        for entry in found:
            if entry.is_dir():
                yield from folder_stamps(entry.path)
            elif entry.name.endswith(".py"):
                status = entry.stat()
                yield f"{entry.path} {status.st_size} {status.st_mtime_ns}"
