"""Functions of a device do not cost more with more objects that they do not use."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dp2emu.ddi10.resources.resource import BindFlag
from tests.ddi10.rendering import Rendering
from tests.scaling import assert_linear


def destroy(driven: Rendering) -> None:
    """A resource is destroyed after its view."""
    made = driven.texture(width=4, height=4)
    driven.call("DestroyRenderTargetView", driven.target(made))
    assert driven.call("DestroyResource", made) == []


def clear(driven: Rendering) -> None:
    view = driven.target(driven.texture(width=4, height=4))
    driven.call("ClearRenderTargetView", view, (0.0, 0.0, 0.0, 1.0))
    driven.call("Flush")


def update(driven: Rendering) -> None:
    """A buffer is created from memory, read back and destroyed."""
    made = driven.buffer(bytes(16))
    driven.call("DestroyResource", made)


def target(driven: Rendering) -> object:
    return driven.target(driven.texture(width=4, height=4))


OBJECTS: dict[str, Callable[[Rendering], object]] = {
    "targets": target,
    "buffers": lambda driven: driven.buffer(bytes(16)),
    "constants": lambda driven: driven.buffer(bytes(16), BindFlag.CONSTANT_BUFFER),
}


@pytest.mark.parametrize("objects", OBJECTS)
@pytest.mark.parametrize("use", [destroy, clear, update], ids=lambda use: use.__name__)
def test_functions_cost_the_same_with_more_objects(
    objects: str, use: Callable[[Rendering], None]
) -> None:
    def given(n: int) -> tuple[Rendering, int, list[object]]:
        driven = Rendering()
        return driven, n, [OBJECTS[objects](driven) for _ in range(n)]

    def perform(made: tuple[Rendering, int, list[object]]) -> None:
        driven, n, _ = made
        for _ in range(n):
            use(driven)

    assert_linear(given, perform, (4, 8, 16, 32) if use is destroy else (2, 4, 8, 16))
