"""What states were resolved to, kept as long as they may come again.

An application goes back and forth between a few states, and resolving one costs more than all
else that is done for a small draw.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable
from typing import TypeVar

from dp2emu.d3d.enums import DeclMethod
from dp2emu.d3d.fvf import POSITION, fvf_layout
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.vertices import MESH_METHODS, VertexLayout
from dp2emu.dp2.constants import Constants
from dp2emu.dp2.programs import PixelStage, Source, VertexStage
from dp2emu.dp2.resolve import Resolved, Targets, resolve
from dp2emu.dp2.shaders import Format, Function
from dp2emu.dp2.state import State
from dp2emu.dp2.textures import Textures
from dp2emu.errors import Fault
from dp2emu.gpu.memory import Heap, Surface
from dp2emu.gpu.packets import Uniforms

ROOM = 256
"""Resolved states, and sources, that a context keeps; of more, those that came last."""

_NONE: Uniforms = {}
_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


class Resolutions:
    """What a context's states and vertex formats were resolved to.  Mutable: it remembers.

    It keeps no surface that has lost its handle, so that memory is free when bindings say so:
    ``forget`` is to be called when a handle goes.
    """

    def __init__(self, interface: int, heap: Heap) -> None:
        self._interface = interface
        self._heap = heap
        self._version = -1
        self._resolved: dict[Hashable, Resolved] = {}
        self._uniforms: dict[VertexStage | PixelStage, tuple[int, Uniforms]] = {}
        self._sources: dict[Hashable, Source] = {}

    def of(self, state: State, source: Source, targets: Targets, textures: Textures) -> Resolved:
        """What a draw carries.  Raises Fault and Unsupported as ``resolve`` does."""
        if state.version != self._version:
            self._version = state.version
            self.forget()
        bound = tuple(textures.bound.items())
        key = source, targets, bound, state.settings
        found = self._resolved.get(key)
        if found is None:
            found = resolve(state, source, targets, self._interface, textures.at_stages())
            if self._live((*targets.colors, targets.depth, *textures.bound.values())):
                _keep(self._resolved, key, found)
        return found

    def vertex_uniforms(self, resolved: Resolved, state: State, constants: Constants) -> Uniforms:
        """The numbers of the vertex program, made once as long as nothing changes them."""
        stage = resolved.vertex
        now = state.numbers if stage.shader is None else constants.version
        then, found = self._uniforms.get(stage, (-1, _NONE))
        if then != now:
            found = resolved.vertex_uniforms(state, constants)
            _keep(self._uniforms, stage, (now, found))
        return found

    def pixel_uniforms(self, resolved: Resolved, constants: Constants) -> Uniforms:
        """The same of the pixel program."""
        stage = resolved.pixel
        if stage.shader is None:
            return resolved.pixel_uniforms(constants)
        then, found = self._uniforms.get(stage, (-1, _NONE))
        if then != constants.version:
            found = resolved.pixel_uniforms(constants)
            _keep(self._uniforms, stage, (constants.version, found))
        return found

    def forget(self) -> None:
        """Drop every resolved state."""
        self._resolved.clear()
        self._uniforms.clear()

    def source(
        self,
        format: int | Format,
        function: Function | None = None,
        pixel: Function | None = None,
        methods: Container[DeclMethod] = MESH_METHODS,
    ) -> Source:
        """One object for the same format and shaders, so that what hangs on it can stay.

        Raises Fault for a format without a position.
        """
        key = format, function, pixel, methods
        found = self._sources.get(key)
        if found is None:
            if isinstance(format, int):
                found = Source(self._fvf(format), function, pixel, None, methods)
            else:
                found = Source(format.layout, function, pixel, format.tokens, methods)
            _keep(self._sources, key, found)
        return found

    def _fvf(self, code: int) -> VertexLayout:
        if not code & POSITION:
            what = f"vertex format {code:#x} has no position"
            raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what)
        return fvf_layout(code, self._interface)

    def _live(self, surfaces: Iterable[Surface | None]) -> bool:
        """Whether all of them are still known by their handles."""
        get = self._heap.get
        return all(surface is None or get(surface.handle) is surface for surface in surfaces)


def _keep(known: dict[_K, _V], key: _K, value: _V) -> None:
    """Add an entry; the oldest makes room."""
    if len(known) >= ROOM:
        del known[next(iter(known))]
    known[key] = value
