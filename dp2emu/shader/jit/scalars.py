"""A builder for scalar LLVM functions, written as expressions and ``with`` blocks.

    k = Code("total", ("ptr items", "i64 count"), "i64")
    total = k.variable("i64", 0)
    with k.loop(k["count"]) as n:
        total.set(total.get() + k.load("i64", k["items"], n))
    k.give(total.get())

Integer operations are signed unless named otherwise; floats follow IEEE 754, each operation
rounded and none contracted.  Variables are stack slots, which LLVM promotes to registers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager

import msgspec

from dp2emu.shader.formulas import Formula, program_of
from dp2emu.shader.jit.inline import emitted
from dp2emu.shader.jit.writer import Target, Writer, number
from dp2emu.shader.types import Type

Number = int | float

_FLOATS = {"float": 32, "double": 64}
_TYPES = {"float": Type.F32, "double": Type.F64, "i32": Type.I32, "i64": Type.I64, "i1": Type.BOOL}

Operator = Callable[["Value", "Value | Number"], "Value"]


def _binary(word: str) -> Operator:
    """Make a method that emits an instruction whose result has its operands' type."""
    return lambda self, other: self._new(
        self.type, f"{word} {self.type} {self.name}, {self.like(other).name}"
    )


def _arithmetic(word: str) -> Operator:
    integer, floating = _binary(word), _binary(f"f{word}")
    return lambda self, other: (floating if self.type in _FLOATS else integer)(self, other)


def _ordered(order: str) -> Operator:
    """Make a comparison method: signed for integers, ordered for floats."""
    return lambda self, other: self._compared(
        f"{'fcmp o' if self.type in _FLOATS else 'icmp s'}{order}", other
    )


class Value(msgspec.Struct, frozen=True, eq=False):
    """A value of an LLVM type; operators emit instructions, and Python numbers become
    constants.
    """

    w: Writer
    type: str
    name: str

    __add__, __sub__, __mul__ = map(_arithmetic, ("add", "sub", "mul"))
    __and__, __or__, __xor__, __lshift__ = map(_binary, ("and", "or", "xor", "shl"))
    __truediv__ = _binary("fdiv")
    # Integer division rounds toward zero, unlike Python's; >> is an arithmetic shift.
    __floordiv__, __rshift__ = _binary("sdiv"), _binary("ashr")
    __lt__, __le__, __gt__, __ge__ = map(_ordered, ("lt", "le", "gt", "ge"))

    def equals(self, other: Value | Number) -> Value:
        """Equality as an i1; false if either operand is a NaN."""
        return self._compared("fcmp oeq" if self.type in _FLOATS else "icmp eq", other)

    def differs(self, other: Value | Number) -> Value:
        """Inequality as an i1; true if either operand is a NaN."""
        return self._compared("fcmp une" if self.type in _FLOATS else "icmp ne", other)

    def below(self, other: Value | Number) -> Value:
        """Unsigned less-than as an i1."""
        return self._compared("icmp ult", other)

    shifted = _binary("lshr")
    """Logical shift right."""

    def choose(self, yes: Value, no: Value | Number) -> Value:
        """``yes`` if this i1 is set, otherwise ``no``."""
        other = yes.like(no)
        return self._new(
            yes.type, f"select i1 {self.name}, {yes.type} {yes.name}, {yes.type} {other.name}"
        )

    def signed(self, type: str) -> Value:
        """Convert a signed integer to a wider one (sign extension) or to a float."""
        return self._cast("sitofp" if type in _FLOATS else "sext", type)

    def unsigned(self, type: str) -> Value:
        """Convert an unsigned integer to a wider one (zero extension) or to a float."""
        return self._cast("uitofp" if type in _FLOATS else "zext", type)

    def cut(self, type: str) -> Value:
        """Truncate an integer to a narrower type."""
        return self._cast("trunc", type)

    def wide(self) -> Value:
        """Convert a float to a double."""
        return self._cast("fpext", "double")

    def narrow(self) -> Value:
        """Round a double to a float."""
        return self._cast("fptrunc", "float")

    def whole(self, type: str) -> Value:
        """Convert a float to an integer type that can hold it, toward zero."""
        return self._cast("fptosi", type)

    def bits(self, type: str) -> Value:
        """Bitcast to another type."""
        return self._cast("bitcast", type)

    def like(self, other: Value | Number) -> Value:
        """Return a number as a constant of this type; values are returned unchanged."""
        if isinstance(other, Value):
            return other
        spelled = number(float(other)) if self.type in _FLOATS else str(int(other))
        return Value(self.w, self.type, spelled)

    def _compared(self, word: str, other: Value | Number) -> Value:
        return self._new("i1", f"{word} {self.type} {self.name}, {self.like(other).name}")

    def _cast(self, word: str, type: str) -> Value:
        return self._new(type, f"{word} {self.type} {self.name} to {type}")

    def _new(self, type: str, instruction: str) -> Value:
        return Value(self.w, type, self.w(instruction))


