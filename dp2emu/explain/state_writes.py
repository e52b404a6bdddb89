"""Writes of state: the facts that tokens, and calls of the Direct3D 10/11 interface, store, also
those whose value stays the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from dp2emu.capture.entry_values import RAISED
from dp2emu.capture.records import EntryCalled
from dp2emu.capture.values import Structure
from dp2emu.d3d.sdk import sdk_name
from dp2emu.d3d.wirenames import WireRenderState, WireTextureStageState, WireTransformState
from dp2emu.dp2.context import Context
from dp2emu.dp2.states.raw_state import TOGETHER, transform_number
from dp2emu.gpu.resource.heap import Surface

Path = tuple[str, ...]
"""Type of the keys that lead to a fact of a state, or to a group of facts."""


class Paths:
    """Paths of facts in the order in which they were last added.  Mutable."""

    def __init__(self) -> None:
        self._paths: dict[Path, None] = {}
        self._above: set[Path] = set()

    def __iter__(self) -> Iterator[Path]:
        return iter(self._paths)

    def __contains__(self, path: Path) -> bool:
        """Whether a path was added, or one to a part of it or to a group that has it."""
        return path in self._above or any(
            path[:length] in self._paths for length in range(1, len(path) + 1)
        )

    def add(self, path: Path) -> None:
        """Add a path, as the last one."""
        self._paths.pop(path, None)
        self._paths[path] = None
        self._above.update(path[:length] for length in range(1, len(path)))

    def clear(self) -> None:
        """Remove all paths."""
        self._paths.clear()
        self._above.clear()


# Contexts of DirectX 6 to 9: the methods that store state note what they stored.


class _Method(NamedTuple):
    """A method that stores state: the object that has it, its name, and the paths of the facts
    that it stores, by the object and the arguments of a call.
    """

    owner: Callable[[Context], Any]
    name: str
    paths: Callable[..., Iterable[Path]]


def _context(context: Context) -> Context:
    return context


def _state(context: Context) -> Any:
    return context.state


def _shaders(context: Context) -> Any:
    return context.shaders


def _streams(context: Context) -> Any:
    return context.streams


def _textures(context: Context) -> Any:
    return context.textures


def _queries(context: Context) -> Any:
    return context.queries


def _fixed(*paths: Path) -> Callable[..., Iterable[Path]]:
    """A function that returns ``paths`` for any call."""
    return lambda *_: paths


def _first(*keys: str) -> Callable[..., Iterable[Path]]:
    """A function that returns the path of ``keys`` and the first argument."""
    return lambda _, number, *rest: ((*keys, str(number)),)


def _render_state(_: Any, state: int, value: int) -> Iterator[Path]:
    yield "render_states", sdk_name(WireRenderState, state) or str(state)


def _stage_state(_: Any, stage: int, state: int, value: int) -> Iterator[Path]:
    for each in TOGETHER.get(state, (state,)):
        yield "stages", str(stage), sdk_name(WireTextureStageState, each) or str(each)


def _transform(_: Any, kind: int, matrix: Any) -> Iterator[Path]:
    number = transform_number(kind)
    if number is not None:
        yield "transforms", sdk_name(WireTransformState, number) or str(number)


def _light(key: str) -> Callable[..., Iterable[Path]]:
    return lambda _, index, *rest: (("lights", str(index), key),)


def _texture(*keys: str) -> Callable[..., Iterable[Path]]:
    def paths(_: Any, surface: Surface, *rest: Any) -> Iterable[Path]:
        return [("textures", str(surface.handle), key) for key in keys]

    return paths


def _registers(key: str) -> Callable[..., Iterable[Path]]:
    def paths(constants: Any, name: str, first: int, data: Any) -> Iterable[Path]:
        return [(key, f"{name}{number}") for number, _ in constants.split(name, first, data)]

    return paths


_FORMAT = ("vertex_format",), ("declaration",)

_METHODS = (
    _Method(_context, "set_render_target", _first("targets")),
    _Method(_context, "set_depth_stencil", _fixed(("depth",))),
    _Method(_context, "set_indices", _fixed(("indices",))),
    _Method(_state, "set_render_state", _render_state),
    _Method(_state, "set_texture_stage_state", _stage_state),
    _Method(_state, "set_plain", lambda _, kind, value: ((kind.name.lower(),),)),
    _Method(
        _state, "set_viewport",
        _fixed(*(("viewport", key) for key in ("x", "y", "width", "height"))),
    ),
    _Method(_state, "set_z_range", _fixed(*(("viewport", key) for key in ("min_z", "max_z")))),
    _Method(_state, "set_scissor", _fixed(("scissor",))),
    _Method(_state, "set_transform", _transform),
    _Method(_state, "set_material", _fixed(("material",))),
    _Method(_state, "set_clip_plane", _first("clip_planes")),
    _Method(_state, "set_light", _light("light")),
    _Method(_state, "light_enable", _light("enabled")),
    _Method(_streams, "bind", _first("streams")),
    _Method(_streams, "bind_user_memory", _first("streams")),
    _Method(_streams, "set_frequency", _first("stream_frequencies")),
    _Method(_shaders, "set_vertex_shader", _fixed(*_FORMAT, ("vertex_shader",))),
    _Method(_shaders, "set_declaration", _fixed(*_FORMAT)),
    _Method(_shaders, "set_function", _fixed(("vertex_shader",))),
    _Method(_shaders, "set_pixel_shader", _fixed(("pixel_shader",))),
    _Method(_textures, "attach", _texture("palette", "alpha_palette")),
    _Method(_textures, "set_most_detailed", _texture("most_detailed")),
    _Method(_textures, "set_priority", _texture("priority")),
    _Method(_textures, "update", _first("palettes")),
    _Method(_queries, "create", _first("queries")),
    _Method(_queries, "issue", _first("queries")),
    _Method(
        lambda context: context.vertex_constants, "write", _registers("vertex_constants")
    ),
    _Method(lambda context: context.pixel_constants, "write", _registers("pixel_constants")),
)  # fmt: skip
"""The methods of a context and its parts that store state.  State that others store, such as
which objects exist, is left to a comparison of values."""


def observe(context: Context, note: Callable[[Path], object]) -> None:
    """From now on call ``note`` with the path of each fact that a token of a context stores."""
    for method in _METHODS:
        owner = method.owner(context)
        noting = partial(_noting, note, partial(method.paths, owner), getattr(owner, method.name))
        setattr(owner, method.name, noting)


def _noting(
    note: Callable[[Path], object],
    paths: Callable[..., Iterable[Path]],
    method: Callable[..., None],
    *arguments: Any,
) -> None:
    method(*arguments)  # a refused call, which raises, stores nothing
    for path in paths(*arguments):
        note(path)


# Devices of Direct3D 10 and 11: each function binds the slots that its arguments name.

_STAGES = ("Vs", "Hs", "Ds", "Gs", "Ps", "Cs")

_WHOLE = {
    "IaSetInputLayout": "IASetInputLayout",
    "IaSetIndexBuffer": "IASetIndexBuffer",
    "IaSetTopology": "IASetPrimitiveTopology",
    "SoSetTargets": "SOSetTargets",
    "SetRasterizerState": "RSSetState",
    "SetViewports": "RSSetViewports",
    "SetScissorRects": "RSSetScissorRects",
    "SetBlendState": "OMSetBlendState",
    "SetDepthStencilState": "OMSetDepthStencilState",
    "SetRenderTargets": "OMSetRenderTargets",
    "SetPredication": "SetPredication",
    **{f"{stage}SetShader": f"{stage.upper()}SetShader" for stage in _STAGES},
    **{f"{stage}SetShaderWithIfaces": f"{stage.upper()}SetShader" for stage in _STAGES},
}
"""Function of the DDI that sets all of a group of facts -> the group's key."""

_SLOTS = {
    "IaSetVertexBuffers": "IASetVertexBuffers",
    "CsSetUnorderedAccessViews": "CSSetUnorderedAccessViews",
    **{
        f"{stage}Set{noun}": f"{stage.upper()}Set{noun}"
        for stage in _STAGES
        for noun in ("ConstantBuffers", "ShaderResources", "Samplers")
    },
}
"""Function of the DDI whose arguments begin with the first slot and the objects to bind -> key of
the slots.
"""


def written_by(record: EntryCalled) -> Iterator[Path]:
    """Yield the paths of the facts that a recorded call of the Direct3D 10/11 DDI stores; none if
    it failed.
    """
    result = record.result
    if record.codes or (isinstance(result, Structure) and result.name == RAISED):
        return
    if record.entry in _WHOLE:
        yield (_WHOLE[record.entry],)
    elif record.entry in _SLOTS:
        match record.arguments:
            case (int(start), tuple(handles), *_):
                for slot in range(start, start + len(handles)):
                    yield _SLOTS[record.entry], str(slot)
