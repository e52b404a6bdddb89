"""The machine that code is for, which is known without LLVM if an earlier process has asked it."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path

from dp2emu.records import dataclass
from dp2emu.shader.jit.compiling import host
from dp2emu.shader.jit.images import runs
from dp2emu.shader.jit.store import objects
from dp2emu.shader.jit.writer import Target

_PROCESSORS = Path("/proc/cpuinfo")
_TELLING = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags")
"""What Linux says of a processor that LLVM may make something of."""
_FACTS = "name, fused, rounding"
"""What is kept."""


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
    known = _identity()
    if known is None:
        return _asked()
    key = hashlib.sha256(known.encode()).hexdigest()
    held = objects().get(key)
    if held is not None:
        return Machine(*json.loads(held))
    found = _asked()
    objects().put(key, json.dumps([found.name, found.fused, found.rounding]).encode())
    return found


def _asked() -> Machine:
    """As LLVM knows it."""
    found = host()
    return Machine(found.name, found.fused, found.rounding)


def _identity() -> str | None:
    """The processor and LLVM, by what tells them from others; None where that is not known, or of
    no use since code is linked by LLVM.
    """
    try:
        spec = find_spec("llvmlite") if runs() else None
        if spec is None or spec.origin is None:
            return None
        library = Path(spec.origin).parent / "binding" / "libllvmlite.so"
        status = library.stat()
        return "\n".join((_FACTS, f"{status.st_size} {status.st_mtime_ns}", *_processor()))
    except (ImportError, OSError):
        return None


def _processor() -> list[str]:
    """What is said of the first one: they are all alike where Linux runs on x86-64."""
    with _PROCESSORS.open() as file:
        lines = takewhile(str.strip, file)
        return [line for line in lines if line.partition("\t")[0].strip() in _TELLING]


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
    except ImportError:
        # Whoever keeps it from being imported may say so already here.
        return False


def works() -> bool:
    """Whether programs can be compiled here, or have been, which llvmlite is imported for.

    One that cannot be used counts as one that is not there, and a line of the log says why, once.
    """
    if _useless:
        return False
    try:
        machine()
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        _useless.append(str(error).partition("\n")[0])
        from logging import getLogger

        said = "llvmlite is of no use (%s): the reference engine draws"
        getLogger("dp2emu").warning(said, *_useless)
        return False
    return True
