"""FIXME dp2emu.gpu.code.pixel_format_code"""

from __future__ import annotations
