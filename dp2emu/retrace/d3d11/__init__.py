"""Import of Direct3D 10, 10.1 and 11 with DXGI."""

from dp2emu.retrace.d3d11 import (  # noqa: F401  (registers the methods)
    beyond,
    context_states,
    contexts,
    creation,
    drawing,
    dxgi,
    lifetimes,
    maps,
    marks,
    queries,
    sharing,
    state_blocks,
)
