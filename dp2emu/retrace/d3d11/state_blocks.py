"""State blocks of Direct3D 10: state of a device that a program captures and applies again.

Source: the Direct3D 10 documentation of ID3D10StateBlock and D3D10_STATE_BLOCK_MASK.
"""

from __future__ import annotations

from collections.abc import Iterator

from dp2emu.capture.apitrace.values import Struct
from dp2emu.ddi10.shaders.stages import PREFIXES
from dp2emu.retrace.arguments import Arguments, flattened, integer
from dp2emu.retrace.d3d11.objects import bind_found, bind_new, perform
from dp2emu.retrace.program import NO_EFFECT, Program, inert, method
from dp2emu.runtime10.bindings import Children
from dp2emu.runtime10.context import Context
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.hazards import Call
from dp2emu.runtime10.pipeline_state import SLOTTED, WHOLE, memories

_BLOCKS = "ID3D10StateBlock"
_STATES = {
    "IAIndexBuffer": "IaSetIndexBuffer",
    "IAInputLayout": "IaSetInputLayout",
    "IAPrimitiveTopology": "IaSetTopology",
    "IAVertexBuffers": "IaSetVertexBuffers",
    "OMRenderTargets": "SetRenderTargets",
    "OMDepthStencilState": "SetDepthStencilState",
    "OMBlendState": "SetBlendState",
    "RSViewports": "SetViewports",
    "RSScissorRects": "SetScissorRects",
    "RSRasterizerState": "SetRasterizerState",
    "SOBuffers": "SoSetTargets",
    "Predication": "SetPredication",
    **{prefix.upper(): f"{prefix}SetShader" for prefix in PREFIXES},
    **{
        f"{prefix.upper()}{noun}": f"{prefix}Set{noun}"
        for prefix in PREFIXES
        for noun in ("ConstantBuffers", "ShaderResources", "Samplers")
    },
}
"""The function of the driver that sets a state, by member of the mask."""


class StateBlock:
    """ID3D10StateBlock: captured calls that set the masked state of a context.  Mutable.

    ``mask`` has the numbers of the slots for functions that bind to slots, none or any for others.
    """

    def __init__(self, device: Device, mask: dict[str, list[int]]) -> None:
        self.device = device
        self._mask = mask
        self._calls: list[Call] = []

    def capture(self) -> None:
        """Capture: keep the state, and the objects that are bound alive."""
        calls = list(self._current(self.device.context))
        owner: Children = self.device
        for memory in memories(calls):
            owner.bound(memory)
        self.release()
        self._calls = calls

    def _current(self, context: Context) -> Iterator[Call]:
        for entry, slots in self._mask.items():
            if entry in WHOLE and slots:
                yield entry, context.state.whole(entry)
            elif entry in SLOTTED:
                for slot in slots:
                    row = context.state.row(entry, slot)
                    yield entry, (slot, *((value,) for value in row))

    def apply(self, context: Context) -> None:
        """Apply: set the state again."""
        for entry, arguments in self._calls:
            context.do(entry, *arguments)

    def release(self) -> None:
        """Release, or ReleaseAllDeviceObjects: the objects may be destroyed."""
        calls, self._calls = self._calls, []
        for memory in memories(calls):
            self.device.unbound(memory)


def _mask(given: Struct) -> dict[str, list[int]]:
    """The numbers of the bits of each member, by function of the driver."""
    return {
        _STATES[name]: list(_bits(value))
        for name, value in zip(given.signature.members, given.members, strict=True)
        if name in _STATES
    }


def _bits(value: object) -> Iterator[int]:
    for place, byte in enumerate(flattened(value)):
        for bit in range(8):
            if integer(byte) >> bit & 1:
                yield 8 * place + bit


@method("", "D3D10CreateStateBlock")
def create_state_block(program: Program, call: Arguments) -> None:
    """Creates a state block, which is empty."""
    block = StateBlock(call.thing("pDevice", Device), _mask(call.struct("pStateBlockMask")))
    bind_new(call, "ppStateBlock", block)


@method(_BLOCKS, "Capture")
def capture(program: Program, call: Arguments) -> None:
    """Nothing for the driver: keeps the masked state."""
    call.thing("this", StateBlock).capture()


@method(_BLOCKS, "Apply")
def apply(program: Program, call: Arguments) -> None:
    """Sets the captured state."""
    block = call.thing("this", StateBlock)
    perform(program, call, block.device.context, lambda context, call: block.apply(context))


@method(_BLOCKS, "ReleaseAllDeviceObjects")
def release_objects(program: Program, call: Arguments) -> None:
    """Destroys captured objects that are not used otherwise."""
    call.thing("this", StateBlock).release()


@method(_BLOCKS, "Release")
def release(program: Program, call: Arguments) -> None:
    """Destroys captured objects that are not used otherwise, with the last reference."""
    if call.result == 0:
        block = call.thing("this", StateBlock)
        call.objects.forget_all(block)
        block.release()


@method(_BLOCKS, "QueryInterface")
def query_interface(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the new address means the same object."""
    call.bind(call.call.function.arguments[-1], call.thing("this", StateBlock))


@method(_BLOCKS, "GetDevice")
def get_device(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means the device."""
    bind_found(call, call.placed(1), [call.thing("this", StateBlock).device])


inert(_BLOCKS, "AddRef", "Adds a reference; Release tells which is the last.")
inert(
    "",
    "D3D10StateBlockMaskUnion D3D10StateBlockMaskIntersect D3D10StateBlockMaskDifference "
    "D3D10StateBlockMaskEnableCapture D3D10StateBlockMaskDisableCapture "
    "D3D10StateBlockMaskEnableAll D3D10StateBlockMaskDisableAll D3D10StateBlockMaskGetSetting",
    NO_EFFECT,
)
