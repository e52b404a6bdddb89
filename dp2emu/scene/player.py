"""The scene player: makes resources, performs operations, collects results and problems.

Both kinds of scenes are played here.  Their resources and operations come from tables; a
``Dialect`` and a subclass of ``Player`` have what else differs between the runtimes.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from dp2emu.errors import Dp2Error, Fault, SceneError, UsageError
from dp2emu.outputs import check_output, write_file
from dp2emu.scene.document import SURFACE_PIXELS, Scene
from dp2emu.scene.values import Argument, DataReader, Fields, PlayerReader, Spellings, text

_T = TypeVar("_T")
_Device = TypeVar("_Device")

Action = Callable[[Any, Fields], Any]
"""Function that performs an operation, or creates and returns a resource; parameters: the player,
and the JSON object of the operation or resource."""


class Problem(msgspec.Struct, frozen=True):
    """A failure of an operation or resource that ended a scene.

    ``command`` is the index of the operation, -1 for the device or a resource; ``where`` describes
    it in words; ``error`` is the error of the runtime or the driver, with call and offset.
    """

    command: int
    where: str
    error: Dp2Error

    def __str__(self) -> str:
        return f"{self.where}: {self.error}"


class SceneResult(msgspec.Struct, frozen=True):
    """The outcome of a scene.  ``problems`` is empty if every operation was performed.

    ``files`` are those written; ``queries`` and ``values`` are sections of the JSON file.
    """

    category: str
    name: str
    files: tuple[Path, ...]
    problems: tuple[Problem, ...]
    queries: dict[str, Any]
    values: dict[str, dict[str, Any]]


class Results(msgspec.Struct):
    """The results of a scene so far.  Mutable: the player fills the sections of ``document``.

    ``name`` begins the names of all files; ``document`` becomes the JSON file, ``files`` has the
    contents of the other files (pictures) by name.
    """

    name: str
    document: dict[str, Any]
    files: dict[str, bytes] = msgspec.field(default_factory=dict)

    def add_file(self, suffix: str, content: bytes) -> str:
        """Store a file to be written later; returns its name: ``name``, then ``suffix``."""
        file = self.name + suffix
        self.files[file] = content
        return file

    def write(self, folder: Path) -> tuple[Path, ...]:
        """Write all files, the JSON document last, and return their paths.

        Raises OSError; if one is a protected input, before it writes any.
        """
        folder.mkdir(parents=True, exist_ok=True)
        document = json.dumps(self.document, indent=1, allow_nan=False) + "\n"
        files = {**self.files, f"{self.name}.json": document.encode()}
        for file in files:
            check_output(folder / file)
        for file, content in files.items():
            write_file(folder / file, content)
        return tuple(folder / file for file in files)


def hr_text(hr: int) -> str:
    """An HRESULT as in scene results: ``0x`` and eight hexadecimal digits."""
    return f"0x{hr & 0xFFFFFFFF:08x}"


class Dialect(NamedTuple):
    """What differs between Direct3D 9 and 10 scenes: JSON keys, nouns for messages, exceptions."""

    kind: str
    """JSON key whose value says what a resource is, ``type`` or ``op``."""
    name: str
    """JSON key of the name by which operations refer to a resource, ``id`` or ``name``."""
    operation: str
    """The noun for an operation of a scene in error messages: "command" or "call"."""
    failed: tuple[str, str]
    """JSON keys, in the results, of a failed operation's index and of its name."""
    refused: type[Fault]
    """The runtime's exception for an operation that fails; it is recorded, the scene goes on."""
    problems: tuple[type[Dp2Error], ...]
    """Exceptions of an operation that end the scene and are recorded as a ``Problem``."""
    nouns: Mapping[type, str]
    """The noun by which error messages call a resource, by the type of the resource."""
    spellings: Spellings | None = None
    """Other spellings of JSON keys; None if keys are exact."""


class Missing(msgspec.Struct, frozen=True):
    """Stands for a resource whose creation failed: ``error`` is raised when the scene uses it."""

    error: Dp2Error


