"""State blocks of one context: recorded, created, captured and executed (wire format, "State
blocks").

A block is a table of Kind.  Recording notes what state tokens would have set, the last for
each setting; capturing gives every setting in the block the value there is now; executing writes
them, in the order in which they were last recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

from dp2emu.d3d.enums import StateBlockType
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.stateblocks import (
    PIXEL_RENDER_STATES,
    PIXEL_SAMPLER_STATES,
    PIXEL_STAGE_STATES,
    VERTEX_RENDER_STATES,
    VERTEX_SAMPLER_STATES,
    VERTEX_STAGE_STATES,
)
from dp2emu.dp2.states.raw_state import (
    CLIP_PLANES,
    RENDER_STATES,
    STAGE_ROWS,
    STAGE_STATES,
    STREAMS,
    TRANSFORMS,
)
from dp2emu.dp2.states.setting_kinds import COMMANDS, ONLY, Kind, stage_index
from dp2emu.dp2.states.settings import CONSTANTS, Key, read, write
from dp2emu.dp2.states.stage7 import stage_states
from dp2emu.errors import Fault
from dp2emu.limits import GENEROUS, Limits
from dp2emu.shader.stages import STAGES

if TYPE_CHECKING:
    from dp2emu.dp2.context import Context

Block = dict[Key, Any]


class Blocks:
    """The blocks by handle, and the one that is being recorded.  Mutable: tokens act on it.

    Methods raise Fault: D3DERR_DRIVERINVALIDCALL for what may not happen while a block is, or is
    not, recorded; DDERR_INVALIDPARAMS for a handle that is unknown; DDERR_OUTOFMEMORY beyond the
    limits.
    """

    def __init__(self, limits: Limits = GENEROUS) -> None:
        self._limits = limits
        self._blocks: dict[int, Block] = {}
        self._recording: tuple[int, Block] | None = None
        self._settings = 0

    @property
    def recording(self) -> int | None:
        """The block in which state tokens are recorded instead of executed, None for none."""
        return self._recording[0] if self._recording else None

    def sizes(self) -> dict[int, int]:
        """How many settings each block holds, by handle."""
        return {handle: len(block) for handle, block in sorted(self._blocks.items())}

    def begin(self, handle: int) -> None:
        """Record from now on."""
        self._idle("begun")
        self._recording = handle, {}

    def record(self, key: Key, value: Any) -> None:
        """Note a setting behind all others."""
        assert self._recording is not None
        _, block = self._recording
        if block.pop(key, None) is None:
            self._count(1)
        block[key] = value

    def recorded(self, key: Key) -> Any:
        """What the block that is recorded has for a setting, None for nothing."""
        return self._recording[1].get(key) if self._recording else None

    def end(self) -> None:
        """Keep what was recorded; a block that has the handle already is replaced."""
        if self._recording is None:
            raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, "no state block is being recorded")
        (handle, block), self._recording = self._recording, None
        self._settings -= len(block)
        self._keep(handle, block)

    def delete(self, handle: int) -> None:
        """Forget a block."""
        self._settings -= len(self._find(handle))
        del self._blocks[handle]

    def execute(self, context: Context, handle: int) -> None:
        """Set what the block says."""
        self._idle("executed")
        for key, value in self._find(handle).items():
            write(context, key, value)

    def capture(self, context: Context, handle: int) -> None:
        """Bring the values of a block up to date; what it holds stays the same."""
        self._idle("captured")
        block = self._find(handle)
        for key in block:
            block[key] = read(context, key)

    def create(self, context: Context, handle: int, type: int) -> None:
        """Make a block of a predefined kind, a D3DSTATEBLOCKTYPE, with the values there are.

        With ``Options.strict`` only from DirectX 8 on, which is when drivers are asked to.
        """
        self._idle("created")
        if context.options.strict and context.interface < 8:
            what = f"state block {handle} is created before DirectX 8"
            raise Fault(HResult.DDERR_INVALIDPARAMS, what)
        if type not in _KEYS:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"state block type {type}")
        self._keep(handle, {key: read(context, key) for key in _KEYS[type](context)})

    def _keep(self, handle: int, block: Block) -> None:
        old = self._blocks.get(handle)
        most = self._limits.objects
        if old is None and len(self._blocks) >= most:
            what = f"state block {handle} is too many, limit objects {most}"
            raise Fault(HResult.DDERR_OUTOFMEMORY, what)
        self._count(len(block) - len(old or ()))
        self._blocks[handle] = block

    def _count(self, number: int) -> None:
        most = self._limits.settings
        if self._settings + number > most:
            what = f"state blocks hold too many settings, limit settings {most}"
            raise Fault(HResult.DDERR_OUTOFMEMORY, what)
        self._settings += number

    def _find(self, handle: int) -> Block:
        found = self._blocks.get(handle)
        if found is None:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"no state block {handle}")
        return found

    def _idle(self, what: str) -> None:
        if self.recording is not None:
            raise Fault(
                HResult.D3DERR_DRIVERINVALIDCALL,
                f"a state block is {what} while {self.recording} is being recorded",
            )


# What the predefined kinds hold


def _all(context: Context) -> Iterator[Key]:
    """Stages come before render states, which before DirectX 8 may take their place.

    Constants come behind shaders, which in DirectX 8 may set them.
    """
    yield from _stages(STAGE_ROWS, range(STAGE_STATES))
    yield from _each(Kind.RENDER_STATE, _render_states(context))
    single = (Kind.VIEWPORT, Kind.Z_RANGE, Kind.W_RANGE, Kind.SCISSOR)
    yield from ((kind, ONLY) for kind in (*single, Kind.MATERIAL, Kind.INDICES, Kind.CONVOLUTION))
    yield from _each(Kind.TRANSFORM, TRANSFORMS)
    yield from _each(Kind.CLIP_PLANE, range(CLIP_PLANES))
    yield from _lights(context)
    yield from _each(Kind.STREAM, range(STREAMS))
    yield from _each(Kind.FREQUENCY, range(STREAMS))
    yield from _vertex_shader(context)
    yield from _pixel_shader(context)


def _pixel(context: Context) -> Iterator[Key]:
    yield from _stages(range(STAGES), PIXEL_STAGE_STATES)
    yield from _stages(STAGE_ROWS, PIXEL_SAMPLER_STATES)
    yield from _each(Kind.RENDER_STATE, PIXEL_RENDER_STATES)
    yield Kind.CONVOLUTION, ONLY
    yield from _pixel_shader(context)


def _vertex(context: Context) -> Iterator[Key]:
    yield from _stages(range(STAGES), VERTEX_STAGE_STATES)
    yield from _stages(STAGE_ROWS, VERTEX_SAMPLER_STATES)
    yield from _each(Kind.RENDER_STATE, VERTEX_RENDER_STATES)
    yield from _lights(context)
    yield from _vertex_shader(context)


_KEYS = {
    int(StateBlockType.ALL): _all,
    int(StateBlockType.PIXELSTATE): _pixel,
    int(StateBlockType.VERTEXSTATE): _vertex,
}


def _each(kind: Kind, numbers: Iterable[int]) -> Iterator[Key]:
    return ((kind, number) for number in sorted(numbers))


def _stages(stages: Iterable[int], states: Iterable[int]) -> Iterator[Key]:
    return ((Kind.STAGE_STATE, stage_index(*pair)) for pair in product(stages, sorted(states)))


def _render_states(context: Context) -> Iterator[int]:
    """All but those that are another way to say what a stage has."""
    for state in range(RENDER_STATES):
        of_stage = context.interface < 8 and stage_states(state, 0)
        if state not in COMMANDS and not of_stage:
            yield state


def _lights(context: Context) -> Iterator[Key]:
    made = context.state.lights.keys() | context.state.lights_enabled
    yield from _each(Kind.LIGHT, made)
    yield from _each(Kind.LIGHT_ENABLE, made)


def _vertex_shader(context: Context) -> Iterator[Key]:
    nines = (Kind.DECLARATION, Kind.FUNCTION)
    for kind in nines if context.interface >= 9 else (Kind.VERTEX_SHADER,):
        yield kind, ONLY
    yield from _registers(
        context, (Kind.VERTEX_FLOATS, Kind.VERTEX_INTEGERS, Kind.VERTEX_BOOLEANS)
    )


def _pixel_shader(context: Context) -> Iterator[Key]:
    yield Kind.PIXEL_SHADER, ONLY
    yield from _registers(context, (Kind.PIXEL_FLOATS, Kind.PIXEL_INTEGERS, Kind.PIXEL_BOOLEANS))


def _registers(context: Context, kinds: Iterable[Kind]) -> Iterator[Key]:
    for kind in kinds:
        name, of = CONSTANTS[kind]
        yield from _each(kind, range(len(of(context).files[name])))
