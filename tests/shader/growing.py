"""Programs that grow: for each operation and statement of the IR, n of it in one program."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Axis, Lod, Program, Stage, TextureKind
from dp2emu.shader.ops import OPS
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

Grow = Callable[[Builder, int], None]
"""Records n statements of some kind."""


def operation(op: str) -> Grow:
    """A chain of an operation: each result is an operand of the next where the types fit."""
    row = OPS[op]

    def grow(b: Builder, n: int) -> None:
        given = {type: b.input(f"x{type.value}", type) for type in Type}
        for _ in range(n):
            result = b.apply(op, *(given[type] for type in row.operands))
            given[result.type] = result
        b.output("o", given[row.result])

    return grow


def _ports(b: Builder, n: int) -> None:
    for number in range(n):
        b.output(f"o{number}", b.input(f"x{number}") + 1.0)


def _wide(b: Builder, n: int) -> None:
    """One value that n others read, which are then summed."""
    x = b.input("x")
    terms = [b.mulz(x, float(number + 2)) for number in range(n)]
    while len(terms) > 1:
        odd = terms[len(terms) // 2 * 2 :]
        terms = [one + other for one, other in zip(terms[::2], terms[1::2], strict=False)] + odd
    b.output("o", terms[0])


def _fixed_loads(b: Builder, n: int) -> None:
    x, file = b.input("x"), b.uniform("c", Type.F32, 1 << 12)
    for number in range(n):
        x = x * b.load(file, number)
    b.output("o", x)


def _indexed_loads(b: Builder, n: int) -> None:
    at, file = b.input("x", Type.I32), b.uniform("c", Type.I32, 1 << 12)
    for number in range(n):
        at = b.load(file, number, at)
    b.output("o", at)


def _paired_loads(b: Builder, n: int) -> None:
    """Loads of two neighbours, as samplers do: at (common + step) >> 2 with step 4 k."""
    common, file = b.input("x", Type.I32), b.uniform("c", Type.I32, 1 << 12)
    steps = [b.apply("imul", b.input(f"s{k}", Type.I32), 4) for k in range(2)]
    for _ in range(n):
        one, other = (b.load(file, 0, b.apply("ishr", common + step, 2)) for step in steps)
        common = one + other
    b.output("o", common)


def _stores(b: Builder, n: int) -> None:
    at, file = b.input("x", Type.I32), b.local("r", Type.I32, 64)
    for number in range(n):
        b.store(file, at, number % 64)
        b.store(file, at, 0, at)
        at = b.load(file, number % 64)
    b.output("o", at)


def _files(b: Builder, n: int) -> None:
    x = b.input("x")
    for number in range(n):
        b.store(b.local(f"r{number}", Type.F32, 2), x, 0)
        x = x + b.load(b.uniform(f"c{number}", Type.F32, 4), 0, b.apply("ftoi", x))
    b.output("o", x)


def _derivatives(b: Builder, n: int) -> None:
    x = b.input("x")
    for number in range(n):
        x = b.derivative([*Axis][number % 4], x)
    b.output("o", x)


def _samples(b: Builder, n: int) -> None:
    x, y = b.input("x"), b.input("y")
    for number in range(n):
        x, _, _, y = b.sample(TextureKind.TEX2D, number % 16, (x, y), Lod.EXPLICIT, (x,))
    b.output("o", x)


def _fetches(b: Builder, n: int) -> None:
    """Fetches of n units, each a function of its own."""
    x = b.input("x", Type.I32)
    for number in range(n):
        x, *_ = b.fetch(number, (x,))
    b.output("o", x)


def _accesses(b: Builder, n: int) -> None:
    """Memory accesses with enough statements between them to be compiled."""
    x = b.input("x", Type.I32)
    for number in range(n):
        x, *_ = b.access(number % 4, (x,))
        for _ in range(12):
            x = x * 5 + 1
    b.output("o", x)


def _variables(b: Builder) -> tuple[Value, Value]:
    return b.input("x"), b.input("y")


def _ifs(b: Builder, n: int) -> None:
    """Ifs with an else, one after another, each of which assigns a variable of its own."""
    x, y = _variables(b)
    total = b.variable(Type.F32, 0.0)
    for number in range(n):
        own = b.variable(Type.F32, y)
        with b.if_(x < float(number)):
            own.value = own.value + x
        with b.else_():
            own.value = own.value * x
        total.value = total.value + own.value
    b.output("o", total.value)


def _nested_ifs(b: Builder, n: int) -> None:
    x, y = _variables(b)
    total = b.variable(Type.F32, 0.0)
    with ExitStack() as stack:
        for number in range(n):
            total.value = total.value * y
            stack.enter_context(b.if_(x < float(number)))
            total.value = total.value + y
    b.output("o", total.value)


def _loops(b: Builder, n: int) -> None:
    x, y = _variables(b)
    total = b.variable(Type.F32, 0.0)
    for _ in range(n):
        with b.loop():
            total.value = total.value + y
            b.break_(total.value > x)
    b.output("o", total.value)


def _nested_loops(b: Builder, n: int) -> None:
    x, y = _variables(b)
    total = b.variable(Type.F32, 0.0)
    with ExitStack() as stack:
        for _ in range(n):
            stack.enter_context(b.loop())
            total.value = total.value * y
            with b.if_(x < y):
                b.break_(total.value > x)
    b.output("o", total.value)


def _breaks(b: Builder, n: int) -> None:
    x, y = _variables(b)
    with b.loop():
        for number in range(n):
            with b.if_(x < float(number)):
                b.break_(y > float(number))
    b.output("o", x)


def _kills(b: Builder, n: int) -> None:
    x, _ = _variables(b)
    for number in range(n):
        b.kill(x < float(number))
    b.output("o", x)


def _assignments(b: Builder, n: int) -> None:
    """n variables that a loop changes, all read after it."""
    x, y = _variables(b)
    variables = [b.variable(Type.F32, y) for _ in range(n)]
    with b.loop():
        for each in variables:
            each.value = each.value + x
        b.break_(variables[0].value > y)
    total = x
    for each in variables:
        total = total + each.value
    b.output("o", total)


def _branched_accesses(b: Builder, n: int) -> None:
    """An access in the last of n nested blocks, behind statements that can be compiled."""
    x = b.variable(Type.I32, b.input("x", Type.I32))
    with ExitStack() as stack:
        for number in range(n):
            for _ in range(4):
                x.value = x.value * 5 + 1
            stack.enter_context(b.if_(x.value < number))
        x.value, *_ = b.access(0, (x.value,))
    b.output("o", x.value)


STATEMENTS: dict[str, Grow] = {
    "ports": _ports,
    "wide fan-out": _wide,
    "loads at fixed addresses": _fixed_loads,
    "loads at computed addresses": _indexed_loads,
    "pairs of loads": _paired_loads,
    "stores": _stores,
    "files": _files,
    "derivatives": _derivatives,
    "samples": _samples,
    "fetches": _fetches,
    "accesses": _accesses,
    "ifs": _ifs,
    "nested ifs": _nested_ifs,
    "loops": _loops,
    "nested loops": _nested_loops,
    "breaks": _breaks,
    "kills": _kills,
    "variables of a loop": _assignments,
    "accesses in nested ifs": _branched_accesses,
}
"""Records of every kind of statement, by a name; together they have each type of statement."""

GROWING: dict[str, Grow] = {**{op: operation(op) for op in OPS}, **STATEMENTS}


def grown(name: str, n: int) -> Program:
    """A new pixel program with n statements of the kind ``name``."""
    b = Builder(Stage.PIXEL)
    GROWING[name](b, n)
    return b.program()
