"""Fixed-function work as generators of programs, keyed by frozen records."""

from dp2emu.shader.fixed.pixel import pixel_program

__all__ = ["pixel_program"]
