"""The op table against a model in exact arithmetic, at the edges of every type and anywhere."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dp2emu.shader.ops import OPS, canonical
from dp2emu.shader.types import Lanes, Type
from tests.shader.models import (
    DOUBLE,
    DOUBLES,
    FEW_FLOATS,
    FLOATS,
    INTEGERS,
    LONGS,
    MODELS,
    SINGLE,
    is_nan,
)

words = st.integers(0, 2**32 - 1)
longs = st.integers(0, 2**64 - 1)
EDGES = {
    Type.F32: FLOATS,
    Type.I32: INTEGERS,
    Type.BOOL: (0, 1),
    Type.F64: DOUBLES,
    Type.I64: LONGS,
}
FEW = {Type.F32: FEW_FLOATS, Type.F64: DOUBLES[::3]}
KINDS = {Type.F32: SINGLE, Type.F64: DOUBLE}

Bits = Sequence[tuple[int, ...]]
"""Operands of each lane."""


def operands_at_edges(types: tuple[Type, ...]) -> Bits:
    """Every combination of edges; of fewer floats if there are three."""
    edges = FEW if types in [(type,) * 3 for type in FEW] else EDGES
    return list(itertools.product(*(edges[type] for type in types)))


def lanes_of(type: Type, bits: Iterable[int]) -> Lanes:
    lanes = np.array(list(bits), np.uint64 if type.bits == 64 else np.uint32)
    return lanes == 1 if type is Type.BOOL else lanes.view(type.dtype)


def bits_of(type: Type, lanes: Lanes) -> list[int]:
    """Bits of results, a NaN as it is seen."""
    assert lanes.dtype == type.dtype
    lanes = canonical(lanes) if type in KINDS else lanes
    words = lanes if type is Type.BOOL else lanes.view(f"u{type.dtype.itemsize}")
    found: list[int] = words.tolist()
    return found


def results(name: str, bits: Bits) -> list[int]:
    row = OPS[name]
    columns = zip(*bits, strict=True)
    with np.errstate(all="ignore"):
        lanes = row.lanes(*map(lanes_of, row.operands, columns))
    return bits_of(row.result, lanes)


def expected(name: str, bits: Bits) -> list[int]:
    found = (int(MODELS[name](*operands)) for operands in bits)
    kind = KINDS.get(OPS[name].result)
    return [kind.nan if kind is not None and is_nan(word, kind) else word for word in found]


def test_every_row_has_a_model() -> None:
    assert list(OPS) == list(MODELS)


@pytest.mark.parametrize("name", OPS)
def test_a_row_is_its_model_at_the_edges(name: str) -> None:
    bits = operands_at_edges(OPS[name].operands)
    found, wanted = results(name, bits), expected(name, bits)
    wrong = [(hex(f), hex(w), b) for f, w, b in zip(found, wanted, bits, strict=True) if f != w]
    assert wrong == []


@pytest.mark.parametrize("name", OPS)
@given(triples=st.lists(st.tuples(longs, longs, longs), min_size=1, max_size=20))
@settings(max_examples=15)
def test_a_row_is_its_model_anywhere(name: str, triples: Bits) -> None:
    types = OPS[name].operands
    bits = [
        tuple(each[i] & ((1 << type.bits) - 1) for i, type in enumerate(types)) for each in triples
    ]
    assert results(name, bits) == expected(name, bits)


@pytest.mark.parametrize("name", [name for name, row in OPS.items() if len(row.operands) > 1])
def test_a_lane_that_all_share_is_spread(name: str) -> None:
    bits = operands_at_edges(OPS[name].operands)[:50]
    row = OPS[name]
    first, *rest = (list(column) for column in zip(*bits, strict=True))
    with np.errstate(all="ignore"):
        lanes = row.lanes(
            lanes_of(row.operands[0], first[:1]), *map(lanes_of, row.operands[1:], rest)
        )
    assert bits_of(row.result, lanes) == expected(name, [(first[0], *each[1:]) for each in bits])


def near(exponent: int) -> st.SearchStrategy[int]:
    """Floats about 2**exponent, of either sign."""
    field = (exponent + 127) << 23
    return st.builds(
        lambda word, sign: max(min(word, 0x7F800000), 0) | sign,
        st.integers(field - 2**24, field + 2**24),
        st.sampled_from([0, 2**31]),
    )


@given(st.integers(-120, 120), st.integers(-60, 60), st.integers(-30, 30), st.data())
@settings(max_examples=400)
def test_fma_rounds_once_where_product_and_addend_meet(
    high: int, share: int, distance: int, data: st.DataObject
) -> None:
    x, y = data.draw(near(high // 2 + share)), data.draw(near(high // 2 - share))
    z = data.draw(near(max(-126, min(127, high + distance))))
    assert results("fma", [(x, y, z)]) == expected("fma", [(x, y, z)])


@given(words, words)
@example(0x3F800001, 0x3F800001)
@settings(max_examples=300)
def test_fma_tells_the_rounding_error_of_a_product(x: int, y: int) -> None:
    (product,) = results("mul", [(x, y)])
    bits = [(x, y, product ^ 0x80000000)]
    assert results("fma", bits) == expected("fma", bits)


@pytest.mark.parametrize(
    ("x", "y", "z", "nearest"),
    [
        # (2**12 + 1) (2**24 - 2**12 + 1) is 2**36 + 1, and (2**18 - 1) (2**18 + 1) is 2**36 - 1:
        # products that differ from a tie by less than a float64 of the sum can hold.
        ((2**12 + 1) * 2.0**-30, (2**24 - 2**12 + 1) * 2.0**-30, 1.0, 1 + 2.0**-23),
        ((2**18 - 1) * 2.0**-30, (2**18 + 1) * 2.0**-30, 1 + 2.0**-23, 1 + 2.0**-23),
        ((2**18 - 1) * -(2.0**-30), (2**18 + 1) * 2.0**-30, -1 - 2.0**-23, -1 - 2.0**-23),
        ((2**18 - 1) * 2.0**33, (2**18 + 1) * 2.0**34, 2.0**128 - 2.0**104, 2.0**128 - 2.0**104),
        (2.0**-75, 2.0**-75, 0.0, 0.0),
        (2.0**-75, 2.0**-75, 2.0**-149, 2.0**-148),
        (2.0**-75, 2.0**-74, 2.0**-126, 2.0**-126 + 2.0**-149),
    ],
)
def test_fma_near_ties(x: float, y: float, z: float, nearest: float) -> None:
    lanes = (np.array([each], np.float32) for each in (x, y, z))
    assert OPS["fma"].lanes(*lanes).tolist() == [nearest]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_fma_rounds_each_lane_by_itself(sign: float) -> None:
    """Lanes without a loss beside lanes that all lost on the same side."""
    x, y = floats(2.0, (2**12 + 1) * 2.0**-30), floats(3.0, (2**24 - 2**12 + 1) * 2.0**-30)
    found = OPS["fma"].lanes(x * np.float32(sign), y, floats(sign, sign))
    assert found.tolist() == [sign * 7, sign * (1 + 2.0**-23)]


def floats(*values: float) -> Lanes:
    return np.array(values, np.float32)
