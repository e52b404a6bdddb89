"""Shader model 4 and 5 versions (SM4-5 tokens, "Program tokens")."""

from __future__ import annotations

from enum import Enum

import msgspec

from dp2emu.shader.cursor import Bits

Level = tuple[int, int]
"""Type of a level: major and minor version number."""
V4_0, V4_1, V5_0 = (4, 0), (4, 1), (5, 0)
_TYPE, _MAJOR, _MINOR = Bits(16, 16), Bits(4, 4), Bits(0, 4)


class Stage(Enum):
    """The kinds of shaders; the value is their name in assembly text."""

    PIXEL = "ps"
    VERTEX = "vs"
    GEOMETRY = "gs"
    HULL = "hs"
    DOMAIN = "ds"
    COMPUTE = "cs"


class Version(msgspec.Struct, frozen=True):
    """The version of a shader: its stage, and the version of the shader model."""

    stage: Stage
    level: Level

    @property
    def token(self) -> int:
        """The first DWORD of a program."""
        major, minor = self.level
        type = list(Stage).index(self.stage)
        return _TYPE.put(type) | _MAJOR.put(major) | _MINOR.put(minor)

    @property
    def name(self) -> str:
        """The name in assembly text: ``vs_4_0``."""
        major, minor = self.level
        return f"{self.stage.value}_{major}_{minor}"


_FIRST = {Stage.HULL: V5_0, Stage.DOMAIN: V5_0}

VERSIONS = tuple(
    Version(stage, level)
    for stage in Stage
    for level in (V4_0, V4_1, V5_0)
    if level >= _FIRST.get(stage, V4_0)
)
"""Every version; hull and domain shaders came with 5.0."""

BY_TOKEN = {version.token: version for version in VERSIONS}
BY_NAME = {version.name: version for version in VERSIONS}
