"""Where and how large measurements are, and the environment of the processes that make them."""

from __future__ import annotations

import os
import platform
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

TOOLS = Path(__file__).resolve().parents[1]
ROOT = TOOLS.parent
CACHE = "XDG_CACHE_HOME"
"""Names the folder of caches, where the system has no rule of its own."""

NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"


class Place(msgspec.Struct, frozen=True):
    """Where a benchmark may put files, and the factor for its sizes."""

    folder: Path
    scale: float

    def size(self, full: int) -> int:
        """``full`` scaled, at least 1."""
        return max(1, round(full * self.scale))


def environment(cache: Path | None, **more: str) -> dict[str, str]:
    """That of a child, which finds this package and dp2emu; ``cache`` is its cache folder.

    Bytecode is kept, as it is where something has been installed.
    """
    path = os.pathsep.join(filter(None, (str(TOOLS), str(ROOT), os.environ.get("PYTHONPATH"))))
    caches = {} if cache is None else {CACHE: str(cache)}
    given = {name: value for name, value in os.environ.items() if name != NO_BYTECODE}
    return {**given, "PYTHONPATH": path, **caches, **more}


def machine() -> dict[str, str]:
    """What it runs on."""
    packages = {name: _version(name) for name in ("numpy", "llvmlite")}
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": platform.system(),
        "python": platform.python_version(),
        **{name: found for name, found in packages.items() if found},
    }


def told(machine: dict[str, str]) -> str:
    """The machine as a line."""
    packages = (f"{name} {machine[name]}" for name in ("python", "numpy", "llvmlite")
                if name in machine)  # fmt: skip
    head = (machine["processor"], f"{machine['cores']} cores", machine["system"])
    return ", ".join((*head, *packages))


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def executable(module: str, *arguments: str) -> list[str]:
    """The command line of a module of this package."""
    return [sys.executable, "-m", f"benchmark.{module}", *arguments]
