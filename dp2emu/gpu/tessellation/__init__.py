"""The fixed-function tessellator of Direct3D 11: factors of patches in, points and primitives out.

Source: SM4-5 tokens, "Tessellation".  All positions are integers in 1/65536; nothing here depends
on the order of patches, and nothing is computed point by point.
"""

from dp2emu.gpu.tessellation.factors import EDGES, INSIDES
from dp2emu.gpu.tessellation.tessellate import Counts, Tessellation, Tessellator

__all__ = ["EDGES", "INSIDES", "Counts", "Tessellation", "Tessellator"]
