"""Functions over scalars as LLVM text, written as expressions and ``with`` blocks.

    k = Code("total", ("ptr items", "i64 count"), "i64")
    total = k.variable("i64", 0)
    with k.loop(k["count"]) as n:
        total.set(total.get() + k.load("i64", k["items"], n))
    k.give(total.get())

Integers are signed where that matters, unless an operation says otherwise; arithmetic of floats is
IEEE 754's, each operation rounded and none of them joined.  Variables lie in the frame, from where
LLVM lifts them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager

from dp2emu.records import dataclass
from dp2emu.shader.formulas import Formula, program_of
from dp2emu.shader.jit.inline import emitted
from dp2emu.shader.jit.writer import Target, Writer, number
from dp2emu.shader.types import Type

Number = int | float

_FLOATS = {"float": 32, "double": 64}
_TYPES = {
    "float": Type.F32,
    "double": Type.F64,
    "i32": Type.I32,
    "i64": Type.I64,
    "i1": Type.BOOL,
}


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """Something of an LLVM type, of which operators make others; numbers become constants."""

    w: Writer
    type: str
    name: str

    def __add__(self, other: Value | Number) -> Value:
        return self._arithmetic("add", other)

    def __sub__(self, other: Value | Number) -> Value:
        return self._arithmetic("sub", other)

    def __mul__(self, other: Value | Number) -> Value:
        return self._arithmetic("mul", other)

    def __truediv__(self, other: Value | Number) -> Value:
        return self._same(f"fdiv {self.type}", other)

    def __floordiv__(self, other: Value | Number) -> Value:
        """An integer quotient, cut towards zero."""
        return self._same(f"sdiv {self.type}", other)

    def __and__(self, other: Value | Number) -> Value:
        return self._same(f"and {self.type}", other)

    def __or__(self, other: Value | Number) -> Value:
        return self._same(f"or {self.type}", other)

    def __xor__(self, other: Value | Number) -> Value:
        return self._same(f"xor {self.type}", other)

    def __lshift__(self, other: Value | Number) -> Value:
        return self._same(f"shl {self.type}", other)

    def __rshift__(self, other: Value | Number) -> Value:
        """An integer shifted, with its sign."""
        return self._same(f"ashr {self.type}", other)

    def __lt__(self, other: Value | Number) -> Value:
        return self._ordered("lt", other)

    def __le__(self, other: Value | Number) -> Value:
        return self._ordered("le", other)

    def __gt__(self, other: Value | Number) -> Value:
        return self._ordered("gt", other)

    def __ge__(self, other: Value | Number) -> Value:
        return self._ordered("ge", other)

    def equals(self, other: Value | Number) -> Value:
        """An i1; false if either is a NaN."""
        return self._compared("fcmp oeq" if self.type in _FLOATS else "icmp eq", other)

    def differs(self, other: Value | Number) -> Value:
        """An i1; true if either is a NaN."""
        return self._compared("fcmp une" if self.type in _FLOATS else "icmp ne", other)

    def below(self, other: Value | Number) -> Value:
        """Whether an integer is less, both read as unsigned."""
        return self._compared("icmp ult", other)

    def shifted(self, other: Value | Number) -> Value:
        """An integer shifted right, zeros coming in."""
        return self._same(f"lshr {self.type}", other)

    def choose(self, yes: Value, no: Value | Number) -> Value:
        """By an i1."""
        other = yes.like(no)
        return self._new(
            yes.type,
            f"select i1 {self.name}, {yes.type} {yes.name}, {yes.type} {other.name}",
        )

    def signed(self, type: str) -> Value:
        """An integer as a longer one or as a float."""
        word = "sitofp" if type in _FLOATS else "sext"
        return self._cast(word, type)

    def unsigned(self, type: str) -> Value:
        """The same, read as unsigned."""
        word = "uitofp" if type in _FLOATS else "zext"
        return self._cast(word, type)

    def cut(self, type: str) -> Value:
        """The low bits of an integer."""
        return self._cast("trunc", type)

    def wide(self) -> Value:
        """A float as a double."""
        return self._cast("fpext", "double")

    def narrow(self) -> Value:
        """A double rounded to a float."""
        return self._cast("fptrunc", "float")

    def whole(self, type: str) -> Value:
        """A float cut towards zero, as an integer of ``type`` that has room for it."""
        return self._cast("fptosi", type)

    def bits(self, type: str) -> Value:
        """The same bits as another type."""
        return self._cast("bitcast", type)

    def like(self, other: Value | Number) -> Value:
        """A number as a constant of this type."""
        if isinstance(other, Value):
            return other
        spelled = number(float(other)) if self.type in _FLOATS else str(int(other))
        return Value(self.w, self.type, spelled)

    def _arithmetic(self, word: str, other: Value | Number) -> Value:
        return self._same(f"{'f' if self.type in _FLOATS else ''}{word} {self.type}", other)

    def _ordered(self, order: str, other: Value | Number) -> Value:
        prefix = "fcmp o" if self.type in _FLOATS else "icmp s"
        return self._compared(prefix + order, other)

    def _compared(self, word: str, other: Value | Number) -> Value:
        return self._new("i1", f"{word} {self.type} {self.name}, {self.like(other).name}")

    def _same(self, word: str, other: Value | Number) -> Value:
        return self._new(self.type, f"{word} {self.name}, {self.like(other).name}")

    def _cast(self, word: str, type: str) -> Value:
        return self._new(type, f"{word} {self.type} {self.name} to {type}")

    def _new(self, type: str, instruction: str) -> Value:
        return Value(self.w, type, self.w(instruction))


@dataclass(frozen=True, slots=True)
class Variable:
    """A place in the frame."""

    code: Code
    type: str
    place: Value

    def get(self) -> Value:
        """What it is now."""
        return self.code.load(self.type, self.place)

    def set(self, value: Value | Number) -> None:
        """Make it something else."""
        self.code.store(Value(self.code.w, self.type, "").like(value), self.place)

    def add(self, amount: Value | Number) -> None:
        """Make it greater."""
        self.set(self.get() + amount)


class Code:
    """A function being written.  Mutable: it collects text.

    ``parameters`` are types and names; ``code["name"]`` is one of them.  Every way through has to
    end with ``give``.
    """

    def __init__(self, name: str, parameters: tuple[str, ...], result: str = "void") -> None:
        self.w = Writer(Target(), scalars=True)
        self.result = result
        pairs = [each.split() for each in parameters]
        self._parameters = {name: Value(self.w, type, f"%{name}") for type, name in pairs}
        given = ", ".join(f"{type} %{name}" for type, name in pairs)
        self.name = name
        self._given = given

    def __getitem__(self, name: str) -> Value:
        return self._parameters[name]

    def text(self, *, internal: bool = False) -> tuple[str, Writer]:
        """Header and body, as ``writer.module`` wants them."""
        linkage = "internal " if internal else ""
        return f"define {linkage}{self.result} @{self.name}({self._given}) nounwind", self.w

    def constant(self, type: str, value: Number) -> Value:
        """A number of an LLVM type."""
        return Value(self.w, type, "").like(value)

    def variable(self, type: str, value: Value | Number) -> Variable:
        """A variable of an LLVM type, with its first value."""
        made = Variable(self, type, self.room(type))
        made.set(value)
        return made

    def room(self, type: str, count: int = 1) -> Value:
        """Memory of the frame."""
        return Value(self.w, "ptr", self.w.allocate(type, count))

    def at(self, pointer: Value, index: Value | int, type: str = "i8") -> Value:
        """Where item ``index`` is, items being of a type."""
        offset = Value(self.w, "i64", "").like(index)
        what = f"getelementptr {type}, ptr {pointer.name}, {offset.type} {offset.name}"
        return Value(self.w, "ptr", self.w(what))

    def load(self, type: str, pointer: Value, index: Value | int = 0) -> Value:
        """An item, wherever it lies."""
        place = pointer if isinstance(index, int) and not index else self.at(pointer, index, type)
        return Value(self.w, type, self.w(f"load {type}, ptr {place.name}, align 1"))

    def store(self, value: Value, pointer: Value, index: Value | int = 0) -> None:
        """Store where a pointer points, ``index`` elements on."""
        place = pointer
        if not isinstance(index, int) or index:
            place = self.at(pointer, index, value.type)
        self.w.do(f"store {value.type} {value.name}, ptr {place.name}, align 1")

    def counted(self, pointer: Value) -> Value:
        """The aligned i64 where a pointer points, which is one more after that, whichever threads
        do the same.
        """
        what = f"atomicrmw add ptr {pointer.name}, i64 1 monotonic, align 8"
        return Value(self.w, "i64", self.w(what))

    def intrinsic(self, name: str, *operands: Value) -> Value:
        """LLVM's function of that name, whose result is of its operands' type."""
        type = operands[0].type
        suffix = {"float": "f32", "double": "f64"}.get(type, type)
        given = ((each.type, each.name) for each in operands)
        return Value(self.w, type, self.w.call(f"llvm.{name}.{suffix}", type, *given))

    def formula(self, formula: Formula, key: Hashable, *operands: Value) -> list[Value]:
        """The results of a formula, whose rows in ``operations`` have no constants of vectors."""
        given = [(_TYPES[each.type], each.name) for each in operands]
        names = emitted(self.w, formula, key, given)
        outputs = program_of(formula, key, tuple(type for type, _ in given)).outputs
        return [Value(self.w, self.w.vector(port.type), name)
                for port, name in zip(outputs, names, strict=True)]  # fmt: skip

    def call(self, callee: str, result: str, *operands: Value) -> Value:
        """A function of the module, or at an address; a void one gives nothing to use."""
        given = ", ".join(f"{each.type} {each.name}" for each in operands)
        if result == "void":
            self.w.do(f"call void {callee}({given})")
            return Value(self.w, result, "")
        return Value(self.w, result, self.w(f"call {result} {callee}({given})"))

    def give(self, value: Value | Number | None = None) -> None:
        """Return."""
        if value is None:
            self.w.do("ret void")
            return
        found = Value(self.w, self.result, "").like(value)
        self.w.do(f"ret {found.type} {found.name}")

    @contextmanager
    def when(self, condition: Value) -> Iterator[None]:
        """What is done if an i1 is set."""
        then, after = self.w.fresh_label(), self.w.fresh_label()
        self._branch(condition, then, after)
        self.w.label(then)
        yield
        self.w.do(f"br label {after}")
        self.w.label(after)

    @contextmanager
    def unless(self, condition: Value) -> Iterator[None]:
        """What is done if it is not."""
        with self.when(condition ^ 1):
            yield

    def give_if(self, condition: Value, value: Callable[[], Value] | Number | None = None) -> None:
        """Return early; a value that is computed is so only then."""
        then, after = self.w.fresh_label(), self.w.fresh_label()
        self._branch(condition, then, after)
        self.w.label(then)
        self.give(value() if callable(value) else value)
        self.w.label(after)

    @contextmanager
    def loop(self, stop: Value, start: Value | int = 0) -> Iterator[Value]:
        """Once for each i64 from ``start`` to below ``stop``."""
        n = self.variable("i64", start)
        with self.while_(lambda: n.get() < stop):
            here = n.get()
            yield here
            n.set(here + 1)

    @contextmanager
    def while_(self, condition: Callable[[], Value]) -> Iterator[None]:
        """As long as an i1 is set, which is computed before each round."""
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
