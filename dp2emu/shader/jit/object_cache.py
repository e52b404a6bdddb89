"""The object cache: compiled objects on disk, shared by processes.

Writes are atomic and corrupt files count as missing, so any number of processes may share a
folder.  Objects are executed, so files that another user could have written count as missing too.
Errors are silent: without a usable folder programs are just compiled again.
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

import msgspec

CACHE_BYTES = 64 << 20
"""Size limit, in bytes, of the cache folder; a compiled object takes some kilobytes."""
_SUFFIX = ".object"
_SCANS_PER_LIMIT = 64
"""Number of scans of the cache folder while as many bytes are written as the cache may hold."""


class ObjectCache(msgspec.Struct):
    """A folder of objects by key, of about ``limit`` bytes, with least-recently-used eviction.

    Mutable: ``unseen`` counts the bytes written since the last scan, None before the first write.
    Most processes write less than triggers a scan, so each starts at a pseudo-random count taken
    from its first object: together they scan as often as one process that writes everything.
    """

    folder: Path
    limit: int = CACHE_BYTES
    unseen: int | None = None

    def get(self, key: str) -> bytes | None:
        """Return an object, None if it is missing, corrupt or possibly another user's."""
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
        # The modification time orders eviction: mark the object as used.
        with contextlib.suppress(OSError):
            os.utime(path)
        return code

    def put(self, key: str, code: bytes) -> None:
        """Store an object; errors are ignored, and a folder that is possibly another user's."""
        if _DIGEST + len(code) > self.limit:
            return
        with contextlib.suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_private(self.folder, stat.S_ISDIR):
                return
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
        """Write under a temporary name and rename, so that readers never see a partial object."""
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
                # Another process may have removed it already.
                with contextlib.suppress(OSError):
                    path.unlink()


def _files(folder: Path) -> Iterator[tuple[int, int, Path]]:
    """Yield modification time, size and path of each file, abandoned temporary files included."""
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            status = path.stat()
            yield status.st_mtime_ns, status.st_size, path


@lru_cache(maxsize=1)
def object_cache() -> ObjectCache:
    """Return the cache in the user's cache folder.

    It is disabled for a user without a home, whose cache folder would be relative to the working
    directory.
    """
    from platformdirs import user_cache_path

    folder = Path(user_cache_path("dp2emu", appauthor=False)) / "objects"
    return ObjectCache(folder, CACHE_BYTES if folder.is_absolute() else 0)


_DIGEST = hashlib.sha256().digest_size


def _digest(key: str, code: bytes) -> bytes:
    """Hash an object with its key, so that a file under another's name counts as corrupt."""
    return hashlib.sha256(key.encode() + b"\n" + code).digest()


def _is_private(path: Path, is_kind: Callable[[int], bool]) -> bool:
    """Whether ``is_kind`` is true of a path's mode, and the path is this user's and writable by no
    other.

    Without user ids the platform's cache folder is trusted.
    """
    status = path.stat()
    if not is_kind(status.st_mode):
        return False
    if not hasattr(os, "geteuid"):
        return True
    others = stat.S_IWGRP | stat.S_IWOTH
    return status.st_uid == os.geteuid() and not status.st_mode & others


# Stamps of the modules that generate code.  They are part of the cache key, so that an object is
# found by the record it was generated for, without generating its text.

ROOT = Path(__file__).parents[2]
CODE_PACKAGES = ("d3d", "gpu", "shader")
"""Packages whose modules generate LLVM text."""


@lru_cache(maxsize=1)
def source_stamps() -> str | None:
    """Return path, size and modification time of all modules that generate code, None if they are
    no files.

    Python's bytecode cache relies on the same properties.
    """
    try:
        return "\n".join(
            line for name in CODE_PACKAGES for line in sorted(folder_stamps(ROOT / name))
        )
    except OSError:
        return None


def folder_stamps(folder: Path | str) -> Iterator[str]:
    """Yield path, size and modification time, a line of text, of each Python module in a folder
    and its subfolders.  Raises OSError if it is no folder.
    """
    with os.scandir(folder) as found:
        for entry in found:
            if entry.is_dir():
                yield from folder_stamps(entry.path)
            elif entry.name.endswith(".py"):
                status = entry.stat()
                yield f"{entry.path} {status.st_size} {status.st_mtime_ns}"
