"""What the latest draw was resolved to, kept as long as nothing of it changes."""

from __future__ import annotations

from collections.abc import Container

from dp2emu.d3d.enums import DeclMethod
from dp2emu.d3d.fvf import POSITION, fvf_layout
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.vertices import MESH_METHODS, VertexLayout
from dp2emu.dp2.programs import Source
from dp2emu.dp2.resolve import Resolved, Targets, resolve
from dp2emu.dp2.shaders import Format, Function
from dp2emu.dp2.state import State
from dp2emu.dp2.textures import Textures
from dp2emu.errors import Fault

_SourceKey = tuple[int | Format, Function | None, Function | None, Container[DeclMethod]]


class Latest:
    """The source and the state of the draw before.  Mutable: it remembers."""

    def __init__(self) -> None:
        self._resolved: tuple[tuple[Source, Targets, int], Resolved] | None = None
        self._source: tuple[_SourceKey, Source] | None = None

    def source(
        self,
        format: int | Format,
        interface: int,
        function: Function | None = None,
        pixel: Function | None = None,
        methods: Container[DeclMethod] = MESH_METHODS,
    ) -> Source:
        """One object as long as nothing of it changes, so that what hangs on it can stay.

        Raises Fault for an FVF code without a position.
        """
        key = format, function, pixel, methods
        if self._source is None or self._source[0] != key:
            if isinstance(format, int):
                source = Source(_fvf(format, interface), function, pixel, None, methods)
            else:
                source = Source(format.layout, function, pixel, format.tokens, methods)
            self._source = key, source
        return self._source[1]

    def resolved(
        self, state: State, source: Source, targets: Targets, interface: int, textures: Textures
    ) -> Resolved:
        """What a draw carries of the state.  Raises Fault for values that mean nothing."""
        key = source, targets, state.version
        if self._resolved is None or self._resolved[0] != key:
            bound = textures.at_stages()
            self._resolved = key, resolve(state, source, targets, interface, bound)
        return self._resolved[1]


def _fvf(code: int, interface: int) -> VertexLayout:
    if not code & POSITION:
        what = f"vertex format {code:#x} has no position"
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what)
    return fvf_layout(code, interface)
