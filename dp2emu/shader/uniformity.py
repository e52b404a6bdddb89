"""Uniformity: which values of a program are the same in all lanes, by what they depend on.

The interpreting engine executes a statement once for all lanes if its operands are uniform and
all lanes execute it together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

import msgspec

from dp2emu.shader import ir

_Node = int | tuple[int]
"""The number of a slot; or the identity of a block, which stands for the mask of its lanes."""


class Uniformity(msgspec.Struct, frozen=True, eq=False):
    """What differs between the lanes of a program: ``slots``, and ``apart``, the identities of the
    statements with an operand that differs, or that some lanes execute without others.
    """

    slots: frozenset[int]
    apart: frozenset[int]


def uniformity(
    program: ir.Program,
    alike: Callable[[ir.Access], bool] = lambda access: False,
    ports: Collection[str] = (),
) -> Uniformity:
    """Find what differs between lanes.  Results of an access are uniform if its operands are and
    ``alike`` is true of it; inputs are if they are in ``ports``.
    """
    local = frozenset(file.name for file in program.files if not file.uniform)
    graph = _Graph(local, alike, ports)
    graph.block(program.statements, None)
    found = graph.reached()
    apart = frozenset(
        id(statement)
        for block in (program.statements, *ir.nested(program.statements))
        for statement in block
        if (id(block),) in found or not found.isdisjoint(ir.reads(statement))
    )
    return Uniformity(frozenset(each for each in found if isinstance(each, int)), apart)


class _Graph(msgspec.Struct):
    """The slots and blocks that depend on each slot and block, and the ``sources`` of differences.
    Mutable: it grows.
    """

    local: frozenset[str]
    alike: Callable[[ir.Access], bool]
    ports: Collection[str]
    feeds: dict[_Node, list[_Node]] = msgspec.field(default_factory=dict)
    sources: list[_Node] = msgspec.field(default_factory=list)

    def block(self, statements: tuple[ir.Statement, ...], loop: _Node | None) -> None:
        """Add the statements of a block; ``loop`` is the body of the innermost loop around it."""
        here = (id(statements),)
        for statement in statements:
            read = ir.reads(statement)
            inside = [(id(block),) for block in ir.blocks(statement)]
            writes: list[_Node] = [*ir.written(statement), *inside]
            if isinstance(statement, ir.Break) and loop is not None:
                writes.append(loop)
            self.add((*read, here), writes)
            if self.differs(statement):
                self.sources += ir.written(statement)
            for block in ir.blocks(statement):
                self.block(block, (id(block),) if isinstance(statement, ir.Loop) else loop)

    def add(self, given: Iterable[_Node], made: list[_Node]) -> None:
        """Record that each of ``made`` depends on each of ``given``."""
        for node in given if made else ():
            self.feeds.setdefault(node, []).extend(made)

    def differs(self, statement: ir.Statement) -> bool:
        """Whether the results of a statement differ between lanes even if its operands do not."""
        if isinstance(statement, ir.Input):
            return statement.port not in self.ports
        if isinstance(statement, ir.Load):
            return statement.file in self.local
        if isinstance(statement, ir.Access):
            return not self.alike(statement)
        return isinstance(statement, ir.Sample)

    def reached(self) -> set[_Node]:
        """All nodes that depend on the sources."""
        found, waiting = set(self.sources), [*self.sources]
        while waiting:
            for node in self.feeds.get(waiting.pop(), ()):
                if node not in found:
                    found.add(node)
                    waiting.append(node)
        return found
