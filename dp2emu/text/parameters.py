"""What the arguments of functions of the Direct3D 10/11 interface are called, for remarks."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache

from dp2emu.capture.entry_values import DXGI
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.codes import Interface


def remark_of(entry: str, count: int) -> str:
    """The names of the first ``count`` arguments of a function, "" of one that is not known."""
    return ", ".join(_names().get(entry, ())[:count])


@cache
def _names() -> Mapping[str, tuple[str, ...]]:
    """Of every function of the latest version that is built."""
    device = Adapter().create_device(Interface.D3D11_0, lambda layer, code: None)
    functions = dict(device.entries)
    functions |= {DXGI + name: each for name, each in device.dxgi_entries.items()}
    return {name: tuple(inspect.signature(each).parameters) for name, each in functions.items()}
