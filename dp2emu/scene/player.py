"""Playing a scene: resources, then commands, on a device over the emulated driver."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from enum import Enum, auto
from typing import TypeVar

from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.driver import Driver
from dp2emu.errors import Dp2Error, Fault, SceneError, Unsupported, UsageError
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.runtime import (
    Declaration,
    Device9,
    IndexBuffer,
    PixelShader,
    Query,
    Refused,
    Texture,
    VertexShader,
)
from dp2emu.scene.document import PICTURE_PIXELS, SURFACE_PIXELS
from dp2emu.scene.fields import Fields
from dp2emu.scene.results import Problem, Results
from dp2emu.scene.values import DataReader, text

_T = TypeVar("_T")

LOST_QUERY = None
"""What an id stands for whose CreateQuery was refused: its commands are skipped."""


class Missing(Enum):
    """What an id stands for whose resource could not be made: every use of it is refused."""

    RESOURCE = auto()


Resource = (
    SurfaceDesc
    | IndexBuffer
    | Texture
    | Declaration
    | VertexShader
    | PixelShader
    | Query
    | Missing
    | None
)


class Player:
    """A device with a scene's resources on it, and the results so far.  Mutable throughout."""

    def __init__(self, driver: Driver, device: Device9) -> None:
        self.driver = driver
        self.device = device
        self.results = Results()
        self.problems: list[Problem] = []
        self.resources: dict[str, Resource] = {"backbuffer": device.back_buffer}
        if device.depth_buffer is not None:
            self.resources["depth"] = device.depth_buffer
        self.data = DataReader()
        self.pixels = 2 * device.back_buffer.width * device.back_buffer.height
        self.pictured = 0
        self.index = -1
        self._marks: list[tuple[int, int, int]] = []
        self._places: list[Fields] = []

    def perform(self, op: str, fields: Fields, action: Callable[[Player, Fields], None]) -> bool:
        """Do one command or make one resource; False if the rest would mean nothing after it.

        What the runtime refused is a failed call and the scene goes on; what the driver refused
        or lacks is a problem.  Raises SceneError for a command that breaks the schema.
        """
        self._marks.append((*self.device.session.position, self.index))
        self._places.append(fields)
        try:
            action(self, fields)
            fields.finish()
        except Refused as refusal:
            self.results.failed_calls.append(
                {"command": self.index, "call": op, "hr": hr_text(refusal.hr)}
            )
        except UsageError as error:
            raise SceneError(f"{fields.where}: {error.what}") from None
        except (Fault, Unsupported) as error:
            self.note(error)
            return False
        return True

    def note(self, error: Dp2Error) -> None:
        """Add a problem, at the command that brought the token it speaks of."""
        found = len(self._marks) - 1
        if error.call is not None and error.offset is not None:
            place = (error.call, error.offset, 1 << 62)
            found = max(bisect_right(self._marks, place) - 1, 0)
        index, where = self._marks[found][2], self._places[found].where
        self.problems.append(Problem(index, where, error))

    def add(self, name: str, resource: Resource) -> None:
        """Name a resource.  Raises UsageError if the name is taken."""
        if name in self.resources:
            raise UsageError(f"id {name!r} is used twice")
        self.resources[name] = resource

    def find(self, kind: type[_T]) -> Callable[[object], _T]:
        """A reader of ids of such resources."""

        def read(value: object) -> _T:
            name = text(value)
            resource = self.resources.get(name)
            if resource is Missing.RESOURCE:
                raise Refused(HResult.D3DERR_INVALIDCALL, f"{name} could not be made")
            if not isinstance(resource, kind):
                raise SceneError(f"{name!r} is no {_WORDS[kind]} of the scene")
            return resource

        return read

    def surface(self, value: object) -> SurfaceDesc:
        """A reader of surfaces: ``id``, ``id@level`` of a texture, ``id@face@level`` of a cube."""
        name, *numbers = text(value).split("@")
        if not numbers:
            return self.find(SurfaceDesc)(name)
        texture = self.find(Texture)(name)
        cube = texture.desc.kind is SurfaceKind.CUBETEXTURE
        if len(numbers) != 1 + cube or not all(re.fullmatch("[0-9]{1,2}", n) for n in numbers):
            raise SceneError(f"{value!r} is no surface of the texture")
        *face, level = map(int, numbers)
        return self.device.textures.surface(texture, level, *face)

    def query(self, value: object) -> tuple[str, Query | None]:
        """A reader of query ids: the name, and the query unless its creation was refused."""
        name = text(value)
        if name in self.resources and self.resources[name] is LOST_QUERY:
            return name, None
        return name, self.find(Query)(value)

    def claim_pixels(self, count: int) -> None:
        """Count pixels (of four bytes at most) about to be allocated.  Raises UsageError if there
        are too many.
        """
        self.pixels += count
        if self.pixels > SURFACE_PIXELS:
            raise UsageError("the scene's surfaces are too large together")

    def observe(self, surface: SurfaceDesc, label: str) -> None:
        """Take a picture of a surface when the GPU gets here.  Raises UsageError if those wanted
        are too large together: all are kept until the scene is over.
        """
        results = self.results
        self.pictured += surface.width * surface.height * surface.samples
        if self.pictured > PICTURE_PIXELS:
            raise UsageError("the scene's pictures are too large together")
        results.expect_image(label)
        self.device.session.flush()
        self.driver.observe(surface.handle, lambda seen: results.add_image(label, seen))


_WORDS: dict[type, str] = {
    SurfaceDesc: "surface",
    IndexBuffer: "index buffer",
    Declaration: "vertex declaration",
    VertexShader: "vertex shader",
    PixelShader: "pixel shader",
    Texture: "texture",
    Query: "query",
}


def hr_text(hr: int) -> str:
    """An HRESULT as scene results spell it."""
    return f"0x{hr & 0xFFFFFFFF:08x}"
