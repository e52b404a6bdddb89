"""What comes out of a lowering: a program, and what whoever binds things to it has to know."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dp2emu.d3d.enums import DeclUsage
from dp2emu.identity_cache import by_identity
from dp2emu.records import dataclass
from dp2emu.shader.ir import Program, TextureKind
from dp2emu.shader.types import Lanes


@dataclass(frozen=True, slots=True)
class InputRegister:
    """An input register the program reads, and the usage a dcl gave it.

    A shader without dcl, as DirectX 8 has them, knows its inputs by their number alone.  If dcl
    gave the components ``several`` usages, each usage is an input of its own.
    """

    register: int
    usage: DeclUsage | None = None
    index: int = 0
    several: bool = False

    @property
    def name(self) -> str:
        """What the ports of a vertex program call it: ``v3``, or of several ``v3_texcoord1``."""
        if self.usage is None or not self.several:
            return f"v{self.register}"
        return f"v{self.register}_{self.usage.name.lower()}{self.index}"


class OwnConstant(NamedTuple):
    """A register that def, defi or defb sets: its file ``c``, ``i`` or ``b``, and raw DWORDs."""

    file: str
    register: int
    words: tuple[int, ...]


@dataclass(frozen=True)
class Lowered:
    """A shader as a program.  Frozen and hashable, as the program is.

    ``outputs`` are registers by name, such as ``texcoord0`` or ``target0``, whose components are
    ports.  ``samplers`` have the number that the shader gives them.  ``constants`` take the place
    of what is uploaded: the program has them built in, but reads the file where it indexes.
    """

    program: Program
    inputs: tuple[InputRegister, ...]
    outputs: tuple[str, ...]
    samplers: tuple[tuple[int, TextureKind], ...]
    constants: tuple[OwnConstant, ...]
    writes_depth: bool
    kills: bool


def overlaid(file: str, uploaded: Lanes, constants: tuple[OwnConstant, ...]) -> Lanes:
    """Uploaded registers of a file, shape (n, 4) or (n,) for ``b``, with a shader's own on top.

    The same array if the shader has none there; its registers beyond the array are dropped.
    """
    registers, values = _own(constants, file, len(uploaded), uploaded.dtype)
    if not registers:
        return uploaded
    result = uploaded.copy()
    result[registers] = values
    return result


@by_identity()
def _own(
    constants: tuple[OwnConstant, ...], file: str, count: int, dtype: np.dtype[Any]
) -> tuple[list[int], Lanes]:
    """Numbers of a shader's own registers among ``count`` of a file, and what is in them."""
    own = [each for each in constants if each.file == file and each.register < count]
    words = np.array([each.words for each in own], np.uint32)
    found = words[:, 0] != 0 if file == "b" and own else words.view(dtype)
    return [each.register for each in own], found
