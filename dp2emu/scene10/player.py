"""Playing a scene of Direct3D 10 or 11: objects by name, then calls, on the runtime's device."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dp2emu.errors import ContractError, Dp2Error, Fault, SceneError, ShaderError, Unsupported
from dp2emu.records import dataclass
from dp2emu.runtime10 import Device, Handle, Query, Refused, Resource, Result, Shader
from dp2emu.scene.document import SURFACE_PIXELS
from dp2emu.scene.fields import Fields
from dp2emu.scene.player import hr_text
from dp2emu.scene.results import Problem
from dp2emu.scene.values import DataReader, text
from dp2emu.scene10.document import Library
from dp2emu.scene10.results import Results

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Missing:
    """An object that could not be made, and why: what uses it fails likewise."""

    error: Dp2Error


Object = Handle | Query | Missing

_WORDS: dict[type, str] = {
    Handle: "object",
    Query: "query",
    Resource: "buffer or texture",
    Shader: "shader",
}

Action = Callable[["Player", Fields], None]


class Player:
    """A device with a scene's objects on it, and the results so far.  Mutable throughout."""

    def __init__(self, device: Device, library: Library) -> None:
        self.device = device
        self.shaders = library
        self.results = Results()
        self.problems: list[Problem] = []
        self.objects: dict[str, Object] = {}
        self.predicate: tuple[str | None, int] = None, 0
        self.data = DataReader()
        self.pixels = 0
        self.index = -1

    def make(self, fields: Fields, create: Callable[[Player, Fields], Handle | Query]) -> None:
        """Make an object and give it its name.

        What is not built is a problem only when something uses it.
        """
        name = fields.take("name", text)
        if name in self.objects:
            raise SceneError(f"{fields.where}: name {name!r} is used twice")
        try:
            made: Object = create(self, fields)
            fields.finish()
            self.results.create[name] = hr_text(Result.S_OK)
        except Refused as refusal:
            made = Missing(refusal)
            self.results.create[name] = hr_text(refusal.hr)
        except (Unsupported, ShaderError) as error:
            made = Missing(error)
        self.objects[name] = made

    def perform(self, op: str, fields: Fields, action: Action) -> bool:
        """Do one call; False if the rest would mean nothing after it.

        What the runtime refused is a failed call and the scene goes on; what the driver refused or
        lacks is a problem.  Raises SceneError for a call that breaks the schema.
        """
        try:
            action(self, fields)
            fields.finish()
        except Refused as refusal:
            self.results.failed_calls.append(
                {"call": self.index, "op": op, "hr": hr_text(refusal.hr)}
            )
        except (Fault, Unsupported, ShaderError, ContractError) as error:
            self.problems.append(Problem(self.index, fields.where, error))
            return False
        return True

    def find(self, kind: type[_T]) -> Callable[[object], _T]:
        """A reader of names of such objects.

        Raises what the object could not be made for, and SceneError for what is none.
        """

        def read(value: object) -> _T:
            found = self.objects.get(text(value))
            if isinstance(found, Missing):
                raise found.error
            if not isinstance(found, kind):
                raise SceneError(f"{value!r} is no {_WORDS[kind]} of the scene")
            return found

        return read

    def handle(self, value: object) -> bytearray | None:
        """A reader of names of objects, as what the driver knows them by; null is none."""
        return None if value is None else self.find(Handle)(value).memory

    def query(self, value: object) -> Query:
        """A reader of names of queries."""
        return self.find(Query)(value)

    def claim_pixels(self, count: int) -> None:
        """Count samples about to be allocated.  Raises SceneError if there are too many."""
        self.pixels += count
        if self.pixels > SURFACE_PIXELS:
            raise SceneError("the scene's textures are too large together")

    def targets(self) -> list[tuple[str, Resource]]:
        """Textures that can be drawn to, by name."""
        return [
            (name, found)
            for name, found in self.objects.items()
            if isinstance(found, Resource) and is_target(found)
        ]


_RENDER_TARGET = 0x20
"""D3D11_BIND_RENDER_TARGET."""


def is_target(resource: Resource) -> bool:
    """Whether a resource is a texture that can be drawn to."""
    return not resource.is_buffer and bool(resource.desc.BindFlags & _RENDER_TARGET)
