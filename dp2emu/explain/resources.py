"""Bound resources of a context or device: textures as pictures, vertices, constants by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.fvf import fvf_layout
from dp2emu.d3d.vertices import Element, VertexLayout
from dp2emu.ddi10.device import Device
from dp2emu.ddi10.shaders.stages import Stage
from dp2emu.dp2.context import Context
from dp2emu.dp2.states.constants import Constants
from dp2emu.errors import Dp2Error, ShaderError, Unsupported
from dp2emu.explain.mesh import decoded, element_name
from dp2emu.gpu.command.packets import Stream
from dp2emu.gpu.resource.heap import Surface
from dp2emu.number_text import json_number
from dp2emu.outputs import write_file
from dp2emu.picture import DEPTHS, take_depth, take_picture
from dp2emu.shader.constant_names import NamedConstant, named_constants

Facts = dict[str, Any]

Subject = Context | Device
"""The object whose state is shown: a context of DirectX 6 to 9, or a device of 10 and 11."""


class Bound(NamedTuple):
    """A surface bound to a place of the pipeline, such as ``stage0`` or ``ps_t1``."""

    place: str
    surface: Surface


def bound_surfaces(subject: Subject) -> Iterator[Bound]:
    """Yield the textures and targets that are bound, textures first."""
    if isinstance(subject, Context):
        for number, surface in sorted(subject.textures.bound.items()):
            yield Bound(f"stage{number}", surface)
        yield from _targets(subject.targets.colors, subject.targets.depth)
        return
    for prefix, stage in subject.parts.stages.stages.items():
        for slot, view in sorted(stage.resources.items()):
            if not view.resource.is_buffer:
                yield Bound(f"{prefix.lower()}_t{slot}", view.surface())
    at = subject.parts.setters.bindings
    colors = [None if view is None else view.surface() for view in at.targets]
    yield from _targets(colors, None if at.depth is None else at.depth.surface())


def _targets(colors: Iterable[Surface | None], depth: Surface | None) -> Iterator[Bound]:
    for slot, surface in enumerate(colors):
        if surface is not None:
            yield Bound(f"target{slot}", surface)
    if depth is not None:
        yield Bound("depth", depth)


def write_pictures(subject: Subject, folder: Path) -> Facts:
    """Write a PNG file of the top level of each bound surface to ``folder``, which is created.

    Returns a row for each by its place, with ``surface``, ``file`` (None for a format without
    picture), ``width``, ``height`` and ``format``.  Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows: Facts = {}
    for place, surface in bound_surfaces(subject):
        handle = surface.handle or surface.serial
        row: Facts = {"surface": handle, "file": None}
        row |= {"width": surface.width, "height": surface.height, "format": surface.format.sdk}
        name = f"{place}_surface{handle}.png"
        try:
            take = take_depth if surface.format in DEPTHS else take_picture
            write_file(folder / name, take(surface).png)
            row["file"] = name
        except Unsupported as error:
            row["error"] = error.what
        rows[place] = row
    return rows


# Vertices


def bound_vertices(subject: Subject, count: int) -> Facts | None:
    """The first ``count`` vertices of the bound buffers, by element of the declaration.

    Integer formats yield integers, all others floats.  Elements of streams that are not bound are
    left out; None if no element is left.
    """
    layout, streams = _source(subject)
    elements = {
        element_name(each, None): each
        for each in layout.elements
        if each.stream in streams
    }  # fmt: skip
    if not elements:
        return None
    sources = tuple(streams.get(number) for number in range(max(streams) + 1))
    there = min([count, *(_whole(each, streams[each.stream]) for each in elements.values())])
    try:
        columns = decoded(elements, sources, np.arange(there))
    except Unsupported as error:
        return {"error": error.what}
    rows = zip(*(lane.tolist() for lane in columns.values()), strict=True)
    return {
        "columns": list(columns),
        "vertices": [[json_number(value) for value in row] for row in rows],
    }


def _source(subject: Subject) -> tuple[VertexLayout, Mapping[int, Stream]]:
    """The layout of vertices, and the buffers bound to streams."""
    if isinstance(subject, Context):
        streams = {
            n: each for n, each in subject.streams.bound.items() if isinstance(each, Stream)
        }
        shaders = subject.shaders
        if shaders.format is not None:
            return shaders.format.layout, streams
        try:
            return fvf_layout(shaders.vertex_format, subject.interface), streams
        except Dp2Error:
            return VertexLayout((), transformed=False), streams
    at = subject.parts.setters.bindings
    buffers = {
        slot: Stream(each.resource.surface, each.offset, each.stride)
        for slot, each in at.vertex_buffers.items()
    }
    return at.layout.layout, buffers


def _whole(element: Element, stream: Stream) -> int:
    """The number of vertices whose element begins inside of a buffer."""
    size = len(stream.data) if isinstance(stream.data, bytes) else stream.data.data.nbytes
    room = size - stream.offset - element.offset
    return -(-max(room, 0) // stream.stride) if stream.stride else 1


# Constants


def constants_by_name(subject: Subject) -> Facts:
    """The constants of the bound shaders that their tables name, by stage: register and values.

    A damaged table is an ``error``.
    """
    if isinstance(subject, Context):
        shaders = subject.shaders
        bound = (
            ("vertex", shaders.function, subject.vertex_constants),
            ("pixel", shaders.pixel, subject.pixel_constants),
        )
        found = {
            stage: _named(function.code, _Registers(constants))
            for stage, function, constants in bound
            if function is not None
        }
    else:
        found = {
            prefix.upper(): _named(stage.bound.code, _Buffers(stage))
            for prefix, stage in subject.parts.stages.stages.items()
            if stage.bound is not None and stage.bound.code is not None
        }
    return {stage: names for stage, names in found.items() if names}


class _Registers(NamedTuple):
    """Values of the registers of Direct3D 9."""

    constants: Constants

    def place(self, each: NamedConstant) -> str:
        return f"{each.file}{each.first}"

    def values(self, each: NamedConstant) -> list[Any] | None:
        file = self.constants.files.get(each.file)
        if file is None:
            return None
        return _numbers(file.values[each.first : each.first + each.count])


class _Buffers(NamedTuple):
    """Values in the constant buffers of a stage of Direct3D 10 and 11."""

    stage: Stage

    def place(self, each: NamedConstant) -> str:
        return f"{each.file}[{each.first // 16}].{'xyzw'[each.first // 4 % 4]}"

    def values(self, each: NamedConstant) -> list[Any] | None:
        buffer = self.stage.constants.get(int(each.file.removeprefix("cb")))
        if buffer is None:
            return None
        data = buffer.surface.data[each.first : each.first + each.count // 4 * 4]
        return _numbers(np.frombuffer(data.tobytes()[: len(data) // 4 * 4], "<f4"))


def _numbers(values: NDArray[Any]) -> list[Any]:
    return [
        [json_number(each) for each in row] if isinstance(row, list) else json_number(row)
        for row in values.tolist()
    ]


def _named(code: bytes, source: _Registers | _Buffers) -> Facts:
    try:
        found = named_constants(code)
    except ShaderError as error:
        return {"error": error.what}
    return {
        each.name: {"register": source.place(each), "values": source.values(each)}
        for each in found
    }
