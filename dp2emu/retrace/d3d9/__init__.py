"""Direct3D 9 of a traced program; importing this registers its methods."""

from dp2emu.retrace.d3d9 import (  # noqa: F401
    chains,
    drawing,
    queries,
    resources,
    root,
    shaders,
    states,
    surfaces,
)