class Player(ABC, Generic[_Device]):
    """A device with the resources of a scene, and the results so far.  Mutable."""

    def __init__(self, dialect: Dialect, device: _Device, results: Results) -> None:
        self.dialect = dialect
        self.device = device
        self.results = results
        self.document = results.document
        self.problems: list[Problem] = []
        self.resources: dict[str, object] = {}
        self.data = DataReader()
        self.pixels = 0
        self.index = -1
        self._marks: list[tuple[int, int, int, str]] = []

    def play(
        self,
        scene: Scene,
        makers: Mapping[str, Action],
        operations: Mapping[str, Action],
        folder: Path,
    ) -> SceneResult:
        """Play a scene and write its results into ``folder``, unless it ended early.

        ``makers`` has the function that creates a resource by the resource's kind, ``operations``
        the function that performs an operation by its ``op``.
        """
        done = self._perform_all(scene, makers, operations)
        files = self.results.write(folder) if done else ()
        queries, values = self.document["queries"], self.document.get("values", {})
        return SceneResult(
            scene.category, scene.name, files, tuple(self.problems), queries, values
        )

    def _perform_all(
        self, scene: Scene, makers: Mapping[str, Action], operations: Mapping[str, Action]
    ) -> bool:
        for value in scene.resources:
            fields = Fields(value, "resource", self.dialect.spellings)
            kind, maker = _row(fields, self.dialect.kind, makers)
            name = fields.take(self.dialect.name, text)
            fields.where = f"resource {name!r}"
            if name in self.resources:
                raise SceneError(f"{fields.where}: the name is used twice")
            if not self.make(kind, name, fields, maker):
                return False
        self.start()
        for index, value in enumerate(scene.operations):
            self.index = index
            where = f"{self.dialect.operation} {index}"
            fields = Fields(value, where, self.dialect.spellings)
            name, action = _row(fields, "op", operations)
            fields.where += f" ({name})"
            if not self.perform(name, fields, action):
                return False
        self.index = len(scene.operations)
        end = "end of scene"
        return self.perform(end, Fields({}, end), lambda player, fields: player.finish())

    @abstractmethod
    def make(self, kind: str, name: str, fields: Fields, maker: Action) -> bool:
        """Create a resource by ``maker``, stored as ``name``; False if the scene cannot go on."""

    def start(self) -> None:
        """Called before the first operation, as for BeginScene; does nothing by default."""

    @abstractmethod
    def finish(self) -> None:
        """Called after the last operation, to end the scene and take its last pictures."""

    def position(self) -> tuple[int, int]:
        """(D3dDrawPrimitives2 call number, byte offset in it) of the next token; (0, 0) here."""
        return 0, 0

    def perform(self, name: str, fields: Fields, action: Action) -> bool:
        """Perform an operation; True if the scene goes on after it, False if an error ends it.

        Raises SceneError for an operation that breaks the schema.
        """
        self._marks.append((*self.position(), self.index, fields.where))
        try:
            action(self, fields)
            fields.finish()
        except self.dialect.refused as refusal:
            keys = (*self.dialect.failed, "hr")
            row = dict(zip(keys, (self.index, name, hr_text(refusal.hr)), strict=True))
            self.document["failed_calls"].append(row)
        except UsageError as error:
            raise SceneError(f"{fields.where}: {error.what}") from None
        except self.dialect.problems as error:
            self._note(error)
            return False
        return True

    def _note(self, error: Dp2Error) -> None:
        """Record an error as a ``Problem`` of the operation that wrote the token at the error's
        call and offset; without these, of the latest operation.
        """
        found = len(self._marks) - 1
        if error.call is not None and error.offset is not None:
            place = (error.call, error.offset, 1 << 62, "")  # after all marks of that offset
            found = max(bisect_right(self._marks, place) - 1, 0)
        _, _, index, where = self._marks[found]
        self.problems.append(Problem(index, where, error))

    def find(self, kind: type[_T]) -> Callable[[object], _T]:
        """A function that converts a resource's name to the resource, which must be of type
        ``kind``.

        It raises SceneError for other names, and the stored error if the resource's creation
        failed.
        """

        def read(value: object) -> _T:
            name = text(value)
            resource = self.resources.get(name)
            if isinstance(resource, Missing):
                raise resource.error
            if not isinstance(resource, kind):
                noun = self.dialect.nouns[kind]
                raise SceneError(f"expected the name of {noun} of the scene, got {name!r}")
            return resource

        return read

    def claim_pixels(self, count: int) -> None:
        """Add ``count`` pixels, of at most four bytes, that are about to be allocated to the
        scene's total.

        Raises UsageError if the total exceeds ``SURFACE_PIXELS``.
        """
        self.pixels += count
        if self.pixels > SURFACE_PIXELS:
            raise UsageError(f"the scene's surfaces have more than {SURFACE_PIXELS} pixels")


def _row(fields: Fields, key: str, table: Mapping[str, Action]) -> tuple[str, Action]:
    name = fields.take(key, text)
    if name not in table:
        raise SceneError(f"{fields.where}: unknown {key} {name!r}")
    return name, table[name]


def calling(function: Callable[..., Any], /, **arguments: Argument) -> Action:
    """An action that calls ``function`` with the device and the values read by ``arguments``."""
    return lambda player, fields: function(player.device, *fields.take_all(arguments, player))


def named(kind: type) -> PlayerReader:
    """Converts the name of a resource of type ``kind`` to the resource (``Player.find``)."""
    return PlayerReader(lambda player: player.find(kind))


DATA = PlayerReader(lambda player: player.data)
"""Reader of data objects in operations; their bytes count against the scene's size limit."""
