"""The machine that code is for, which is known without LLVM if an earlier process has asked it.

It is the same machine as long as Linux says the same of the processor, and the files of llvmlite
and those that ask it are the same ones.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path

from dp2emu.errors import UsageError
from dp2emu.records import dataclass
from dp2emu.shader.jit.code_images import runs
from dp2emu.shader.jit.compiling import Host, host
from dp2emu.shader.jit.source_cache import sources, stamps
from dp2emu.shader.jit.store import objects
from dp2emu.shader.jit.writer import Target

_PROCESSORS = Path("/proc/cpuinfo")
_TELLING = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags")
"""What Linux says of a processor that LLVM may make something of."""
_FLAGS = "flags"
"""Without them it is not the processor's kind that Linux speaks of: an emulator may show what it
runs on."""
_FAILURES = (ImportError, OSError, RuntimeError, AttributeError, SyntaxError)
"""What an llvmlite raises that is damaged or too old."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What texts and objects depend on: LLVM and the processor, by ``name``, whether that has a
    fused multiply-add, and conversions that round as they are told.
    """

    name: str
    fused: bool
    rounding: bool

    def key(self, *parts: str) -> str:
        """Names an object: all that it depends on, hashed."""
        return hashlib.sha256("\0".join((self.name, *parts)).encode()).hexdigest()


@lru_cache(maxsize=1)
def machine() -> Machine:
    """This one.  Raises ImportError without llvmlite, and whatever one that is damaged or too old
    raises, if nobody has asked it before.
    """
    key = _key()
    if key is None:
        return _asked()
    held = objects().get(key)
    if held:
        return Machine(*json.loads(held))
    found = _asked()
    objects().put(key, json.dumps([found.name, found.fused, found.rounding]).encode())
    return found


def llvm() -> Host:
    """LLVM, for those who compile or link.

    That an earlier process has asked it does not mean that this one can.  Raises UsageError if
    not, and the next process asks again.
    """
    try:
        return host()
    except _FAILURES as error:
        key = _key()
        if key is not None:
            objects().put(key, b"")
        raise UsageError(f"llvmlite is of no use: {_first_line(error)}") from None


def _key() -> str | None:
    """Names what is kept of LLVM; None where nothing is."""
    known = _identity()
    return None if known is None else hashlib.sha256("\n".join(known).encode()).hexdigest()


def _asked() -> Machine:
    """As LLVM knows it."""
    found = host()
    return Machine(found.name, found.fused, found.rounding)


def _identity() -> list[str] | None:
    """The processor and LLVM, by what tells them from others, and who asks; None where that is not
    known, or of no use since code is linked by LLVM.
    """
    try:
        spec = find_spec("llvmlite") if runs() else None
        asking, processor = sources(), _processor()
        if spec is None or spec.origin is None or asking is None or not processor:
            return None
        binding = Path(spec.origin).parent / "binding"
        library = (binding / "libllvmlite.so").stat()
        files = sorted(stamps(binding))
        return [f"{library.st_size} {library.st_mtime_ns}", *files, *processor, asking]
    except (ImportError, OSError, ValueError):
        return None


def _processor() -> list[str]:
    """What is said of the first one: they are all alike where Linux runs on x86-64.  Nothing if
    that is not what it can do.
    """
    with _PROCESSORS.open(encoding="ascii", errors="backslashreplace") as file:
        lines = list(takewhile(str.strip, file))
    told = [line for line in lines if line.partition("\t")[0].strip() in _TELLING]
    return told if any(line.startswith(_FLAGS) for line in told) else []


def target() -> Target:
    """What code for this machine is written for."""
    return Target(fused=machine().fused)


_useless: list[str] = []
"""Why an llvmlite that is there is of no use, if it is known to be of none."""


def available() -> bool:
    """Whether programs can be compiled, as far as is known: nothing is imported to find out."""
    if _useless:
        return False
    try:
        return find_spec("llvmlite") is not None
    except (ImportError, ValueError):
        # Whoever keeps it from being imported may say so already here, or put something in its
        # place that does not say where it is from.
        return False


def works() -> bool:
    """Whether programs can be compiled here, or have been, which llvmlite is imported for.

    One that cannot be used counts as one that is not there, and a line of the log says why, once.
    """
    if _useless:
        return False
    try:
        machine()
    except _FAILURES as error:
        _useless.append(_first_line(error))
        from logging import getLogger

        said = "llvmlite is of no use (%s): the reference engine draws"
        getLogger("dp2emu").warning(said, *_useless)
        return False
    return True


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
