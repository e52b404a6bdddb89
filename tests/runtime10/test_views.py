"""Views as an application describes them: the structures that the driver receives."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.resources.resource import ResourceType
from dp2emu.runtime10 import Api, DriverDevice, Refused, Resource, Span, TextureDesc, ViewDesc
from dp2emu.runtime10 import ViewDimension as D
from dp2emu.runtime10.views import VIEW_DIMENSIONS, view_structure

FLOAT = 41
SRV, RTV, DSV, UAV = VIEW_DIMENSIONS


def made(kind: ResourceType, *, samples: int = 1, slices: int = 1, levels: int = 1) -> Resource:
    side = 1 if kind is ResourceType.TEXTURE1D else 4
    depth = 4 if kind is ResourceType.TEXTURE3D else 1
    bind = 0x28 if samples > 1 else 0xA8
    desc = TextureDesc(kind, FLOAT, 4, side, depth, levels, slices, samples, bind=bind)
    return DriverDevice(Adapter(checking=True)).create_texture(desc)


def parts(noun: str, resource: Resource, desc: ViewDesc | None = None) -> tuple[Any, ...]:
    """Dimension, levels and slices of the structure of a view."""
    given = view_structure(Api.D3D11, noun, resource.desc, resource.memory, desc or ViewDesc())
    return tuple(given[2:7] if noun == SRV else given[2:6])


LINE, FLAT, VOLUME, CUBE = (
    ResourceType.TEXTURE1D,
    ResourceType.TEXTURE2D,
    ResourceType.TEXTURE3D,
    ResourceType.TEXTURECUBE,
)


@pytest.mark.parametrize(
    ("noun", "resource", "wanted"),
    [
        (SRV, made(FLAT, slices=3, levels=2), (FLAT, 0, 2, 0, 3)),
        (SRV, made(LINE, slices=2), (LINE, 0, 1, 0, 2)),
        (SRV, made(VOLUME, levels=3), (VOLUME, 0, 3, 0, 1)),
        (SRV, made(CUBE, slices=6), (CUBE, 0, 1, 0, 6)),
        (SRV, made(CUBE, slices=12), (CUBE, 0, 1, 0, 12)),
        (SRV, made(FLAT, samples=4, slices=2), (FLAT, 0, 1, 0, 2)),
        (RTV, made(FLAT, slices=3, levels=2), (FLAT, 0, 0, 3)),
        (RTV, made(VOLUME), (VOLUME, 0, 0, 4)),
        (RTV, made(CUBE, slices=6), (FLAT, 0, 0, 6)),
        (UAV, made(CUBE, slices=6), (FLAT, 0, 0, 6)),
    ],
)
def test_a_view_without_description_has_all_of_a_resource(
    noun: str, resource: Resource, wanted: tuple[Any, ...]
) -> None:
    assert parts(noun, resource) == wanted


@pytest.mark.parametrize(
    ("noun", "kind", "desc", "wanted"),
    [
        (SRV, FLAT, ViewDesc(levels=Span(1), slices=Span(2)), (FLAT, 1, 2, 2, 10)),
        (SRV, FLAT, ViewDesc(dimension=D.TEXTURE2D), (FLAT, 0, 3, 0, 1)),
        (SRV, CUBE, ViewDesc(dimension=D.TEXTURECUBE), (CUBE, 0, 3, 0, 6)),
        (SRV, CUBE, ViewDesc(cubes=Span(3, 1)), (CUBE, 0, 3, 3, 6)),
        (SRV, CUBE, ViewDesc(cubes=Span(1)), (CUBE, 0, 3, 1, 6)),
        (SRV, CUBE, ViewDesc(slices=Span(1, 2)), (FLAT, 0, 3, 1, 2)),
        (SRV, CUBE, ViewDesc(cubes=Span(2)), (CUBE, 0, 3, 2, 6)),
        (RTV, FLAT, ViewDesc(levels=Span(2), slices=Span(1, 0xFFFFFFFF)), (FLAT, 2, 1, 11)),
        (RTV, VOLUME, ViewDesc(levels=Span(1), slices=Span(1)), (VOLUME, 1, 1, 1)),
        (UAV, CUBE, ViewDesc(slices=Span(4, 1)), (FLAT, 0, 4, 1)),
        (SRV, FLAT, ViewDesc(dimension=D.TEXTURE2DMSARRAY, slices=Span(2, 3)), (FLAT, 0, 3, 2, 3)),
        (RTV, FLAT, ViewDesc(dimension=D.TEXTURE2DMS), (FLAT, 0, 0, 1)),
        (DSV, FLAT, ViewDesc(dimension=D.TEXTURE2DMSARRAY), (FLAT, 0, 0, 12)),
    ],
)
def test_a_view_has_the_described_levels_and_slices(
    noun: str, kind: ResourceType, desc: ViewDesc, wanted: tuple[Any, ...]
) -> None:
    slices = 1 if kind is VOLUME else 12
    assert parts(noun, made(kind, slices=slices, levels=3), desc) == wanted


@pytest.mark.parametrize("noun", VIEW_DIMENSIONS)
def test_every_kind_of_view_refuses_dimensions_that_it_does_not_have(noun: str) -> None:
    for dimension in set(D) - set(VIEW_DIMENSIONS[noun]) - {D.UNKNOWN}:
        with pytest.raises(Refused):
            parts(noun, made(FLAT), ViewDesc(dimension=dimension))


def test_a_format_that_the_resource_cannot_be_cast_to_is_refused() -> None:
    device = DriverDevice(Adapter(checking=True))
    texture = device.create_texture(TextureDesc(FLAT, FLOAT, 4, 4, bind=8))
    with pytest.raises(Refused, match="CreateShaderResourceView"):
        device.create_view(SRV, texture, ViewDesc(format=28))
