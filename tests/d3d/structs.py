"""Every structure that ``dp2emu.d3d`` declares, by its header name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from construct import Construct

from dp2emu.d3d import caps, ddi, devinfo, dp2structs, hal

STRUCTS: dict[str, Any] = {
    name: value
    for module in (dp2structs, devinfo, hal, caps, ddi)
    for name, value in vars(module).items()
    if isinstance(value, Construct) and name.startswith(("D3D", "DD_"))
}
"""Structures that are the same on 32- and 64-bit hosts."""

BY_ABI: dict[str, Callable[[int], Any]] = {**hal.BY_ABI, **caps.BY_ABI, **ddi.BY_ABI}
"""Structures that differ, as functions of the pointer size in bits."""

ALIASES: dict[tuple[str, str], str] = {**dp2structs.ALIASES, **hal.ALIASES}
"""(struct, other name of a union) -> the member that is declared."""


def struct(name: str, abi: int = 64) -> Any:
    """The construct of a header structure; ``abi`` is 32 or 64.  Raises KeyError."""
    return STRUCTS[name] if name in STRUCTS else BY_ABI[name](abi)
