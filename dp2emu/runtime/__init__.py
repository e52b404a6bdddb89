"""The application's half: build command buffers, submit them, read the answers.

``Device9`` is how Python programs author streams; ``Session`` is the layer below it, for those
who want to place every token themselves.
"""

from dp2emu.runtime.commands import CommandBuffer
from dp2emu.runtime.device9 import Device9
from dp2emu.runtime.moves import Rects
from dp2emu.runtime.objects import (
    Declaration,
    IndexBuffer,
    Light,
    Material,
    PixelShader,
    RectPatchInfo,
    Texture,
    TriPatchInfo,
    VertexElement,
    VertexShader,
)
from dp2emu.runtime.query import Query, QueryData, QueryState
from dp2emu.runtime.responses import Response, Responses, parse_responses
from dp2emu.runtime.session import Refused, Session, UserMemory

__all__ = [
    "CommandBuffer",
    "Declaration",
    "Device9",
    "IndexBuffer",
    "Light",
    "Material",
    "PixelShader",
    "Query",
    "QueryData",
    "QueryState",
    "RectPatchInfo",
    "Rects",
    "Refused",
    "Response",
    "Responses",
    "Session",
    "Texture",
    "TriPatchInfo",
    "UserMemory",
    "VertexElement",
    "VertexShader",
    "parse_responses",
]
