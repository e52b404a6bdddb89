"""Result of the lowering: the program, and its inputs, outputs, samplers and constants."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import numpy as np

from dp2emu.d3d.enums import DeclUsage
from dp2emu.identity_cache import identity_cached
from dp2emu.shader.ir import Program, TextureKind
from dp2emu.shader.types import Lanes


class InputRegister(msgspec.Struct, frozen=True):
    """An input register that the program reads, with the usage of its dcl.

    Shaders of DirectX 8 have no dcl and name inputs by number alone.  If dcl gives the components
    of a register ``several`` usages, each usage is an input of its own.
    """

    register: int
    usage: DeclUsage | None = None
    index: int = 0
    several: bool = False

    @property
    def name(self) -> str:
        """Prefix of its ports: ``v3``, or with several usages ``v3_texcoord1``."""
        if self.usage is None or not self.several:
            return f"v{self.register}"
        return f"v{self.register}_{self.usage.name.lower()}{self.index}"


class DefinedConstant(NamedTuple):
    """A register set by def, defi or defb: its file ``c``, ``i`` or ``b``, and raw DWORDs."""

    file: str
    register: int
    words: tuple[int, ...]


class Lowered(msgspec.Struct, frozen=True):
    """A shader as a program.  Frozen and hashable, as the program is.

    ``outputs`` are registers by name, such as ``texcoord0`` or ``target0``; their components are
    ports.  ``samplers`` have the shader's numbers.  ``constants`` override uploaded registers:
    the program has them built in, except where it indexes the file at run time.
    """

    program: Program
    inputs: tuple[InputRegister, ...]
    outputs: tuple[str, ...]
    samplers: tuple[tuple[int, TextureKind], ...]
    constants: tuple[DefinedConstant, ...]
    writes_depth: bool
    kills: bool


def overlay_constants(file: str, uploaded: Lanes, constants: tuple[DefinedConstant, ...]) -> Lanes:
    """Uploaded registers of a file, shape (n, 4), or (n,) for ``b``, with a shader's constants on
    top.

    Returns the same array if the shader defines none; registers beyond the array are dropped.
    """
    registers, values = _own(constants, file, len(uploaded), uploaded.dtype)
    if not registers:
        return uploaded
    result = uploaded.copy()
    result[registers] = values
    return result


@identity_cached()
def _own(
    constants: tuple[DefinedConstant, ...], file: str, count: int, dtype: np.dtype[Any]
) -> tuple[list[int], Lanes]:
    """Register numbers below ``count`` that a shader defines in a file, and their values."""
    own = [each for each in constants if each.file == file and each.register < count]
    words = np.array([each.words for each in own], np.uint32)
    found = words[:, 0] != 0 if file == "b" and own else words.view(dtype)
    return [each.register for each in own], found
