"""The triangle in front is in front: depth order against exact numbers.

``tools/raster_check.py`` does the same with a million triangles.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.gpu import ordering
from tests.gpu.ordering import disagreements, random_vertices


@pytest.mark.parametrize("seed", range(10))
def test_a_thousand_random_triangles_are_in_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert sum(disagreements(random_vertices(rng, 50)) for _ in range(20)) == 0


def test_what_is_out_of_order_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    vertices = random_vertices(np.random.default_rng(1), 50)
    right = ordering.drawn(vertices)
    behind = vertices.copy()
    behind[..., 2] = 1 - behind[..., 2]
    wrong = ordering.drawn(behind)
    monkeypatch.setattr(ordering, "drawn", lambda vertices: wrong)
    assert 0 < disagreements(vertices) <= np.count_nonzero(wrong != right)
