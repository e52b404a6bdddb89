"""The operations of texture stages against the model of rational numbers."""

from __future__ import annotations

import pytest

from dp2emu.d3d.enums import TextureArgument, TextureOp
from dp2emu.shader.fixed.pixel import (
    OPERATIONS,
    Argument,
    Combination,
    FixedPixel,
    TextureStage,
    pixel_program,
    reads_texture,
)
from dp2emu.shader.ir import TextureKind
from tests.shader.fixed.stages import MODEL, UNTOUCHED, World, drawn, modelled, rgba

ARG0 = Argument(TextureArgument.SPECULAR)
ARG1 = Argument(TextureArgument.CONSTANT)
ARG2 = Argument(TextureArgument.TFACTOR)
WORLDS = (
    World(),
    World(diffuse=rgba(2, 1, 4, 1), factor=rgba(1, 2, 1, 3), constants=[rgba(1, 0, 2, 1)] * 8),
    World(specular=rgba(1, 3, 4, 3), factor=rgba(1, 1, 0, 2), textures=[rgba(2, 1, 3, 3)] * 8),
)


def combination(op: TextureOp, *arguments: Argument) -> Combination:
    zero, one, two = arguments or (ARG0, ARG1, ARG2)
    return Combination(op, (zero, one, two))


def stages(color: Combination, alpha: Combination) -> tuple[TextureStage, ...]:
    """The stage that is tested, after one that makes CURRENT differ from the diffuse colour."""
    select = Combination(TextureOp.SELECTARG1, (ARG0, Argument(TextureArgument.SPECULAR), ARG0))
    first = TextureStage(select, select)
    last = TextureStage(combination(TextureOp.MODULATE, ARG0, Argument(TextureArgument.CURRENT),
                                    Argument(TextureArgument.CURRENT)),
                        texture=TextureKind.TEX2D)  # fmt: skip
    return first, TextureStage(color, alpha, texture=TextureKind.TEX2D), last


SELECT = combination(TextureOp.SELECTARG1)


def test_every_operation_has_a_row_and_a_model() -> None:
    assert set(OPERATIONS) == set(TextureOp)
    assert {*MODEL, *UNTOUCHED} == {op.name for op in TextureOp}


@pytest.mark.parametrize("op", TextureOp)
def test_operation_combines_colours_as_documented(op: TextureOp) -> None:
    for world in WORLDS:
        cascade = stages(combination(op), SELECT)
        assert drawn(FixedPixel(cascade), world)[0] == modelled(cascade, world)


@pytest.mark.parametrize("op", TextureOp)
def test_operation_combines_alphas_as_documented(op: TextureOp) -> None:
    for world in WORLDS:
        cascade = stages(SELECT, combination(op))
        assert drawn(FixedPixel(cascade), world)[0] == modelled(cascade, world)


def test_no_two_operations_are_confused_by_those_tests() -> None:
    def results(op: TextureOp) -> tuple[object, ...]:
        cascade = stages(combination(op), SELECT)
        return tuple(tuple(modelled(cascade, world)) for world in WORLDS)

    found = [results(op) for op in TextureOp if op.name not in UNTOUCHED[1:]]
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("complement", [False, True])
@pytest.mark.parametrize("alpha", [False, True])
@pytest.mark.parametrize("source", TextureArgument)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_argument_selects_modifies_and_stands_in_its_place(
    source: TextureArgument, place: int, alpha: bool, complement: bool
) -> None:
    arguments = [ARG0, ARG1, ARG2]
    arguments[place] = Argument(source, complement, alpha)
    tried = combination(TextureOp.LERP, *arguments)
    to_temp = TextureStage(SELECT, SELECT, temp=True)
    cascade = (to_temp, *stages(tried, tried))
    assert drawn(FixedPixel(cascade), World())[0] == modelled(cascade, World())


def test_dot_product_of_colours_is_alpha_too() -> None:
    dot = TextureStage(combination(TextureOp.DOTPRODUCT3), SELECT)
    found, _ = drawn(FixedPixel((dot,)), World())
    assert found == [found[0]] * 4


def test_premodulate_without_a_texture_next_is_its_argument() -> None:
    world = World()
    alone = TextureStage(combination(TextureOp.PREMODULATE))
    assert drawn(FixedPixel((alone,)), world)[0][:3] == world.constants[0][:3]
    bare = TextureStage(combination(TextureOp.SELECTARG2, ARG0, ARG0,
                                    Argument(TextureArgument.CURRENT)))  # fmt: skip
    assert drawn(FixedPixel((alone, bare)), world)[0][:3] == world.constants[0][:3]


@pytest.mark.parametrize("op", TextureOp)
def test_what_reads_the_texture_is_known_without_the_program(op: TextureOp) -> None:
    texture = Argument(TextureArgument.TEXTURE)
    for place in range(3):
        arguments = [ARG0, ARG1, ARG2]
        arguments[place] = texture
        tried = combination(op, *arguments)
        bump = op.name.startswith("BUMP")
        program = pixel_program(FixedPixel((TextureStage(tried, texture=TextureKind.TEX2D),)))
        sampled = any(port.name.startswith("texcoord") for port in program.inputs)
        assert reads_texture(tried) == (sampled or bump)


@pytest.mark.parametrize("op", TextureOp)
def test_operation_says_which_arguments_it_reads(op: TextureOp) -> None:
    """Those whose change can change the result."""

    def result(*arguments: Argument) -> object:
        cascade = stages(combination(op, *arguments), SELECT)
        return [modelled(cascade, world) for world in WORLDS]

    usual = [ARG0, ARG1, ARG2]
    read = []
    for place in range(3):
        other = [*usual]
        other[place] = Argument(TextureArgument.TEXTURE, complement=True)
        if result(*other) != result(*usual):
            read.append(place)
    assert OPERATIONS[op].arguments == tuple(read)
