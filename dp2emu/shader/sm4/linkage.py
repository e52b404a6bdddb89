"""Class linkage: a program with interfaces becomes one without, for the class instances bound.

An interface fp# is an array of pointers, numbered from # on.  Each points to a class instance: the
function table that implements the interface, and the places of the instance's data, which this#
reads.  With the instances given, calls of interfaces are calls of function bodies, and components
of this# are numbers, so both engines execute such programs as any others.

Source: SM4-5 tokens, "Class linkage".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from dp2emu.errors import Unsupported
from dp2emu.shader.sm4.decode import validate
from dp2emu.shader.sm4.enums import Access
from dp2emu.shader.sm4.opcodes import BINDINGS, Op
from dp2emu.shader.sm4.program import Declaration, Index, Instruction, Operand, Program, Selection
from dp2emu.shader.sm4.registers import BY_FILE, File

MAX_POINTERS = 253
"""Maximum number of interface pointers of a shader, elements of arrays included."""
MAX_CALL_SITES = 4096
"""Maximum number of bodies that the interface calls of a shader can select, all together."""
_WORD = 0xFFFFFFFF
_DECLARES = frozenset({Op.DCL_FUNCTION_BODY, Op.DCL_FUNCTION_TABLE, Op.DCL_INTERFACE})
_ROWS = 4096


class Instance(NamedTuple):
    """A class instance that an interface pointer refers to.

    ``table`` is the number of its function table; the other members are the components of this#:
    where its constants are (slot and first row), its first sampler and its first texture.
    """

    table: int
    constant_buffer: int = 0
    row: int = 0
    sampler: int = 0
    texture: int = 0


class ClassInterface(NamedTuple):
    """A declared interface: ``length`` pointers from ``number`` on, each to one of ``tables``."""

    number: int
    length: int
    sites: int
    """Number of functions of each table."""
    tables: tuple[int, ...]


def interfaces_of(program: Program) -> Mapping[int, ClassInterface]:
    """The interfaces of a program, by number of each of their pointers; empty if it has none.

    Raises ShaderError for declarations that contradict each other.
    """
    found: dict[int, ClassInterface] = {}
    for each in program.instructions:
        if each.op is Op.DCL_INTERFACE:
            interface = _interface(each)
            if interface.number + interface.length > MAX_POINTERS:
                raise each.error(f"more than {MAX_POINTERS} interface pointers")
            numbers = range(interface.number, interface.number + interface.length)
            if any(number in found for number in numbers):
                raise each.error(f"fp{interface.number} is declared twice")
            found.update(dict.fromkeys(numbers, interface))
    return found


def _interface(instruction: Instruction) -> ClassInterface:
    declaration, words = instruction.declaration, instruction.data
    assert declaration is not None
    count, length = (words[0] & 0xFFFF, words[0] >> 16) if words else (0, 0)
    if not count or not length or len(words) - 1 != count:
        raise instruction.error(f"an interface of {length} pointers to {count} tables")
    return ClassInterface(declaration.number, length, declaration.count, words[1:])


def linked(program: Program, instances: Sequence[Instance]) -> Program:
    """The program with its interfaces resolved to ``instances``, in order of the pointers.

    Raises as ``resolved`` does, and ShaderError for registers that the program does not declare.
    """
    result = resolved(program, instances)
    validate(result)
    return result


def resolved(program: Program, instances: Sequence[Instance]) -> Program:
    """The program with calls and data of ``instances``, also if their registers are not declared.

    Raises ShaderError for a call without an instance or a function, Unsupported for this# with an
    index known at run time only.
    """
    linker = _Linker(program, instances)
    body = tuple(new for each in program.instructions for new in linker.linked(each))
    return replace(program, instructions=_with_buffers(body))


def first_instances(program: Program) -> tuple[Instance, ...]:
    """An instance for each pointer: of its first table, with the lowest registers declared.

    A program that is linked to them has an example of its calls, before anything is bound.
    """
    interfaces = interfaces_of(program)
    lowest = {file: _lowest(program, file) for file in BINDINGS}
    data = (
        lowest[File.CONSTANT_BUFFER], 0, lowest[File.SAMPLER], lowest[File.RESOURCE],
    )  # fmt: skip
    most = max(interfaces, default=-1) + 1
    return tuple(
        Instance(interfaces[number].tables[0] if number in interfaces else _WORD, *data)
        for number in range(most)
    )


def _lowest(program: Program, file: File) -> int:
    named = (
        each.operands[0].number
        for each in program.instructions
        if each.op.row.declares == frozenset({file}) and each.operands
    )
    return min(named, default=0)


def check_linked(program: Program) -> None:
    """Check that no interface is left.  Raises Unsupported."""
    for each in program.instructions:
        if each.op is Op.FCALL or any(map(_is_linked, each.operands)):
            raise Unsupported(f"shader interfaces without class instances: {each.op.text}")


def _is_linked(operand: Operand) -> bool:
    inner = (index.relative for index in operand.indices)
    return operand.file is File.THIS or any(
        each is not None and each.file is File.THIS for each in inner
    )


def _with_buffers(body: tuple[Instruction, ...]) -> tuple[Instruction, ...]:
    """``body`` with declarations of the constant buffers that it has by its instances alone."""
    known = {each.operands[0].number for each in body if each.op is Op.DCL_CONSTANTBUFFER}
    used = {
        operand.number: each
        for each in body
        if each.declaration is None
        for operand in each.operands
        if operand.file is File.CONSTANT_BUFFER
    }
    added = tuple(_buffer(number, used[number]) for number in sorted(used.keys() - known))
    marked = 1 if body and body[0].op is Op.HS_DECLS else 0
    return (*body[:marked], *added, *body[marked:])


def _buffer(number: int, user: Instruction) -> Instruction:
    indices = (Index(number), Index(_ROWS))
    operand = Operand(File.CONSTANT_BUFFER, indices, Selection.SWIZZLE, (0, 1, 2, 3))
    declaration = Declaration(access=Access.DYNAMIC_INDEXED)
    return _new(user, Op.DCL_CONSTANTBUFFER, operand, declaration)


def _new(
    place: Instruction, op: Op, operand: Operand | None = None, dcl: Declaration | None = None
) -> Instruction:
    """An instruction that stands for ``place``, with its offset."""
    operands = () if operand is None else (operand,)
    return Instruction(
        op=op, operands=operands, declaration=dcl, offset=place.offset, words=place.words
    )


class _Linker:
    """Replaces the instructions of a program that use its interfaces."""

    def __init__(self, program: Program, instances: Sequence[Instance]) -> None:
        self._instances = instances
        self._interfaces = interfaces_of(program)
        self._tables = {
            each.declaration.number: each.data
            for each in program.instructions
            if each.op is Op.DCL_FUNCTION_TABLE and each.declaration is not None
        }
        self._sites = 0

    def linked(self, instruction: Instruction) -> Iterator[Instruction]:
        """The instructions that replace one; none for a declaration of interfaces."""
        if instruction.op in _DECLARES:
            return
        operands = tuple(self._operand(each, instruction) for each in instruction.operands)
        instruction = replace(instruction, operands=operands)
        if instruction.op is Op.FCALL:
            yield from self._call(instruction)
        else:
            yield instruction

    def _operand(self, operand: Operand, place: Instruction) -> Operand:
        if not _is_linked(operand):
            return operand
        if operand.file is File.THIS:
            words = tuple(self._data(operand, place))
            return replace(
                operand, file=File.IMMEDIATE, indices=(), selection=Selection.SWIZZLE,
                components=operand.swizzle, words=words,
            )  # fmt: skip
        limits = BY_FILE[operand.file].limits
        indices = [self._index(each, place) for each in operand.indices]
        for index, limit in zip(indices, limits, strict=True):
            if index.relative is None and index.offset >= limit:
                raise place.error(f"{operand.file.value} has no index {index.offset}")
        return replace(operand, indices=tuple(indices))

    def _index(self, index: Index, place: Instruction) -> Index:
        if index.relative is None or index.relative.file is not File.THIS:
            return index
        (component, *_) = index.relative.swizzle
        return Index(index.offset + self._data(index.relative, place)[component] & _WORD)

    def _data(self, this: Operand, place: Instruction) -> tuple[int, ...]:
        """The four components of this#."""
        if this.indices[0].relative is not None:
            raise Unsupported("shader interfaces: this indexed at run time")
        return self._instance(this.number, place)[1:]

    def _instance(self, number: int, place: Instruction) -> Instance:
        if number >= len(self._instances):
            raise place.error(f"fp{number} has no class instance")
        return self._instances[number]

    def _call(self, instruction: Instruction) -> Iterator[Instruction]:
        pointer, index = instruction.operands[0].indices
        if pointer.offset not in self._interfaces:
            raise instruction.error(f"fp{pointer.offset} is not declared")
        if index.relative is None:
            number = pointer.offset + index.offset & _WORD
            yield self._call_of(number, instruction)
            return
        yield _new(instruction, Op.SWITCH, index.relative)
        interface = self._interfaces[pointer.offset]
        for number in range(interface.number, interface.number + interface.length):
            word = number - pointer.offset - index.offset & _WORD
            case = Operand(File.IMMEDIATE, (), Selection.ONE, words=(word,))
            yield _new(instruction, Op.CASE, case)
            yield self._call_of(number, instruction)
            yield _new(instruction, Op.BREAK)
        yield _new(instruction, Op.ENDSWITCH)

    def _call_of(self, number: int, instruction: Instruction) -> Instruction:
        """The call of the function at the call site of ``instruction``, of pointer ``number``."""
        self._sites += 1
        if self._sites > MAX_CALL_SITES:
            raise instruction.error(f"more than {MAX_CALL_SITES} call sites of interfaces")
        interface, (site,) = self._interfaces.get(number), instruction.data
        table = self._instance(number, instruction).table
        if interface is None or table not in interface.tables:
            raise instruction.error(f"fp{number} has no function table ft{table}")
        bodies = self._tables.get(table, ())
        if site >= min(interface.sites, len(bodies)):
            raise instruction.error(f"ft{table} has no function {site}")
        body = Operand(File.FUNCTION_BODY, (Index(bodies[site]),))
        return _new(instruction, Op.CALL, body)


def fits(interfaces: Mapping[int, ClassInterface], instances: Iterable[Instance]) -> bool:
    """Whether every interface pointer has an instance of one of its tables, and no other has."""
    given = list(instances)
    named = all(
        number < len(given) and given[number].table in each.tables
        for number, each in interfaces.items()
    )
    return named and len(given) == max(interfaces, default=-1) + 1
