"""Records against the dataclasses of Python's library, which they are but for when they are
written.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, astuple, field, fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.records import Unwritten, lazily, write

Decorator = Callable[..., Any]

KINDS = {
    "plain": lambda default: default,
    "made": lambda _: field(default_factory=list),
    "unseen": lambda default: field(default=default, repr=False),
    "uncompared": lambda default: field(default=default, compare=False),
    "unhashed": lambda default: field(default=default, hash=False),
    "inner": lambda default: field(init=False, default=default),
    "inner_made": lambda _: field(init=False, default_factory=dict),
}
OPTIONS = [
    {"frozen": frozen, "eq": eq, "slots": slots}
    for frozen in (False, True)
    for eq in (False, True)
    for slots in (False, True)
]


def made(decorate: Decorator, kinds: list[str], options: dict[str, bool]) -> Any:
    """A class of a required field and others."""
    others = {f"f{n}": KINDS[kind](n) for n, kind in enumerate(kinds)}
    names = dict.fromkeys(["first", *others], "int")
    return decorate(**options)(type("Record", (), {"__annotations__": names, **others}))


def outcome(work: Callable[[], object]) -> object:
    """What comes of it; of an error, its type."""
    try:
        return work()
    except (TypeError, FrozenInstanceError, AttributeError) as error:
        return type(error)


def alike(one: object, other: object) -> bool:
    """Whether two that are there at the same time have the same hash."""
    return hash(one) == hash(other)


def seen(cls: Any) -> list[object]:
    """All that can be seen of a class."""
    one, other = cls(1), cls(2, 5)
    return [
        repr(one), repr(other), one == cls(1), one == other, one != cls(1), one.__eq__(3),
        outcome(lambda: alike(cls(2, []), cls(2, []))),
        outcome(lambda: alike(cls(1, 5), cls(1, 6))),
        outcome(cls), outcome(lambda: cls(first=1, nothing=2)),
        asdict(one), astuple(other), repr(replace(one, first=7)), repr(copy.copy(other)),
        [f.name for f in fields(cls)], str(inspect.signature(cls)),
        cls.__match_args__, outcome(lambda: setattr(one, "first", 3)),
        outcome(lambda: delattr(other, "first")),
    ]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_record_is_the_dataclass_of_the_library(kind: str, options: dict[str, bool]) -> None:
    """Of each kind of field."""
    kinds = ["plain", kind]
    ours, theirs = (made(each, kinds, options) for each in (lazily, dataclasses.dataclass))
    assert seen(ours) == seen(theirs)


@given(st.lists(st.sampled_from([*KINDS]), max_size=5), st.sampled_from(OPTIONS))
def test_any_fields_go_together(kinds: list[str], options: dict[str, bool]) -> None:
    """In any order."""
    ours, theirs = (
        made(each, ["plain", *kinds], options) for each in (lazily, dataclasses.dataclass)
    )
    assert seen(ours) == seen(theirs)


def test_methods_are_written_when_they_are_wanted() -> None:
    """And only those that are."""
    cls = made(lazily, ["plain"], {"frozen": True})
    assert {type(vars(cls)[name]) for name in ("__init__", "__eq__", "__hash__")} == {Unwritten}
    cls(1)
    assert not isinstance(vars(cls)["__init__"], Unwritten)
    assert isinstance(vars(cls)["__repr__"], Unwritten)


def test_methods_of_a_module_can_be_written_before() -> None:
    write(__name__)
    assert not isinstance(vars(Written)["__init__"], Unwritten)
    assert not isinstance(vars(Written)["__hash__"], Unwritten)
    assert isinstance(vars(Written)["__eq__"], Unwritten)


def test_own_methods_stay() -> None:
    """Those of the class's text."""

    @lazily(frozen=True, slots=True)
    class Own:
        x: int

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 5

    assert (repr(Own(1)), Own(1) == 7, hash(Own(1))) == ("own", True, 5)


def test_what_comes_after_init_is_called() -> None:
    """By who makes one and by who replaces a field."""

    @lazily(frozen=True)
    class Checked:
        x: int

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("below")

    with pytest.raises(ValueError, match="below"):
        replace(Checked(1), x=-1)


def test_a_record_may_be_of_another() -> None:
    """Its fields come after those."""

    @lazily(frozen=True, slots=True)
    class Base:
        x: int

    @lazily(frozen=True, slots=True)
    class More(Base):
        y: int = 2

    assert repr(More(1)).endswith("More(x=1, y=2)")
    assert More(1) != Base(1)


def test_one_may_be_referred_to_weakly() -> None:
    """If it says so."""
    cls = lazily(slots=True, weakref_slot=True)(type("W", (), {"__annotations__": {"x": "int"}}))
    one = cls(1)
    assert weakref.ref(one)() is one


@lazily(frozen=True)
class Written:
    """Whose module is written."""

    x: int


@lazily(frozen=True, slots=True)
class Pickled:
    """Where pickles find it."""

    x: int
    y: list[int] = field(default_factory=list)


def test_frozen_records_are_pickled() -> None:
    """And equal what comes back."""
    one = Pickled(1, [2])
    assert pickle.loads(pickle.dumps(one)) == one
    assert copy.deepcopy(one) == one


def test_without_docstring_it_has_its_name() -> None:
    """Which takes less time than its signature."""
    assert made(lazily, [], {}).__doc__ == "Record"


def test_a_start_writes_few_methods() -> None:
    """Of all there are after an import of the driver."""
    text = (
        "import sys, dp2emu.dp2.driver\n"
        "from dp2emu.records import Unwritten\n"
        "kinds = {c for m in list(sys.modules.values()) if m.__name__.startswith('dp2emu')\n"
        "         for c in vars(m).values() if hasattr(c, '__dataclass_fields__')\n"
        "         and isinstance(c, type)}\n"
        "inits = [isinstance(vars(c).get('__init__'), Unwritten) for c in kinds]\n"
        "assert len(inits) > 100 and sum(inits) > len(inits) / 2, (len(inits), sum(inits))\n"
    )
    subprocess.run([sys.executable, "-c", text], check=True)
