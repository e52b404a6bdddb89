"""What a token's row says when its layout is known and its execution is not built."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from dp2emu.dp2.table import Body
from dp2emu.errors import Unsupported

if TYPE_CHECKING:
    from dp2emu.dp2.context import Context


def unbuilt(thing: str, doc: str) -> Callable[[Context, Body], None]:
    """A handler that raises ``Unsupported(thing)``; ``doc`` documents the token's row."""

    def refuse(context: Context, body: Body) -> NoReturn:
        raise Unsupported(thing)

    refuse.__doc__ = doc
    return refuse
