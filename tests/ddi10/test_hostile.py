"""Whatever entries are called with, they do something or end in one clear error."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.resources.maps import Map
from dp2emu.ddi10.resources.resource import BindFlag, CreateResource, DxgiSampleDesc, ResourceType
from dp2emu.ddi10.resources.unordered_access import CreateUnorderedAccessView
from dp2emu.ddi10.resources.views import CreateShaderResourceView
from dp2emu.ddi10.states.state_objects import (
    BlendDesc1,
    DepthStencilDesc,
    RasterizerDesc,
    SamplerDesc,
)
from dp2emu.errors import Dp2Error
from tests.ddi10.drawing import tokens
from tests.ddi10.rendering import Drawing, infos

SLOT = "memory"
"""What entries that create call the memory they create in."""
_STATES = {
    "CreateBlendState": BlendDesc1,
    "CreateDepthStencilState": DepthStencilDesc,
    "CreateRasterizerState": RasterizerDesc,
    "CreateSampler": SamplerDesc,
}
_NUMBERS = st.sampled_from([0, 1, 2, 3, 4, 5, 8, 16, 28, 45, 255, 1 << 31, (1 << 32) - 1, -1])
_FLOATS = st.sampled_from([0.0, 0.5, 1.0, -1.5, 1e300, float("inf"), float("nan")])


class Caller:
    """A device in the middle of drawing, called with values that annotations allow."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data
        self.driven = Drawing(samples=data.draw(st.sampled_from([1, 4])))
        msgspec.structs.force_setattr(self.driven.adapter.contract, "checking", False)
        self.handles = [self.driven.color, self.driven.view, self.driven.deep]
        self.handles += [self.driven.deep_view, *self._textures()]
        buffer = self.driven.buffer(bytes(64), 0x13F)
        desc = CreateUnorderedAccessView(buffer, 42, ResourceType.BUFFER, NumElements=16)
        self.handles += [buffer, self.driven.make("UnorderedAccessView", desc)]

    def _textures(self) -> list[bytearray | None]:
        formats = st.sampled_from([f.value for f in DxgiFormat if f.name.startswith("R")])
        bind = BindFlag.SHADER_RESOURCE | BindFlag.UNORDERED_ACCESS
        desc = CreateResource(
            infos(2, 8, 8), None, ResourceType.TEXTURE2D, 0, bind,
            Format=self.data.draw(formats), SampleDesc=DxgiSampleDesc(), MipLevels=2,
        )  # fmt: skip
        try:
            made = self.driven.make("Resource", desc)
            view = CreateShaderResourceView(made, 0, ResourceType.TEXTURE2D)
            return [made, self.driven.make("ShaderResourceView", view)]
        except Dp2Error:
            return []

    def call(self, name: str) -> None:
        """An entry with arguments for its parameters; the counterpart of a map is called too."""
        function = self.driven.device.entries.get(name)
        if function is None:
            return
        hints = get_type_hints(plain(function))
        parameters = inspect.signature(function).parameters
        arguments = [
            self.argument(name, each, hints.get(each, Any))
            for each, parameter in parameters.items()
            if parameter.kind is not parameter.VAR_POSITIONAL
        ]
        try:
            self.driven.call(name, *arguments)
        except Dp2Error:
            return
        self.handles += [a for a in arguments if isinstance(a, bytearray) and len(a) == 16][-1:]

    def argument(self, name: str, parameter: str, hint: Any) -> Any:
        if name.startswith("Create") and parameter == SLOT:
            return bytearray(16)
        if parameter == "code":
            return tokens(
                self.data.draw(st.sampled_from(["vs_pass", "ps_color", "ps_texture", "cs5_fill"]))
            )
        if name in _STATES and parameter == "desc":
            return self.value(_STATES[name])
        return self.value(hint)

    def value(self, hint: Any) -> Any:
        """Something that an annotation allows."""
        origin = get_origin(hint)
        if origin in (types.UnionType, Union):
            return self.value(self.data.draw(st.sampled_from(get_args(hint))))
        if origin is not None and issubclass(origin, Sequence):
            count = self.data.draw(st.sampled_from([0, 1, 2, 4, 8]))
            return [self.value(get_args(hint)[0]) for _ in range(count)]
        if hasattr(hint, "_fields"):
            members = get_type_hints(hint)
            return hint(*(self.value(members[field]) for field in hint._fields))
        return self.data.draw(_PLAIN.get(hint, self.anything)())

    def anything(self) -> st.SearchStrategy[Any]:
        return st.sampled_from(self.handles)


_PLAIN: dict[Any, Callable[[], st.SearchStrategy[Any]]] = {
    int: lambda: _NUMBERS,
    float: lambda: _FLOATS,
    bytes: lambda: st.sampled_from([b"", b"1234", bytes(256)]),
    type(None): st.none,
}


def plain(function: Any) -> Any:
    """The function behind partial applications."""
    while isinstance(function, partial):
        function = function.func
    return function


NOT_HERE = {"DestroyDevice", "CreateQuery", "DestroyQuery", "QueryGetData", "CheckCounter"}


@given(st.data())
def test_any_calls_end_well(data: st.DataObject) -> None:
    caller = Caller(data)
    names = st.sampled_from(sorted(set(caller.driven.device.functions) - NOT_HERE))
    for _ in range(data.draw(st.integers(1, 12))):
        caller.call(data.draw(names))
    try:
        caller.driven.call("Draw", 4, 0)
        caller.driven.call("Flush")
    except Dp2Error as error:
        assert error.what


def test_a_map_that_is_left_open_hurts_nobody() -> None:
    driven = Drawing()
    buffer = driven.buffer(bytes(4))
    found = driven.device.functions["ResourceMap"](buffer, 0, Map.WRITE, 0)
    driven.call("DestroyResource", buffer)
    found.pData[:] = b"late"
    driven.call("Draw", 4, 0)
    assert driven.filled
