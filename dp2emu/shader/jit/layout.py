"""Where compiled code finds what a program reads: 64-bit words, known when it is compiled.

A uniform file has two words, its address and how many scalars it holds; a local file has one, the
address of ``size + 1`` rows of vectors, of which the last takes the stores that go nowhere.  What
is asked by a Sample or a Fetch has two, the address of a function and what that is given first.
Scalars of a file are 32 bits; a BOOL is 0 or not.
"""

from __future__ import annotations

from dp2emu.records import dataclass
from dp2emu.shader.ir import (
    Address,
    Fetch,
    File,
    Load,
    Lod,
    Program,
    Sample,
    TextureKind,
    of_program,
    walk,
)
from dp2emu.shader.sampling import ports


@dataclass(frozen=True, slots=True)
class SampleCallee:
    """A sampler, and how a program samples with it."""

    sampler: int
    kind: TextureKind
    lod: Lod

    @property
    def rows(self) -> int:
        """Vectors that it is given: coordinates, then arguments."""
        return len(ports(self.kind, self.lod))


@dataclass(frozen=True, slots=True)
class FetchCallee:
    """What answers to fetches of a unit with so many operands."""

    unit: int
    rows: int


Callee = SampleCallee | FetchCallee


@dataclass(frozen=True, slots=True)
class BindingLayout:
    """First words of the files and of what is asked; ``size`` words in all.

    ``fixed`` scalars of each uniform file are read without asking how many there are; ``local``
    are the files that are not uniform.
    """

    files: dict[str, int]
    asked: dict[Callee, int]
    fixed: dict[str, int]
    size: int
    local: tuple[File, ...]


@of_program
def layout_of(program: Program) -> BindingLayout:
    """The layout of a program's bindings."""
    files: dict[str, int] = {}
    asked: dict[Callee, int] = {}
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
        elif isinstance(statement, Sample | Fetch) and callee_of(statement) not in asked:
            asked[callee_of(statement)] = size
            size += 2
    local = tuple(file for file in program.files if not file.uniform)
    return BindingLayout(files, asked, fixed, size, local)


def within(file: File, address: Address) -> bool:
    """Whether an address is fixed and in range."""
    return address.index is None and 0 <= address.offset < file.size


def callee_of(statement: Sample | Fetch) -> Callee:
    """What a statement has in common with others that need the same function."""
    if isinstance(statement, Fetch):
        return FetchCallee(statement.unit, len(statement.operands))
    return SampleCallee(statement.sampler, statement.kind, statement.lod)
