"""A driver in C to start from, and what builds and tests it.

The files beside this module are copied into a new folder, together with the headers for drivers.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from dp2emu.argument_check import checked
from dp2emu.capture.headers import INCLUDES
from dp2emu.errors import UsageError
from dp2emu.outputs import write_file
from dp2emu.unfinished import unfinished

_FILES = {
    "driver.c": "driver.c",
    "Makefile": "Makefile",
    "README.rst": "README.rst",
    ".github/workflows/driver.yml": "driver.yml",
}
"""Name in the folder of this module, by name in the new folder."""
_HEADERS = "dp2emu"


def driver_files() -> dict[str, bytes]:
    """The content of each file of the template driver, by its path relative to the new folder."""
    here = Path(__file__).parent
    own = {name: here / source for name, source in _FILES.items()}
    headers = {f"{_HEADERS}/{path.name}": path for path in sorted(INCLUDES.glob("*.[ch]"))}
    return {name: path.read_bytes() for name, path in (own | headers).items()}


@checked
def init_driver(folder: Path) -> int:
    """Write the template driver into a new or existing folder; returns the number of files.

    Raises UsageError, before anything is written, if one of the files exists; OSError, after the
    files written so far were removed.
    """
    files = {folder / name: data for name, data in driver_files().items()}
    for path in files:
        if path.exists() or path.is_symlink():
            raise UsageError(f"{path} exists, and no file is overwritten")
    made: list[Path] = []

    def remove() -> None:
        for path in made:
            with suppress(OSError):
                path.unlink()

    with unfinished(remove):
        try:
            for path, data in files.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                made.append(path)
                write_file(path, data)
        except BaseException:
            remove()
            raise
    return len(files)
