"""Arguments are checked by the annotations of the function that takes them."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from functools import partial
from mmap import mmap
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, Protocol, TextIO

import msgspec
import numpy as np
import pytest

from dp2emu.argument_check import (
    Parameters,
    checked,
    checked_on_failure,
    hints_of,
    trusted,
    trusted_function,
    unchecked,
)
from dp2emu.errors import ArgumentError, Dp2Error, UsageError


class Color(IntEnum):
    RED = 1


class Point(NamedTuple):
    x: int
    y: float = 0.0


class Box(msgspec.Struct):
    low: Point
    name: str = ""


class Closable(Protocol):
    def close(self) -> None: ...


def fits(hint: Any, value: Any, contents: bool = False) -> bool:
    """Whether a value is accepted for a type hint."""

    def function(argument: Any) -> None: ...

    function.__annotations__["argument"] = hint
    parameters = Parameters(function)
    try:
        (parameters.check_contents if contents else parameters.check)([value], {})
    except ArgumentError:
        return False
    return True


@pytest.mark.parametrize(
    ("hint", "good", "bad"),
    [
        (int, (0, True, 1 << 64 - 1, np.uint8(3), Color.RED), (None, 1.0, "1", 1 << 70)),
        (float, (0, 1.5, np.float32(1)), (None, "1", 1j)),
        (bool, (False, 1), (None, "yes", 0.5)),
        (str, ("",), (None, b"", 1, Path())),
        (bytes, (b"", bytearray(2), memoryview(b"x")), ("", 3, [1], np.zeros(2))),
        (bytearray, (bytearray(),), (b"", None)),
        (int | None, (None, 1), ("x",)),
        (Color, (Color.RED, 1, 99), ("RED", None)),
        (Literal["a", "b"], ("a",), ("c", None)),
        (Callable[[int], int], (len,), (1, None)),
        (Sequence[int], ([1], (1,), np.zeros(2), b"x"), ("x", {1}, 1, np.float64(2))),
        (Iterable[int], ([1], {1}, iter([1])), ("x", 1, io.StringIO())),
        (Iterable[str], (["x"], io.StringIO()), ("x", 1)),
        (Mapping[str, int], ({},), ([], None)),
        (tuple[int, str], ((1, "x"), [1, "x"]), ((1,), (1, 2), 1)),
        (Path, (Path(),), ("x", None)),
        (TextIO, (io.StringIO(),), (io.BytesIO(), "x", 1)),
        (BinaryIO, (io.BytesIO(),), (io.StringIO(), b"x", 1)),
        (Point, (Point(1),), ((1, 2), None)),
        (Closable, (io.BytesIO(),), (1, None)),
        (Any, (1, None, "x"), ()),
    ],
)
def test_values_fit_annotations(hint: Any, good: tuple[Any, ...], bad: tuple[Any, ...]) -> None:
    assert [value for value in good if not fits(hint, value)] == []
    assert [value for value in bad if fits(hint, value)] == []


@pytest.mark.parametrize(
    ("hint", "value"),
    [(Sequence[int], ["x"]), (Point, Point("x")), (Box, Box(Point(None))), (Color, 99)],
)  # fmt: skip
def test_elements_and_members_are_looked_at_only_after_a_failure(hint: Any, value: Any) -> None:
    assert fits(hint, value) and not fits(hint, value, contents=True)


@checked
def scaled(sizes: Sequence[int], /, factor: int = 1, *more: int, name: str = "x") -> list[int]:
    """Sizes times a factor."""
    return [size * factor + sum(more) for size in sizes] or [len(name)]


def test_a_checked_function_works_as_before_and_keeps_its_name() -> None:
    assert scaled([1, 2], 3, 4, name="y") == [7, 10]
    assert scaled.__name__ == "scaled" and scaled.__doc__ == "Sizes times a factor."


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scaled(5), "scaled: sizes is 5, not Sequence"),
        (lambda: scaled([1], factor="2"), "scaled: factor is '2', not int"),
        (lambda: scaled([1], 2, 3, None), "scaled: more is None, not int"),
        (lambda: scaled([1], name=b"x"), "scaled: name is b'x', not str"),
        (lambda: scaled([None]), "scaled: sizes is a list, not Sequence"),
    ],
)
def test_the_first_unfit_argument_is_named(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message) as caught:
        call()
    assert isinstance(caught.value, UsageError) and isinstance(caught.value, TypeError)


@checked
class Counter:
    """A counter."""

    def __init__(self, start: int) -> None:
        self.count = start

    def add(self, number: int) -> None:
        """Add a number."""
        self.count += number

    @classmethod
    def of(cls, text: str) -> Counter:
        """The counter of a text."""
        return cls(int(text))

    @staticmethod
    def unit(name: str) -> str:
        """A name in capitals."""
        return name.upper()

    @checked_on_failure
    def divide(self, by: int) -> Any:
        """Divide by a number."""
        return self.count / by


def test_public_methods_of_a_checked_class_check_their_arguments() -> None:
    counter = Counter.of("4")
    counter.add(2)
    assert (counter.count, Counter.unit("a"), counter.divide(3)) == (6, "A", 2)
    for call in (
        partial(Counter, "x"), partial(counter.add, None), partial(Counter.of, 4),
        partial(Counter.unit, 4), partial(counter.divide, "x"),
    ):  # fmt: skip
        with pytest.raises(ArgumentError):
            call()
    assert counter.count == 6


def test_a_failure_with_fitting_arguments_stays_what_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        Counter(1).divide(0)
    with pytest.raises(ValueError, match="invalid literal") as caught:
        Counter.of("x")
    assert not isinstance(caught.value, Dp2Error)


def test_the_number_of_arguments_is_checked_where_it_is_data() -> None:
    parameters = Parameters(scaled, "Scale")
    parameters.check_all([[1]])
    with pytest.raises(ArgumentError, match="Scale takes 1 to 2 arguments, not 0"):
        parameters.check_all([])
    with pytest.raises(ArgumentError, match="Draw takes 2 arguments, not 3"):
        Parameters(lambda start, count: None, "Draw").check_all([1, 2, 3])


def test_annotations_for_type_checkers_only_are_not_checked() -> None:
    def function(argument: Missing) -> None: ...  # type: ignore[name-defined]  # noqa: F821

    assert hints_of(function) == {}
    Parameters(function).check([object()], {})


class Partly(msgspec.Struct):
    known: int
    unknown: Elsewhere  # type: ignore[name-defined]  # noqa: F821


def test_members_besides_those_for_type_checkers_only_are_checked() -> None:
    assert fits(Partly, Partly(1, 5), contents=True)
    assert fits(Partly, Partly("x", [5])) and not fits(Partly, Partly("x", [5]), contents=True)


def test_checks_import_nothing_large() -> None:
    code = "import sys, dp2emu.argument_check; print('numpy' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


def test_a_trusted_function_is_the_method_of_a_class_without_its_check() -> None:
    @checked
    class Sum:
        def __init__(self) -> None:
            self.total = 0.0

        def add(self, number: int) -> None:
            self.total += number

        @unchecked
        def add_any(self, number: float) -> None:
            self.total += number

        def get(self) -> float:
            return self.total

    found = Sum()
    with pytest.raises(ArgumentError):
        found.add(0.5)  # type: ignore[arg-type]
    for name in ("add", "add_any"):
        trusted_function(Sum, name)(found, 0.5)
    assert trusted_function(Sum, "get")(found) == 1.0


def test_values_of_known_types_fit_without_a_look_at_them() -> None:
    def call(
        size: int, points: Sequence[Point], box: Box | None, share: float, data: bytes
    ) -> None:
        """A function of arguments of several kinds."""

    known = {row.name: row.known for row in Parameters(call)._positional}
    assert known == {
        "size": frozenset(), "points": {tuple, list}, "box": {Box, type(None)},
        "share": {float, int}, "data": {bytes, bytearray, memoryview, mmap},
    }  # fmt: skip
    assert all(fits(Sequence[int], kind()) for kind in (tuple, list))


def test_a_trusted_method_is_the_method_without_its_check() -> None:
    @checked
    class Sum:
        total = 0

        def add(self, number: int) -> None:
            self.total += number

    found = Sum()
    trusted(found.add)(2)
    trusted(found.add)(0.5)  # type: ignore[arg-type]
    assert found.total == 2.5
    with pytest.raises(ArgumentError):
        found.add(0.5)  # type: ignore[arg-type]


def test_an_instance_of_any_class_of_a_union_fits_it() -> None:
    union = Point | Box | None
    assert all(fits(union, value) for value in (Point(1), Box(Point(1)), None))
    assert not fits(union, 1) and not fits(union, Color.RED)
    assert fits(Color | Box, 7), "numbers of Direct3D are open"
    assert not fits(union, Box("low"), contents=True)  # type: ignore[arg-type]
