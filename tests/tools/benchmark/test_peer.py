"""What the peer is told to draw, as far as that can be seen without it."""

from __future__ import annotations

import numpy as np
import pytest
from benchmark.peer import _layout, pixel_source, vertex_source
from benchmark.programs import SHADER_40
from benchmark.workloads import MODEL, SCREEN, WORKLOADS, Look, Size


@pytest.mark.parametrize(
    ("look", "has", "has_not"),
    [
        (Look(), (), ("texture(", "discard", "oC0")),
        (Look(texture=3), ("texture(",), ("discard", "oC0")),
        (Look(tested=True), ("discard",), ("texture(", "oC0")),
        (Look(texture=0, tested=True), ("texture(", "discard"), ("oC0",)),
        (Look(shader=SHADER_40), ("oC0",), ("texture(", "discard")),
    ],
)
def test_fragment_shaders_do_what_a_look_says(
    look: Look, has: tuple[str, ...], has_not: tuple[str, ...]
) -> None:
    source = pixel_source(look)
    assert source.startswith("#version 330") and source.count("{") == source.count("}")
    assert all(part in source for part in has)
    assert not any(part in source for part in has_not)


def test_alpha_is_tested_after_the_texture() -> None:
    source = pixel_source(Look(texture=0, tested=True))
    assert source.index("texture(") < source.index("discard")


def test_vertices_are_on_the_screen_or_of_a_model() -> None:
    assert "position.w" in vertex_source(None) and "world" not in vertex_source(None)
    assert "world" in vertex_source(WORKLOADS["mesh"](Size(0.001)).model)


def test_attributes_a_program_does_not_read_are_passed_over() -> None:
    screen, model = np.zeros(1, SCREEN), np.zeros(1, MODEL)
    every = {"position", "color", "uv"}
    assert _layout(screen, every) == ("4f 4f1 2f", "position", "color", "uv")
    assert _layout(screen, {"position", "uv"}) == ("4f 4x 2f", "position", "uv")
    assert _layout(model, {"position", "normal"}) == ("3f 3f", "position", "normal")
    assert SCREEN.itemsize == 28 and MODEL.itemsize == 24
