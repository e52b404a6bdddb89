"""Import of Direct3D 10, 10.1 and 11 with DXGI."""

from dp2emu.retrace.d3d11 import contexts, creation, drawing, dxgi, maps  # noqa: F401  (registers)
