"""How large a thread group may be, by shader model (SM4-5 tokens, "Compute shaders")."""

from __future__ import annotations

from typing import NamedTuple

from dp2emu.errors import ShaderError
from dp2emu.shader.sm4.lower.lowered import Lowered4
from dp2emu.shader.sm4.versions import V4_0, V4_1, V5_0, Level


class GroupLimits(NamedTuple):
    """At most: threads of a group, those along z, bytes of shared memory, and u#."""

    threads: int
    z: int
    shared: int
    views: int


LIMITS: dict[Level, GroupLimits] = {
    V4_0: GroupLimits(768, 1, 1 << 14, 1),
    V4_1: GroupLimits(768, 1, 1 << 14, 1),
    V5_0: GroupLimits(1024, 64, 1 << 15, 8),
}


def check_group(lowered: Lowered4, level: Level) -> None:
    """Raises ShaderError for a compute shader that asks for more than its shader model has."""
    limits, (x, y, z) = LIMITS[level], lowered.threads
    shared = sum(4 * each.words for each in lowered.shared)
    complaints = (
        (not 1 <= x * y * z <= limits.threads, f"a group of {x} x {y} x {z} threads"),
        (z > limits.z, f"{z} threads along z"),
        (shared > limits.shared, f"{shared} bytes of shared memory"),
        *((u.number >= limits.views, f"u{u.number}") for u in lowered.unordered),
    )
    for broken, what in complaints:
        if broken:
            raise ShaderError(
                f"{what}, which shader model {level[0]}.{level[1]} has not", offset=0
            )
