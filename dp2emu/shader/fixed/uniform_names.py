"""Names of the scalars in the uniform file of fixed-function vertex programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from dp2emu.shader.fixed.records import FixedVertex
from dp2emu.shader.fixed.uniforms import (
    BLOCKS,
    LIGHT,
    LIGHT_SIZE,
    MATERIAL,
    MATERIAL_SIZE,
    MATRIX_SIZE,
    NORMAL_SIZE,
    uniform_layout,
)


def uniform_name(key: FixedVertex, scalar: int) -> str | None:
    """Return the name of a scalar of a key's uniform file, such as ``material.emissive.r``; None
    of one that the file does not have.
    """
    offsets, size = uniform_layout(key).offsets, uniform_layout(key).size
    if not 0 <= scalar < size:
        return None
    blocks = [name for name, (scalars, _) in BLOCKS.items() if scalars(key)]
    block = [name for name in blocks if offsets[name] <= scalar][-1]
    return _NAMES[block](key, scalar - offsets[block])


def _element(name: str, size: int, scalar: int, *, many: bool = True) -> str:
    """Row and column of a matrix of ``size`` scalars; ``many``: its number is in the name."""
    number, rest = divmod(scalar, size)
    row, column = divmod(rest, 4 if size == MATRIX_SIZE else 3)
    return f"{name}{number if many else ''}[{row}][{column}]"


def _of_matrix(name: str, size: int, key: FixedVertex, scalar: int) -> str:
    return _element(name, size, scalar, many=key.matrices > 1)


def _texture_name(key: FixedVertex, scalar: int) -> str:
    stages = [number for number, stage in enumerate(key.textures) if stage.count]
    stage, rest = divmod(scalar, MATRIX_SIZE)
    return _element(f"texture{stages[stage]}", MATRIX_SIZE, rest, many=False)


def _light_name(key: FixedVertex, scalar: int) -> str:
    number, rest = divmod(scalar, LIGHT_SIZE)
    assert key.lighting is not None
    for kind, first, count in key.lighting.runs:
        if number < first + count:
            return f"{kind.name.lower()}_light{number - first}.{_field(LIGHT, LIGHT_SIZE, rest)}"
    raise IndexError(scalar)


def _field(places: dict[str, int], size: int, scalar: int) -> str:
    """Field and component of a scalar of a record."""
    ends = dict(zip(places, [*places.values(), size][1:], strict=True))
    name = next(name for name, end in ends.items() if scalar < end)
    count, number = ends[name] - places[name], scalar - places[name]
    if count == 1:
        return name
    return f"{name}.{_LETTERS.get(name, 'rgba')[number]}"


_LETTERS = {"position": "xyz", "toward": "xyz", "attenuation": "012"}
"""Names of the components of fields that are no colours."""


def _one_of(block: str, fields: Sequence[str]) -> Callable[[FixedVertex, int], str]:
    return lambda key, scalar: f"{block}.{fields[scalar]}"


_NAMES: dict[str, Callable[[FixedVertex, int], str]] = {
    "clip_matrix": partial(_of_matrix, "clip_matrix", MATRIX_SIZE),
    "eye_matrix": partial(_of_matrix, "eye_matrix", MATRIX_SIZE),
    "normal_matrix": partial(_of_matrix, "normal_matrix", NORMAL_SIZE),
    "world_matrix": partial(_of_matrix, "world_matrix", MATRIX_SIZE),
    "clip_plane": lambda key, scalar: f"clip_plane{scalar // 4}.{'xyzw'[scalar % 4]}",
    "texture": _texture_name,
    "ambient": _one_of("ambient", "rgb"),
    "material": lambda key, scalar: f"material.{_field(MATERIAL, MATERIAL_SIZE, scalar)}",
    "lights": _light_name,
    "fog": _one_of("fog", ("start", "end", "density")),
    "point": _one_of("point", ("size", "scale_a", "scale_b", "scale_c", "viewport_height")),
    "tween": lambda key, scalar: "tween",
}
"""Name of a block -> function that returns the name of one of its scalars."""
