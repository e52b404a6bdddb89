"""Compilers for the tests of C: what is built is kept for the other tests of the run."""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from dp2emu.capture.headers import INCLUDES

HERE = Path(__file__).parent
GCC = ("gcc",)
GCC32 = ("i686-w64-mingw32-gcc",) if shutil.which("i686-w64-mingw32-gcc") else ("gcc", "-m32")
"""What compiles for 32-bit drivers: the compiler of Windows where there is one."""
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
STRICT = ("-std=c89", *WARNINGS)
LANGUAGES = {
    "c89": ("c", "gcc", "clang"),
    "c99": ("c", "gcc", "clang"),
    "c++98": ("c++", "g++", "clang++"),
    "c++17": ("c++", "g++", "clang++"),
}
"""For each standard its language, as option ``-x`` names it, and the compilers of the language."""


LATER = {
    "c11": "c99", "c17": "c99", "c2x": "c99", "c++11": "c++17", "c++14": "c++17", "c++20": "c++17",
}  # fmt: skip
"""For each later standard the one whose language and compilers it has."""
KERNEL = ("-ffreestanding", "-nostdlib", "-mgeneral-regs-only", "-O2")
"""Flags of code in kernel mode: no library, and no register but the general ones."""


def compile_only(compiler: tuple[str, ...], source: str, *options: str) -> None:
    """Compile text that includes headers of the kit; raises CalledProcessError with warnings."""
    command = [*compiler, *STRICT, *options, f"-I{INCLUDES}", f"-I{HERE}"]
    into = folder() / "nothing.o"
    subprocess.run([*command, "-c", "-x", "c", "-", "-o", into], input=source.encode(), check=True)


def compile_as(standard: str, compiler: tuple[str, ...], source: str) -> str:
    """Messages of a compiler about text in a language standard; empty if it compiles cleanly."""
    language = LANGUAGES[LATER.get(standard, standard)][0]
    command = [*compiler, f"-std={standard}", *WARNINGS, f"-I{INCLUDES}", "-x", language]
    into = folder() / "nothing.o"
    ran = subprocess.run(
        [*command, "-c", "-", "-o", into], input=source, capture_output=True, text=True
    )
    assert ran.returncode == 0 or ran.stderr
    return ran.stderr


@cache
def missing(compiler: tuple[str, ...], language: str = "c") -> str:
    """Name of the part of a compiler that this machine lacks; empty if it has all."""
    if not shutil.which(compiler[0]):
        return compiler[0]
    command = [*compiler, "-fsyntax-only", "-x", language, "-"]
    ran = subprocess.run(command, input="#include <stdlib.h>\n", capture_output=True, text=True)
    return f"C library for {' '.join(compiler)}" if ran.returncode else ""


@cache
def folder() -> Path:
    """A folder of this process's own that goes when it ends."""
    made = Path(tempfile.mkdtemp(prefix="dp2emu-native-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


@cache
def shared() -> Path:
    """The folder of what is built, for all workers of a run; ``tests/conftest.py`` names it."""
    made = Path(os.environ.get("TESTS_BUILT", folder()))
    made.mkdir(parents=True, exist_ok=True)
    return made


@cache
def built(name: str, sources: tuple[str, ...], *options: str) -> Path:
    """A program or library of sources in this folder or the kit's, warnings being errors."""
    found = [str(HERE / source if (HERE / source).exists() else INCLUDES / source)
             for source in sources]  # fmt: skip
    command = [*GCC, *STRICT, "-O0", f"-I{INCLUDES}", f"-I{HERE}", *options, *found]
    key = hashlib.sha256("\0".join(command).encode()).hexdigest()[:16]
    made = shared() / key / name
    if not made.exists():
        making = folder() / f"making-{key}"
        subprocess.run([*command, "-o", str(making)], check=True)
        made.parent.mkdir(exist_ok=True)
        os.replace(making, made)  # whole or not there, whichever worker is first
    return made


def linked_program(name: str, sources: tuple[str, ...], *options: str) -> Path:
    """A program or library whose sources are compiled one by one, and kept for other programs."""
    return built(name, tuple(str(_object(source, *options)) for source in sources), *options)


def _object(source: str, *options: str) -> Path:
    return built(f"{Path(source).stem}.o", (source,), "-c", *options)


@cache
def library(name: str, *sources: str, options: tuple[str, ...] = ()) -> Path:
    """A shared library."""
    return built(f"{name}.so", sources, "-shared", "-fPIC", *options)


SAMPLE = (
    "sample.c", "sample_states.c", "sample_queries.c", "sample_draws.c", "sample_pixels.c",
    "sample_textures.c",
)  # fmt: skip


LAYOUTS = {"nt": (), "9x": ("-DDP2STUB_9X",)}
"""By Windows family, the options of a driver with its surface structures."""
INFO = "sample_info.c"
"""The part of the sample driver that announces its capabilities."""


def sample(*bugs: str, ddi: int = 9, announces: bool = False, sanitized: bool = False) -> Path:
    """The sample driver of a DirectX version as a library, with these mistakes planted."""
    extra = ("-fsanitize=address", "-fno-omit-frame-pointer") if sanitized else ()
    kind = "asan" if sanitized else "shared"
    objects = sample_objects("-fPIC", *extra, bugs=bugs, ddi=ddi, announces=announces)
    told = ("announcing",) if announces else ()
    return library("-".join(("sample", kind, str(ddi), *told, *bugs)), *objects, options=extra)


def served_sample(
    *bugs: str, ddi: int = 9, announces: bool = False, options: tuple[str, ...] = ()
) -> Path:
    """The sample driver of a DirectX version as a program that a pipe leads to.

    ``options`` are of the compiler, such as one of ``LAYOUTS``.
    """
    told = ("-DDP2STUB_HAS_GETDRIVERINFO",) if announces else ()
    stub = _object("dp2stub.c", *told, *options)
    objects = sample_objects(*options, bugs=bugs, ddi=ddi, announces=announces)
    name = "-".join(("served", str(ddi), *told, *bugs))
    return built(name, (str(stub), *objects), *options)


def sample_objects(
    *options: str, bugs: tuple[str, ...] = (), ddi: int = 9, announces: bool = False
) -> tuple[str, ...]:
    """The sample driver compiled: each source once for the mistakes and versions it knows of."""
    made = []
    for source in (*SAMPLE, INFO) if announces else SAMPLE:
        words = set(re.findall(r"\w+", (HERE / source).read_text("ascii")))
        known = {f"BUG_{bug}": f"-DBUG_{bug}" for bug in bugs} | {
            "SAMPLE_DDI": f"-DSAMPLE_DDI={ddi}"
        }
        own = (option for word, option in known.items() if word in words)
        made.append(str(_object(source, *options, *own)))
    return tuple(made)
