"""The application's half: build command buffers, submit them, read the responses.

``Device9`` writes streams by the methods of Direct3D 9; ``Session``, the layer below, token by
token.
"""

from typing import TYPE_CHECKING

from dp2emu.lazy_import import lazy_names

if TYPE_CHECKING:
    from dp2emu.runtime.commands import CommandBuffer as CommandBuffer
    from dp2emu.runtime.device9 import Device9 as Device9
    from dp2emu.runtime.objects import Declaration as Declaration
    from dp2emu.runtime.objects import IndexBuffer as IndexBuffer
    from dp2emu.runtime.objects import Light as Light
    from dp2emu.runtime.objects import Material as Material
    from dp2emu.runtime.objects import PixelShader as PixelShader
    from dp2emu.runtime.objects import RectPatchInfo as RectPatchInfo
    from dp2emu.runtime.objects import Rects as Rects
    from dp2emu.runtime.objects import Texture as Texture
    from dp2emu.runtime.objects import TriPatchInfo as TriPatchInfo
    from dp2emu.runtime.objects import VertexElement as VertexElement
    from dp2emu.runtime.objects import VertexShader as VertexShader
    from dp2emu.runtime.query import Query as Query
    from dp2emu.runtime.query import QueryData as QueryData
    from dp2emu.runtime.query import QueryState as QueryState
    from dp2emu.runtime.responses import Response as Response
    from dp2emu.runtime.responses import Responses as Responses
    from dp2emu.runtime.responses import parse_responses as parse_responses
    from dp2emu.runtime.session import Refused as Refused
    from dp2emu.runtime.session import Session as Session
    from dp2emu.runtime.session import UserMemory as UserMemory

_HOMES = {
    "commands": ("CommandBuffer",),
    "device9": ("Device9",),
    "objects": (
        "Declaration",
        "IndexBuffer",
        "Light",
        "Material",
        "PixelShader",
        "RectPatchInfo",
        "Rects",
        "Texture",
        "TriPatchInfo",
        "VertexElement",
        "VertexShader",
    ),
    "query": ("Query", "QueryData", "QueryState"),
    "responses": ("Response", "Responses", "parse_responses"),
    "session": ("Refused", "Session", "UserMemory"),
}
"""Names by module, which is imported with the first use of a name."""

__all__ = [name for names in _HOMES.values() for name in names]

if not TYPE_CHECKING:  # so that a type checker reports unknown names
    __getattr__ = lazy_names(__name__, _HOMES)
