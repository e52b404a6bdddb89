"""Description of the host machine, cached on disk so that later processes need not load LLVM.

The cached description is valid while /proc/cpuinfo, the files of llvmlite and the sources of this
package are unchanged.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path

import msgspec

from dp2emu.errors import UsageError
from dp2emu.shader.jit.code_images import images_supported
from dp2emu.shader.jit.compiling import Host, host
from dp2emu.shader.jit.object_cache import folder_stamps, object_cache, source_stamps
from dp2emu.shader.jit.writer import Target

_PROCESSORS = Path("/proc/cpuinfo")
_TELLING = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags")
"""Names of the fields of /proc/cpuinfo that may influence LLVM's choice of instructions."""
_FLAGS = "flags"
"""Name of the field of /proc/cpuinfo without which the file does not describe an x86 processor."""
_FAILURES = (ImportError, OSError, RuntimeError, AttributeError, SyntaxError)
"""Types of exceptions that a damaged or too old llvmlite raises."""


class Machine(msgspec.Struct, frozen=True):
    """Properties of the host that texts and objects depend on.

    ``name`` identifies LLVM and the processor; ``fused``: the processor has a fused multiply-add;
    ``rounding``: it has conversions with an explicit rounding mode.
    """

    name: str
    fused: bool
    rounding: bool

    def key(self, *parts: str) -> str:
        """Return an object cache key: the hash of this machine's name and of ``parts``."""
        return hashlib.sha256("\0".join((self.name, *parts)).encode()).hexdigest()


@lru_cache(maxsize=1)
def machine() -> Machine:
    """Return the description of this machine, from the object cache or from LLVM.

    Raises ImportError without llvmlite, and other exceptions if it is damaged or too old, unless
    the description is cached.
    """
    key = _key()
    if key is None:
        return _asked()
    held = object_cache().get(key)
    # An empty entry: LLVM failed in an earlier process.
    if held:
        return Machine(*json.loads(held))
    found = _asked()
    object_cache().put(key, json.dumps([found.name, found.fused, found.rounding]).encode())
    return found


def llvm() -> Host:
    """Return LLVM, for compiling or linking.

    A cached description does not guarantee a working LLVM: if it fails, the cached entry is
    cleared so that the next process asks again, and UsageError is raised.
    """
    try:
        return host()
    except _FAILURES as error:
        key = _key()
        if key is not None:
            object_cache().put(key, b"")
        raise UsageError(f"llvmlite cannot be used: {_first_line(error)}") from None


def _key() -> str | None:
    """Return the cache key of the machine's description, None if it cannot be cached."""
    known = _identity()
    return None if known is None else hashlib.sha256("\n".join(known).encode()).hexdigest()


def _asked() -> Machine:
    """Describe the machine by asking LLVM."""
    found = host()
    return Machine(found.name, found.fused, found.rounding)


def _identity() -> list[str] | None:
    """Return the strings that identify processor, llvmlite and sources.

    None if one is unknown, or if objects are linked by LLVM, so that caching saves nothing.
    """
    try:
        spec = find_spec("llvmlite") if images_supported() else None
        asking, processor = source_stamps(), _processor()
        if spec is None or spec.origin is None or asking is None or not processor:
            return None
        binding = Path(spec.origin).parent / "binding"
        library = (binding / "libllvmlite.so").stat()
        files = sorted(folder_stamps(binding))
        return [f"{library.st_size} {library.st_mtime_ns}", *files, *processor, asking]
    except (ImportError, OSError, ValueError):
        return None


def _processor() -> list[str]:
    """Return the relevant cpuinfo lines of the first processor, empty if it has no flags line.

    Processors are alike where Linux runs on x86-64.
    """
    with _PROCESSORS.open(encoding="ascii", errors="backslashreplace") as file:
        lines = list(takewhile(str.strip, file))
    told = [line for line in lines if line.partition("\t")[0].strip() in _TELLING]
    return told if any(line.startswith(_FLAGS) for line in told) else []


def target() -> Target:
    """Return the compilation target of this machine."""
    return Target(fused=machine().fused)


_useless: list[str] = []
"""List of the reason why the installed llvmlite cannot be used; empty while none is known."""


def available() -> bool:
    """Whether llvmlite is installed and not known to be broken.  Imports nothing."""
    if _useless:
        return False
    try:
        return find_spec("llvmlite") is not None
    except (ImportError, ValueError):
        # An import hook may block the module here, or a stub may lack a __spec__.
        return False


def works() -> bool:
    """Whether programs can be compiled; imports llvmlite if no description is cached.

    A broken llvmlite counts as missing; the reason is logged once.
    """
    if _useless:
        return False
    try:
        machine()
    except _FAILURES as error:
        _useless.append(_first_line(error))
        from logging import getLogger

        said = "llvmlite cannot be used (%s): falling back to the reference engine"
        getLogger("dp2emu").warning(said, *_useless)
        return False
    return True


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
