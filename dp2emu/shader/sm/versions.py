"""Shader versions of Direct3D 8 and 9, and tables with entries by version (SM1-3 tokens, "Token
stream").
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TypeVar

import msgspec

Level = tuple[int, int]
"""Type of a level: major and minor version number, which order the versions of one stage."""
V1_0, V1_1, V1_2, V1_3, V1_4 = (1, 0), (1, 1), (1, 2), (1, 3), (1, 4)
V2_0, V2_X, V2_SW = (2, 0), (2, 1), (2, 0xFF)
V3_0, V3_SW = (3, 0), (3, 0xFF)
T = TypeVar("T")


def entry(steps: Mapping[Level, T], level: Level) -> T | None:
    """The value of the latest version in ``steps`` up to ``level``; None if all are later.

    ``steps`` maps the versions that introduce a change to values, in ascending order.
    """
    found = None
    for first, value in steps.items():
        if first <= level:
            found = value
    return found


class Stage(Enum):
    """Shader stages of Direct3D 8 and 9; the value is the name in assembly text."""

    VERTEX = "vs"
    PIXEL = "ps"


class Version(msgspec.Struct, frozen=True):
    """The version of a shader: its stage, and the version of the shader model."""

    stage: Stage
    level: Level

    @property
    def token(self) -> int:
        """The first DWORD of a shader's code."""
        major, minor = self.level
        return _KINDS[self.stage] << 16 | major << 8 | minor

    @property
    def name(self) -> str:
        """The name in assembly text: ``vs_2_x``."""
        major, minor = self.level
        return f"{self.stage.value}_{major}_{_MINORS.get(self.level, minor)}"

    @property
    def has_lengths(self) -> bool:
        """Whether instruction tokens have a length field."""
        return self.level >= V2_0

    @property
    def is_ps_1_x(self) -> bool:
        """Whether the version is one of ps_1_0 to ps_1_4."""
        return self.stage is Stage.PIXEL and self.level < V2_0


_KINDS = {Stage.VERTEX: 0xFFFE, Stage.PIXEL: 0xFFFF}
_MINORS = {V2_X: "x", V2_SW: "sw", V3_SW: "sw"}
_LEVELS = {
    Stage.VERTEX: (V1_0, V1_1, V2_0, V2_X, V2_SW, V3_0, V3_SW),
    Stage.PIXEL: (V1_0, V1_1, V1_2, V1_3, V1_4, V2_0, V2_X, V2_SW, V3_0, V3_SW),
}
VERSIONS = tuple(Version(stage, level) for stage, levels in _LEVELS.items() for level in levels)
"""Every version.  1_0 differs from 1_1 in that vs_1_0 has no address register."""
BY_TOKEN = {version.token: version for version in VERSIONS}
BY_NAME = {version.name: version for version in VERSIONS}