class Variable(msgspec.Struct, frozen=True):
    """A variable of the function that is being built, in stack memory."""

    code: Code
    type: str
    place: Value

    def get(self) -> Value:
        """Load the current value."""
        return self.code.load(self.type, self.place)

    def set(self, value: Value | Number) -> None:
        """Store a value."""
        self.code.store(Value(self.code.w, self.type, "").like(value), self.place)

    def add(self, amount: Value | Number) -> None:
        """Increment by an amount."""
        self.set(self.get() + amount)


class Code:
    """A function being built.  Mutable: it collects text.

    ``parameters`` are "type name" strings; ``code["name"]`` is a parameter's value.  Every path
    must end with ``give``.
    """

    def __init__(self, name: str, parameters: tuple[str, ...], result: str = "void") -> None:
        self.w = Writer(Target(), scalars=True)
        self.name, self.result = name, result
        pairs = [each.split() for each in parameters]
        self._parameters = {name: Value(self.w, type, f"%{name}") for type, name in pairs}
        self._given = ", ".join(f"{type} %{name}" for type, name in pairs)

    def __getitem__(self, name: str) -> Value:
        return self._parameters[name]

    def text(self, *, internal: bool = False) -> tuple[str, Writer]:
        """Return the function's header and body, for ``writer.module``."""
        linkage = "internal " if internal else ""
        return f"define {linkage}{self.result} @{self.name}({self._given}) nounwind", self.w

    def constant(self, type: str, value: Number) -> Value:
        """Return a constant of an LLVM type."""
        return Value(self.w, type, "").like(value)

    def variable(self, type: str, value: Value | Number) -> Variable:
        """Allocate a variable with an initial value."""
        made = Variable(self, type, self.room(type))
        made.set(value)
        return made

    def room(self, type: str, count: int = 1) -> Value:
        """Allocate stack memory and return its address."""
        return Value(self.w, "ptr", self.w.allocate(type, count))

    def at(self, pointer: Value, index: Value | int, type: str = "i8") -> Value:
        """Return the address of element ``index`` of an array of a type."""
        offset = Value(self.w, "i64", "").like(index)
        what = f"getelementptr {type}, ptr {pointer.name}, {offset.type} {offset.name}"
        return Value(self.w, "ptr", self.w(what))

    def load(self, type: str, pointer: Value, index: Value | int = 0) -> Value:
        """Load element ``index`` of an array of ``type``; no alignment is assumed."""
        place = pointer if isinstance(index, int) and not index else self.at(pointer, index, type)
        return Value(self.w, type, self.w(f"load {type}, ptr {place.name}, align 1"))

    def store(self, value: Value, pointer: Value, index: Value | int = 0) -> None:
        """Store a value to element ``index`` of an array; no alignment is assumed."""
        place = pointer
        if not isinstance(index, int) or index:
            place = self.at(pointer, index, value.type)
        self.w.do(f"store {value.type} {value.name}, ptr {place.name}, align 1")

    def counted(self, pointer: Value) -> Value:
        """Atomically increment an aligned i64 and return its previous value."""
        what = f"atomicrmw add ptr {pointer.name}, i64 1 monotonic, align 8"
        return Value(self.w, "i64", self.w(what))

    def running(self, stop: Value) -> Value:
        """Poll the stop word at the address ``stop``: an i1, set unless the work was cancelled."""
        return Value(self.w, "i1", self.w.running(stop.name))

    def intrinsic(self, name: str, *operands: Value) -> Value:
        """Call an LLVM intrinsic whose result has its operands' type."""
        type = operands[0].type
        suffix = {"float": "f32", "double": "f64"}.get(type, type)
        given = ((each.type, each.name) for each in operands)
        return Value(self.w, type, self.w.call(f"llvm.{name}.{suffix}", type, *given))

    def formula(self, formula: Formula, key: Hashable, *operands: Value) -> list[Value]:
        """Emit a formula and return its results.

        The formula may only use operations that ``operations`` emits without vector constants.
        """
        given = [(_TYPES[each.type], each.name) for each in operands]
        names = emitted(self.w, formula, key, given)
        outputs = program_of(formula, key, tuple(type for type, _ in given)).outputs
        return [Value(self.w, self.w.vector(port.type), name)
                for port, name in zip(outputs, names, strict=True)]  # fmt: skip

    def call(self, callee: str, result: str, *operands: Value) -> Value:
        """Call a function of the module or at an address; a void call returns an unusable
        value.
        """
        given = ", ".join(f"{each.type} {each.name}" for each in operands)
        if result == "void":
            self.w.do(f"call void {callee}({given})")
            return Value(self.w, result, "")
        return Value(self.w, result, self.w(f"call {result} {callee}({given})"))

    def give(self, value: Value | Number | None = None) -> None:
        """Emit a return from the function, with ``value`` if any."""
        if value is None:
            self.w.do("ret void")
            return
        found = Value(self.w, self.result, "").like(value)
        self.w.do(f"ret {found.type} {found.name}")

    @contextmanager
    def when(self, condition: Value) -> Iterator[None]:
        """Emit the body of the ``with`` block, executed only if the i1 is set."""
        then, after = self.w.fresh_label(), self.w.fresh_label()
        self._branch(condition, then, after)
        self.w.label(then)
        yield
        self.w.do(f"br label {after}")
        self.w.label(after)

    @contextmanager
    def unless(self, condition: Value) -> Iterator[None]:
        """Emit the body of the ``with`` block, executed only if the i1 is not set."""
        with self.when(condition ^ 1):
            yield

    def give_if(self, condition: Value, value: Callable[[], Value] | Number | None = None) -> None:
        """Return early under a condition; a callable value is computed only then."""
        then, after = self.w.fresh_label(), self.w.fresh_label()
        self._branch(condition, then, after)
        self.w.label(then)
        self.give(value() if callable(value) else value)
        self.w.label(after)

    @contextmanager
    def loop(self, stop: Value, start: Value | int = 0) -> Iterator[Value]:
        """Emit the ``with`` block's body as a loop over i64 from ``start`` to below ``stop``."""
        n = self.variable("i64", start)
        with self.while_(lambda: n.get() < stop):
            here = n.get()
            yield here
            n.set(here + 1)

    @contextmanager
    def while_(self, condition: Callable[[], Value]) -> Iterator[None]:
        """Emit the ``with`` block's body as a loop; the condition is computed first each time."""
        head, body, after = (self.w.fresh_label() for _ in range(3))
        self.w.do(f"br label {head}")
        self.w.label(head)
        self._branch(condition(), body, after)
        self.w.label(body)
        yield
        self.w.do(f"br label {head}")
        self.w.label(after)

    def _branch(self, condition: Value, yes: str, no: str) -> None:
        self.w.do(f"br i1 {condition.name}, label {yes}, label {no}")
