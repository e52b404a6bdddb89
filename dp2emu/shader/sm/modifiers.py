"""Source modifiers, result modifiers and instruction controls, with their spelling (SM1-3 tokens,
"Source modifiers" and "Shader declarations").
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntFlag
from typing import NamedTuple

from dp2emu.d3d.sdk import SdkEnum
from dp2emu.shader.sm.versions import V1_0, V1_4, V2_0, V2_X, V3_0, Level, Stage, Version, entry


class SourceModifier(SdkEnum, prefix="D3DSPSM_"):
    """Functions applied to a source after its swizzle; ``SIGN`` is 2(v - 0.5), ``COMP`` 1 - v."""

    NONE = 0
    NEG = 1
    BIAS = 2
    BIASNEG = 3
    SIGN = 4
    SIGNNEG = 5
    COMP = 6
    X2 = 7
    X2NEG = 8
    DZ = 9
    DW = 10
    ABS = 11
    ABSNEG = 12
    NOT = 13


class ModifierRow(NamedTuple):
    """A source modifier: texts before and after the register, and by version whether it exists."""

    before: str
    after: str
    vs: Mapping[Level, bool] = {}
    ps: Mapping[Level, bool] = {}

    def exists(self, version: Version) -> bool:
        """Whether a shader version has the modifier."""
        steps = self.vs if version.stage is Stage.VERTEX else self.ps
        return entry(steps, version.level) or False


_ALL = {V1_0: True}
_EARLY = {V1_0: True, V2_0: False}
_ONE_FOUR = {V1_4: True, V2_0: False}

MODIFIERS = {
    SourceModifier.NONE: ModifierRow("", "", _ALL, _ALL),
    SourceModifier.NEG: ModifierRow("-", "", _ALL, _ALL),
    SourceModifier.BIAS: ModifierRow("", "_bias", {}, _EARLY),
    SourceModifier.BIASNEG: ModifierRow("-", "_bias", {}, _EARLY),
    SourceModifier.SIGN: ModifierRow("", "_bx2", {}, _EARLY),
    SourceModifier.SIGNNEG: ModifierRow("-", "_bx2", {}, _EARLY),
    SourceModifier.COMP: ModifierRow("1-", "", {}, _EARLY),
    SourceModifier.X2: ModifierRow("", "_x2", {}, _ONE_FOUR),
    SourceModifier.X2NEG: ModifierRow("-", "_x2", {}, _ONE_FOUR),
    SourceModifier.DZ: ModifierRow("", "_dz", {}, _ONE_FOUR),
    SourceModifier.DW: ModifierRow("", "_dw", {}, _ONE_FOUR),
    SourceModifier.ABS: ModifierRow("", "_abs", {V3_0: True}, {V3_0: True}),
    SourceModifier.ABSNEG: ModifierRow("-", "_abs", {V3_0: True}, {V3_0: True}),
    SourceModifier.NOT: ModifierRow("!", "", {V2_0: True}, {V2_X: True}),
}

MODIFIER_ALIASES = {"_db": "_dz", "_da": "_dw"}
"""ps_1_4 suffixes that divide texture coordinates: current spelling, by older spelling."""
BY_SPELLING = {(row.before, row.after): modifier for modifier, row in MODIFIERS.items()}


class ResultModifier(IntFlag):
    """D3DSPDM_*: flags of a destination."""

    SATURATE = 1
    PARTIALPRECISION = 2
    MSAMPCENTROID = 4


RESULT_SUFFIXES = {
    "sat": ResultModifier.SATURATE,
    "pp": ResultModifier.PARTIALPRECISION,
    "centroid": ResultModifier.MSAMPCENTROID,
}

SHIFT_SUFFIXES = {"x2": 1, "x4": 2, "x8": 3, "d2": -1, "d4": -2, "d8": -3}
"""Result shift n of each ps_1_x mnemonic suffix: the result is multiplied by 2**n."""


class Comparison(SdkEnum, prefix="D3DSPC_"):
    """Comparisons of ifc, breakc and setp."""

    GT = 1
    EQ = 2
    GE = 3
    LT = 4
    NE = 5
    LE = 6


class Sampling(SdkEnum, prefix="D3DSI_TEXLD_"):
    """Variants of texld from 2.0 on: plain, coordinates divided by w, or w as LOD bias."""

    PLAIN = 0
    PROJECT = 1
    BIAS = 2


class TextureType(SdkEnum):
    """Texture type of a declared sampler; UNKNOWN takes the type of the bound texture."""

    D3DSTT_UNKNOWN = 0
    D3DSTT_1D = 1
    D3DSTT_2D = 2
    D3DSTT_CUBE = 3
    D3DSTT_VOLUME = 4

    @property
    def suffix(self) -> str:
        """The suffix of ``dcl_`` in assembly text."""
        return self.name.removeprefix("D3DSTT_").lower()
