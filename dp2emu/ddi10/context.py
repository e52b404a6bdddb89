"""What the parts of a device share: the GPU, its command buffer, and who watches promises."""

from __future__ import annotations

from typing import Any

from dp2emu.ddi10.codes import Interface
from dp2emu.ddi10.commands import Commands
from dp2emu.ddi10.contract import Contract
from dp2emu.ddi10.shared import Shared
from dp2emu.gpu.core import Gpu
from dp2emu.records import dataclass


@dataclass(frozen=True, slots=True)
class Context:
    """Of one device; ``shared`` is of its adapter."""

    gpu: Gpu
    commands: Commands
    contract: Contract
    interface: Interface
    shared: Shared[Any]
