"""Matrices on the host, float32, every sum from left to right: the same bits on any machine.

A matrix is for row vectors, and leading axes are many of them.  Infinity and NaN are values like
any other.
"""

from __future__ import annotations

import numpy as np

from dp2emu.shader.types import F32


@np.errstate(all="ignore")
def product(left: F32, right: F32) -> F32:
    """left x right, shapes (..., n, k) and (..., k, m)."""
    terms = [left[..., :, k : k + 1] * right[..., k : k + 1, :] for k in range(left.shape[-1])]
    result, *rest = terms
    for term in rest:
        result = result + term
    return result


@np.errstate(all="ignore")
def normal_matrix(matrix: F32) -> F32:
    """The upper left 3x3 of the inverse transpose, shape (..., 3, 3): cofactors / determinant.

    An affine matrix has that of its own upper left 3x3.  A matrix without an inverse is used as
    it is.
    """
    m = matrix[..., :3, :3]
    cofactors = np.stack([_cross(m[..., 1, :], m[..., 2, :]),
                          _cross(m[..., 2, :], m[..., 0, :]),
                          _cross(m[..., 0, :], m[..., 1, :])], axis=-2)  # fmt: skip
    terms = m[..., 0, :] * cofactors[..., 0, :]
    determinant = terms[..., 0] + terms[..., 1] + terms[..., 2]
    affine = (matrix[..., 3] == np.array([0, 0, 0, 1], np.float32)).all(axis=-1)
    whole, volume = _cofactors(matrix)
    cofactors = np.where(affine[..., None, None], cofactors, whole)
    determinant = np.where(affine, determinant, volume)[..., None, None]
    inverse: F32 = np.where(determinant == 0, m, cofactors / determinant)
    return inverse


def _cofactors(matrix: F32) -> tuple[F32, F32]:
    """Cofactors of the upper left 3x3 of 4x4 matrices, and their determinants.

    A cofactor sums products of three from the left, a determinant along the first row.
    """
    rows = [
        [_minor(matrix, row, column) * np.float32(-1 if (row + column) % 2 else 1)
         for column in range(4)]
        for row in range(3)
    ]  # fmt: skip
    terms = [matrix[..., 0, column] * rows[0][column] for column in range(4)]
    volume: F32 = terms[0] + terms[1] + terms[2] + terms[3]
    upper = np.stack([np.stack(row[:3], axis=-1) for row in rows], axis=-2)
    return upper, volume


def _minor(matrix: F32, row: int, column: int) -> F32:
    """The determinant of what is left without a row and a column."""
    rows = [n for n in range(4) if n != row]
    columns = [n for n in range(4) if n != column]
    left = matrix[..., rows, :][..., columns]
    crossed = _cross(left[..., 1, :], left[..., 2, :])
    terms = left[..., 0, :] * crossed
    found: F32 = terms[..., 0] + terms[..., 1] + terms[..., 2]
    return found


def _cross(x: F32, y: F32) -> F32:
    first, second = [1, 2, 0], [2, 0, 1]
    return x[..., first] * y[..., second] - x[..., second] * y[..., first]


@np.errstate(all="ignore")
def unit(vectors: F32) -> F32:
    """Vectors of length 1, shape (..., 3); 0 stays 0."""
    squares = vectors * vectors
    size = np.sqrt(squares[..., 0] + squares[..., 1] + squares[..., 2])[..., None]
    scale: F32 = np.where(size > 0, np.float32(1) / size, np.float32(0))
    return vectors * scale
