"""A run of the reference engine that an observer follows statement by statement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from dp2emu.cancellation import CURRENT
from dp2emu.shader import ir
from dp2emu.shader.reference import (
    Environment,
    Machine,
    Result,
    execute_statements,
    machine_of,
)
from dp2emu.shader.types import Lanes, Mask


class Observer(Protocol):
    """Follows the execution of a program."""

    def entered(self, statements: tuple[ir.Statement, ...]) -> None:
        """A block begins: the program, a branch, or an iteration of a loop."""

    def before(self, machine: Machine, statement: ir.Statement, active: Mask | None) -> None:
        """A statement is about to be executed in the lanes ``active``, None for all."""

    def after(self, machine: Machine, statement: ir.Statement, active: Mask | None) -> None:
        """A statement was executed, with the statements nested in it."""


class ObservedMachine(Machine):
    """A machine that tells ``observer`` of each statement."""

    observer: Observer | None = None

    def block(self, statements: tuple[ir.Statement, ...], active: Mask | None) -> Mask | None:
        """Execute statements in the ``active`` lanes; returns those still active."""
        observer, token = self.observer, CURRENT.token
        assert observer is not None
        observer.entered(statements)
        for statement in statements:
            if token.word.value:
                token.check()
            observer.before(self, statement, active)
            left = Machine.block(self, (statement,), active)
            observer.after(self, statement, active)
            active = left
            if active is not None and not active.any():
                break
        return active


def run_observed(
    program: ir.Program,
    inputs: Mapping[str, Lanes],
    uniforms: Mapping[str, Lanes],
    lanes: int,
    environment: Environment,
    observer: Observer,
    mask: Mask | None = None,
) -> Result:
    """Run a program as ``reference.run`` does, and tell ``observer`` of each statement.

    Raises what ``reference.run`` raises.
    """
    machine = machine_of(
        program, inputs, uniforms, lanes, mask, environment, kind=ObservedMachine
    )
    assert isinstance(machine, ObservedMachine)
    machine.observer = observer
    return execute_statements(machine, program, mask, program.statements)
