"""Layout of a program's bindings: 64-bit words with the addresses that compiled code uses.

A uniform file takes two words: address and number of scalars.  A local file takes one: the address
of ``size + 1`` rows of vectors, the last of which absorbs stores out of range.  A callee, the
target of Samples or Fetches, takes two: function address and first argument.  A program with
loops has the address of the stop word (``dp2emu.cancellation``).  Scalars of files are 32 bits; a
BOOL is 0 or nonzero.
"""

from __future__ import annotations

import msgspec

from dp2emu.identity_cache import identity_cached
from dp2emu.shader.ir import (
    Address,
    Fetch,
    File,
    Load,
    Lod,
    Loop,
    Program,
    Sample,
    TextureKind,
    walk,
)
from dp2emu.shader.sampling import ports


class SampleCallee(msgspec.Struct, frozen=True):
    """The function that Sample statements call: the number of its sampler, the kind of texture,
    and how the level of detail is given.
    """

    sampler: int
    kind: TextureKind
    lod: Lod

    @property
    def rows(self) -> int:
        """Number of arguments, each a vector of lanes: coordinates, then others such as the level
        of detail.
        """
        return len(ports(self.kind, self.lod))


class FetchCallee(msgspec.Struct, frozen=True):
    """The function that Fetch statements of a unit call with ``rows`` operands."""

    unit: int
    rows: int


Callee = SampleCallee | FetchCallee


class BindingLayout(msgspec.Struct, frozen=True):
    """Index of the first word of each file and callee; ``size`` words in all.

    The first ``fixed`` scalars of each uniform file are loaded without a bounds check; ``local``
    are the files that are not uniform.  ``stop`` is the index of the stop word's address, None for
    a program without loops.
    """

    files: dict[str, int]
    callees: dict[Callee, int]
    fixed: dict[str, int]
    size: int
    local: tuple[File, ...]
    stop: int | None

    @property
    def shared(self) -> bool:
        """Whether all runs with the same uniforms have the same binding words."""
        return not self.callees and not self.local and self.stop is None


@identity_cached()
def layout_of(program: Program) -> BindingLayout:
    """Lay out the bindings of a program."""
    files: dict[str, int] = {}
    callees: dict[Callee, int] = {}
    fixed: dict[str, int] = {}
    size = 0
    for file in program.files:
        files[file.name] = size
        size += 2 if file.uniform else 1
        fixed[file.name] = 0
    by_name = {file.name: file for file in program.files}
    for statement in walk(program.statements):
        if isinstance(statement, Load) and within(by_name[statement.file], statement.address):
            fixed[statement.file] = max(fixed[statement.file], statement.address.offset + 1)
        elif isinstance(statement, Sample | Fetch) and callee_of(statement) not in callees:
            callees[callee_of(statement)] = size
            size += 2
    local = tuple(file for file in program.files if not file.uniform)
    stop = None
    if any(isinstance(statement, Loop) for statement in walk(program.statements)):
        stop, size = size, size + 1
    return BindingLayout(files, callees, fixed, size, local, stop)


def within(file: File, address: Address) -> bool:
    """Whether an address in a file is constant and within the file."""
    return address.index is None and 0 <= address.offset < file.size


def callee_of(statement: Sample | Fetch) -> Callee:
    """Return the callee of a statement; statements with equal callees share a function."""
    if isinstance(statement, Fetch):
        return FetchCallee(statement.unit, len(statement.operands))
    return SampleCallee(statement.sampler, statement.kind, statement.lod)
