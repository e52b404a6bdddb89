"""What happens to calls by their rows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import dp2emu.retrace
from dp2emu.dp2.driver import Driver
from dp2emu.errors import Unsupported
from dp2emu.retrace.arguments import Arguments, Objects
from dp2emu.retrace.losses import KEPT, Losses
from dp2emu.retrace.program import METHODS, Method, Program, inert, lost, method, row_of
from tests.retrace.calls import Pointer, call, out, struct


@pytest.fixture
def program() -> Program:
    return Program(Driver(), lambda record: None)


@pytest.fixture
def table() -> Iterator[None]:
    """Rows made by a test are gone after it."""
    before = dict(METHODS)
    yield
    METHODS.clear()
    METHODS.update(before)


def reasons(program: Program) -> list[str]:
    return [str(loss) for loss in program.losses]


def test_every_address_of_an_object_is_known_until_it_is_forgotten() -> None:
    objects, one, other = Objects(), object(), object()
    for address in (1, 2, 3):
        objects.bind(address, one, call=address)
    objects.bind(2, other, call=9)
    assert (objects.addresses(one), objects.addresses(other)) == ([1, 3], [2])
    objects.forget_all(one)
    assert (objects.get(1), objects.get(2), objects.addresses(one)) == (None, other, [])
    objects.bind(0, one)
    assert objects.addresses(one) == []
    assert [objects.since(address) for address in (1, 2, 77)] == [1, 9, 0]


def test_many_objects_are_forgotten_one_by_one() -> None:
    objects, things = Objects(), [object() for _ in range(20_000)]
    for address, thing in enumerate(things, 1):
        objects.bind(address, thing)
    for thing in things:
        objects.forget_all(thing)
    assert list(objects) == []


def test_the_tables_of_direct3d_10_and_11_are_imported_only_for_traces_that_need_them() -> None:
    folder = Path(dp2emu.retrace.__file__).parent
    later = ("dp2emu.runtime10", "dp2emu.retrace.d3d11")
    for path in [*folder.glob("*.py"), *folder.glob("d3d9/*.py"), *folder.glob("ddraw/*.py")]:
        top = ast.parse(path.read_text("utf-8")).body
        named = [each.module or "" for each in top if isinstance(each, ast.ImportFrom)]
        assert [name for name in named if name.startswith(later)] == [], path.name
    assert row_of("ID3D11Device5::CreateBuffer") is METHODS["ID3D11Device::CreateBuffer"]


def test_a_function_nobody_knows_is_a_loss(program: Program) -> None:
    program.play(call("IDirect3DDevice9::Levitate", number=7))
    assert reasons(program) == ["call 7: IDirect3DDevice9::Levitate: not a function that is known"]


def test_rows_act_on_calls_that_succeeded(program: Program, table: None) -> None:
    seen: list[int] = []

    @method("I", "Do Did")
    def act(program: Program, arguments: Arguments) -> None:
        """Notes the
        value."""
        seen.append(arguments.integer("value"))

    program.play(call("I::Do", value=1))
    program.play(call("I::Did", value=2, result=-2005530516))
    assert seen == [1]
    assert METHODS["I::Did"] == Method("I::Did", act, "Notes the value.")
    assert not program.losses.total


def test_inert_rows_do_nothing_and_lost_ones_are_losses(program: Program, table: None) -> None:
    inert("I", "GetA GetB", "getter")
    lost("I", "Break", "there is no such thing")
    for name in ("GetA", "GetB", "Break"):
        program.play(call(f"I::{name}"))
    assert reasons(program) == ["call 0: I::Break: there is no such thing"]
    assert METHODS["I::GetB"].says == "getter"
    assert METHODS["I::Break"].says == "A loss: there is no such thing."


def test_a_call_that_was_never_left_is_a_loss(program: Program, table: None) -> None:
    method("I", "Do")(lambda program, arguments: None)
    program.play(call("I::Do", finished=False))
    assert reasons(program) == ["call 0: I::Do: the trace does not tell how it ended"]


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("text", lambda a: a.integer("x")),
        (b"", lambda a: a.real("x")),
        (1.5, lambda a: a.integer("x")),
        (3, lambda a: a.blob("x")),
        (3, lambda a: a.struct("x")),
        ((), lambda a: a.struct("x")),
        ((1, 2), lambda a: a.address("x")),
        (Pointer(5), lambda a: a.thing("x", int)),
        (3, lambda a: a.structs("x")),
        (3, lambda a: a.integer("y")),
        (((1.0, "a"),), lambda a: a.reals("x")),
    ],
)
def test_arguments_that_are_something_else_are_losses(
    program: Program, table: None, value: object, read: object
) -> None:
    method("I", "Do")(lambda program, arguments: read(arguments))  # type: ignore[operator]
    program.play(call("I::Do", x=value))
    assert program.losses.total == 1


def test_arguments_are_read_by_name(program: Program) -> None:
    program.objects.bind(0x10, "thing")
    arguments = Arguments(
        call("I::Do", a=True, b=(struct("S", x=1.5, y=(2.5, 3)),), c=out(0x10), d=None),
        program.objects,
    )
    assert arguments.dword("a") == 1
    assert arguments.reals("b") == [1.5, 2.5, 3.0]
    assert arguments.thing("c", str) == "thing"
    assert arguments.optional("d", str) is None
    assert not arguments.has("d")
    assert not arguments.has("e")


def test_stores_of_the_tracer_reach_the_lock_with_their_address(program: Program) -> None:
    from dp2emu.retrace import importing  # noqa: F401  (registers the table)
    from dp2emu.retrace.locks import Lock

    lock = Lock("thing", 3)
    program.locks.begin(0x100, lock)
    program.play(call("memcpy", dest=Pointer(0x100), src=b"abc", n=3))
    program.play(call("memcpy", number=4, dest=Pointer(0x200), src=b"abc", n=3))
    assert program.locks.end("thing", 3) is lock
    assert program.locks.end("thing", 3) is None
    assert lock.data == b"abc"
    assert reasons(program) == ["call 4: memcpy: memory that is not locked"]


def test_losses_beyond_those_kept_are_counted() -> None:
    losses = Losses()
    for number in range(KEPT + 5):
        losses.add(number, "I::Do", "why")
    assert (len(losses), len(list(losses)), losses.by_name) == (
        KEPT + 5,
        KEPT,
        {"I::Do": KEPT + 5},
    )


def test_values_that_make_no_sense_are_a_loss(program: Program, table: None) -> None:
    method("I", "Do")(lambda program, arguments: [].pop())  # type: ignore[arg-type, return-value]
    program.play(call("I::Do", number=3))
    assert reasons(program) == [
        "call 3: I::Do: values that make no sense there: IndexError: pop from empty list"
    ]


def test_what_still_waits_is_handed_in_at_the_end(program: Program) -> None:
    def fail() -> None:
        raise Unsupported("that")

    handed: list[str] = []
    program.play(call("malloc", number=9))
    program.endings += [lambda: handed.append("one"), fail, lambda: handed.append("two")]
    program.end()
    assert handed == ["one", "two"]
    assert reasons(program) == ["call 9: the end of the trace: that"]


def test_losses_are_told_by_function_and_reason() -> None:
    losses = Losses()
    for number in range(12):
        losses.add(number, "I::Do", "why")
    losses.add(20, "I::Do", "why not")
    assert list(losses.lines()) == [
        "calls 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more: I::Do: why",
        "call 20: I::Do: why not",
    ]


def test_every_loss_is_told_however_many_there_are() -> None:
    losses = Losses()
    for number in range(KEPT + 5):
        losses.add(number, "I::Do", "why")
    (line,) = losses.lines()
    assert line.endswith(f"9 and {KEPT - 5} more: I::Do: why")


def test_reasons_beyond_those_kept_are_told_by_function() -> None:
    losses = Losses()
    for number in range(KEPT + 5):
        losses.add(number, f"I::Do{number % 2}", f"why {number}")
    lines = list(losses.lines())
    assert lines[-2:] == [
        "3 calls more: I::Do0: for other reasons",
        "2 calls more: I::Do1: for other reasons",
    ]
    assert len(lines) == KEPT + 2
