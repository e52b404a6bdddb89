"""A test bench: a rig with a Direct3D 9 device, whose traffic is recorded on a tape."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from os import PathLike
from typing import Any

import msgspec
from msgspec.structs import replace

from dp2emu.capture.records import TIMING, WAIT, Annotation, Answered, Called, ContextCreated
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format
from dp2emu.d3d.flags import Dp2Flags
from dp2emu.d3d.formats import COLOR
from dp2emu.d3d.fvf import fvf_size
from dp2emu.ddi10.adapter import Adapter
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.options import Options
from dp2emu.dp2.queries import KINDS
from dp2emu.errors import ResponseError, UsageError
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.device.timing import parse_timing
from dp2emu.gpu.resource.heap import SurfaceKind
from dp2emu.picture import rgba
from dp2emu.rig.interface import Rig
from dp2emu.rig.spec import EMULATOR, using_rig
from dp2emu.runtime import Device9
from dp2emu.runtime.commands import CommandBuffer
from dp2emu.runtime.responses import parse_responses
from dp2emu.runtime.session import COMMAND_BYTES
from dp2emu.scenario import Scenario, load_scenario
from dp2emu.shader.engines import JIT, engine
from dp2emu.testing.shot import Shot
from dp2emu.testing.tape import Tape
from dp2emu.text.commands import CallTokens
from dp2emu.text.contexts import Contexts

_RAW_CONTEXT = 2
"""Id of the context that ``Bench.submit`` uses; the ``Device9`` of a bench has context 1."""


class Setup(msgspec.Struct, frozen=True):
    """The options of a bench: ``rig`` as in ``rig.spec``, the emulator's ``timing`` and
    ``engine``, the path of a ``scenario``, the target's size in pixels, and the bytes of the
    command surface (None: the scenario's, else 64 KiB).
    """

    rig: str = EMULATOR
    timing: str | None = None
    engine: str = JIT
    scenario: str | PathLike[str] | None = None
    width: int = 64
    height: int = 64
    command_bytes: int | None = None

    def with_(self, given: dict[str, Any]) -> Setup:
        """A copy with the members in ``given`` replaced.  Raises UsageError for unknown names."""
        unknown = given.keys() - set(Setup.__struct_fields__)
        if unknown:
            raise UsageError(f"a bench has no {min(unknown)!r}")
        return replace(self, **given)

    def loaded(self) -> Scenario:
        """The scenario in file ``scenario``; empty if None.  Raises UsageError and OSError."""
        return Scenario() if self.scenario is None else load_scenario(self.scenario)

    @contextmanager
    def bench(self, name: str = "bench") -> Iterator[Bench]:
        """A context manager for a bench called ``name``.

        Raises UsageError for a scenario on a rig other than the emulator, and the errors of the
        rig, the scenario and the device.
        """
        scenario, options = self.loaded(), Options(engine=self.engine)
        model = parse_timing(self.timing) if self.timing else None
        size = self.command_bytes or scenario.command_bytes or COMMAND_BYTES
        tape = Tape(name)
        if self.rig == EMULATOR:
            driver = scenario.driver(options, model)
            _record_timing(tape, scenario, driver.gpu.timing.name)
            yield Bench(driver, tape, self.width, self.height, size)
            return
        if self.scenario is not None:
            raise UsageError(f"only the emulator has scenarios, not {self.rig}")
        with using_rig(self.rig) as rig:
            yield Bench(rig, tape, self.width, self.height, size)

    def adapter(self) -> Adapter:
        """A new emulated Direct3D 10/11 adapter that checks that runtime rules are kept."""
        scenario = self.loaded()
        model = parse_timing(self.timing) if self.timing else None
        return scenario.adapter(engine(self.engine), model, checking=True)


def _record_timing(tape: Tape, scenario: Scenario, name: str) -> None:
    """Record the timing model's name for replays, unless a script or scenario sets times."""
    if not scenario.deliveries and not name.startswith("scripted"):
        tape.write(Annotation(TIMING, name))


class Bench:
    """A ``rig`` with a Direct3D 9 ``device`` and direct DrawPrimitives2 calls, recorded on
    ``tape``.

    The device has a target of ``width`` x ``height`` pixels.  ``submit`` uses a second context
    with the same targets, so its query ids do not collide with the device's.  Mutable: calls
    change driver and tape.
    """

    def __init__(
        self, rig: Rig, tape: Tape, width: int, height: int, command_bytes: int = COMMAND_BYTES
    ) -> None:
        self.rig = rig
        self.tape = tape
        self.device = Device9(rig, width, height, command_bytes=command_bytes, record=tape.write)
        self.commands = CommandBuffer(command_bytes, self._full)
        self._seen = Contexts()

    @property
    def gpu(self) -> Gpu:
        """The emulator's GPU.  Raises UsageError for other rigs."""
        gpu = getattr(self.rig, "gpu", None)
        if not isinstance(gpu, Gpu):
            raise UsageError(f"{type(self.rig).__name__} shows no GPU")
        return gpu

    def emit(self, op: Op, items: Any = (), *, head: Any = None) -> Bench:
        """Append a token with ``head`` and ``items`` to the next call; returns the bench itself.

        Raises UsageError for an invalid token, and when the command surface is full.
        """
        self.commands.emit(op, items, head=head)
        return self

    def submit(
        self, commands: bytes | None = None, *, vertices: bytes = b"", fvf: int = 0
    ) -> Answer:
        """Submit ``commands``, by default the emitted ones, with ``vertices`` of format ``fvf`` in
        user memory.

        Errors of the driver are in the answer.  Raises the errors of the rig.
        """
        self.device.session.flush()
        sent = self.commands.take() if commands is None else commands
        call = self._composed(sent, vertices, fvf)
        self.tape.write(Called(call, time=self._now()))
        list(CallTokens(call, self._seen))  # notes the queries it creates
        answer = self.rig.submit(call)
        self.tape.write(Answered(answer))
        return answer

    def ask(self, commands: bytes | None = None, **more: Any) -> dict[int, bytes]:
        """Submit ``commands``, which must succeed; returns response payloads by query id.

        Raises ResponseError for a response that breaks the protocol, AssertionError for a failed
        call.
        """
        answer = self.submit(commands, **more)
        assert answer.ddrval == 0, str(answer.fault or hex(answer.ddrval))
        if answer.dwErrorOffset != len(answer.response):
            raise ResponseError(f"dwErrorOffset {answer.dwErrorOffset} is not the response's size")
        found = parse_responses(answer.response, self._size_of)
        return {record.query: record.data for record in found.records}

    def finish(self) -> None:
        """Let time pass until the GPU is idle and all answers are available."""
        self.device.session.flush()
        self.tape.write(Annotation(WAIT, "idle"))
        self.rig.finish()

    def shot(self, surface: Any = None) -> Shot:
        """A picture of a surface, by default the target, once the GPU is idle.

        Raises Unsupported for depth formats and multisampled surfaces.
        """
        desc = surface or self.device.back_buffer
        words = self.device.read_back(desc)
        return Shot(rgba(words, COLOR[Format(desc.format)].format), f"surface {desc.handle}")

    def save(self, path: str | PathLike[str]) -> None:
        """Write the tape as a capture, ending with the commands not submitted yet, as calls
        without answers.

        Raises OSError.
        """
        whole = Tape(self.tape.name)
        for record in (*self.tape.records(), *self._waiting()):
            whole.write(record)
        whole.save(path)

    def _waiting(self) -> Iterator[Called]:
        device = self.device.session.waiting
        if device is not None:
            yield Called(device, time=self._now())
        if len(self.commands) and "_context" in self.__dict__:
            yield Called(self._composed(self.commands.waiting, b"", 0), time=self._now())

    def _composed(self, commands: bytes, vertices: bytes, fvf: int) -> Call:
        size = fvf_size(fvf) if vertices else 0
        return Call(
            self._context,
            lpDDCommands=self._buffer,
            dwCommandLength=len(commands),
            commands=commands,
            dwFlags=int(Dp2Flags.USERMEMVERTICES) if vertices else 0,
            dwVertexType=fvf,
            dwVertexSize=size,
            dwVertexLength=len(vertices) // size if size else 0,
            vertices=vertices or None,
        )

    @cached_property
    def _buffer(self) -> int:
        size = self.commands.capacity
        return self.device.session.create_surface(SurfaceKind.MEMORY, size).handle

    @cached_property
    def _context(self) -> int:
        color, depth = self.device.back_buffer, self.device.depth_buffer
        handles = color.handle, depth.handle if depth else 0
        self.tape.write(ContextCreated(_RAW_CONTEXT, 9, *handles, self._now()))
        self.rig.create_context(_RAW_CONTEXT, color=handles[0], depth=handles[1])
        return _RAW_CONTEXT

    def _size_of(self, query: int) -> int | None:
        kind = self._seen.query_type(_RAW_CONTEXT, query)
        return KINDS[kind].layout.size if kind in KINDS else None

    def _now(self) -> int:
        return int(getattr(self.rig, "time", 0))

    def _full(self, commands: bytes) -> None:
        raise UsageError(f"more than {self.commands.capacity} bytes for one call")
