"""All tables of methods: importing this registers them."""

from dp2emu.retrace import common, d3d8, d3d9, ddraw

__all__ = ["common", "d3d8", "d3d9", "ddraw"]
